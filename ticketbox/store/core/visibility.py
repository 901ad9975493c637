"""Visibility: the one query that decides which rows a caller sees (docs/use/tokens.md, "Restrictions").

`visible_project` lists every project that the credential's owner can see, with their role there; `within` is
true if the credential's restriction includes the project. A row that isn't listed doesn't exist for the caller;
a row with `within` false can't be read, and writes to it are forbidden.
"""

from collections.abc import Mapping

import msgspec

from ticketbox.domain.core.access.scopes import Role
from ticketbox.store.file.database import Read

Viewer = Mapping[str, int | None]

WITH_VISIBLE_PROJECTS = """
WITH visible_project (id, public_id, name, key, company, company_id, role, within) AS (
  SELECT p.id, p.public_id, p.name, p.key, p.company_id, co.public_id, m.role,
    (:pinned IS NULL OR p.company_id = :pinned)
    AND (NOT :restricted OR EXISTS (
      SELECT 1 FROM credential_project r WHERE r.credential_id = :credential AND r.project_id = p.id))
  FROM member m JOIN company co ON co.id = m.company_id JOIN project p ON p.company_id = m.company_id
  WHERE m.user_id = :user
    AND (m.all_projects OR EXISTS (
      SELECT 1 FROM member_project mp WHERE mp.member_id = m.id AND mp.project_id = p.id))
)
"""


class VisibleRow(msgspec.Struct, frozen=True):
    """A row that the owner can see: its keys, the owner's role, and whether the restriction includes it."""

    key: int
    project: int
    company: int
    role: Role
    within: bool


_SELECT_BY_NOUN = {
    "project": "SELECT v.id, v.id, v.company, v.role, v.within FROM visible_project v WHERE v.public_id = :id",
    "column": """
        SELECT c.id, v.id, v.company, v.role, v.within
        FROM board_column c JOIN visible_project v ON v.id = c.project_id WHERE c.public_id = :id""",
    "view": """
        SELECT s.id, v.id, v.company, v.role, v.within
        FROM saved_view s JOIN visible_project v ON v.id = s.project_id
        WHERE s.public_id = :id AND (s.shared OR s.user_id = :user)""",
    "ticket": """
        SELECT t.id, v.id, v.company, v.role, v.within
        FROM ticket t JOIN visible_project v ON v.id = t.project_id WHERE t.public_id = :id""",
    "comment": """
        SELECT c.id, v.id, v.company, v.role, v.within
        FROM comment c JOIN ticket t ON t.id = c.ticket_id JOIN visible_project v ON v.id = t.project_id
        WHERE c.public_id = :id""",
    "capture": """
        SELECT c.id, v.id, v.company, v.role, v.within
        FROM capture c JOIN ticket t ON t.id = c.ticket_id JOIN visible_project v ON v.id = t.project_id
        WHERE c.public_id = :id""",
    "expectation": """
        SELECT e.id, v.id, v.company, v.role, v.within
        FROM expectation e JOIN capture c ON c.id = e.capture_id JOIN ticket t ON t.id = c.ticket_id
        JOIN visible_project v ON v.id = t.project_id WHERE e.public_id = :id""",
    "question": """
        SELECT q.id, v.id, v.company, v.role, v.within
        FROM work_question q JOIN work_session w ON w.id = q.session_id JOIN ticket t ON t.id = w.ticket_id
        JOIN visible_project v ON v.id = t.project_id WHERE q.public_id = :id""",
    "work session": """
        SELECT w.id, v.id, v.company, v.role, v.within
        FROM work_session w JOIN ticket t ON t.id = w.ticket_id JOIN visible_project v ON v.id = t.project_id
        WHERE w.public_id = :id""",
    "criterion": """
        SELECT r.id, v.id, v.company, v.role, v.within
        FROM criterion r JOIN ticket t ON t.id = r.ticket_id JOIN visible_project v ON v.id = t.project_id
        WHERE r.public_id = :id""",
    "verification": """
        SELECT n.id, v.id, v.company, v.role, v.within
        FROM verification n JOIN ticket t ON t.id = n.ticket_id JOIN visible_project v ON v.id = t.project_id
        WHERE n.public_id = :id""",
    "source map": """
        SELECT s.id, v.id, v.company, v.role, v.within
        FROM source_map s JOIN visible_project v ON v.id = s.project_id WHERE s.public_id = :id""",
    "asset": """
        SELECT a.id, v.id, v.company, v.role, v.within
        FROM asset a JOIN ticket t ON t.id = a.ticket_id JOIN visible_project v ON v.id = t.project_id
        WHERE a.public_id = :id""",
}
NOUNS = tuple(_SELECT_BY_NOUN)


def find_visible_row(tx: Read, viewer: Viewer, noun: str, public_id: str) -> VisibleRow | None:
    """Find a row by its public id, if the credential's owner can see it."""
    row = tx.fetch_one(WITH_VISIBLE_PROJECTS + _SELECT_BY_NOUN[noun], {**viewer, "id": public_id})
    if row is None:
        return None
    key, project, company, role, within = row
    return VisibleRow(key, project, company, Role(role), bool(within))
