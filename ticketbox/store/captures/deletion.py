"""Deletion of attachments and captures, and of what the file still holds of them."""

from typing import NamedTuple

from ticketbox.store.captures import assets, previews
from ticketbox.store.captures.captures import show_richest_capture
from ticketbox.store.core import blobs
from ticketbox.store.file.database import Read, Write


class Origin(NamedTuple):
    """The internal keys of the ticket that something belongs to, and of the user who added it."""

    ticket: int
    user: int


SELECT_ASSET_ORIGIN = "SELECT a.ticket_id, b.user_id FROM asset a JOIN byline b ON b.id = a.created_by WHERE a.id = ?"
SELECT_CAPTURE_ORIGIN = (
    "SELECT c.ticket_id, b.user_id FROM capture c JOIN byline b ON b.id = c.created_by WHERE c.id = ?"
)


def load_asset_origin(tx: Read, key: int) -> Origin:
    """Load the origin of an asset that exists."""
    row = tx.fetch_one(SELECT_ASSET_ORIGIN, (key,))
    assert row is not None
    return Origin._make(row)


def load_capture_origin(tx: Read, key: int) -> Origin:
    """Load the origin of a capture that exists."""
    row = tx.fetch_one(SELECT_CAPTURE_ORIGIN, (key,))
    assert row is not None
    return Origin._make(row)


# The event that recorded an attachment has its name.
REMOVE_NAME = """
UPDATE event SET data = json_remove(data, '$.name')
WHERE ticket_id = ? AND type = 'attachment.added' AND data ->> 'asset_id' = ?
"""


def delete_attachment(tx: Write, ticket: int, key: int) -> None:
    """Delete a file of a ticket, and overwrite its content unless something else uses it."""
    _, asset = assets.load_asset(tx, key)
    tx.execute(REMOVE_NAME, (ticket, asset.id))
    _delete_asset(tx, key)


def _delete_asset(tx: Write, key: int) -> None:
    previews.delete_previews(tx, key)
    blob = tx.fetch_value("SELECT blob_id FROM asset WHERE id = ?", (key,))
    tx.execute("DELETE FROM asset WHERE id = ?", (key,))
    blobs.delete_if_unused(tx, blob)
    tx.destroys = True


SELECT_ASSETS_OF_CAPTURE = "SELECT id FROM asset WHERE capture_id = ?"
SELECT_CONTENTS = "SELECT excerpt, console, network, errors, actions, replay FROM capture WHERE id = ?"


def delete_capture(tx: Write, ticket: int, key: int) -> None:
    """Delete a capture of a ticket, and overwrite its contents unless something else uses them.

    The richest of the remaining captures becomes the one that the ticket shows.
    """
    for (asset,) in tx.fetch_all(SELECT_ASSETS_OF_CAPTURE, (key,)):
        _delete_asset(tx, asset)
    contents = tx.fetch_one(SELECT_CONTENTS, (key,))
    assert contents is not None
    tx.execute("DELETE FROM capture WHERE id = ?", (key,))
    show_richest_capture(tx, ticket)
    for blob in set(contents) - {None}:
        blobs.delete_if_unused(tx, blob)
    tx.destroys = tx.deletes_words = True


SELECT_CAPTURES_OF_TICKET = "SELECT id FROM capture WHERE ticket_id = ?"
SELECT_ASSETS_OF_TICKET = "SELECT id FROM asset WHERE ticket_id = ?"


def delete_contents_of_ticket(tx: Write, ticket: int) -> None:
    """Delete all captures and attachments of a ticket."""
    for (capture,) in tx.fetch_all(SELECT_CAPTURES_OF_TICKET, (ticket,)):
        delete_capture(tx, ticket, capture)
    for (asset,) in tx.fetch_all(SELECT_ASSETS_OF_TICKET, (ticket,)):
        _delete_asset(tx, asset)


class RemainingCapture(NamedTuple):
    """A capture that its ticket keeps: its page, and its errors as they are stored."""

    key: int
    url: str
    encoding: str
    errors: bytes


MAX_REMAINING = 20
SELECT_REMAINING = """
SELECT c.id, c.page ->> 'url', c.errors FROM capture c
WHERE c.ticket_id = ? AND c.id <> ? ORDER BY c.id DESC LIMIT ?
"""


def list_remaining_captures(tx: Read, ticket: int, but: int) -> list[RemainingCapture]:
    """List the newest captures that a ticket has besides one."""
    return [
        RemainingCapture(key, url, *blobs.load_packed(tx, errors))
        for key, url, errors in tx.fetch_all(SELECT_REMAINING, (ticket, but, MAX_REMAINING))
    ]
