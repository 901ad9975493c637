"""The verdict on a run of a reproduction: what it observed, compared with what was captured."""

from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

import msgspec

from ticketbox.domain.captures.fingerprints import fingerprint_message, fingerprint_page
from ticketbox.domain.captures.reproduction.expectations import Expectations, ExpectedRequest
from ticketbox.domain.captures.summaries.overview import format_error
from ticketbox.domain.tickets.records import Verdict

NOT_SEEN = "no run has reproduced this capture, so nothing shows that its test can see the bug"
_SEEN = (Verdict.REPRODUCED, Verdict.GONE)
_REFUSED = "net::ERR_BLOCKED_BY_CLIENT"  # what the run itself refuses says nothing about the application


class ObservedError(msgspec.Struct, frozen=True):
    """An error of the page."""

    name: str
    message: str
    stack: str = ""


class Observation(msgspec.Struct, frozen=True):
    """What a reproduction saw: the contents of the file in REPRODUCTION_RESULT.

    `stopped_at` is the step that wasn't possible, `screenshot` the path of a picture of the end. `diverged` says that
    the application's API answered calls, whose recorded answers the capture lacks, with another status. `outdated` says
    that a read got an answer recorded before a change that the page had already made. `recognized` says that one of the
    failures is the captured one apart from values that the run replaced: typed samples, and stand-ins in answers.
    `uncertain` says that a request got a recorded failure although the capture lacks the body that failed. `broken`
    says that the harness itself failed, or couldn't serve an answer, and `reason` why the run wasn't reached, or what
    differed.
    """

    reached: bool
    stopped_at: int | None
    errors: list[ObservedError]
    failed_requests: list[ExpectedRequest]
    console_errors: list[str]
    screenshot: str | None
    diverged: bool = False
    outdated: bool = False
    recognized: bool = False
    uncertain: bool = False
    broken: bool = False
    reason: str | None = None


def judge_round(expected: Expectations, observed: Observation) -> Verdict:
    """Judge one round.

    Errors say the most; only a capture without any is compared by its console, and only one without either by its
    failed requests. A captured error proves the bug even if it made the next step impossible; a run that stopped for
    any other reason says nothing, and so do a failure after an outdated answer and a run whose harness failed. The
    capture must have a failure.
    """
    if observed.broken:
        return Verdict.NOT_REACHED
    verdict = _compare(expected, observed)
    return Verdict.NOT_REACHED if observed.outdated and verdict is not Verdict.GONE else verdict


def weigh_verdict(verdict: Verdict, *, is_proven: bool) -> Verdict:
    """Weigh what a run says: that the bug is gone is unproven until an earlier run of the same test saw it."""
    return Verdict.UNPROVEN if verdict is Verdict.GONE and not is_proven else verdict


def _compare(expected: Expectations, observed: Observation) -> Verdict:
    if expected.errors:
        captured = {error.fingerprint for error in expected.errors}
        if observed.recognized or any(_fingerprint_text(format_error(each)) in captured for each in observed.errors):
            return Verdict.REPRODUCED
    if not observed.reached:
        return Verdict.NOT_REACHED
    if not expected.errors and (observed.recognized or _has_weaker_failure(expected, observed)):
        is_known = bool(expected.console_errors) or not observed.uncertain
        return Verdict.REPRODUCED if is_known else Verdict.NOT_REACHED
    if observed.diverged:
        return Verdict.NOT_REACHED
    return Verdict.DIFFERENT_ERROR if observed.errors else Verdict.GONE


def judge_rounds(verdicts: Sequence[Verdict]) -> Verdict:
    """Judge all rounds: different verdicts are flaky."""
    return verdicts[0] if len(set(verdicts)) == 1 else Verdict.FLAKY


def explain_rounds(verdict: Verdict, verdicts: Sequence[Verdict], rounds: Sequence[Observation]) -> str | None:
    """Say why the rounds have this verdict, if it isn't what they were run for."""
    reasons = [each.reason for each in rounds]
    match verdict:
        case Verdict.REPRODUCED | Verdict.GONE:
            return None
        case Verdict.UNPROVEN:
            return NOT_SEEN
        case Verdict.FLAKY:
            said = [
                f"round {number} {each.value.replace('_', ' ')}" + (f" ({why})" if why and each not in _SEEN else "")
                for number, (each, why) in enumerate(zip(verdicts, reasons, strict=True), 1)
            ]
            return ", ".join(said)
        case _:
            return next(filter(None, reversed(reasons)), None)


def list_console(observed: Observation) -> list[str]:
    """List what a verification keeps of an observation: errors of the page first, then those in the console."""
    return list(dict.fromkeys([*map(format_error, observed.errors), *observed.console_errors]))


def _has_weaker_failure(expected: Expectations, observed: Observation) -> bool:
    if expected.console_errors:
        return bool(_fingerprint_texts(expected.console_errors) & _fingerprint_texts(observed.console_errors))
    captured = {_identify_request(each) for each in expected.failed_requests}
    sent = (each for each in observed.failed_requests if not (each.error or "").startswith(_REFUSED))
    return any(_identify_request(each) in captured for each in sent)


def _identify_request(request: ExpectedRequest) -> tuple[str, int | None, int | None]:
    """Identify a failed request by what doesn't differ from run to run: neither its host nor the ids in its path."""
    try:
        page = fingerprint_page(urlsplit(request.url)._replace(scheme="http", netloc="host").geturl())
    except ValueError:  # a capture can have any text as an address
        page = None
    return request.method, request.status, page.value if page else None


def _fingerprint_texts(texts: Iterable[str]) -> set[str]:
    return {print_ for text in texts if (print_ := _fingerprint_text(text)) is not None}


def _fingerprint_text(text: str) -> str | None:
    fingerprint = fingerprint_message(text)
    return None if fingerprint is None else f"{fingerprint.value:014x}"
