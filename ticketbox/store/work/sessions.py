"""Work sessions: one for each claim of a ticket, and at most one open session for each ticket."""

import hmac
from typing import NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from ticketbox.domain.core.ids import Prefix, generate_id
from ticketbox.domain.tickets.records import WorkRepository, WorkState
from ticketbox.domain.work.records import PlanItem, Usage, WorkLink
from ticketbox.store.core.updates import update_columns
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.events import events
from ticketbox.store.file.database import Read, Write


class SessionState(NamedTuple):
    """The fields of a work session that a write checks or changes. Keys are internal.

    `user` and `token_id` say who started it; the token is None in a web session.
    """

    key: int
    id: str
    ticket: int
    state: str
    run: str | None
    lease_hash: bytes | None
    start_key: bytes | None
    started_at: int
    started_by: int
    user: int
    token_id: str | None
    expires_at: int
    ended_at: int | None
    needs_plan_approval: int

    def is_current(self, now: int) -> bool:
        """Whether the session holds its ticket's claim."""
        return self.ended_at is None and self.expires_at > now


_SELECT_STATE = """
SELECT w.id, w.public_id, w.ticket_id, w.state, w.run, w.lease_hash, w.start_key, w.started_at, w.started_by,
  b.user_id, b.token_id, w.expires_at, w.ended_at, w.needs_plan_approval
FROM work_session w JOIN byline b ON b.id = w.started_by
"""
SELECT_BY_KEY = f"{_SELECT_STATE} WHERE w.id = ?"
SELECT_OPEN = f"{_SELECT_STATE} WHERE w.ticket_id = ? AND w.ended_at IS NULL"
SELECT_NEWEST = f"{_SELECT_STATE} WHERE w.ticket_id = ? ORDER BY w.id DESC LIMIT 100"


def load_state(tx: Read, key: int) -> SessionState:
    """Load the state of a session that exists."""
    row = tx.fetch_one(SELECT_BY_KEY, (key,))
    assert row is not None
    return SessionState._make(row)


def find_open_session(tx: Read, ticket: int) -> SessionState | None:
    """Find the session of a ticket that hasn't ended. Its lease may have expired."""
    row = tx.fetch_one(SELECT_OPEN, (ticket,))
    return None if row is None else SessionState._make(row)


def find_session_by_lease(tx: Read, ticket: int, lease_hash: bytes) -> SessionState | None:
    """Find the session of a ticket that a lease belongs to, among its newest 100."""
    sessions = map(SessionState._make, tx.fetch_all(SELECT_NEWEST, (ticket,)))
    return next((each for each in sessions if hmac.compare_digest(each.lease_hash or b"", lease_hash)), None)


class NewSession(msgspec.Struct, frozen=True):
    """The fields of a new session. `until` is when the claim expires unless it is renewed."""

    ticket: int
    byline: int
    until: int
    branch: str
    lease_hash: bytes
    start_key: bytes | None
    run: str | None
    needs_plan_approval: bool
    repository: WorkRepository | None


INSERT_SESSION = """
INSERT INTO work_session (public_id, ticket_id, project_id, run, lease_hash, start_key, expires_at, started_at,
  started_by, last_seen_at, needs_plan_approval, repository, state)
SELECT ?1, id, project_id, ?2, ?3, ?4, ?5, ?6, ?7, ?6, ?8, ?9, CASE WHEN ?8 THEN 'awaiting_input' ELSE 'active' END
FROM ticket WHERE id = ?10
"""


def start_session(tx: Write, new: NewSession) -> str:
    """Open a session and claim its ticket; return the session's id."""
    public_id = generate_id(Prefix.WORK_SESSION)
    values = (
        new.run,
        new.lease_hash,
        new.start_key,
        new.until,
        tx.now,
        new.byline,
        new.needs_plan_approval,
        None if new.repository is None else msgspec.json.encode(new.repository).decode(),
        new.ticket,
    )
    tx.execute(INSERT_SESSION, (public_id, *values))
    _claim_ticket(tx, new.ticket, new.byline, new.until, new.branch)
    return public_id


RENEW = """
UPDATE work_session SET last_seen_at = ?2, expires_at = CASE WHEN EXISTS (
  SELECT 1 FROM work_question q WHERE q.session_id = ?3 AND q.kind = 'done' AND q.answer IS NULL)
  THEN max(expires_at, ?1) ELSE ?1 END
WHERE id = ?3
"""


def renew_session(tx: Write, session: SessionState, until: int) -> None:
    """Set when a session's claim expires, and record a sign of life.

    A claim doesn't become shorter while a person must decide whether the ticket is done.
    """
    tx.execute(RENEW, (until, tx.now, session.key))
    _extend_claim(tx, session)


SELECT_CURRENT = f"{_SELECT_STATE} WHERE w.public_id = ? AND w.ended_at IS NULL AND w.expires_at > ?"


def find_current_session(tx: Read, session_id: str) -> SessionState | None:
    """Find a session that holds its ticket's claim."""
    row = tx.fetch_one(SELECT_CURRENT, (session_id, tx.now))
    return None if row is None else SessionState._make(row)


def confirm_claim(tx: Write, session_id: str, until: int) -> None:
    """Let the claim of a session last until a time, if it hasn't ended."""
    session = find_current_session(tx, session_id)
    if session is not None:
        renew_session(tx, session, max(until, session.expires_at))


LIMIT_CLAIM = "UPDATE work_session SET expires_at = min(expires_at, ?) WHERE id = ?"


def limit_claim(tx: Write, session: SessionState, until: int) -> None:
    """Let a session's claim end at a time, unless it ends before."""
    tx.execute(LIMIT_CLAIM, (until, session.key))
    _extend_claim(tx, session)


UPDATE_STATE = """
UPDATE work_session SET state = CASE WHEN needs_plan_approval OR EXISTS (
  SELECT 1 FROM work_question q WHERE q.session_id = ?1 AND q.answer IS NULL) THEN 'awaiting_input' ELSE 'active' END
WHERE id = ?1 AND ended_at IS NULL
"""


def update_state(tx: Write, session: int) -> None:
    """Set the state of an open session: it awaits input while a question, a request or its plan needs a person."""
    tx.execute(UPDATE_STATE, (session,))


def set_plan_approval(tx: Write, session: int, *, needed: bool) -> None:
    """Record whether a person must still approve the plan of a session."""
    tx.execute("UPDATE work_session SET needs_plan_approval = ? WHERE id = ?", (needed, session))
    update_state(tx, session)


class Progress(msgspec.Struct, frozen=True):
    """What a session reports; UNSET keeps the stored value."""

    note: str | UnsetType = UNSET
    plan: list[PlanItem] | UnsetType = UNSET
    links: list[WorkLink] | UnsetType = UNSET
    usage: Usage | UnsetType = UNSET
    repository: WorkRepository | UnsetType = UNSET


def update_progress(tx: Write, session: SessionState, progress: Progress) -> None:
    """Record the progress of a session."""
    stored_as_json = ("plan", "links", "usage", "repository")
    fields = {name: value for name in stored_as_json if (value := getattr(progress, name)) is not UNSET}
    encoded = {name: msgspec.json.encode(value).decode() for name, value in fields.items()}
    update_columns(tx, "work_session", session.key, note=progress.note, **encoded)


def load_plan(tx: Read, session: SessionState) -> list[PlanItem]:
    """Load the plan of a session."""
    text = tx.fetch_value("SELECT plan FROM work_session WHERE id = ?", (session.key,))
    return msgspec.json.decode(text, type=list[PlanItem])


def load_links(tx: Read, session: SessionState) -> list[WorkLink]:
    """Load the links of a session."""
    text = tx.fetch_value("SELECT links FROM work_session WHERE id = ?", (session.key,))
    return msgspec.json.decode(text, type=list[WorkLink])


def load_repository(tx: Read, session: SessionState) -> WorkRepository | None:
    """Load the repository that a session works in."""
    text = tx.fetch_value("SELECT repository FROM work_session WHERE id = ?", (session.key,))
    return None if text is None else msgspec.json.decode(text, type=WorkRepository)


def replace_lease(tx: Write, session: SessionState, lease_hash: bytes) -> None:
    """Replace a session's lease; the one before is no longer valid."""
    tx.execute("UPDATE work_session SET lease_hash = ? WHERE id = ?", (lease_hash, session.key))


END_SESSION = "UPDATE work_session SET state = ?, ended_at = ?, ended_by = ? WHERE id = ?"


def end_session(tx: Write, session: SessionState, state: WorkState, byline: int) -> None:
    """End an open session and release its ticket's claim."""
    tx.execute(END_SESSION, (state.value, tx.now, byline, session.key))
    _release_claim(tx, session.ticket)


class ExpiredSession(NamedTuple):
    """An open session whose lease expired, and where its ticket is."""

    session: SessionState
    project: int
    company: int


SELECT_EXPIRED = """
SELECT w.id, w.public_id, w.ticket_id, w.state, w.run, w.lease_hash, w.start_key, w.started_at, w.started_by,
  b.user_id, b.token_id, w.expires_at, w.ended_at, w.needs_plan_approval, p.id, p.company_id
FROM work_session w JOIN byline b ON b.id = w.started_by JOIN ticket t ON t.id = w.ticket_id
JOIN project p ON p.id = t.project_id
WHERE w.ended_at IS NULL AND w.expires_at <= ? ORDER BY w.expires_at LIMIT ?
"""


def list_expired_sessions(tx: Read, limit: int) -> list[ExpiredSession]:
    """List open sessions whose lease has expired, the oldest first."""
    rows = tx.fetch_all(SELECT_EXPIRED, (tx.now, limit))
    return [ExpiredSession(SessionState._make(state), project, company) for *state, project, company in rows]


def end_open_session(tx: Write, row: VisibleRow, byline: int) -> None:
    """End the session of a ticket, if it has one. Record an event only if its lease had expired."""
    session = find_open_session(tx, row.key)
    if session is None:
        return
    if session.is_current(tx.now):
        end_session(tx, session, WorkState.DONE, byline)
    else:
        end_stale_session(tx, session, row.project, row.company)


def end_stale_session(tx: Write, session: SessionState, project: int, company: int) -> None:
    """End a session whose lease expired, and record it in the name of the run that didn't renew it."""
    end_session(tx, session, WorkState.STALE, session.started_by)
    events.record_event(
        tx, "ticket.work_stale", session.started_by, company, project, session.ticket,
        session_id=session.id, run=session.run,
    )  # fmt: skip


def end_stale_sessions(tx: Write, limit: int = 1000) -> None:
    """End all sessions whose lease expired: housekeeping."""
    for session, project, company in list_expired_sessions(tx, limit):
        end_stale_session(tx, session, project, company)


CLAIM_TICKET = """
UPDATE ticket SET claimed_by = :by, claimed_at = :at, claimed_until = :until, branch = :branch WHERE id = :key
"""


def _claim_ticket(tx: Write, key: int, byline: int, until: int, branch: str) -> None:
    """Record who works on a ticket, until when, and on which branch: a copy of its open work session, for lists."""
    tx.execute(CLAIM_TICKET, {"key": key, "by": byline, "at": tx.now, "until": until, "branch": branch})


EXTEND_CLAIM = """
UPDATE ticket SET claimed_until = (SELECT w.expires_at FROM work_session w WHERE w.id = ?) WHERE id = ?
"""


def _extend_claim(tx: Write, session: SessionState) -> None:
    """Give a ticket's claim the end of its session."""
    tx.execute(EXTEND_CLAIM, (session.key, session.ticket))


RELEASE_CLAIM = "UPDATE ticket SET claimed_by = NULL, claimed_at = NULL, claimed_until = NULL WHERE id = ?"


def _release_claim(tx: Write, key: int) -> None:
    """Release the claim on a ticket; the branch stays recorded."""
    tx.execute(RELEASE_CLAIM, (key,))
