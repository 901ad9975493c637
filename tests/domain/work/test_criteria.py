"""Grades, states and staleness of evidence, and what a gate misses (docs/use/criteria.md)."""

from typing import Any

import pytest

from ticketbox.domain.core.access.policy import Via
from ticketbox.domain.core.records import By, Person
from ticketbox.domain.work.criteria import (
    Criterion,
    CriterionState,
    Evidence,
    EvidenceKind,
    Grade,
    NewestCommit,
    decide_state,
    find_missing_evidence,
    grade_evidence,
    is_stale,
)

AT = "2026-11-21T09:30:00.000Z"
HEAD = NewestCommit("ab" * 20, 100)


def build_evidence(grade: Grade, passed: bool | None, token: str | None = "key_ci", **given: Any) -> Evidence:
    fields: dict[str, Any] = {
        "id": "evd_1", "kind": EvidenceKind.COMMAND, "text": "npm test", "exit_status": None, "duration_ms": None,
        "output": [], "commit": "9fceb02d", "dirty": False, "verification_id": None, "picture": None, "stale": False,
        "at": AT, "by": By(Person("usr_ann", "Ann"), token, token, Via.REST, AT),
    }  # fmt: skip
    return Evidence(grade=grade, passed=passed, **{**fields, **given})


def build_criterion(*evidence: Evidence, state: CriterionState = CriterionState.MET) -> Criterion:
    by = By(Person("usr_ann", "Ann"), None, None, Via.WEB, AT)
    return Criterion("crt_1", "The total is right", state, False, list(evidence), by)


CHECKED, FAILED = build_evidence(Grade.CHECKED, True), build_evidence(Grade.CHECKED, False)
STATED, ACCEPTED = build_evidence(Grade.STATED, None), build_evidence(Grade.ACCEPTED, None, None)


@pytest.mark.parametrize("kind", list(EvidenceKind))
def test_only_machines_check_and_only_people_accept(kind: EvidenceKind) -> None:
    is_said = kind in {EvidenceKind.STATEMENT, EvidenceKind.PICTURE}
    assert grade_evidence(kind, is_agent=True) is (Grade.STATED if is_said else Grade.CHECKED)
    assert grade_evidence(kind, is_agent=False) is (Grade.ACCEPTED if is_said else Grade.CHECKED)


@pytest.mark.parametrize(
    ("before", "grade", "passed", "after"),
    [
        ("open", Grade.STATED, None, "open"),
        ("met", Grade.STATED, None, "met"),
        ("open", Grade.CHECKED, True, "met"),
        ("met", Grade.CHECKED, False, "open"),
        ("open", Grade.ACCEPTED, None, "met"),
        ("waived", Grade.CHECKED, False, "waived"),
        ("waived", Grade.CHECKED, True, "waived"),
    ],
)
def test_evidence_decides_the_state(before: str, grade: Grade, passed: bool | None, after: str) -> None:
    assert decide_state(CriterionState(before), grade, passed) is CriterionState(after)


@pytest.mark.parametrize(
    ("at", "commit", "opened_at", "newest", "stale"),
    [
        (50, None, 0, None, False),
        (50, None, 60, None, True),
        (50, "cd" * 20, 0, HEAD, True),
        (50, None, 0, HEAD, True),
        (50, "ab" * 20, 0, HEAD, False),
        (50, "abababab", 0, HEAD, False),
        (150, "cd" * 20, 0, HEAD, False),
        (150, None, 0, HEAD, False),
        (150, "ab" * 20, 160, HEAD, True),
    ],
)
def test_evidence_is_stale_before_the_newest_commit_or_the_last_change(
    at: int, commit: str | None, opened_at: int, newest: NewestCommit | None, stale: bool
) -> None:
    assert is_stale(at, commit, opened_at, newest) is stale


@pytest.mark.parametrize(
    ("evidence", "state", "lack"),
    [
        ([], "open", "has no evidence"),
        ([STATED], "open", "has only statements of agents"),
        ([FAILED, CHECKED], "open", "failed on 9fceb02"),
        ([build_evidence(Grade.CHECKED, True, stale=True)], "met", "has only stale evidence"),
        ([CHECKED], "open", "is open"),
        ([STATED, CHECKED], "met", None),
        ([ACCEPTED, FAILED], "met", None),
        ([], "waived", None),
    ],
)
def test_missing_evidence_is_named(evidence: list[Evidence], state: str, lack: str | None) -> None:
    missing = find_missing_evidence([build_criterion(*evidence, state=CriterionState(state))])
    assert (missing == []) if lack is None else (lack in missing[0])


def test_only_checks_of_verifiers_count_if_there_are_any() -> None:
    criterion = build_criterion(CHECKED)
    assert find_missing_evidence([criterion], ["key_ci"]) == []
    assert find_missing_evidence([criterion], ["usr_ann"]) == []
    assert "others than the project's verifiers" in find_missing_evidence([criterion], ["key_other"])[0]
    assert find_missing_evidence([build_criterion(ACCEPTED)], ["key_other"]) == []
