"""Partial updates: an UPDATE that sets the columns that were given, NULL included."""

from typing import Any

from msgspec import UNSET

from ticketbox.store.file.database import Write


def update_columns(tx: Write, table: str, key: int, **values: Any) -> None:
    """Set columns of the row with an internal key; UNSET keeps a column's value, None sets it to NULL.

    `table` and the names of `values` become part of the statement: pass literals only, never input.
    """
    changes = {name: value for name, value in values.items() if value is not UNSET}
    if changes:
        assignments = ", ".join(f"{name} = :{name}" for name in changes)
        tx.execute(f"UPDATE {table} SET {assignments} WHERE id = :key", {**changes, "key": key})
