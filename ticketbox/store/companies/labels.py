"""Labels of companies, and their names on tickets.

A ticket has the names of its labels, and `ticket_label` indexes them. A change of a label rewrites both.
"""

from collections.abc import Iterable
from typing import NamedTuple

from msgspec import UNSET, UnsetType

from ticketbox.domain.companies.labels import Label, LabelColor, choose_color
from ticketbox.domain.core.ids import Prefix, generate_id
from ticketbox.store.companies import views
from ticketbox.store.core.updates import update_columns
from ticketbox.store.file.database import Read, Write

_SELECT_LABEL = """
SELECT l.id, l.company_id, l.public_id, c.public_id, l.name, l.color, l.description
FROM label l JOIN company c ON c.id = l.company_id
"""


class LabelRow(NamedTuple):
    """A row of `_SELECT_LABEL`."""

    key: int
    company: int
    id: str
    company_id: str
    name: str
    color: str
    description: str

    def build_label(self) -> Label:
        """Return the label as it is shown."""
        return Label(self.id, self.company_id, self.name, LabelColor(self.color), self.description)


SELECT_LABELS = f"{_SELECT_LABEL} WHERE l.company_id = ? AND l.id > ? ORDER BY l.id LIMIT ?"


def list_labels(tx: Read, company: int, after: int, limit: int) -> list[tuple[int, Label]]:
    """List a company's labels in the order of their creation, each with its key."""
    rows = tx.fetch_all(SELECT_LABELS, (company, after, limit))
    return [(row.key, row.build_label()) for row in map(LabelRow._make, rows)]


SELECT_LABEL = f"{_SELECT_LABEL} WHERE l.public_id = ?"
SELECT_LABEL_BY_NAME = f"{_SELECT_LABEL} WHERE l.company_id = ? AND l.name = ?"


def find_label(tx: Read, public_id: str) -> LabelRow | None:
    """Find a label by its id, regardless of the caller."""
    row = tx.fetch_one(SELECT_LABEL, (public_id,))
    return None if row is None else LabelRow._make(row)


def find_label_by_name(tx: Read, company: int, name: str) -> LabelRow | None:
    """Find a company's label by its name, ignoring case."""
    row = tx.fetch_one(SELECT_LABEL_BY_NAME, (company, name))
    return None if row is None else LabelRow._make(row)


INSERT_LABEL = "INSERT INTO label (public_id, company_id, name, color, description) VALUES (?, ?, ?, ?, ?)"


def insert_label(tx: Write, company: int, name: str, color: LabelColor | None = None, description: str = "") -> str:
    """Insert a label and return its public id. Without a color, it gets the next one."""
    if color is None:
        color = choose_color(tx.fetch_value("SELECT count(*) FROM label WHERE company_id = ?", (company,)))
    public_id = generate_id(Prefix.LABEL)
    tx.insert(INSERT_LABEL, (public_id, company, name, color.value, description))
    return public_id


def ensure_labels(tx: Write, company: int, names: Iterable[str]) -> list[str]:
    """Return the names as the company's labels have them, and add labels for those that are new."""
    known: list[str] = []
    for name in names:
        row = find_label_by_name(tx, company, name)
        if row is None:
            insert_label(tx, company, name)
        known.append(name if row is None else row.name)
    return known


def update_label(
    tx: Write,
    row: LabelRow,
    *,
    name: str | UnsetType,
    color: LabelColor | UnsetType,
    description: str | UnsetType,
) -> int:
    """Change a label, and its name on all tickets; return the number of these tickets."""
    shown = UNSET if color is UNSET else color.value
    update_columns(tx, "label", row.key, name=name, color=shown, description=description)
    return 0 if name is UNSET or name == row.name else _replace_name(tx, row, name)


def merge_label(tx: Write, row: LabelRow, into: LabelRow) -> int:
    """Replace a label by another of the same company on all tickets, and delete it; return the number of tickets."""
    tx.execute("DELETE FROM label WHERE id = ?", (row.key,))
    return _replace_name(tx, row, into.name)


def delete_label(tx: Write, row: LabelRow) -> int:
    """Delete a label, and remove it from all tickets; return the number of these tickets."""
    tx.execute("DELETE FROM label WHERE id = ?", (row.key,))
    return _replace_name(tx, row, None)


# A ticket that has both labels keeps the new one at its place.
REPLACE_NAME = """
UPDATE ticket SET version = version + 1, labels = (
  SELECT json_group_array(name) FROM (
    SELECT CASE WHEN j.value = :old COLLATE NOCASE THEN :new ELSE j.value END AS name FROM json_each(ticket.labels) j
    WHERE j.value <> :old COLLATE NOCASE
      OR (:new IS NOT NULL AND (:new = :old COLLATE NOCASE OR NOT EXISTS (
        SELECT 1 FROM json_each(ticket.labels) o WHERE o.value = :new COLLATE NOCASE)))
    ORDER BY j.key))
WHERE id IN (
  SELECT l.ticket_id FROM project p CROSS JOIN ticket_label l ON l.label = :old AND l.project_id = p.id
  WHERE p.company_id = :company)
"""
DELETE_INDEXED = """
DELETE FROM ticket_label
WHERE label = :old AND project_id IN (SELECT id FROM project WHERE company_id = :company)
"""
UPDATE_INDEXED = """
UPDATE OR REPLACE ticket_label SET label = :new
WHERE label = :old AND project_id IN (SELECT id FROM project WHERE company_id = :company)
"""
UPDATE_AGENT_LABEL = (
    "UPDATE project SET agent_label = :new WHERE company_id = :company AND agent_label = :old COLLATE NOCASE"
)


def _replace_name(tx: Write, row: LabelRow, name: str | None) -> int:
    given = {"old": row.name, "new": name, "company": row.company}
    count = tx.execute(REPLACE_NAME, given)
    if name is None:
        tx.execute(DELETE_INDEXED, given)
    else:
        tx.execute(UPDATE_INDEXED, given)
        tx.execute(UPDATE_AGENT_LABEL, given)
        views.rename_label(tx, row.company, row.name, name)
    return count
