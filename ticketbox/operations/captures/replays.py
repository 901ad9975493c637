"""Reading the replay of a capture: its events, and what they show in words."""

from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.captures.actions import ActionEntry
from ticketbox.domain.captures.capture import ErrorEntry, NetworkEntry, Stream
from ticketbox.domain.captures.health import describe_health
from ticketbox.domain.captures.intake.entry_sequence import EntrySequence
from ticketbox.domain.captures.records import Capture
from ticketbox.domain.captures.replay.transcript import describe_replay
from ticketbox.domain.captures.replay.transcript_lines import (
    DEFAULT_TOKENS,
    FULL_TOKENS,
    TranscriptLine,
    merge_lines,
    select_lines,
)
from ticketbox.domain.captures.timeline.moments import merge_streams
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import NotFound
from ticketbox.operations.core.content import JsonList
from ticketbox.operations.core.lookups import CaptureId, find_readable
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.operations.core.services import Services
from ticketbox.operations.tickets.ticket_detail import Detail
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
    return await services.rendering.run(actor.fair_share, _build_content, stored)


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


class GetReplayTranscript(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What went wrong has priority, then what was done and seen near it."""

    capture_id: CaptureId
    detail: Annotated[Detail, Meta(description="`full` has about 7,000 tokens.")] = Detail.SUMMARY


class ReplayTranscript(msgspec.Struct, frozen=True):
    """What the replay shows, oldest first. The first line is the page that it begins with.

    `start` and `end` are epoch milliseconds. `total` counts all lines, `omitted` those that are left out.
    """

    items: list[TranscriptLine]
    capture_id: str
    start: float
    end: float
    total: int
    omitted: int
    health_summary: str


class StoredScene(msgspec.Struct, frozen=True):
    """A replay and the streams beside it, as they are stored."""

    capture: Capture
    replay: tuple[str, bytes]
    streams: dict[Stream, tuple[str, bytes]]


async def write_transcript(
    services: Services, actor: Actor, args: GetReplayTranscript, stored: StoredScene
) -> ReplayTranscript:
    """Write the transcript on a thread."""
    return await services.rendering.run(actor.fair_share, _build_transcript, args, stored)


def _build_transcript(args: GetReplayTranscript, stored: StoredScene) -> ReplayTranscript:
    def read(stream: Stream) -> bytes:
        return blobs.unpack_content(*stored.streams[stream])

    events = msgspec.json.decode(blobs.unpack_content(*stored.replay))
    start, end = events[0]["timestamp"], events[-1]["timestamp"]
    moments = merge_streams(
        (),
        EntrySequence(NetworkEntry, read(Stream.NETWORK)),
        EntrySequence(ErrorEntry, read(Stream.ERRORS)),
        EntrySequence(ActionEntry, read(Stream.ACTIONS)),
    )
    lines = merge_lines(describe_replay(events), moments, start, end)
    items = select_lines(lines, FULL_TOKENS if args.detail is Detail.FULL else DEFAULT_TOKENS)
    return ReplayTranscript(
        capture_id=args.capture_id,
        start=start,
        end=end,
        items=items,
        total=len(lines),
        omitted=len(lines) - len(items),
        health_summary=describe_health(stored.capture.health),
    )


@operation(
    "get_replay_transcript", scope=Scope.READ, budget=Budget.READ,
    rest="GET /captures/{capture_id}/replay/transcript", finish=write_transcript,
    tool=Tool(
        "Read a replay in words",
        "Use this to see what changed on the screen each second, beside steps, requests and errors.",
        {"capture_id": "cap_1b4e7h0k3n6q"},
    ),
)  # fmt: skip
def get_replay_transcript(tx: Read, actor: Actor, args: GetReplayTranscript) -> StoredScene:
    """Read in words what the replay of a capture shows."""
    stored = captures.load_capture(tx, find_readable(tx, actor, "capture", args.capture_id).key)
    replay = captures.load_replay(tx, stored.key)
    if replay is None:
        raise NotFound("replay")
    return StoredScene(
        capture=stored.capture,
        replay=replay[1:],
        streams={stream: blobs.load_packed(tx, blob) for stream, blob in stored.streams.items()},
    )
