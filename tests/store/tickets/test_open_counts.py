"""Counts of open tickets end at their deadline."""

import contextlib
import time
from pathlib import Path

from tests.store.file.test_query_plans import VIEWER, FilledDatabase
from ticketbox.domain.tickets.fields import ViewFilters
from ticketbox.store.file.transactions import Read
from ticketbox.store.tickets.open_counts import count_assigned, count_of_view

NOTHING = ViewFilters(
    assignee=[], label=["nothing"], priority=[], has_labels=None, resolved=None, has_due_date=None, overdue=False
)


def test_count_that_takes_too_long_has_no_number(tmp_path: Path) -> None:
    with contextlib.closing(FilledDatabase(tmp_path / "filled.db", 3_000).connection) as connection:
        connection.execute("UPDATE ticket SET resolved = 1")
        tx = Read(connection, 0)
        past, later = time.monotonic() - 1, time.monotonic() + 60
        assert count_assigned(tx, VIEWER, 100, later) == 0
        assert count_assigned(tx, VIEWER, 100, past) is None
        connection.execute("UPDATE ticket SET resolved = 0")
        assert count_of_view(tx, VIEWER, "proj_1", NOTHING, 100, later) == 0
        assert count_of_view(tx, VIEWER, "proj_1", NOTHING, 100, past) is None
        assert count_assigned(tx, VIEWER, 100, later) == 100  # the connection is as good as before
