"""The filters and the order of saved views."""

import msgspec

from ticketbox.domain.tickets.fields import ViewFilters
from ticketbox.domain.tickets.records import Sort
from ticketbox.store.core.visibility import WITH_VISIBLE_PROJECTS, Viewer
from ticketbox.store.file.database import Read


class SavedFilters(msgspec.Struct, frozen=True):
    """What a view lists: the tickets of a project, with filters and an order; None is the usual order."""

    filters: ViewFilters
    sort: Sort | None


_decoder = msgspec.json.Decoder(SavedFilters)

SELECT_FILTERS = """
SELECT p.public_id, s.definition FROM saved_view s JOIN project p ON p.id = s.project_id WHERE s.public_id = ?
"""


def load_saved_filters(tx: Read, view: str) -> tuple[str, SavedFilters]:
    """Load the project's id, the filters and the order of a view. The caller must have checked that it is visible."""
    project, definition = tx.fetch_all(SELECT_FILTERS, (view,))[0]
    return project, _decoder.decode(definition)


LIST_FILTERS = f"""
{WITH_VISIBLE_PROJECTS}
SELECT s.public_id, v.public_id, s.definition FROM visible_project v JOIN saved_view s ON s.project_id = v.id
WHERE v.within AND (s.shared OR s.user_id = :user) AND v.company = :company
ORDER BY s.id LIMIT :limit
"""


def list_filters(tx: Read, viewer: Viewer, company: int, limit: int) -> list[tuple[str, str, ViewFilters]]:
    """List a company's views that the viewer sees, oldest first: their ids, their projects' ids and their filters."""
    rows = tx.fetch_all(LIST_FILTERS, {**viewer, "company": company, "limit": limit})
    return [(view, project, _decoder.decode(definition).filters) for view, project, definition in rows]
