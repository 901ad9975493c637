"""Acceptance criteria of tickets, and their evidence."""

from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from ticketbox.domain.core.clock import format_rfc3339
from ticketbox.domain.core.ids import Prefix, generate_id
from ticketbox.domain.work.criteria import (
    Criterion,
    CriterionState,
    Evidence,
    EvidenceKind,
    Grade,
    NewestCommit,
    is_stale,
)
from ticketbox.store.core.bylines import Bylines
from ticketbox.store.core.updates import update_columns
from ticketbox.store.file.database import Read, Write
from ticketbox.store.work.verifications import find_reopened_at

LISTED = 20  # pieces of evidence of each criterion


class _CriterionRow(NamedTuple):
    key: int
    id: str
    text: str
    state: str
    proposed: int
    opened_at: int
    created_at: int
    created_by: int


class _EvidenceRow(NamedTuple):
    criterion: int
    id: str
    kind: str
    grade: str
    text: str
    passed: int | None
    exit_status: int | None
    duration_ms: int | None
    output: str
    commit: str | None
    dirty: int
    verification_id: str | None
    picture: str | None
    created_at: int
    created_by: int


SELECT_CRITERIA = """
SELECT id, public_id, text, state, proposed, opened_at, created_at, created_by
FROM criterion WHERE ticket_id = ? ORDER BY id
"""
SELECT_EVIDENCE = """
SELECT e.criterion_id, e.public_id, e.kind, e.grade, e.text, e.passed, e.exit_status, e.duration_ms, e.output,
  e.commit_hash, e.dirty, n.public_id, a.public_id, e.created_at, e.created_by
FROM criterion r CROSS JOIN evidence e ON e.id IN (
  SELECT x.id FROM evidence x WHERE x.criterion_id = r.id ORDER BY x.id DESC LIMIT ?2)
LEFT JOIN verification n ON n.id = e.verification_id LEFT JOIN asset a ON a.id = e.picture_id
WHERE r.ticket_id = ?1 ORDER BY e.id DESC
"""
# The open pull request first, else the one that changed last.
SELECT_NEWEST_COMMIT = """
SELECT head, head_at FROM git_link
WHERE ticket_id = ? AND kind = 'pull_request' AND head IS NOT NULL AND head_at IS NOT NULL
ORDER BY state IS 'open' DESC, head_at DESC, id DESC LIMIT 1
"""


def list_criteria(tx: Read, ticket: int) -> list[Criterion]:
    """List the criteria of a ticket, oldest first, with their evidence, newest first."""
    rows = [_CriterionRow._make(row) for row in tx.fetch_all(SELECT_CRITERIA, (ticket,))]
    if not rows:
        return []
    found = [_EvidenceRow._make(row) for row in tx.fetch_all(SELECT_EVIDENCE, (ticket, LISTED))]
    bylines = Bylines(tx, (row.created_by for row in [*rows, *found]))
    head = tx.fetch_one(SELECT_NEWEST_COMMIT, (ticket,))
    newest = None if head is None else NewestCommit(*head)
    reopened_at = find_reopened_at(tx, ticket)
    return [
        Criterion(
            id=row.id,
            text=row.text,
            state=CriterionState(row.state),
            proposed=bool(row.proposed),
            evidence=[
                _build_evidence(each, bylines, max(row.opened_at, reopened_at), newest)
                for each in found
                if each.criterion == row.key
            ],
            created=bylines.build(row.created_by, row.created_at),
        )
        for row in rows
    ]


def _build_evidence(row: _EvidenceRow, bylines: Bylines, opened_at: int, newest: NewestCommit | None) -> Evidence:
    return Evidence(
        id=row.id,
        kind=EvidenceKind(row.kind),
        grade=Grade(row.grade),
        text=row.text,
        passed=None if row.passed is None else bool(row.passed),
        exit_status=row.exit_status,
        duration_ms=row.duration_ms,
        output=msgspec.json.decode(row.output, type=list[str]),
        commit=row.commit,
        dirty=bool(row.dirty),
        verification_id=row.verification_id,
        picture=row.picture,
        stale=is_stale(row.created_at, None if row.dirty else row.commit, opened_at, newest),
        at=format_rfc3339(row.created_at),
        by=bylines.build(row.created_by, row.created_at),
    )


SELECT_TICKET = "SELECT ticket_id FROM criterion WHERE id = ?"


def load_ticket_key(tx: Read, key: int) -> int:
    """Load the key of the ticket that has a criterion."""
    return tx.fetch_value(SELECT_TICKET, (key,))


INSERT_CRITERION = """
INSERT INTO criterion (public_id, ticket_id, text, proposed, opened_at, created_at, created_by)
VALUES (:id, :ticket, :text, :proposed, :now, :now, :byline)
"""


def insert_criterion(tx: Write, ticket: int, text: str, byline: int, *, proposed: bool) -> str:
    """Insert a criterion, and return its id."""
    public_id = generate_id(Prefix.CRITERION)
    given = {
        "id": public_id, "ticket": ticket, "text": text, "proposed": proposed, "now": tx.now, "byline": byline,
    }  # fmt: skip
    tx.insert(INSERT_CRITERION, given)
    return public_id


def update_criterion(
    tx: Write,
    key: int,
    *,
    text: str | UnsetType = UNSET,
    state: CriterionState | UnsetType = UNSET,
    proposed: bool | UnsetType = UNSET,
    opened: bool = False,
) -> None:
    """Update the fields that are set. `opened`: the evidence so far is stale."""
    update_columns(
        tx,
        "criterion",
        key,
        text=text,
        state=UNSET if state is UNSET else state.value,
        proposed=proposed,
        opened_at=tx.now if opened else UNSET,
    )


AGREE = "UPDATE criterion SET proposed = 0 WHERE ticket_id = ? AND text IN (SELECT value FROM json_each(?))"


def agree_to_criteria(tx: Write, ticket: int, texts: list[str]) -> None:
    """Record that a person agreed to the criteria with these texts."""
    tx.execute(AGREE, (ticket, msgspec.json.encode(texts).decode()))


def delete_criterion(tx: Write, key: int) -> None:
    """Delete a criterion with its evidence."""
    tx.execute("DELETE FROM criterion WHERE id = ?", (key,))


class NewEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of new evidence; `criterion`, `verification` and `picture` are internal keys."""

    criterion: int
    kind: EvidenceKind
    grade: Grade
    text: str
    passed: bool | None = None
    exit_status: int | None = None
    duration_ms: int | None = None
    output: list[str] = []
    commit: str | None = None
    dirty: bool = False
    verification: int | None = None
    picture: int | None = None
    byline: int


INSERT_EVIDENCE = """
INSERT INTO evidence (public_id, criterion_id, kind, grade, text, passed, exit_status, duration_ms, output, commit_hash,
  dirty, verification_id, picture_id, created_at, created_by)
VALUES (:id, :criterion, :kind, :grade, :text, :passed, :exit_status, :duration_ms, :output, :commit, :dirty,
  :verification, :picture, :now, :byline)
"""


def insert_evidence(tx: Write, new: NewEvidence) -> str:
    """Insert evidence, and return its id."""
    values: dict[str, Any] = {
        **msgspec.structs.asdict(new),
        "id": generate_id(Prefix.EVIDENCE),
        "kind": new.kind.value,
        "grade": new.grade.value,
        "output": msgspec.json.encode(new.output).decode(),
        "now": tx.now,
    }
    tx.insert(INSERT_EVIDENCE, values)
    return values["id"]
