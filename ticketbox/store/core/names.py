"""What callers can name instead of sending an id: the projects, columns and people that they can access."""

import msgspec

from ticketbox.store.core.visibility import WITH_VISIBLE_PROJECTS, Viewer
from ticketbox.store.file.database import Read


class NamedRow(msgspec.Struct, frozen=True):
    """A row's id and name, a second name that belongs to one row (a key, an email address), and what it is part of."""

    id: str
    name: str
    alias: str
    home: str


SELECT_PROJECTS = f"""
{WITH_VISIBLE_PROJECTS}
SELECT v.public_id, v.name, v.key, co.name
FROM visible_project v JOIN company co ON co.id = v.company WHERE v.within ORDER BY v.id
"""


def list_projects(tx: Read, viewer: Viewer) -> list[NamedRow]:
    """List the projects that the caller can access, with their keys."""
    return [NamedRow(*row) for row in tx.fetch_all(SELECT_PROJECTS, viewer)]


SELECT_COLUMNS = f"""
{WITH_VISIBLE_PROJECTS}
SELECT c.public_id, c.name, '', v.name
FROM visible_project v JOIN board_column c ON c.project_id = v.id
WHERE v.within AND (:project IS NULL OR v.id = :project) ORDER BY v.id, c.position
"""


def list_columns(tx: Read, viewer: Viewer, project: int | None) -> list[NamedRow]:
    """List the columns of a project, or of all projects that the caller can access, from left to right."""
    return [NamedRow(*row) for row in tx.fetch_all(SELECT_COLUMNS, {**viewer, "project": project})]


SELECT_VIEWS = f"""
{WITH_VISIBLE_PROJECTS}
SELECT s.public_id, s.name, s.public_id, v.name
FROM visible_project v JOIN saved_view s ON s.project_id = v.id
WHERE v.within AND (:project IS NULL OR v.public_id = :project) AND (s.shared OR s.user_id = :user) ORDER BY s.id
"""


def list_views(tx: Read, viewer: Viewer, project: str | None) -> list[NamedRow]:
    """List the saved views of a project, or of all projects that the caller can access."""
    return [NamedRow(*row) for row in tx.fetch_all(SELECT_VIEWS, {**viewer, "project": project})]


SELECT_LABELS = """
SELECT l.public_id, l.name, '', co.name
FROM member m JOIN company co ON co.id = m.company_id JOIN label l ON l.company_id = co.id
WHERE m.user_id = :user AND (:pinned IS NULL OR m.company_id = :pinned) AND (:company IS NULL OR co.id = :company)
ORDER BY l.id
"""


def list_labels(tx: Read, viewer: Viewer, company: int | None) -> list[NamedRow]:
    """List the labels of a company, or of all companies that the caller can access."""
    return [NamedRow(*row) for row in tx.fetch_all(SELECT_LABELS, {**viewer, "company": company})]


SELECT_PEOPLE = f"""
{WITH_VISIBLE_PROJECTS}
SELECT DISTINCT u.public_id, u.name, u.email, u.email
FROM (SELECT DISTINCT v.company FROM visible_project v
  WHERE v.within AND (:project IS NULL OR v.id = :project)) c
JOIN member m ON m.company_id = c.company JOIN user u ON u.id = m.user_id
WHERE (:project IS NULL OR m.all_projects OR EXISTS (
    SELECT 1 FROM member_project x WHERE x.member_id = m.id AND x.project_id = :project))
  AND (:id IS NULL OR u.public_id = :id)
ORDER BY u.id
"""


def list_people(tx: Read, viewer: Viewer, project: int | None, public_id: str | None = None) -> list[NamedRow]:
    """List the members who see a project, or of all companies with projects that the caller can access.

    With an id, only that member is listed.
    """
    given = {**viewer, "project": project, "id": public_id}
    return [NamedRow(*row) for row in tx.fetch_all(SELECT_PEOPLE, given)]
