"""Reading the key frames of a capture: pictures of moments of its replay."""

from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.captures.records import ReplayFrame
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import NotFound
from ticketbox.operations.core.content import Content
from ticketbox.operations.core.lookups import CaptureId, find_readable
from ticketbox.operations.core.paging import Page
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.store.captures import captures, replay_frames
from ticketbox.store.file.database import Read

MAX_SECONDS = 1_000_000  # a larger number is a time in epoch milliseconds


class ListReplayFrames(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Not every replay has key frames; `health.frames` says why."""

    capture_id: CaptureId


@operation(
    "list_replay_frames", scope=Scope.READ, budget=Budget.READ, rest="GET /captures/{capture_id}/replay/frames",
)  # fmt: skip
def list_replay_frames(tx: Read, actor: Actor, args: ListReplayFrames) -> Page[ReplayFrame]:
    """List the key moments of a replay that have a picture, oldest first: at most 5."""
    return Page(replay_frames.list_frames(tx, find_readable(tx, actor, "capture", args.capture_id).key), None)


class GetReplayFrame(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The picture shows what the replay shows: fields are masked, and pictures of the page are placeholders."""

    capture_id: CaptureId
    at: (
        Annotated[
            float,
            Meta(
                ge=0,
                le=2**53,
                description="The second, as in the transcript, or epoch milliseconds. Default: the first picture.",
            ),
        ]
        | None
    ) = None


@operation(
    "get_replay_frame", scope=Scope.READ, budget=Budget.READ, rest="GET /captures/{capture_id}/replay/frame",
    media=("image/webp", "image/png", "image/jpeg"),
    tool=Tool(
        "View a moment of a replay",
        "Use this to see the page near an error or a failed request.",
        {"capture_id": "cap_1b4e7h0k3n6q", "at": 12},
    ),
)  # fmt: skip
def get_replay_frame(tx: Read, actor: Actor, args: GetReplayFrame) -> Content:
    """Download the picture of the key moment of a replay that is nearest to a time."""
    key = find_readable(tx, actor, "capture", args.capture_id).key
    frames = replay_frames.list_frames(tx, key)
    if not frames:
        raise NotFound("replay frame")
    nearest = frames[0] if args.at is None else min(frames, key=lambda each: _measure_distance(each, args.at or 0))
    seconds = ", ".join(f"{each.second:g}" for each in frames)
    return Content(
        media_type=nearest.media_type,
        data=replay_frames.load_frame(tx, key, nearest.at),
        name=f"{captures.load_ticket_id(tx, key)}-frame.{nearest.media_type.rpartition('/')[2]}",
        inline=True,
        width=nearest.width,
        height=nearest.height,
        caption=f"second {nearest.second:g} of the replay; there are pictures of seconds {seconds}",
    )


def _measure_distance(frame: ReplayFrame, at: float) -> float:
    return abs(frame.second - at) if at < MAX_SECONDS else abs(frame.at - at)
