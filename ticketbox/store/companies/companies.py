"""Companies and the caller's role in them."""

from typing import NamedTuple

from ticketbox.domain.companies.records import Company, Limits, Storage
from ticketbox.domain.core.access.scopes import Role, RoleName
from ticketbox.domain.core.ids import Prefix, generate_id
from ticketbox.store.core.bylines import Bylines
from ticketbox.store.core.visibility import Viewer
from ticketbox.store.file.database import Read, Row, Write

_SELECT_COMPANY = """
SELECT co.id, co.public_id, co.name, co.reads_per_minute, co.writes_per_minute, s.bytes, co.second_factor_required,
  m.role, co.created_at, co.created_by
FROM member m JOIN company co ON co.id = m.company_id JOIN company_storage s ON s.company_id = co.id
WHERE m.user_id = :user AND (:pinned IS NULL OR co.id = :pinned)
"""


class _CompanyRow(NamedTuple):
    """A row of `_SELECT_COMPANY`."""

    key: int
    id: str
    name: str
    reads_per_minute: int | None
    writes_per_minute: int | None
    stored: int
    second_factor_required: int
    role: int
    created_at: int
    created_by: int


SELECT_COMPANIES = f"{_SELECT_COMPANY} AND co.id > :after ORDER BY co.id LIMIT :limit"
SELECT_COMPANY = f"{_SELECT_COMPANY} AND co.id = :key"


def list_companies(tx: Read, viewer: Viewer, after: int, limit: int) -> list[tuple[int, Company]]:
    """List the companies that the viewer sees, oldest first, each with its key."""
    return _build_companies(tx, tx.fetch_all(SELECT_COMPANIES, {**viewer, "after": after, "limit": limit}))


def load_company(tx: Read, viewer: Viewer, key: int) -> Company:
    """Load a company that the viewer sees."""
    return _build_companies(tx, tx.fetch_all(SELECT_COMPANY, {**viewer, "key": key}))[0][1]


def _build_companies(tx: Read, records: list[Row]) -> list[tuple[int, Company]]:
    rows = [_CompanyRow._make(row) for row in records]
    bylines = Bylines(tx, [row.created_by for row in rows])
    return [
        (
            row.key,
            Company(
                id=row.id,
                name=row.name,
                limits=Limits(row.reads_per_minute, row.writes_per_minute),
                storage=Storage(row.stored, tx.ceilings.storage_per_company),
                second_factor_required=bool(row.second_factor_required),
                role=RoleName(Role(row.role).label),
                created=bylines.build(row.created_by, row.created_at),
            ),
        )
        for row in rows
    ]


INSERT_COMPANY = "INSERT INTO company (public_id, name, created_at, created_by) VALUES (?, ?, ?, ?)"


def insert_company(tx: Write, name: str, byline: int) -> int:
    """Insert a company; return its key."""
    return tx.insert(INSERT_COMPANY, (generate_id(Prefix.COMPANY), name, tx.now, byline))


COUNT_COMPANIES = "SELECT count(*) FROM byline b JOIN company co ON co.created_by = b.id WHERE b.user_id = ?"


def count_companies(tx: Read, user: int) -> int:
    """Count the companies that a user created and that exist."""
    return tx.fetch_value(COUNT_COMPANIES, (user,))


def rename_company(tx: Write, key: int, name: str) -> None:
    """Change a company's name."""
    tx.execute("UPDATE company SET name = ? WHERE id = ?", (name, key))


def set_company_limits(tx: Write, key: int, reads: int | None, writes: int | None) -> None:
    """Set a company's limits; None restores the default."""
    tx.execute("UPDATE company SET reads_per_minute = ?, writes_per_minute = ? WHERE id = ?", (reads, writes, key))


def set_second_factor_required(tx: Write, key: int, required: bool) -> None:
    """Require a second factor of a company's members, or stop requiring it."""
    tx.execute("UPDATE company SET second_factor_required = ? WHERE id = ?", (required, key))


def delete_company(tx: Write, key: int) -> None:
    """Delete a company with everything in it."""
    tx.execute("DELETE FROM company WHERE id = ?", (key,))


def find_company_key(tx: Read, public_id: str) -> int | None:
    """Find a company's key by its public id, regardless of the caller."""
    return tx.fetch_value("SELECT id FROM company WHERE public_id = ?", (public_id,))


def load_company_id(tx: Read, key: int) -> str:
    """Load the public id of a company that exists."""
    return tx.fetch_value("SELECT public_id FROM company WHERE id = ?", (key,))
