"""Acceptance criteria of tickets, and the evidence that they are met (docs/use/criteria.md)."""

from collections.abc import Collection, Sequence
from enum import StrEnum

import msgspec

from ticketbox.domain.core.records import By, Time
from ticketbox.domain.work.verifications import is_same_commit

QUOTED = 80  # characters of a criterion's text in a refusal


class CriterionState(StrEnum):
    """Whether a criterion is met. A person can waive it."""

    OPEN = "open"
    MET = "met"
    WAIVED = "waived"


class EvidenceKind(StrEnum):
    """What shows that a criterion is met."""

    VERIFICATION = "verification"
    COMMAND = "command"
    CHECK = "check"
    PICTURE = "picture"
    STATEMENT = "statement"


class Grade(StrEnum):
    """How far evidence can be trusted: an agent says so, a machine ran it, or a person looked."""

    STATED = "stated"
    CHECKED = "checked"
    ACCEPTED = "accepted"


class Evidence(msgspec.Struct, frozen=True):
    """What shows that a criterion is met, or isn't.

    `text` is what was said, or the command. `passed` is null if it only says or shows something. `output` is the end of
    what a command printed. `commit` is what was checked out, and `dirty` says that files differed from it. `picture` is
    the id of an attachment. `stale`: the ticket's pull request has a newer commit, or the criterion or the ticket was
    reopened since; then it proves nothing.
    """

    id: str
    kind: EvidenceKind
    grade: Grade
    text: str
    passed: bool | None
    exit_status: int | None
    duration_ms: int | None
    output: list[str]
    commit: str | None
    dirty: bool
    verification_id: str | None
    picture: str | None
    stale: bool
    at: Time
    by: By


class Criterion(msgspec.Struct, frozen=True):
    """What must be true before a ticket is done, with its newest 20 pieces of evidence, newest first.

    `proposed`: an agent wrote it, and no person has agreed to it yet.
    """

    id: str
    text: str
    state: CriterionState
    proposed: bool
    evidence: list[Evidence]
    created: By


class NewestCommit(msgspec.Struct, frozen=True):
    """The newest known commit of a ticket's pull request, and when it became that, in epoch milliseconds."""

    hash: str
    at: int


def grade_evidence(kind: EvidenceKind, *, is_agent: bool) -> Grade:
    """Return the grade of evidence: it follows from its kind and from who adds it."""
    if kind in {EvidenceKind.COMMAND, EvidenceKind.CHECK, EvidenceKind.VERIFICATION}:
        return Grade.CHECKED
    return Grade.STATED if is_agent else Grade.ACCEPTED


def decide_state(before: CriterionState, grade: Grade, passed: bool | None) -> CriterionState:
    """Return the state of a criterion after new evidence. Statements of agents change nothing."""
    if before is CriterionState.WAIVED:
        return before
    if passed is False:
        return CriterionState.OPEN
    return before if grade is Grade.STATED else CriterionState.MET


def is_stale(at: int, commit: str | None, opened_at: int, newest: NewestCommit | None) -> bool:
    """Whether evidence of a time is older than its criterion, or than a pull request's commit that it isn't about."""
    if at < opened_at:
        return True
    if newest is None or (commit is not None and is_same_commit(newest.hash, commit)):
        return False
    return at < newest.at


def find_missing_evidence(criteria: Sequence[Criterion], verifiers: Collection[str] = ()) -> list[str]:
    """Say for each criterion what it lacks; an empty list if all are met or waived.

    `verifiers` are the ids of the users and tokens whose checks count; everybody's, if it is empty.
    """
    missing: list[str] = []
    for number, criterion in enumerate(criteria, 1):
        if criterion.state is CriterionState.WAIVED:
            continue
        if lack := _find_lack(criterion, verifiers):
            text = criterion.text if len(criterion.text) <= QUOTED else f"{criterion.text[: QUOTED - 1]}…"
            missing.append(f"{number}. “{text}” {lack}")
    return missing


def _find_lack(criterion: Criterion, verifiers: Collection[str]) -> str | None:
    if not criterion.evidence:
        return "has no evidence"
    counted = [each for each in criterion.evidence if _counts(each, verifiers)]
    if not counted:
        graded = any(each.grade is not Grade.STATED for each in criterion.evidence)
        return "has only checks by others than the project's verifiers" if graded else "has only statements of agents"
    newest = counted[0]
    if newest.passed is False:
        return f"failed on {newest.commit[:7]}" if newest.commit else "failed in its newest check"
    if newest.stale:
        return "has only stale evidence; check it again on the newest commit"
    return None if criterion.state is CriterionState.MET else "is open"


def _counts(evidence: Evidence, verifiers: Collection[str]) -> bool:
    if evidence.grade is Grade.CHECKED:
        return not verifiers or evidence.by.user.id in verifiers or evidence.by.token_id in verifiers
    return evidence.grade is Grade.ACCEPTED
