"""Reading the timeline of a capture: its streams merged by time, within a budget."""

from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.captures.actions import ActionEntry
from ticketbox.domain.captures.capture import ConsoleEntry, ErrorEntry, NetworkEntry, Stream
from ticketbox.domain.captures.filters import AROUND_MS
from ticketbox.domain.captures.health import describe_health
from ticketbox.domain.captures.timeline.moments import Moment, MomentKind, find_first_failure, merge_streams
from ticketbox.domain.captures.timeline.selection import DEFAULT_TOKENS, FULL_TOKENS, choose_center, select_moments
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.operations.captures.streams import Around
from ticketbox.operations.core.lookups import CaptureId, find_readable
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.operations.tickets.ticket_detail import Detail
from ticketbox.store.captures import captures
from ticketbox.store.file.database import Read


class GetTimeline(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Without `around`, what happened near the bug, or the first failure, has priority."""

    capture_id: CaptureId
    around: Around | None = None
    kinds: Annotated[list[MomentKind], Meta(max_length=5, description="Only these kinds; none means all.")] = []
    detail: Annotated[Detail, Meta(description="`summary` has about 3,500 tokens, `full` about 11,000.")] = (
        Detail.SUMMARY
    )


class Timeline(msgspec.Struct, frozen=True):
    """What happened, oldest first: the most relevant moments that fit.

    `total` counts all moments, `matched` those of the given kinds and time, `omitted` those of them that are left out.
    All times are epoch milliseconds: `start` of the first moment, `failure` of the bug, or else of the
    first failure.
    """

    items: list[Moment]
    capture_id: str
    start: float
    captured_at: int
    failure: float | None
    total: int
    matched: int
    omitted: int
    health_summary: str


@operation(
    "get_timeline",
    scope=Scope.READ,
    budget=Budget.READ,
    rest="GET /captures/{capture_id}/timeline",
    tool=Tool(
        "Read the timeline",
        "Use this to see what led to an error.",
        {"capture_id": "cap_1b4e7h0k3n6q", "kinds": ["actions", "errors"]},
    ),
)
def get_timeline(tx: Read, actor: Actor, args: GetTimeline) -> Timeline:
    """Read the pages, actions, console lines, requests and errors of a capture in one list, oldest first."""
    stored = captures.load_capture(tx, find_readable(tx, actor, "capture", args.capture_id).key)
    everything = merge_streams(
        captures.load_entries(tx, stored, Stream.CONSOLE, ConsoleEntry),
        captures.load_entries(tx, stored, Stream.NETWORK, NetworkEntry),
        captures.load_entries(tx, stored, Stream.ERRORS, ErrorEntry),
        captures.load_entries(tx, stored, Stream.ACTIONS, ActionEntry),
    )
    matches = [
        moment
        for moment in everything
        if (not args.kinds or moment.kind in args.kinds)
        and (args.around is None or abs(moment.ts - args.around) <= AROUND_MS)
    ]
    start = everything[0].ts if everything else 0.0
    center = choose_center(everything, stored.capture.bug) if args.around is None else args.around
    tokens = FULL_TOKENS if args.detail is Detail.FULL else DEFAULT_TOKENS
    items = select_moments(matches, start, center, tokens)
    failure = find_first_failure(everything, stored.capture.bug)
    return Timeline(
        capture_id=args.capture_id,
        start=start,
        captured_at=captures.load_capture_time(tx, stored.key),
        failure=None if failure is None else failure.ts,
        items=items,
        total=len(everything),
        matched=len(matches),
        omitted=len(matches) - len(items),
        health_summary=describe_health(stored.capture.health),
    )
