"""Questions of work sessions to people, and their answers."""

from typing import NamedTuple

import msgspec

from ticketbox.domain.core.ids import Prefix, generate_id
from ticketbox.domain.work.records import QuestionKind, WorkQuestion
from ticketbox.store.core.bylines import Bylines
from ticketbox.store.file.database import Read, Write
from ticketbox.store.work import sessions


class _QuestionRow(NamedTuple):
    """A row of `_SELECT_QUESTION`."""

    key: int
    session: int
    id: str
    session_id: str
    question: str
    choices: str
    asked_at: int
    asked_by: int
    answer: str | None
    answered_at: int | None
    answered_by: int | None
    kind: str
    note: str | None


_SELECT_QUESTION = """
SELECT q.id, q.session_id, q.public_id, w.public_id, q.question, q.choices, q.asked_at, q.asked_by, q.answer,
  q.answered_at, q.answered_by, q.kind, q.note
FROM work_question q JOIN work_session w ON w.id = q.session_id
"""
SELECT_QUESTION_BY_KEY = f"{_SELECT_QUESTION} WHERE q.id = ?"
SELECT_NEWEST_QUESTION = f"{_SELECT_QUESTION} WHERE q.session_id = ? ORDER BY q.id DESC LIMIT 1"
SELECT_OPEN_QUESTION = f"""
{_SELECT_QUESTION} WHERE w.ticket_id = ? AND w.ended_at IS NULL AND q.answer IS NULL ORDER BY q.id DESC LIMIT 1
"""
SELECT_NEWEST_QUESTIONS = f"""
{_SELECT_QUESTION} WHERE q.id IN (
  SELECT (SELECT max(n.id) FROM work_question n WHERE n.session_id = j.value) FROM json_each(?) j)
"""


def load_question(tx: Read, key: int) -> WorkQuestion:
    """Load a question that exists."""
    row = tx.fetch_one(SELECT_QUESTION_BY_KEY, (key,))
    assert row is not None
    return _build_questions(tx, [_QuestionRow._make(row)])[0]


def find_newest_question(tx: Read, session: int) -> WorkQuestion | None:
    """Find the newest question of a session."""
    row = tx.fetch_one(SELECT_NEWEST_QUESTION, (session,))
    return None if row is None else _build_questions(tx, [_QuestionRow._make(row)])[0]


def find_open_question(tx: Read, ticket: int) -> WorkQuestion | None:
    """Find the question that the run working on a ticket waits for."""
    row = tx.fetch_one(SELECT_OPEN_QUESTION, (ticket,))
    return None if row is None else _build_questions(tx, [_QuestionRow._make(row)])[0]


def list_newest_questions(tx: Read, sessions: list[int]) -> dict[int, WorkQuestion]:
    """Return the newest question of each of these sessions that has one, by the session's key."""
    keys = msgspec.json.encode(sessions).decode()
    rows = [_QuestionRow._make(row) for row in tx.fetch_all(SELECT_NEWEST_QUESTIONS, (keys,))]
    return {row.session: question for row, question in zip(rows, _build_questions(tx, rows), strict=True)}


def _build_questions(tx: Read, rows: list[_QuestionRow]) -> list[WorkQuestion]:
    bylines = Bylines(tx, [key for row in rows for key in (row.asked_by, row.answered_by)])
    return [
        WorkQuestion(
            id=row.id,
            session_id=row.session_id,
            kind=QuestionKind(row.kind),
            question=row.question,
            choices=msgspec.json.decode(row.choices, type=list[str]),
            asked=bylines.build(row.asked_by, row.asked_at),
            answer=row.answer,
            answered=bylines.build_optional(row.answered_by, row.answered_at),
            note=row.note,
        )
        for row in rows
    ]


HAS_APPROVED_PLAN = """
SELECT EXISTS (SELECT 1 FROM work_question
WHERE session_id = ?1 AND kind = 'plan' AND answer = 'approved'
  AND (?2 IS NULL OR question = ?2 OR instr(question, ?2 || ?3) = 1))
"""
# Separates the plan in a request from the criteria that are approved with it. A step has one line.
CRITERIA_HEADING = "\n\nAcceptance criteria:\n"


def has_approved_plan(tx: Read, session: int, request: str | None = None) -> bool:
    """Whether a person approved a plan of a session: any, or the one of a request, with any criteria."""
    return bool(tx.fetch_value(HAS_APPROVED_PLAN, (session, request, CRITERIA_HEADING)))


class QuestionState(NamedTuple):
    """What an answer checks: the question's session, its ticket, and the user whose run asked. Keys are internal."""

    session: int
    ticket: int
    user: int
    session_state: str


SELECT_QUESTION_STATE = """
SELECT w.id, w.ticket_id, b.user_id, w.state FROM work_question q
JOIN work_session w ON w.id = q.session_id JOIN byline b ON b.id = w.started_by WHERE q.id = ?
"""


def load_question_state(tx: Read, key: int) -> QuestionState:
    """Load the state of a question that exists."""
    row = tx.fetch_one(SELECT_QUESTION_STATE, (key,))
    assert row is not None
    return QuestionState._make(row)


class Outcome(NamedTuple):
    """What a run asks for its ticket: the key of a column, and whether it is resolved; None changes nothing."""

    column: int | None
    resolved: bool | None


NO_OUTCOME = Outcome(None, None)


class NewQuestion(msgspec.Struct, frozen=True):
    """The fields of a new question; `outcome` is what a person accepts."""

    session: int
    question: str
    choices: list[str]
    byline: int
    kind: QuestionKind = QuestionKind.QUESTION
    outcome: Outcome = NO_OUTCOME


INSERT_QUESTION = """
INSERT INTO work_question (public_id, session_id, question, choices, asked_at, asked_by, kind, column_id, resolved)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


def insert_question(tx: Write, new: NewQuestion) -> WorkQuestion:
    """Insert a question; its session awaits input."""
    public_id, packed = generate_id(Prefix.QUESTION), msgspec.json.encode(new.choices).decode()
    values = (public_id, new.session, new.question, packed, tx.now, new.byline, new.kind.value, *new.outcome)
    key = tx.insert(INSERT_QUESTION, values)
    sessions.update_state(tx, new.session)
    return load_question(tx, key)


SELECT_OUTCOME = "SELECT column_id, resolved FROM work_question WHERE public_id = ?"


def load_outcome(tx: Read, public_id: str) -> Outcome:
    """Load what a request asks for its ticket."""
    row = tx.fetch_one(SELECT_OUTCOME, (public_id,))
    assert row is not None
    column, resolved = row
    return Outcome(column, None if resolved is None else bool(resolved))


ANSWER_QUESTION = """
UPDATE work_question SET answer = ?, note = ?, answered_at = ?, answered_by = ? WHERE public_id = ?
RETURNING id, session_id
"""


def answer_question(tx: Write, public_id: str, answer: str, byline: int, note: str | None = None) -> WorkQuestion:
    """Record the answer to a question; without another open one, its session is active."""
    row = tx.fetch_one(ANSWER_QUESTION, (answer, note, tx.now, byline, public_id))
    assert row is not None
    key, session = row
    sessions.update_state(tx, session)
    return load_question(tx, key)
