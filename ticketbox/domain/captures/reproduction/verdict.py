"""The verdict on all rounds of a reproduction. Its test judges each round itself, in verdict.js."""

from collections.abc import Sequence

import msgspec

from ticketbox.domain.captures.error_text import format_error
from ticketbox.domain.tickets.records import Verdict

NOT_SEEN = "no run has reproduced this capture, so nothing shows that its test can see the bug"
_SEEN = (Verdict.REPRODUCED, Verdict.GONE)


class ObservedError(msgspec.Struct, frozen=True):
    """An error of the page."""

    name: str
    message: str


class Observation(msgspec.Struct, frozen=True):
    """What a round saw, and its verdict: the contents of the file in REPRODUCTION_RESULT.

    `stopped_at` is the step from which on it says nothing, `reason` why it wasn't reached, or what differed, and
    `screenshot` the path of a picture of the end.
    """

    verdict: Verdict
    stopped_at: int | None
    reason: str | None
    errors: list[ObservedError]
    console_errors: list[str]
    screenshot: str | None


def weigh_verdict(verdict: Verdict, *, is_proven: bool) -> Verdict:
    """Weigh what a run says: that the bug is gone is unproven until an earlier run of the same test saw it."""
    return Verdict.UNPROVEN if verdict is Verdict.GONE and not is_proven else verdict


def judge_rounds(rounds: Sequence[Observation]) -> Verdict:
    """Judge all rounds: different verdicts are flaky."""
    return rounds[0].verdict if len({each.verdict for each in rounds}) == 1 else Verdict.FLAKY


def explain_rounds(verdict: Verdict, rounds: Sequence[Observation]) -> str | None:
    """Say why the rounds have this verdict, if it isn't what they were run for."""
    match verdict:
        case Verdict.REPRODUCED | Verdict.GONE:
            return None
        case Verdict.UNPROVEN:
            return NOT_SEEN
        case Verdict.FLAKY:
            said = [
                f"round {number} {each.verdict.value.replace('_', ' ')}"
                + (f" ({each.reason})" if each.reason and each.verdict not in _SEEN else "")
                for number, each in enumerate(rounds, 1)
            ]
            return ", ".join(said)
        case _:
            return next((each.reason for each in reversed(rounds) if each.reason), None)


def list_console(observed: Observation) -> list[str]:
    """List what a verification keeps of an observation: errors of the page first, then those in the console."""
    return list(dict.fromkeys([*map(format_error, observed.errors), *observed.console_errors]))
