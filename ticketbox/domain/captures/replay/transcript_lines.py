"""The lines of a replay's transcript: changes on the screen beside what the person and the page did."""

from collections.abc import Sequence
from enum import StrEnum

import msgspec
from msgspec.structs import replace

from ticketbox.domain.captures.replay.transcript import ScreenChange
from ticketbox.domain.captures.timeline.moments import Moment, MomentKind
from ticketbox.domain.captures.timeline.selection import BudgetSelection
from ticketbox.domain.core.access.tokens import estimate_tokens

DEFAULT_TOKENS, FULL_TOKENS = 1_550, 8_000  # by the estimate, which is too high
FAILURES_SHARE = 0.35  # of the budget, with the page that the replay begins with
SCREEN_SHARE = 0.85  # of the budget, when what the person did and saw is selected, too
MARGIN_MS = 1_000  # what happened this long before or after the replay is still shown

TRANSCRIPT_FORMAT = "second kind entry text outcome ×count"


class LineKind(StrEnum):
    """What a line is about: the screen, or an entry of a stream."""

    SCREEN = "screen"
    PAGES = "pages"
    ACTIONS = "actions"
    NETWORK = "network"
    ERRORS = "errors"


class TranscriptLine(msgspec.Struct, frozen=True, kw_only=True):
    """One line. `second` counts from the replay's beginning; `entry` names the entry of the stream."""

    second: int
    ts: float
    kind: LineKind
    text: str
    entry: str | None = None
    outcome: str | None = None
    failed: bool = False
    count: int = 1
    omitted_before: int = 0


def merge_lines(
    changes: Sequence[ScreenChange], moments: Sequence[Moment], start: float, end: float
) -> list[TranscriptLine]:
    """Merge what changed on the screen with what happened meanwhile, second by second; the cause comes first."""
    lines = [
        TranscriptLine(second=_count_seconds(start, change.ts), ts=change.ts, kind=LineKind.SCREEN, text=change.text)
        for change in changes
    ]
    first, others = lines[:1], lines[1:]
    others += [
        TranscriptLine(
            second=_count_seconds(start, moment.ts), ts=moment.ts, kind=LineKind(moment.kind.value), text=moment.text,
            entry=moment.entry, outcome=moment.outcome, failed=moment.failed, count=moment.count,
        )
        for moment in moments
        if moment.kind is not MomentKind.CONSOLE and start - MARGIN_MS <= moment.ts <= end + MARGIN_MS
    ]  # fmt: skip
    return first + sorted(others, key=lambda line: line.ts)


def select_lines(lines: Sequence[TranscriptLine], tokens: int) -> list[TranscriptLine]:
    """Select what fits, in the order of time: what went wrong, then what was done and seen near it, then the rest."""
    failures = [index for index, line in enumerate(lines) if line.failed]
    center = lines[failures[0]].ts if failures else lines[-1].ts if lines else 0.0
    near = sorted(range(len(lines)), key=lambda index: abs(lines[index].ts - center))
    selection = BudgetSelection([estimate_tokens(format_transcript_line(line)) for line in lines], tokens)
    selection.add([*range(len(lines[:1])), *failures], FAILURES_SHARE)
    selection.add([index for index in near if lines[index].kind is not LineKind.NETWORK], SCREEN_SHARE)
    selection.add(near)
    return [replace(lines[index], omitted_before=gap) for index, gap in selection.list_with_gaps()]


def format_transcript_line(line: TranscriptLine) -> str:
    """Return a line for a model, as TRANSCRIPT_FORMAT says."""
    count = f"×{line.count}" if line.count > 1 else None
    return " ".join(filter(None, (f"{line.second}s {line.kind}", line.entry, line.text, line.outcome, count)))


def _count_seconds(start: float, ts: float) -> int:
    return int((ts - start) // 1_000)
