"""Links of tickets to branches, commits and pull requests, and the checks of their newest commits."""

import msgspec

from ticketbox.domain.core.clock import DAY, format_rfc3339
from ticketbox.domain.core.ids import TicketKey, parse_ticket_reference
from ticketbox.domain.git.changes import CheckChange, LinkChange
from ticketbox.domain.git.records import Checks, GitLink, GitLinkKind, GitState
from ticketbox.store.file.database import Read, Write

MAX_LINKS = 100
LISTED = 50
CHECK_RETENTION_MS = 30 * DAY

SELECT_BY_ID = "SELECT id FROM ticket WHERE public_id = :id AND project_id = :project"
SELECT_BY_KEY = """
SELECT t.id FROM project_key k CROSS JOIN ticket t ON t.id IN (
  SELECT now.id FROM ticket now WHERE now.project_id = k.project_id AND now.number = :number
  UNION ALL SELECT a.ticket_id FROM ticket_number_alias a WHERE a.project_id = k.project_id AND a.number = :number)
WHERE k.company_id = (SELECT company_id FROM project WHERE id = :project) AND k.key = :key AND t.project_id = :project
"""


def find_ticket_of_project(tx: Read, project: int, text: str) -> int | None:
    """Find the ticket of a project that has an id or a key, an earlier one too."""
    reference = parse_ticket_reference(text)
    if isinstance(reference, TicketKey):
        given = {"project": project, "key": reference.project, "number": reference.number}
        return tx.fetch_value(SELECT_BY_KEY, given)
    return None if reference is None else tx.fetch_value(SELECT_BY_ID, {"id": reference, "project": project})


class LinkState(msgspec.Struct, frozen=True):
    """The state of a link. Keys are internal."""

    key: int
    ticket: int
    url: str
    title: str
    state: GitState | None
    head: str | None
    changed_at: int


_SELECT_STATE = "SELECT id, ticket_id, url, title, state, head, changed_at FROM git_link"
SELECT_BY_URL = f"{_SELECT_STATE} WHERE project_id = ? AND url = ?"
# A repository that is renamed has other addresses.
SELECT_BY_HEAD = f"{_SELECT_STATE} WHERE project_id = ? AND head = ? AND kind = 'pull_request' AND name = ?"


def list_known(tx: Read, project: int, change: LinkChange) -> list[LinkState]:
    """List the links that a project's hooks made to a branch, commit or pull request."""
    rows = tx.fetch_all(SELECT_BY_URL, (project, change.url))
    if not rows and change.kind is GitLinkKind.PULL_REQUEST and change.head is not None:
        rows = tx.fetch_all(SELECT_BY_HEAD, (project, change.head, change.name))
    return [
        LinkState(key, ticket, url, title, None if state is None else GitState(state), head, at)
        for key, ticket, url, title, state, head, at in rows
    ]


COUNT_LINKS = "SELECT count(*) FROM git_link WHERE ticket_id = ?"
INSERT_LINK = """
INSERT OR IGNORE INTO git_link (ticket_id, project_id, kind, url, name, title, state, head, changed_at, head_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


def insert_link(tx: Write, ticket: int, project: int, change: LinkChange, at: int) -> bool:
    """Link a ticket, unless it has as many links as it may; return whether it did."""
    if tx.fetch_value(COUNT_LINKS, (ticket,)) >= MAX_LINKS:
        return False
    state = None if change.state is None else change.state.value
    row = (ticket, project, change.kind.value, change.url, change.name, change.title, state, change.head, at, tx.now)
    return tx.execute(INSERT_LINK, row) > 0


UPDATE_LINK = """
UPDATE git_link SET url = :url, title = :title, state = :state, changed_at = :at,
  head_at = iif(ifnull(:head, head) IS head, head_at, :now), head = ifnull(:head, head)
WHERE id = :key
"""


def update_link(tx: Write, key: int, change: LinkChange, at: int) -> None:
    """Update what a link shows."""
    state = None if change.state is None else change.state.value
    values = {"url": change.url, "title": change.title, "state": state, "head": change.head, "at": at, "key": key}
    tx.execute(UPDATE_LINK, {**values, "now": tx.now})


HAS_HEAD = "SELECT 1 FROM git_link WHERE project_id = ? AND head = ?"
UPSERT_CHECK = """
INSERT INTO git_check (project_id, head, name, state, changed_at, checks) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (project_id, head, name) DO UPDATE
SET state = excluded.state, changed_at = excluded.changed_at, checks = excluded.checks
WHERE excluded.changed_at >= changed_at
"""
COUNT_CHECKS = "SELECT count(*) FROM git_check WHERE project_id = ? AND head = ?"
MAX_CHECKS = 200


def record_check(tx: Write, project: int, change: CheckChange, at: int) -> None:
    """Record the state of a check, if the commit is the newest one of a link."""
    if tx.fetch_one(HAS_HEAD, (project, change.head)) is None:
        return
    if tx.fetch_value(COUNT_CHECKS, (project, change.head)) < MAX_CHECKS:
        tx.execute(UPSERT_CHECK, (project, change.head, change.name, change.state.value, at, change.count))


# Old checks of commits that are no longer the newest of a link.
DELETE_OLD_CHECKS = """
DELETE FROM git_check WHERE changed_at < ? AND NOT EXISTS (
  SELECT 1 FROM git_link l WHERE l.project_id = git_check.project_id AND l.head = git_check.head)
"""


def delete_old_checks(tx: Write) -> None:
    """Delete checks that no link shows."""
    tx.execute(DELETE_OLD_CHECKS, (tx.now - CHECK_RETENTION_MS,))


# Pull requests first, then branches, then commits; the newest of each first.
SELECT_LINKS = """
SELECT l.kind, l.url, l.name, l.title, l.state, l.changed_at,
  (SELECT iif(max(c.state = 'failing'), 'failing', iif(max(c.state = 'pending'), 'pending', max(c.state)))
    FROM git_check c WHERE c.project_id = l.project_id AND c.head = l.head),
  (SELECT nullif(sum(c.checks), 0) FROM git_check c WHERE c.project_id = l.project_id AND c.head = l.head)
FROM git_link l WHERE l.ticket_id = ?
ORDER BY CASE l.kind WHEN 'pull_request' THEN 0 WHEN 'branch' THEN 1 ELSE 2 END, l.changed_at DESC, l.id DESC LIMIT ?
"""


def list_links(tx: Read, ticket: int) -> list[GitLink]:
    """List a ticket's pull requests, branches and commits."""
    return [
        GitLink(
            GitLinkKind(kind),
            url,
            name,
            title,
            None if state is None else GitState(state),
            None if checks is None else Checks(checks),
            count,
            format_rfc3339(at),
        )
        for kind, url, name, title, state, at, checks, count in tx.fetch_all(SELECT_LINKS, (ticket, LISTED))
    ]
