"""A capture's requests as a HAR file."""

import msgspec

from ticketbox import __version__
from ticketbox.domain.captures import har
from ticketbox.domain.captures.capture import NetworkEntry, Page, Stream
from ticketbox.domain.captures.intake.entry_sequence import EntrySequence
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.operations.core.content import Content
from ticketbox.operations.core.lookups import CaptureId, find_readable
from ticketbox.operations.core.registry import operation
from ticketbox.operations.core.services import Services
from ticketbox.store.captures import captures
from ticketbox.store.core import blobs
from ticketbox.store.file.database import Read

# Above this size, as it is stored, the file is built in a worker process.
LONG_REQUESTS = 16 * 1024


class GetHar(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The file contains all requests of the capture."""

    capture_id: CaptureId


class StoredRequests(msgspec.Struct, frozen=True):
    """A capture's network requests as they are stored, with what their HAR file says about it."""

    page: Page
    ticket_id: str
    captured_at: int
    encoding: str
    data: bytes


async def render_har(services: Services, actor: Actor, args: GetHar, stored: StoredRequests) -> Content:
    """Build the file outside the database's readers, and that of a large capture in a worker process."""
    if len(stored.data) <= LONG_REQUESTS:
        return await services.rendering.run(actor.fair_share, build_har, stored)
    call = services.rendering.process.call
    return await services.rendering.run(actor.fair_share, call, services.max_capture_seconds, build_har, stored)


def build_har(stored: StoredRequests) -> Content:
    """Build the file of a capture's requests."""
    entries = EntrySequence(NetworkEntry, blobs.unpack_content(stored.encoding, stored.data))
    archive = har.encode_har(stored.page, stored.captured_at, entries, __version__)
    return Content("application/json", archive, f"{stored.ticket_id}.har")


@operation(
    "get_har", scope=Scope.READ, budget=Budget.READ, rest="GET /captures/{capture_id}/har",
    media=("application/json",), finish=render_har,
)  # fmt: skip
def get_har(tx: Read, actor: Actor, args: GetHar) -> StoredRequests:
    """Download a capture's network requests as a HAR 1.2 file."""
    stored = captures.load_capture(tx, find_readable(tx, actor, "capture", args.capture_id).key)
    encoding, data = blobs.load_packed(tx, stored.streams[Stream.NETWORK])
    capture, captured_at = stored.capture, captures.load_capture_time(tx, stored.key)
    return StoredRequests(capture.page, capture.ticket_id, captured_at, encoding, data)
