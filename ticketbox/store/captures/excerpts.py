"""Stored excerpts of captures, and the captures whose excerpts an earlier version built."""

from typing import NamedTuple

from ticketbox.domain.captures.capture import Stream
from ticketbox.domain.captures.summaries.excerpt import VERSION
from ticketbox.store.core import blobs
from ticketbox.store.core.blobs import PackedContent
from ticketbox.store.file.database import Read, Write


class OutdatedExcerpt(NamedTuple):
    """A capture whose excerpt an earlier version built: its keys, and its streams as they are stored."""

    key: int
    id: str
    blob: int
    contents: dict[Stream, tuple[str, bytes]]


SELECT_OUTDATED = """
SELECT id, public_id, excerpt, console, network, errors, actions FROM capture
WHERE excerpt_version < ? ORDER BY excerpt_version DESC, id DESC LIMIT 1
"""


def load_outdated_excerpt(tx: Read) -> OutdatedExcerpt | None:
    """Load the newest capture whose excerpt is outdated."""
    row = tx.fetch_one(SELECT_OUTDATED, (VERSION,))
    if row is None:
        return None
    key, public_id, blob, *streams = row
    contents = {
        stream: blobs.load_packed(tx, each) for stream, each in zip(Stream, streams, strict=True) if each is not None
    }
    return OutdatedExcerpt(key, public_id, blob, contents)


REPLACE_EXCERPT = "UPDATE capture SET excerpt = ?, excerpt_version = ? WHERE id = ? AND excerpt = ?"


def replace_excerpt(tx: Write, outdated: OutdatedExcerpt, packed: PackedContent | None) -> None:
    """Replace an excerpt unless it has changed; None keeps it, and stops further attempts.

    Housekeeping deletes the content that is no longer used.
    """
    blob = outdated.blob if packed is None else blobs.save_blob(tx, packed)
    tx.execute(REPLACE_EXCERPT, (blob, VERSION, outdated.key, outdated.blob))
