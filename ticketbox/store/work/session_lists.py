"""Work sessions as everybody sees them: one, and lists of a ticket's, a company's or all visible ones."""

from typing import NamedTuple

import msgspec

from ticketbox.domain.core.clock import format_rfc3339
from ticketbox.domain.tickets.records import WorkRepository, WorkState
from ticketbox.domain.work.records import PlanItem, Usage, WorkLink, WorkSession, WorkTicket
from ticketbox.store.core.bylines import Bylines
from ticketbox.store.core.visibility import WITH_VISIBLE_PROJECTS, Viewer
from ticketbox.store.file.database import Read
from ticketbox.store.work import questions

_plan = msgspec.json.Decoder(list[PlanItem])
_links = msgspec.json.Decoder(list[WorkLink])
_usage = msgspec.json.Decoder(Usage)
_repository = msgspec.json.Decoder(WorkRepository)


class _SessionRow(NamedTuple):
    """A row of `_COLUMNS`."""

    key: int
    id: str
    ticket_id: str
    ticket_prefix: str
    ticket_number: int
    title: str
    project_id: str
    company_id: str
    run: str | None
    state: str
    note: str | None
    plan: str
    links: str
    usage: str | None
    repository: str | None
    started_at: int
    started_by: int
    last_seen_at: int
    expires_at: int
    ended_at: int | None
    ended_by: int | None


_COLUMNS = """
w.id, w.public_id, t.public_id, p.key, t.number, t.title, p.public_id, co.public_id, w.run, w.state,
  w.note, w.plan, w.links, w.usage, w.repository, w.started_at, w.started_by, w.last_seen_at, w.expires_at, w.ended_at,
  w.ended_by
FROM work_session w JOIN ticket t ON t.id = w.ticket_id JOIN project p ON p.id = t.project_id
JOIN company co ON co.id = p.company_id
"""
SELECT_SESSION = f"SELECT {_COLUMNS} WHERE w.id = ?"


def load_session(tx: Read, key: int) -> WorkSession:
    """Load a session that exists."""
    row = tx.fetch_one(SELECT_SESSION, (key,))
    assert row is not None
    return _build_sessions(tx, [_SessionRow._make(row)])[0][1]


SELECT_SESSIONS_OF_TICKET = f"""
SELECT {_COLUMNS} WHERE w.id IN (
  SELECT i.id FROM work_session i
  WHERE i.ticket_id = :ticket AND i.id < :before AND (:state IS NULL OR i.state = :state)
    AND (:open = 0 OR i.expires_at > :now)
  ORDER BY i.id DESC LIMIT :limit)
ORDER BY w.id DESC
"""
# Each visible project contributes at most one page by its index. An open session whose lease expired isn't active; it
# becomes stale with the next housekeeping.
_SELECT_VISIBLE_SESSIONS = f"""
{WITH_VISIBLE_PROJECTS}
SELECT {_COLUMNS} WHERE w.id IN (
  SELECT x.value FROM visible_project v CROSS JOIN json_each((
    SELECT json_group_array(id) FROM (
      SELECT i.id FROM work_session i WHERE i.project_id = v.id AND i.id < :before {{condition}}
      ORDER BY i.id DESC LIMIT :limit))) x
  WHERE v.within AND (:company IS NULL OR v.company_id = :company))
ORDER BY w.id DESC LIMIT :limit
"""
SELECT_VISIBLE_SESSIONS = _SELECT_VISIBLE_SESSIONS.format(condition="")
SELECT_VISIBLE_SESSIONS_BY_STATE = _SELECT_VISIBLE_SESSIONS.format(
    condition="AND i.state = :state AND (:open = 0 OR i.expires_at > :now)"
)


class SessionFilter(msgspec.Struct, frozen=True):
    """Which sessions a list returns; `ticket` is the key of one that the viewer can see."""

    ticket: int | None
    company: str | None
    state: WorkState | None


def list_sessions(
    tx: Read, viewer: Viewer, wanted: SessionFilter, before: int, limit: int
) -> list[tuple[int, WorkSession]]:
    """List sessions, newest first, each with its key."""
    is_open = wanted.state in {WorkState.ACTIVE, WorkState.AWAITING_INPUT}
    parameters = {
        "before": before, "limit": limit, "now": tx.now, "open": int(is_open),
        "state": wanted.state and wanted.state.value,
    }  # fmt: skip
    if wanted.ticket is not None:
        rows = tx.fetch_all(SELECT_SESSIONS_OF_TICKET, {**parameters, "ticket": wanted.ticket})
    else:
        sql = SELECT_VISIBLE_SESSIONS if wanted.state is None else SELECT_VISIBLE_SESSIONS_BY_STATE
        rows = tx.fetch_all(sql, {**viewer, **parameters, "company": wanted.company})
    return _build_sessions(tx, [_SessionRow._make(row) for row in rows])


def _build_sessions(tx: Read, rows: list[_SessionRow]) -> list[tuple[int, WorkSession]]:
    bylines = Bylines(tx, [key for row in rows for key in (row.started_by, row.ended_by)])
    asked = questions.list_newest_questions(tx, [row.key for row in rows]) if rows else {}
    found: list[tuple[int, WorkSession]] = []
    for row in rows:
        is_current = row.ended_at is None and row.expires_at > tx.now
        session = WorkSession(
            id=row.id,
            ticket=WorkTicket(
                row.ticket_id,
                f"{row.ticket_prefix}-{row.ticket_number}",
                f"{tx.public_url}/tickets/{row.ticket_id}",
                row.title,
                row.project_id,
                row.company_id,
            ),
            by=bylines.build(row.started_by, row.started_at),
            run=row.run,
            state=WorkState(row.state) if is_current or row.ended_at is not None else WorkState.STALE,
            note=row.note,
            plan=_plan.decode(row.plan),
            links=_links.decode(row.links),
            usage=None if row.usage is None else _usage.decode(row.usage),
            repository=None if row.repository is None else _repository.decode(row.repository),
            question=asked.get(row.key),
            started=format_rfc3339(row.started_at),
            last_seen=format_rfc3339(row.last_seen_at),
            until=format_rfc3339(row.expires_at) if is_current else None,
            ended=bylines.build_optional(row.ended_by, row.ended_at),
        )
        found.append((row.key, session))
    return found
