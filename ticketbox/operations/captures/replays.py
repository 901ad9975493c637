"""Reading the replay of a capture."""

import msgspec

from ticketbox.domain.core.limits import Budget
from ticketbox.domain.core.policy import Actor
from ticketbox.domain.core.problems import NotFound
from ticketbox.domain.core.scopes import Scope
from ticketbox.operations.core.content import JsonList
from ticketbox.operations.core.lookups import CaptureId, find_readable
from ticketbox.operations.core.registry import operation
from ticketbox.operations.core.services import Services
from ticketbox.store.captures import captures
from ticketbox.store.core import blobs
from ticketbox.store.file.database import Read


class GetReplay(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Not every capture has a replay; `health.replay` says why."""

    capture_id: CaptureId


class StoredReplay(msgspec.Struct, frozen=True):
    """A replay as it is stored."""

    ticket_id: str
    encoding: str
    data: bytes


async def unpack_replay(services: Services, actor: Actor, args: GetReplay, stored: StoredReplay) -> JsonList:
    """Decompress a replay on a thread."""
    return await services.rendering.run(actor.share, _build_content, stored)


def _build_content(stored: StoredReplay) -> JsonList:
    events = blobs.unpack_content(stored.encoding, stored.data)
    return JsonList("application/json", events, f"{stored.ticket_id}-replay.json")


@operation(
    "get_replay", scope=Scope.READ, budget=Budget.READ, rest="GET /captures/{capture_id}/replay",
    media=("application/json",), finish=unpack_replay,
)  # fmt: skip
def get_replay(tx: Read, actor: Actor, args: GetReplay) -> StoredReplay:
    """Download the last seconds of a captured page, as events for the player of rrweb 2."""
    stored = captures.load_replay(tx, find_readable(tx, actor, "capture", args.capture_id).key)
    if stored is None:
        raise NotFound("replay")
    return StoredReplay(*stored)
