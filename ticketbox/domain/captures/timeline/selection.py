"""The part of a timeline that fits a budget: what went wrong and what the person did first, then what is near it.

The same input always results in the same selection.
"""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from ticketbox.domain.captures.timeline.moments import Moment, MomentKind, find_first_failure
from ticketbox.domain.core.access.tokens import estimate_tokens
from ticketbox.domain.tickets.records import Failure

DEFAULT_TOKENS, FULL_TOKENS = 4_300, 14_000  # by the estimate, which is too high
FAILURES_SHARE = 0.5  # of the budget, for the first of each kind of failure
STEPS_SHARE = 0.75  # of the budget, when pages and actions are selected, too

MOMENT_FORMAT = "ts seconds-since-start kind entry level text outcome ×count"

_GAP_TOKENS = 6  # of "omitted_before"


def format_moment(moment: Moment, start: float) -> str:
    """Return a moment as a line for a model, as MOMENT_FORMAT says."""
    level, outcome = (moment.outcome, None) if moment.kind is MomentKind.CONSOLE else (None, moment.outcome)
    parts = (
        f"{int(moment.ts)} {(moment.ts - start) / 1000:+.1f}s {moment.kind}",
        moment.entry,
        level,
        moment.text,
        outcome,
        f"×{moment.count}" if moment.count > 1 else None,
    )
    return " ".join(filter(None, parts))


def select_moments(moments: Sequence[Moment], start: float, center: float, tokens: int) -> list[Moment]:
    """Select what fits, in the order of time. `omitted_before` counts what was left out before a moment."""
    near = sorted(range(len(moments)), key=lambda index: abs(moments[index].ts - center))
    selection = BudgetSelection([estimate_tokens(format_moment(moment, start)) for moment in moments], tokens)
    selection.add(_list_first_failures(moments), FAILURES_SHARE)
    selection.add([i for i in near if moments[i].kind in {MomentKind.PAGES, MomentKind.ACTIONS}], STEPS_SHARE)
    selection.add(near)
    return [replace(moments[index], omitted_before=gap) for index, gap in selection.list_with_gaps()]


def choose_center(moments: Sequence[Moment], bug: Failure | None = None) -> float:
    """Return the time that a timeline is about: of the bug, else of the first failure or the last moment."""
    first = find_first_failure(moments, bug) or (moments[-1] if moments else None)
    return first.ts if first else 0.0


def _list_first_failures(moments: Sequence[Moment]) -> list[int]:
    """List the first failure with each text, errors before requests before lines of the console."""
    seen: set[tuple[MomentKind, str, str | None]] = set()
    found: list[int] = []
    for kind in (MomentKind.ERRORS, MomentKind.NETWORK, MomentKind.CONSOLE):
        for index, moment in enumerate(moments):
            key = (kind, moment.text, moment.outcome)
            if moment.kind is kind and moment.failed and key not in seen:
                seen.add(key)
                found.append(index)
    return found


class BudgetSelection:
    """Selects items by their costs in tokens, in an order of priority."""

    def __init__(self, costs: Sequence[int], tokens: int) -> None:
        self._costs = costs
        self._tokens = tokens
        self._spent = 0
        self._chosen: set[int] = set()

    def add(self, indexes: Iterable[int], up_to: float = 1.0) -> None:
        """Select items in this order until that share of the budget is spent."""
        for index in indexes:
            if index in self._chosen:
                continue
            cost = self._costs[index] + _GAP_TOKENS
            if self._spent + cost > self._tokens * up_to:
                return
            self._spent += cost
            self._chosen.add(index)

    def list_with_gaps(self) -> list[tuple[int, int]]:
        """List the selected items in their order, each with the number of items left out before it."""
        chosen = sorted(self._chosen)
        return [(index, index - before - 1) for before, index in zip([-1, *chosen], chosen, strict=False)]
