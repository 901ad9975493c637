"""Labels and assignments carry a copy of what lists of tickets choose and sort by."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.store.file.test_query_plans import FilledDatabase

COPIES = """
SELECT l.{who}, t.id FROM {table} l JOIN ticket t ON t.id = l.ticket_id
WHERE (l.project_id, l.status, l.updated_at, l.priority, l.due_day, l.title_key)
  IS NOT (t.project_id, t.status, t.updated_at, t.priority, t.due_day, t.title_key)
"""


def astray(connection: sqlite3.Connection) -> list[tuple[object, int]]:
    """Labels and assignments whose copy isn't what their ticket says."""
    return [
        row
        for table, who in (("ticket_label", "label"), ("ticket_assignee", "user_id"))
        for row in connection.execute(COPIES.format(table=table, who=who))
    ]


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A file with some tickets, half of them with a label, two thirds assigned."""
    with contextlib.closing(FilledDatabase(tmp_path / "filled.db", 30).connection) as opened:
        yield opened


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE ticket SET project_id = 2 WHERE id < 20",
        "UPDATE ticket SET status = 'archived'",
        "UPDATE ticket SET updated_at = updated_at + id, priority = 4 - priority",
        "UPDATE ticket SET due_on = '2026-12-24' WHERE id < 20",
        "UPDATE ticket SET title_key = 'zoo' WHERE id < 20",
        "INSERT INTO ticket_label (label, ticket_id) SELECT 'new', id FROM ticket",
        "INSERT OR REPLACE INTO ticket_assignee (ticket_id, user_id) SELECT id, 1 FROM ticket",
        "INSERT OR IGNORE INTO ticket_assignee (ticket_id, user_id) SELECT id, 1 FROM ticket",
    ],
)
def test_copied_columns_follow_their_ticket(connection: sqlite3.Connection, change: str) -> None:
    assert astray(connection) == []
    assert connection.execute(change).rowcount > 0
    assert astray(connection) == []
