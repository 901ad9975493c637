"""Downloading a capture as a reproduction: a test with the recorded answers."""

import msgspec

from ticketbox import __version__
from ticketbox.domain.captures.actions import ActionEntry
from ticketbox.domain.captures.capture import ConsoleEntry, ErrorEntry, NetworkEntry, Stream
from ticketbox.domain.captures.intake.entry_sequence import EntrySequence
from ticketbox.domain.captures.records import Capture
from ticketbox.domain.captures.reproduction.pack import HELPERS, Recording, build_files, compress_files
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.operations.core.content import Archive, Content
from ticketbox.operations.core.lookups import CaptureId, find_readable
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.operations.core.services import Services
from ticketbox.operations.tickets.lookups import load_ticket
from ticketbox.store.captures import captures
from ticketbox.store.core import blobs
from ticketbox.store.file.database import Read


class GetReproduction(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What the capture lacks for a reproduction is in `missing` of expected.json."""

    capture_id: CaptureId


class StoredRecording(msgspec.Struct, frozen=True):
    """A capture with its streams as they are stored, and its ticket's key and title."""

    capture: Capture
    captured_at: int
    key: str
    title: str
    streams: dict[Stream, tuple[str, bytes]]


async def render_reproduction(
    services: Services, actor: Actor, args: GetReproduction, stored: StoredRecording
) -> Content:
    """Write the files on a thread: of a large capture it takes long, and the reader is free for others meanwhile."""
    return await services.rendering.run(actor.fair_share, render_archive, stored)


def render_archive(stored: StoredRecording) -> Content:
    """Write the files of a stored recording, and compress them."""

    def read(stream: Stream) -> bytes:
        return blobs.unpack_content(*stored.streams[stream])

    recording = Recording(
        capture=stored.capture,
        captured_at=stored.captured_at,
        key=stored.key,
        title=stored.title,
        console=EntrySequence(ConsoleEntry, read(Stream.CONSOLE)),
        network=EntrySequence(NetworkEntry, read(Stream.NETWORK)),
        errors=EntrySequence(ErrorEntry, read(Stream.ERRORS)),
        actions=EntrySequence(ActionEntry, read(Stream.ACTIONS)),
    )
    files, key = build_files(recording, __version__), stored.key
    return Archive(
        "application/zip",
        compress_files(files),
        f"reproduction-{stored.key}.zip",
        files=tuple((file.name, file.data) for file in files),
        shared=HELPERS,
        note=f"`ticketbox capture reproduce {key}` writes all files; `ticketbox verify {key} --base-url URL` also runs "
        "the test, and posts its verdict to the ticket.",
    )


@operation(
    "get_reproduction", scope=Scope.READ, budget=Budget.READ, rest="GET /captures/{capture_id}/reproduction",
    media=("application/zip",), finish=render_reproduction,
    tool=Tool(
        "Reproduce a capture",
        "Use this for a failing Playwright test of the bug; it needs no backend.",
        {"capture_id": "cap_1b4e7h0k3n6q"},
        tool_set="core",
    ),
)  # fmt: skip
def get_reproduction(tx: Read, actor: Actor, args: GetReproduction) -> StoredRecording:
    """Download a capture as a Playwright test that repeats its steps against the recorded answers."""
    stored = captures.load_capture(tx, find_readable(tx, actor, "capture", args.capture_id).key)
    ticket = load_ticket(tx, actor, stored.capture.ticket_id)
    return StoredRecording(
        capture=stored.capture,
        captured_at=captures.load_capture_time(tx, stored.key),
        key=ticket.key,
        title=ticket.title,
        streams={stream: blobs.load_packed(tx, blob) for stream, blob in stored.streams.items()},
    )
