"""Which verifications prove that a bug is fixed."""

from typing import NamedTuple

import pytest

from ticketbox.domain.tickets.records import Verdict
from ticketbox.domain.work.verifications import is_fix_proven

A, B = "a" * 40, "b" * 40


class Proof(NamedTuple):
    """A verification, as the gate reads it."""

    verdict: Verdict
    commit: str
    capture: int | None = 1
    created_at: int = 10


Run = tuple[str, str] | tuple[str, str, int | None]


def prove(*oldest_first: Run, reopened_at: int = 0) -> bool:
    proofs = [Proof(Verdict(run[0]), run[1], run[2] if len(run) > 2 else 1) for run in oldest_first]
    return is_fix_proven(proofs[::-1], reopened_at)


def test_reproduced_before_and_gone_after_on_another_commit_prove_a_fix() -> None:
    assert prove(("reproduced", A), ("gone", B))
    assert prove(("reproduced", A), ("flaky", B), ("gone", B))
    assert prove(("reproduced", A, None), ("gone", B, None))


@pytest.mark.parametrize(
    "posted",
    [
        [],
        [("reproduced", A)],
        [("gone", B)],
        [("gone", B), ("reproduced", A)],  # the wrong order
        [("reproduced", A), ("gone", A)],
        [("reproduced", A), ("gone", A[:7])],  # the same commit, abbreviated
        [("reproduced", A[:9]), ("gone", A)],
        [("reproduced", B), ("reproduced", A), ("gone", B)],  # it was reproduced there once
        [("reproduced", A), ("gone", B), ("reproduced", "c" * 40)],
        [("reproduced", A), ("gone", B), ("flaky", B)],
        [("reproduced", A), ("gone", B), ("different_error", B)],
        [("reproduced", A), ("not_reached", B)],
        [("reproduced", A, 1), ("gone", B, 2)],  # of another capture
    ],
)
def test_anything_else_proves_nothing(posted: list[Run]) -> None:
    assert not prove(*posted)


def test_proof_is_newer_than_the_reopening() -> None:
    assert prove(("reproduced", A), ("gone", B), reopened_at=10)
    assert not prove(("reproduced", A), ("gone", B), reopened_at=11)
