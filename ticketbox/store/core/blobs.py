"""Blobs: content-addressed bytes of images, files and streams. Each content is stored once."""

import hashlib
import sys

import msgspec

from ticketbox.store.file.database import Read, Write
from ticketbox.store.file.orphans import IS_ORPHAN

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_LEVEL = 3
DamagedContent = zstd.ZstdError


class PackedContent(msgspec.Struct, frozen=True):
    """Hashed and, if it helps, compressed bytes that are ready to store."""

    sha256: bytes
    encoding: str
    size: int
    data: bytes


def pack_content(data: bytes, *, compress: bool) -> PackedContent:
    """Hash bytes, and compress them with zstd if `compress`. Slow for large content: call it on a worker thread."""
    packed = zstd.compress(data, _LEVEL) if compress else data
    return PackedContent(hashlib.sha256(data).digest(), "zstd" if compress else "identity", len(data), packed)


INSERT_BLOB = """
INSERT INTO blob (sha256, encoding, bytes, data) VALUES (?, ?, ?, ?)
ON CONFLICT (sha256) DO UPDATE SET bytes = excluded.bytes RETURNING id
"""


def save_blob(tx: Write, packed: PackedContent) -> int:
    """Insert the content unless it is already stored, and return its key."""
    return tx.fetch_value(INSERT_BLOB, (packed.sha256, packed.encoding, packed.size, packed.data))


def load_content(tx: Read, key: int) -> bytes:
    """Load a blob and return its original bytes."""
    return unpack_content(*load_packed(tx, key))


def load_packed(tx: Read, key: int) -> tuple[str, bytes]:
    """Load a blob; return its encoding and its bytes as they are stored."""
    row = tx.fetch_one("SELECT encoding, data FROM blob WHERE id = ?", (key,))
    assert row is not None
    return row[0], row[1]


def unpack_content(encoding: str, data: bytes) -> bytes:
    """Return the original bytes of packed content. Raises DamagedContent."""
    return zstd.decompress(data) if encoding == "zstd" else data


ORPHAN = f"SELECT b.id FROM blob b WHERE b.id = ? AND {IS_ORPHAN}"


def delete_if_unused(tx: Write, key: int) -> None:
    """Delete a blob unless something refers to it. Zeroes its bytes first: they may show what was redacted."""
    if tx.fetch_one(ORPHAN, (key,)) is not None:
        tx.execute("UPDATE blob SET data = zeroblob(length(data)) WHERE id = ?", (key,))
        tx.execute("DELETE FROM blob WHERE id = ?", (key,))
        tx.destroys = True


SELECT_WINDOW_END = "SELECT max(id) FROM (SELECT id FROM blob WHERE id > ? ORDER BY id LIMIT ?)"
ORPHANS_IN_WINDOW = f"SELECT b.id FROM blob b WHERE b.id > ? AND b.id <= ? AND {IS_ORPHAN}"


def delete_unused(tx: Write, after: int, limit: int = 500) -> int:
    """Delete the orphans among the next blobs after a key.

    Returns the key to continue after; 0 at the end, to start over.
    """
    last = tx.fetch_value(SELECT_WINDOW_END, (after, limit))
    if last is None:
        return 0
    orphans = tx.fetch_all(ORPHANS_IN_WINDOW, (after, last))
    tx.execute_many("DELETE FROM blob WHERE id = ?", orphans)
    return last
