"""The part of a comparison that fits a budget, and its differences as lines for a model."""

from collections.abc import Sequence

from ticketbox.domain.captures.comparison.differences import ComparedError, ComparedRequest, Difference
from ticketbox.domain.captures.timeline.selection import BudgetSelection
from ticketbox.domain.core.access.tokens import estimate_tokens

DEFAULT_TOKENS, FULL_TOKENS = 3_600, 13_000  # by the estimate, which is too high
ERRORS_SHARE = 0.5  # of the budget, before requests are selected

ERROR_FORMAT = "where seq/other-seq message (file in function) ×count/other-count"
REQUEST_FORMAT = "where id/other-id method outcomes | other outcomes url ×count/other-count"


def select_differences(
    errors: Sequence[ComparedError], requests: Sequence[ComparedRequest], tokens: int
) -> tuple[list[ComparedError], list[ComparedRequest]]:
    """Select the errors and requests that fit, the first ones of each; errors may use what requests leave."""
    lines = [*map(format_error_line, errors), *map(format_request_line, requests)]
    selection = BudgetSelection([estimate_tokens(line) for line in lines], tokens)
    selection.add(range(len(errors)), ERRORS_SHARE)
    selection.add(range(len(errors), len(lines)))
    selection.add(range(len(errors)))
    chosen = [index for index, _ in selection.list_with_gaps()]
    return (
        [errors[index] for index in chosen if index < len(errors)],
        [requests[index - len(errors)] for index in chosen if index >= len(errors)],
    )


def format_difference(difference: Difference) -> str:
    """Return a property as a line: its value in the capture, and in the other."""
    return f"{difference.name}: {difference.capture or '-'} | {difference.other or '-'}"


def format_error_line(error: ComparedError) -> str:
    """Return an error as a line, as ERROR_FORMAT says."""
    place = f" ({error.source})" if error.source else ""
    return f"{_format_head(error)} {error.message}{place}{_format_counts(error)}"


def format_request_line(request: ComparedRequest) -> str:
    """Return a request as a line, as REQUEST_FORMAT says."""
    outcomes = f"{','.join(request.outcomes) or '-'} | {','.join(request.other_outcomes) or '-'}"
    return f"{_format_head(request)} {request.method} {outcomes} {request.url}{_format_counts(request)}"


def _format_head(entry: ComparedError | ComparedRequest) -> str:
    where = "both" if entry.count and entry.other_count else "capture" if entry.count else "other"
    mine, theirs = ("-" if each is None else each for each in (entry.entry, entry.other_entry))
    return f"{where} {mine}/{theirs}"


def _format_counts(entry: ComparedError | ComparedRequest) -> str:
    return f" ×{entry.count}/{entry.other_count}" if max(entry.count, entry.other_count) > 1 else ""
