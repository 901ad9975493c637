"""How many bytes of captures and attachments companies store; triggers keep the figures."""

from typing import NamedTuple

from ticketbox.store.file.database import Read


class StoredBytes(NamedTuple):
    """How many bytes all companies store, and the one that stores most."""

    total: int
    largest: int


SELECT_STORED_BYTES = "SELECT bytes FROM company_storage WHERE company_id = ?"


def load_stored_bytes(tx: Read, company: int) -> int:
    """Load how many bytes a company stores; 0 if they aren't counted, which `ticketbox check` reports."""
    return tx.fetch_value(SELECT_STORED_BYTES, (company,)) or 0


def summarize_stored_bytes(tx: Read) -> StoredBytes:
    """Summarize what all companies store."""
    row = tx.fetch_one("SELECT ifnull(sum(bytes), 0), ifnull(max(bytes), 0) FROM company_storage")
    assert row is not None
    return StoredBytes._make(row)
