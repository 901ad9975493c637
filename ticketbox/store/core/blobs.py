"""Blobs: content-addressed bytes of images, files and streams. Each content is stored once."""

from ticketbox.domain.core.packed_content import DamagedContent, PackedContent, pack_content, unpack_content
from ticketbox.store.file.database import Read, Write
from ticketbox.store.file.folder.contents import MIN_FILE_BYTES, MissingContent, format_name
from ticketbox.store.file.orphans import IS_ORPHAN

__all__ = ["DamagedContent", "PackedContent", "pack_content", "unpack_content"]

INSERT_BLOB = """
INSERT INTO blob (sha256, encoding, bytes, data, stored) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (sha256) DO UPDATE SET bytes = excluded.bytes RETURNING id
"""


def save_blob(tx: Write, packed: PackedContent) -> int:
    """Insert the content unless it is already stored, and return its key.

    With an assets folder, a large content becomes a file, and one whose file is missing gets it back. Raises
    StorageFull and Unavailable if that fails.
    """
    data, stored = packed.data, None
    if tx.folder is not None and len(data) >= MIN_FILE_BYTES:
        row = tx.fetch_one("SELECT encoding, stored FROM blob WHERE sha256 = ?", (packed.sha256,))
        if row is None:
            tx.unused_files.add(format_name(packed.sha256))  # if the transaction fails
            tx.folder.write(packed.sha256, data)
            data, stored = b"", len(data)
        elif row == (packed.encoding, len(data)) and not tx.folder.has(packed.sha256, len(data)):
            tx.folder.write(packed.sha256, data)
    return tx.fetch_value(INSERT_BLOB, (packed.sha256, packed.encoding, packed.size, data, stored))


def load_content(tx: Read, key: int) -> bytes:
    """Load a blob and return its original bytes."""
    return unpack_content(*load_packed(tx, key))


def load_packed(tx: Read, key: int) -> tuple[str, bytes]:
    """Load a blob; return its encoding and its bytes as they are stored. Raises MissingContent, and NeedsThread."""
    row = tx.fetch_one("SELECT encoding, data, sha256, stored FROM blob WHERE id = ?", (key,))
    assert row is not None
    encoding, data, sha256, stored = row
    if stored is None:
        return encoding, data
    tx.require_thread()
    if tx.folder is None:
        raise MissingContent
    return encoding, tx.folder.read(sha256, stored)


def load_size(tx: Read, key: int) -> int:
    """Load the length of a blob's original bytes."""
    return tx.fetch_value("SELECT bytes FROM blob WHERE id = ?", (key,))


ORPHAN = f"SELECT b.sha256 FROM blob b WHERE b.id = ? AND {IS_ORPHAN}"


def delete_if_unused(tx: Write, key: int) -> None:
    """Delete a blob unless something refers to it. Zeroes its bytes first: they may show what was redacted."""
    row = tx.fetch_one(ORPHAN, (key,))
    if row is not None:
        tx.unused_files.add(format_name(row[0]))
        tx.execute("UPDATE blob SET data = zeroblob(length(data)) WHERE id = ?", (key,))
        tx.execute("DELETE FROM blob WHERE id = ?", (key,))
        tx.destroys = True


SELECT_WINDOW_END = "SELECT max(id) FROM (SELECT id FROM blob WHERE id > ? ORDER BY id LIMIT ?)"
ORPHANS_IN_WINDOW = f"SELECT b.id, b.sha256 FROM blob b WHERE b.id > ? AND b.id <= ? AND {IS_ORPHAN}"


def delete_unused(tx: Write, after: int, limit: int = 500) -> int:
    """Delete the orphans among the next blobs after a key.

    Returns the key to continue after; 0 at the end, to start over.
    """
    last = tx.fetch_value(SELECT_WINDOW_END, (after, limit))
    if last is None:
        return 0
    orphans = tx.fetch_all(ORPHANS_IN_WINDOW, (after, last))
    tx.execute_many("DELETE FROM blob WHERE id = ?", [(key,) for key, _ in orphans])
    tx.unused_files.update(format_name(sha256) for _, sha256 in orphans)
    return last
