"""The filters and the order of a saved view."""

import msgspec

from ticketbox.domain.tickets.records import Sort
from ticketbox.domain.tickets.view_filters import ViewFilters
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
