"""Captures: their metadata as columns, their streams as blobs."""

from typing import NamedTuple, TypeVar

import msgspec

from ticketbox.domain.captures.capture import Entry, Health, Page, Redaction, Stream
from ticketbox.domain.captures.environment import Environment
from ticketbox.domain.captures.intake.entry_sequence import EntrySequence
from ticketbox.domain.captures.intake.new_capture import NewCapture
from ticketbox.domain.captures.records import Capture, CaptureBug, DescribedFailure, ListedCapture
from ticketbox.domain.core.clock import format_rfc3339
from ticketbox.domain.tickets.records import CaptureSummary, Failure
from ticketbox.store.captures import assets, expectations
from ticketbox.store.core import blobs
from ticketbox.store.core.bylines import Bylines
from ticketbox.store.file.database import Read, Write
from ticketbox.store.tickets.records import FAILURE

E = TypeVar("E", bound=Entry)


class EarlierCapture(msgspec.Struct, frozen=True):
    """A capture that a client sent earlier."""

    public_id: str
    ticket_id: str


SELECT_BY_CLIENT_ID = """
SELECT c.public_id, t.public_id FROM capture c JOIN ticket t ON t.id = c.ticket_id
WHERE c.user_id = ? AND c.client_id = ?
"""


def find_capture_by_client_id(tx: Read, user: int, client_id: str) -> EarlierCapture | None:
    """Find the capture that a user's client sent earlier with this id."""
    row = tx.fetch_one(SELECT_BY_CLIENT_ID, (user, client_id))
    return None if row is None else EarlierCapture(*row)


INSERT_CAPTURE = """
INSERT INTO capture (public_id, client_id, user_id, ticket_id, captured_at, page, environment, health, redaction,
  summary, excerpt, console, network, errors, actions, replay, error_words, console_words, bug, bug_text,
  bug_at, bug_by, created_at, created_by)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


def insert_capture(tx: Write, user: int, ticket: int, new: NewCapture, byline: int) -> int:
    """Insert a capture with its streams; return its key."""
    encoded = [msgspec.json.encode(part).decode() for part in (new.page, new.environment, new.health, new.redaction)]
    streams = [blobs.save_blob(tx, new.streams[stream]) for stream in Stream]
    replay = None if new.replay is None else blobs.save_blob(tx, new.replay)
    return tx.insert(
        INSERT_CAPTURE,
        (new.public_id, new.client_id, user, ticket, new.captured_at, *encoded,
         blobs.save_blob(tx, new.excerpt), *streams, replay, new.error_words, new.console_words,
         encode_failure(new.bug), new.bug and new.bug.text, *((tx.now, byline) if new.is_bug_chosen else (None, None)),
         tx.now, byline),
    )  # fmt: skip


SET_RICHEST_CAPTURE = """
UPDATE ticket SET capture_id = (
  SELECT k.id FROM capture k WHERE k.ticket_id = ticket.id
  ORDER BY k.replay IS NULL, k.summary ->> '$.screenshot_id' IS NULL, k.id DESC LIMIT 1
) WHERE id = ?
"""


def set_summary(tx: Write, ticket: int, key: int, summary: CaptureSummary) -> None:
    """Set the summary of a ticket's new capture."""
    tx.execute("UPDATE capture SET summary = ? WHERE id = ?", (msgspec.json.encode(summary).decode(), key))
    show_richest_capture(tx, ticket)


def show_richest_capture(tx: Write, ticket: int) -> None:
    """Let a ticket show its newest capture with a replay, else with a screenshot, else the newest."""
    tx.execute(SET_RICHEST_CAPTURE, (ticket,))


def confirm_capture(tx: Write, key: int, byline: int) -> None:
    """Record who confirmed a capture of somebody without an account."""
    tx.execute("UPDATE capture SET confirmed_at = ?, confirmed_by = ? WHERE id = ?", (tx.now, byline, key))


def encode_failure(failure: Failure | None) -> str | None:
    """Write which failure it is as it is stored: the same for the same one."""
    return failure and msgspec.json.encode(Failure(failure.stream, failure.entry)).decode()


def choose_bug(tx: Write, key: int, bug: DescribedFailure, byline: int) -> None:
    """Record which failure a capture is about, and who chose it."""
    tx.execute(
        "UPDATE capture SET bug = ?, bug_text = ?, bug_at = ?, bug_by = ? WHERE id = ?",
        (encode_failure(bug), bug.text, tx.now, byline, key),
    )


def load_subject(tx: Read, key: int) -> tuple[Failure | None, str]:
    """Load what a capture is about: a failure, and its confirmed expectations as they are stored."""
    row = tx.fetch_one(f"SELECT {FAILURE}, about.expectations FROM capture about WHERE about.id = ?", (key,))
    assert row is not None
    failure, expected = row
    return failure and msgspec.json.decode(failure, type=Failure), expected


INCREMENT_SCREENSHOT_VERSION = """
UPDATE capture SET summary = json_set(summary, '$.screenshot_version', summary ->> '$.screenshot_version' + 1)
WHERE id = (SELECT capture_id FROM asset WHERE id = ?) AND summary IS NOT NULL
"""


def increment_screenshot_version(tx: Write, asset: int) -> None:
    """Note that a screenshot looks different now."""
    tx.execute(INCREMENT_SCREENSHOT_VERSION, (asset,))


class StoredCapture(msgspec.Struct, frozen=True):
    """A capture with the keys of its blobs."""

    key: int
    capture: Capture
    summary: CaptureSummary
    excerpt: int
    streams: dict[Stream, int]


SELECT_CAPTURE = """
SELECT c.id, c.public_id, t.public_id, c.captured_at, c.page, c.environment, c.health, c.redaction, c.summary,
  c.excerpt, c.console, c.network, c.errors, c.actions, c.confirmed_at, c.confirmed_by,
  c.bug, c.bug_text, c.bug_at, c.bug_by
FROM capture c JOIN ticket t ON t.id = c.ticket_id WHERE c.id = ?
"""


class _CaptureRow(NamedTuple):
    """A row of SELECT_CAPTURE."""

    key: int
    id: str
    ticket_id: str
    captured_at: int
    page: str
    environment: str
    health: str
    redaction: str
    summary: str
    excerpt: int
    console: int
    network: int
    errors: int
    actions: int
    confirmed_at: int | None
    confirmed_by: int | None
    bug: str | None
    bug_text: str
    bug_at: int | None
    bug_by: int | None


def load_capture(tx: Read, key: int) -> StoredCapture:
    """Load a capture that exists."""
    record = tx.fetch_one(SELECT_CAPTURE, (key,))
    assert record is not None
    row = _CaptureRow._make(record)
    summary = msgspec.json.decode(row.summary, type=CaptureSummary)
    bylines = Bylines(tx, [row.confirmed_by, row.bug_by])
    capture = Capture(
        id=row.id,
        ticket_id=row.ticket_id,
        captured_at=format_rfc3339(row.captured_at),
        page=msgspec.json.decode(row.page, type=Page),
        environment=msgspec.json.decode(row.environment, type=Environment),
        health=msgspec.json.decode(row.health, type=Health),
        redaction=msgspec.json.decode(row.redaction, type=Redaction),
        counts=summary.counts,
        assets=assets.list_assets_of_capture(tx, row.key),
        external=summary.external,
        confirmed=bylines.build_optional(row.confirmed_by, row.confirmed_at),
        bug=_build_bug(row, bylines),
        expectations=expectations.list_expectations(tx, row.key),
    )
    streams = {
        Stream.CONSOLE: row.console,
        Stream.NETWORK: row.network,
        Stream.ERRORS: row.errors,
        Stream.ACTIONS: row.actions,
    }
    return StoredCapture(row.key, capture, summary, row.excerpt, streams)


def _build_bug(row: _CaptureRow, bylines: Bylines) -> CaptureBug | None:
    if row.bug is None:
        return None
    failure = msgspec.json.decode(row.bug, type=Failure)
    return CaptureBug(failure.stream, failure.entry, row.bug_text, bylines.build_optional(row.bug_by, row.bug_at))


SELECT_REPLAY = """
SELECT t.public_id, c.replay FROM capture c JOIN ticket t ON t.id = c.ticket_id
WHERE c.id = ? AND c.replay IS NOT NULL
"""


def load_replay(tx: Read, key: int) -> tuple[str, str, bytes] | None:
    """Load a capture's replay as it is stored: the ticket's id, the encoding and the content. None without one."""
    row = tx.fetch_one(SELECT_REPLAY, (key,))
    return None if row is None else (row[0], *blobs.load_packed(tx, row[1]))


def load_entries(tx: Read, stored: StoredCapture, stream: Stream, kind: type[E]) -> EntrySequence[E]:
    """Load the entries of a stream."""
    return EntrySequence(kind, blobs.load_content(tx, stored.streams[stream]))


SELECT_CAPTURES_OF_TICKET = """
SELECT id, summary, page, environment, created_at, created_by, confirmed_at, confirmed_by FROM capture
WHERE ticket_id = ? AND id < ? ORDER BY id DESC LIMIT ?
"""


def list_captures(tx: Read, ticket: int, before: int, limit: int) -> list[tuple[int, ListedCapture]]:
    """List a ticket's captures before a key, newest first, each with its key and the main facts of its environment."""
    rows = tx.fetch_all(SELECT_CAPTURES_OF_TICKET, (ticket, before, limit))
    bylines = Bylines(tx, [key for *_, created_by, _, confirmed_by in rows for key in (created_by, confirmed_by)])
    return [
        (
            key,
            ListedCapture(
                **msgspec.structs.asdict(msgspec.json.decode(summary, type=CaptureSummary)),
                page=msgspec.json.decode(page, type=Page),
                environment=msgspec.json.decode(environment, type=Environment).without_details(),
                created=bylines.build(created_by, created_at),
                confirmed=bylines.build_optional(confirmed_by, confirmed_at),
            ),
        )
        for key, summary, page, environment, created_at, created_by, confirmed_at, confirmed_by in rows
    ]


SELECT_SUMMARIES_OF_TICKET = "SELECT summary FROM capture WHERE ticket_id = ? ORDER BY id DESC LIMIT ?"


def list_summaries(tx: Read, ticket: int, limit: int) -> list[CaptureSummary]:
    """List the summaries of a ticket's captures, newest first."""
    rows = tx.fetch_all(SELECT_SUMMARIES_OF_TICKET, (ticket, limit))
    return [msgspec.json.decode(summary, type=CaptureSummary) for (summary,) in rows]


def find_shown_capture(tx: Read, ticket: int) -> int | None:
    """Find the key of the capture that a ticket shows."""
    return tx.fetch_value("SELECT capture_id FROM ticket WHERE id = ?", (ticket,))


def load_ticket_key(tx: Read, key: int) -> int:
    """Load the key of a capture's ticket."""
    return tx.fetch_value("SELECT ticket_id FROM capture WHERE id = ?", (key,))


def load_ticket_id(tx: Read, key: int) -> str:
    """Load the id of a capture's ticket."""
    return tx.fetch_value(
        "SELECT t.public_id FROM capture c JOIN ticket t ON t.id = c.ticket_id WHERE c.id = ?", (key,)
    )


def load_capture_time(tx: Read, key: int) -> int:
    """Load the time when a capture was taken, in epoch milliseconds."""
    return tx.fetch_value("SELECT captured_at FROM capture WHERE id = ?", (key,))


SELECT_WINDOW_END = "SELECT max(id) FROM (SELECT id FROM capture WHERE id > ? ORDER BY id LIMIT ?)"
DELETE_CAPTURES_OF_ARCHIVED = """
DELETE FROM capture WHERE id > ? AND id <= ? AND EXISTS (
  SELECT 1 FROM ticket t WHERE t.id = capture.ticket_id AND t.status = 'archived' AND t.archived_at < ?
)
"""


def delete_captures_of_archived(tx: Write, before: int, after: int, limit: int = 200) -> int:
    """Delete, among the captures after a key, those of tickets that were archived before a time.

    Housekeeping deletes their unused contents later. Returns the key to continue after; 0 at the end, to start over.
    """
    last = tx.fetch_value(SELECT_WINDOW_END, (after, limit))
    if last is None:
        return 0
    tx.execute(DELETE_CAPTURES_OF_ARCHIVED, (after, last, before))
    return last
