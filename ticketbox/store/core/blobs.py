"""Content-addressed bytes: pictures, files and packed streams, each content once."""

import hashlib
import sys

import msgspec

from ticketbox.store.file.database import Read, Write

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_LEVEL = 3
Damaged = zstd.ZstdError


class Packed(msgspec.Struct, frozen=True):
    """Bytes ready to be stored: hashed, and compressed where that pays."""

    sha256: bytes
    encoding: str
    size: int
    data: bytes


def pack(data: bytes, *, compress: bool) -> Packed:
    """Hash bytes, and compress them with zstd if asked. Slow for large ones: call it on a worker thread."""
    packed = zstd.compress(data, _LEVEL) if compress else data
    return Packed(hashlib.sha256(data).digest(), "zstd" if compress else "identity", len(data), packed)


ADD = """
INSERT INTO blob (sha256, encoding, bytes, data) VALUES (?, ?, ?, ?)
ON CONFLICT (sha256) DO UPDATE SET bytes = excluded.bytes RETURNING id
"""


def put(tx: Write, packed: Packed) -> int:
    """Store bytes unless they are stored; returns their key."""
    return tx.value(ADD, (packed.sha256, packed.encoding, packed.size, packed.data))


def read(tx: Read, key: int) -> bytes:
    """Stored bytes as they were before packing."""
    row = tx.one("SELECT encoding, data FROM blob WHERE id = ?", (key,))
    assert row is not None
    return unpack(row[0], row[1])


def unpack(encoding: str, data: bytes) -> bytes:
    """Bytes as they were before packing. Raises Damaged."""
    return zstd.decompress(data) if encoding == "zstd" else data


_UNUSED = """
NOT EXISTS (SELECT 1 FROM asset a WHERE a.blob_id = b.id)
AND NOT EXISTS (SELECT 1 FROM preview p WHERE p.blob_id = b.id)
AND NOT EXISTS (SELECT 1 FROM capture c WHERE c.excerpt = b.id)
AND NOT EXISTS (SELECT 1 FROM capture c WHERE c.console = b.id)
AND NOT EXISTS (SELECT 1 FROM capture c WHERE c.network = b.id)
AND NOT EXISTS (SELECT 1 FROM capture c WHERE c.errors = b.id)
"""
IS_UNUSED = f"SELECT b.id FROM blob b WHERE b.id = ? AND {_UNUSED}"


def discard(tx: Write, key: int) -> None:
    """Remove a blob unless something points at it. Its pages are zeroed first: it may hold what was burnt."""
    if tx.one(IS_UNUSED, (key,)) is not None:
        tx.run("UPDATE blob SET data = zeroblob(length(data)) WHERE id = ?", (key,))
        tx.run("DELETE FROM blob WHERE id = ?", (key,))


WINDOW = "SELECT max(id) FROM (SELECT id FROM blob WHERE id > ? ORDER BY id LIMIT ?)"
UNUSED_IN_WINDOW = f"SELECT b.id FROM blob b WHERE b.id > ? AND b.id <= ? AND {_UNUSED}"


def sweep(tx: Write, after: int, limit: int = 500) -> int:
    """Look at the blobs after a key and remove those that nothing points at.

    Returns the key to go on after; 0 at the end, to begin anew.
    """
    last = tx.value(WINDOW, (after, limit))
    if last is None:
        return 0
    unused = tx.all(UNUSED_IN_WINDOW, (after, last))
    tx.many("DELETE FROM blob WHERE id = ?", unused)
    return last
