"""Which verifications prove that a bug is fixed."""

from typing import Any, NamedTuple

import pytest

from ticketbox.domain.tickets.records import Verdict
from ticketbox.domain.work.verifications import find_missing_proof

A, B = "a" * 40, "b" * 40


class Proof(NamedTuple):
    """A verification, as the gate reads it."""

    verdict: Verdict
    commit: str
    capture: str | None = "cap_1"
    is_unconfirmed: bool = False
    created_at: int = 10
    bug: str | None = "errors 1"
    chosen_bug: str | None = "errors 1"
    live: bool = False


Run = tuple[Any, ...]  # the fields of a proof
LIVE = ("cap_1", False, 10, "errors 1", "errors 1", True)


def about(bug: str, chosen: str = "errors 2") -> Run:
    """The other fields of a proof of a failure, when another one may have been chosen since."""
    return "cap_1", False, 10, bug, chosen


def find_missing(*oldest_first: Run, reopened_at: int = 0) -> str | None:
    return find_missing_proof([Proof(Verdict(run[0]), *run[1:]) for run in oldest_first][::-1], reopened_at)


def test_reproduced_before_and_gone_after_on_another_commit_prove_a_fix() -> None:
    assert find_missing(("reproduced", A), ("gone", B)) is None
    assert find_missing(("reproduced", A), ("flaky", B), ("gone", B)) is None
    assert find_missing(("reproduced", A, *LIVE), ("gone", B, *LIVE)) is None
    assert find_missing(("reproduced", A, None), ("reproduced", A), ("gone", B)) is None
    other, bug = about("errors 1"), about("errors 2")
    assert find_missing(("reproduced", B, *other), ("reproduced", A, *bug), ("gone", B, *bug)) is None


@pytest.mark.parametrize(
    ("posted", "missing"),
    [
        ([], "no verification counts yet"),
        ([("reproduced", A)], "says reproduced on aaaaaaa"),
        ([("gone", B)], "no verification before it says reproduced for its capture cap_1"),
        ([("gone", B), ("reproduced", A)], "says reproduced on aaaaaaa"),  # the wrong order
        ([("reproduced", A), ("gone", A)], "also reproduced on aaaaaaa"),
        ([("reproduced", A), ("gone", A[:7])], "also reproduced on aaaaaaa"),  # the same commit, abbreviated
        ([("reproduced", A[:9]), ("gone", A)], "also reproduced on aaaaaaa"),
        ([("reproduced", B), ("reproduced", A), ("gone", B)], "also reproduced on bbbbbbb"),
        ([("reproduced", A), ("gone", B), ("reproduced", "c" * 40)], "says reproduced on ccccccc"),
        ([("reproduced", A), ("gone", B), ("flaky", B)], "says flaky"),
        ([("reproduced", A), ("gone", B), ("different_error", B)], "says different_error"),
        ([("reproduced", A), ("not_reached", B)], "says not_reached"),
        (
            [("reproduced", A), ("gone", B, *LIVE)],
            "on bbbbbbb was against the server (`--live`), and the one that says",
        ),
        ([("reproduced", A, *LIVE), ("gone", B)], "on bbbbbbb was against the recorded answers, and the one that says"),
        ([("unproven", B)], "says unproven on bbbbbbb, because no run has reproduced the bug"),
        ([("reproduced", A, "cap_1"), ("gone", B, "cap_2")], "reproduced for its capture cap_2"),
        ([("reproduced", A, None), ("gone", B, None)], "names no capture"),
        ([("reproduced", A), ("gone", B, None)], "names no capture"),
        ([("reproduced", A, None), ("gone", B)], "reproduced for its capture cap_1"),
        (
            [("reproduced", A, *about("errors 1")), ("gone", B, *about("errors 1"))],
            "the bug of the capture cap_1 is another one now",
        ),
        ([("reproduced", A, *about("errors 1")), ("gone", B, *about("errors 2"))], "reproduced for its capture cap_1"),
        ([("reproduced", A, "cap_1", True), ("gone", B, "cap_1", True)], "without an account sent the capture cap_1"),
    ],
)
def test_anything_else_proves_nothing_and_says_what_is_missing(posted: list[Run], missing: str) -> None:
    assert missing in (find_missing(*posted) or "")


def test_proof_is_newer_than_the_reopening() -> None:
    assert find_missing(("reproduced", A), ("gone", B), reopened_at=10) is None
    assert "reopened" in (find_missing(("reproduced", A), ("gone", B), reopened_at=11) or "")
