"""Who reported a ticket without an account, and the receipt that shows its state (docs/use/reports.md)."""

import msgspec

from ticketbox.domain.core.clock import format_rfc3339
from ticketbox.domain.reports.records import Reporter, ReportState, ReportStatus
from ticketbox.store.file.database import Read, Write


class ReportText(msgspec.Struct, frozen=True):
    """What a reporter wrote, for the receipt and for those who want to ask.

    `user_id` is set if the site where they reported signed who they are.
    """

    title: str
    name: str
    email: str
    user_id: str | None


INSERT_REPORT = """
INSERT INTO report (ticket_id, key_id, receipt_hash, title, name, email, user_id, created_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""


def insert_report(tx: Write, ticket: int, key: int, receipt_hash: bytes, reported: ReportText) -> None:
    """Insert who reported a ticket."""
    row = (
        ticket, key, receipt_hash, reported.title, reported.name, reported.email, reported.user_id, tx.now,
    )  # fmt: skip
    tx.execute(INSERT_REPORT, row)


SELECT_REPORTER = """
SELECT t.public_id, k.public_id, r.name, r.email, r.user_id, r.created_at
FROM report r JOIN ticket t ON t.id = r.ticket_id LEFT JOIN report_key k ON k.id = r.key_id WHERE r.ticket_id = ?
"""


def find_reporter(tx: Read, ticket: int) -> Reporter | None:
    """Find who reported a ticket; None if nobody without an account did."""
    row = tx.fetch_one(SELECT_REPORTER, (ticket,))
    if row is None:
        return None
    ticket_id, key_id, name, email, user_id, at = row
    return Reporter(ticket_id, key_id, name, email, user_id, user_id is not None, format_rfc3339(at))


SELECT_TITLE = "SELECT title FROM report WHERE ticket_id = ?"


def load_reported_title(tx: Read, ticket: int) -> str:
    """Load the title as the reporter wrote it."""
    return tx.fetch_value(SELECT_TITLE, (ticket,))


SELECT_STATUS = """
SELECT r.title, t.resolved, t.archived_at IS NOT NULL, c.kind, r.created_at
FROM report r JOIN ticket t ON t.id = r.ticket_id LEFT JOIN board_column c ON c.id = t.column_id
WHERE r.receipt_hash = ?
"""


def find_status(tx: Read, receipt_hash: bytes) -> ReportStatus | None:
    """Find the state of the report with a receipt."""
    row = tx.fetch_one(SELECT_STATUS, (receipt_hash,))
    if row is None:
        return None
    title, resolved, archived, kind, at = row
    if resolved:
        state = ReportState.DONE
    elif archived:
        state = ReportState.CLOSED
    else:
        state = ReportState.IN_PROGRESS if kind == "doing" else ReportState.RECEIVED
    return ReportStatus(title, state, format_rfc3339(at))
