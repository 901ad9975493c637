"""Questions of work sessions to people, and their answers."""

from typing import NamedTuple

import msgspec

from ticketbox.domain.core.ids import Prefix, generate_id
from ticketbox.domain.work.records import WorkQuestion
from ticketbox.store.core.bylines import Bylines
from ticketbox.store.file.database import Read, Write


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


_SELECT_QUESTION = """
SELECT q.id, q.session_id, q.public_id, w.public_id, q.question, q.choices, q.asked_at, q.asked_by, q.answer,
  q.answered_at, q.answered_by
FROM work_question q JOIN work_session w ON w.id = q.session_id
"""
SELECT_QUESTION_BY_KEY = f"{_SELECT_QUESTION} WHERE q.id = ?"
SELECT_NEWEST_QUESTION = f"{_SELECT_QUESTION} WHERE q.session_id = ? ORDER BY q.id DESC LIMIT 1"
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
            question=row.question,
            choices=msgspec.json.decode(row.choices, type=list[str]),
            asked=bylines.build(row.asked_by, row.asked_at),
            answer=row.answer,
            answered=bylines.build_optional(row.answered_by, row.answered_at),
        )
        for row in rows
    ]


class QuestionState(NamedTuple):
    """What an answer checks: the question's session, its ticket, and the token that asked. Keys are internal."""

    session: int
    ticket: int
    token_id: str | None
    session_state: str


SELECT_QUESTION_STATE = """
SELECT w.id, w.ticket_id, b.token_id, w.state FROM work_question q
JOIN work_session w ON w.id = q.session_id JOIN byline b ON b.id = w.started_by WHERE q.id = ?
"""


def load_question_state(tx: Read, key: int) -> QuestionState:
    """Load the state of a question that exists."""
    row = tx.fetch_one(SELECT_QUESTION_STATE, (key,))
    assert row is not None
    return QuestionState._make(row)


INSERT_QUESTION = """
INSERT INTO work_question (public_id, session_id, question, choices, asked_at, asked_by) VALUES (?, ?, ?, ?, ?, ?)
"""


def insert_question(tx: Write, session: int, question: str, choices: list[str], byline: int) -> int:
    """Insert a question; return its key."""
    packed = msgspec.json.encode(choices).decode()
    return tx.insert(INSERT_QUESTION, (generate_id(Prefix.QUESTION), session, question, packed, tx.now, byline))


ANSWER_QUESTION = "UPDATE work_question SET answer = ?, answered_at = ?, answered_by = ? WHERE id = ?"


def answer_question(tx: Write, key: int, answer: str, byline: int) -> None:
    """Record the answer to a question."""
    tx.execute(ANSWER_QUESTION, (answer, tx.now, byline, key))
