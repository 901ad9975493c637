"""Saved views of projects."""

from typing import NamedTuple

import msgspec
from msgspec import UnsetType

from ticketbox.domain.companies.views import SavedView, ViewDefinition
from ticketbox.domain.core.ids import Prefix, generate_id
from ticketbox.store.core.bylines import Bylines
from ticketbox.store.core.updates import update_columns
from ticketbox.store.core.visibility import WITH_VISIBLE_PROJECTS, Viewer
from ticketbox.store.file.database import Read, Row, Write

_definitions = msgspec.json.Decoder(ViewDefinition)

_SELECT_VIEW = f"""
{WITH_VISIBLE_PROJECTS}
SELECT s.id, s.public_id, v.company_id, v.public_id, s.name, s.shared, s.definition, s.created_at, s.created_by
FROM visible_project v JOIN saved_view s ON s.project_id = v.id
WHERE v.within AND (s.shared OR s.user_id = :user)
"""


class _ViewRow(NamedTuple):
    """A row of `_SELECT_VIEW`."""

    key: int
    id: str
    company_id: str
    project_id: str
    name: str
    shared: int
    definition: str
    created_at: int
    created_by: int


SELECT_VIEWS = f"""{_SELECT_VIEW}
AND (:company IS NULL OR v.company_id = :company) AND (:project IS NULL OR v.public_id = :project) AND s.id > :after
ORDER BY s.id LIMIT :limit"""
SELECT_VIEW = f"{_SELECT_VIEW} AND s.id = :key"


def list_views(
    tx: Read, viewer: Viewer, company: str | None, project: str | None, after: int, limit: int
) -> list[tuple[int, SavedView]]:
    """List the views that the viewer sees, oldest first, each with its key."""
    given = {**viewer, "company": company, "project": project, "after": after, "limit": limit}
    return _build_views(tx, tx.fetch_all(SELECT_VIEWS, given))


def load_view(tx: Read, viewer: Viewer, key: int) -> SavedView:
    """Load a view that the viewer sees."""
    return _build_views(tx, tx.fetch_all(SELECT_VIEW, {**viewer, "key": key}))[0][1]


def _build_views(tx: Read, records: list[Row]) -> list[tuple[int, SavedView]]:
    rows = [_ViewRow._make(row) for row in records]
    bylines = Bylines(tx, [row.created_by for row in rows])
    return [
        (
            row.key,
            SavedView(
                id=row.id,
                company_id=row.company_id,
                project_id=row.project_id,
                name=row.name,
                shared=bool(row.shared),
                created=bylines.build(row.created_by, row.created_at),
                **msgspec.structs.asdict(_definitions.decode(row.definition)),
            ),
        )
        for row in rows
    ]


def count_views(tx: Read, project: int) -> int:
    """Count the views of a project, those of other people too."""
    return tx.fetch_value("SELECT count(*) FROM saved_view WHERE project_id = ?", (project,))


INSERT_VIEW = """
INSERT INTO saved_view (public_id, project_id, user_id, name, shared, definition, created_at, created_by)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""


def insert_view(
    tx: Write, project: int, user: int, byline: int, name: str, definition: ViewDefinition, *, shared: bool
) -> int:
    """Insert a view and return its key."""
    text = msgspec.json.encode(definition).decode()
    return tx.insert(
        INSERT_VIEW, (generate_id(Prefix.VIEW), project, user, name, int(shared), text, tx.now, byline)
    )  # fmt: skip


def is_owner(tx: Read, key: int, user: int) -> bool:
    """Whether a user owns a view."""
    return tx.fetch_value("SELECT user_id FROM saved_view WHERE id = ?", (key,)) == user


def update_view(
    tx: Write, key: int, *, name: str | UnsetType, shared: bool | UnsetType, definition: ViewDefinition
) -> None:
    """Change a view."""
    text = msgspec.json.encode(definition).decode()
    flag = shared if isinstance(shared, UnsetType) else int(shared)
    update_columns(tx, "saved_view", key, name=name, shared=flag, definition=text)


def delete_view(tx: Write, key: int) -> None:
    """Delete a view."""
    tx.execute("DELETE FROM saved_view WHERE id = ?", (key,))


RENAME_LABEL = """
UPDATE saved_view SET definition = json_set(definition, '$.filters.label', (
  SELECT json_group_array(DISTINCT CASE WHEN j.value = :old COLLATE NOCASE THEN :new ELSE j.value END)
  FROM json_each(saved_view.definition, '$.filters.label') j))
WHERE project_id IN (SELECT id FROM project WHERE company_id = :company)
  AND EXISTS (
    SELECT 1 FROM json_each(saved_view.definition, '$.filters.label') j WHERE j.value = :old COLLATE NOCASE)
"""


def rename_label(tx: Write, company: int, old: str, new: str) -> None:
    """Replace the name of a label in the filters of a company's views."""
    tx.execute(RENAME_LABEL, {"company": company, "old": old, "new": new})
