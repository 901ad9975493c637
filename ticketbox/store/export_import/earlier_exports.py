"""What records of earlier versions lack: the values that the migrations give to rows of a file."""

import sqlite3
from typing import Any

import msgspec

from ticketbox.domain.companies.labels import LabelColor
from ticketbox.domain.companies.project_keys import propose_keys
from ticketbox.domain.companies.records import ColumnKind, derive_column_kind

COLUMN_KINDS = 11
WORK_SESSIONS = 12
TICKET_KEYS = 14
WATCHERS = 23
THUMBNAILS = 18
ACTIONS = 21
LABELS = 28
EXTERNAL_CAPTURES = 52
_COLORS = msgspec.json.encode(list(LabelColor)).decode()


def complete_record(schema: int, table: str, row: dict[str, Any]) -> None:
    """Add what a record of a schema before this one lacks."""
    if schema < COLUMN_KINDS and table == "board_column":
        kind = derive_column_kind(str(row["name"]))
        row["kind"] = ColumnKind.TODO if row["position"] == 0 and kind is not ColumnKind.DONE else kind
    if schema < EXTERNAL_CAPTURES and table == "capture" and row.get("summary"):
        row["summary"] = _complete_summary(schema, row["summary"])


def _complete_summary(schema: int, text: str) -> str:
    summary: dict[str, Any] = msgspec.json.decode(text, type=dict[str, Any])
    if schema < THUMBNAILS:
        summary |= {"screenshot_version": 1, "main_error": None}
    summary["counts"].setdefault("actions", 0)
    summary["external"] = False
    return msgspec.json.encode(summary).decode()


MOVE_RESOLVED = """
UPDATE ticket SET column_id = n.target, position = n.last + n.place * 1048576
FROM (
  SELECT t.id AS id, d.id AS target,
    ifnull((SELECT max(o.position) FROM ticket o WHERE o.column_id = d.id), 0) AS last,
    row_number() OVER (PARTITION BY d.id ORDER BY c.position, t.position, t.id) AS place
  FROM ticket t JOIN board_column c ON c.id = t.column_id AND c.kind <> 'done'
  JOIN board_column d ON d.project_id = c.project_id AND d.kind = 'done'
  WHERE t.id > :first AND t.resolved AND d.position = (
    SELECT min(e.position) FROM board_column e WHERE e.project_id = d.project_id AND e.kind = 'done')
) n
WHERE ticket.id = n.id
"""
RESOLVE_DONE = """
UPDATE ticket SET resolved = 1
WHERE id > :first AND NOT resolved AND column_id IN (SELECT id FROM board_column WHERE kind = 'done')
"""
RELEASE_CLAIMS = """
UPDATE ticket SET claimed_by = NULL, claimed_at = NULL, claimed_until = NULL
WHERE id > :first AND claimed_until IS NOT NULL
"""

ADD_WATCHERS = """
INSERT OR IGNORE INTO ticket_watcher (ticket_id, user_id)
SELECT t.id, b.user_id FROM ticket t JOIN byline b ON b.id = t.created_by WHERE t.id > :first
UNION SELECT ticket_id, user_id FROM ticket_assignee WHERE ticket_id > :first
UNION SELECT c.ticket_id, b.user_id FROM comment c JOIN byline b ON b.id = c.created_by WHERE c.ticket_id > :first
"""

# The colors as `choose_color` gives them to a company's first labels, in the order of their first tickets.
ADD_LABELS = f"""
INSERT INTO label (public_id, company_id, name, color)
SELECT 'lbl_' || lower(hex(randomblob(6))), company_id, name,
  json_extract('{_COLORS}', '$[' || ((row_number() OVER (PARTITION BY company_id ORDER BY first, name) - 1)
    % json_array_length('{_COLORS}')) || ']')
FROM (
  SELECT p.company_id AS company_id, l.label AS name, min(l.ticket_id) AS first
  FROM ticket_label l JOIN ticket t ON t.id = l.ticket_id JOIN project p ON p.id = t.project_id
  WHERE l.ticket_id > :first GROUP BY p.company_id, l.label
)
"""


MARK_EXTERNAL_CAPTURES = """
UPDATE capture SET summary = json_set(summary, '$.external', json('true'))
WHERE ticket_id > :first AND created_by IN (SELECT id FROM byline WHERE token_id GLOB 'rpk_*')
"""

NUMBER_TICKETS = """
UPDATE ticket SET number = n.number
FROM (SELECT id, row_number() OVER (PARTITION BY project_id ORDER BY id) AS number FROM ticket WHERE id > :first) n
WHERE ticket.id = n.id
"""
COUNT_NUMBERS = """
UPDATE project SET next_number = 1 + (SELECT count(*) FROM ticket t WHERE t.project_id = project.id) WHERE key IS NULL
"""
SELECT_PROJECTS_WITHOUT_KEY = "SELECT id, company_id, name FROM project WHERE key IS NULL ORDER BY id"
HAS_KEY = "SELECT 1 FROM project_key WHERE company_id = ? AND key = ?"
INSERT_KEY = "INSERT INTO project_key (company_id, key, project_id) VALUES (?, ?, ?)"


def complete_tickets(schema: int, connection: sqlite3.Connection, first: int) -> None:
    """Bring tickets with keys above `first`, imported from an earlier schema, to the present one."""
    if schema < TICKET_KEYS:
        connection.execute(NUMBER_TICKETS, {"first": first})
        connection.execute(COUNT_NUMBERS)
        for project, company, name in connection.execute(SELECT_PROJECTS_WITHOUT_KEY).fetchall():
            key = next(key for key in propose_keys(name) if not connection.execute(HAS_KEY, (company, key)).fetchone())
            connection.execute(INSERT_KEY, (company, key, project))
            connection.execute("UPDATE project SET key = ? WHERE id = ?", (key, project))
    if schema < COLUMN_KINDS:
        connection.execute(MOVE_RESOLVED, {"first": first})
        connection.execute(RESOLVE_DONE, {"first": first})
    if schema < WORK_SESSIONS:
        connection.execute(RELEASE_CLAIMS, {"first": first})
    if schema < WATCHERS:
        connection.execute(ADD_WATCHERS, {"first": first})
    if schema < LABELS:
        connection.execute(ADD_LABELS, {"first": first})
    if schema < EXTERNAL_CAPTURES:
        connection.execute(MARK_EXTERNAL_CAPTURES, {"first": first})
