"""Previews: screenshots scaled down for a model, stored so that each is computed once."""

import msgspec

from ticketbox.store.core import blobs
from ticketbox.store.core.blobs import PackedContent
from ticketbox.store.file.database import Read, Write


class Preview(msgspec.Struct, frozen=True):
    """A preview; `made_of` is a digest of everything that it shows."""

    made_of: bytes
    packed: PackedContent
    media_type: str
    width: int
    height: int


class StoredPreview(msgspec.Struct, frozen=True):
    """A stored preview, with its blob's key."""

    blob: int
    media_type: str
    width: int
    height: int


SELECT_PREVIEW = "SELECT blob_id, media_type, width, height FROM preview WHERE asset_id = ? AND made_of = ?"


def find_preview(tx: Read, asset: int, made_of: bytes) -> StoredPreview | None:
    """Find a file's preview with this digest."""
    row = tx.fetch_one(SELECT_PREVIEW, (asset, made_of))
    return None if row is None else StoredPreview(*row)


INSERT_PREVIEW = "INSERT INTO preview (asset_id, made_of, blob_id, media_type, width, height) VALUES (?, ?, ?, ?, ?, ?)"


def save_preview(tx: Write, asset: int, source: int, new: Preview) -> None:
    """Store a file's preview in place of an earlier one.

    Does nothing if the file's content is no longer the blob `source`: a redaction since then must hold.
    """
    if tx.fetch_value("SELECT blob_id FROM asset WHERE id = ?", (asset,)) != source:
        return
    delete_preview(tx, asset)
    tx.execute(
        INSERT_PREVIEW, (asset, new.made_of, blobs.save_blob(tx, new.packed), new.media_type, new.width, new.height)
    )


def delete_preview(tx: Write, asset: int) -> None:
    """Delete a file's preview and its content."""
    blob = tx.fetch_value("SELECT blob_id FROM preview WHERE asset_id = ?", (asset,))
    if blob is not None:
        tx.execute("DELETE FROM preview WHERE asset_id = ?", (asset,))
        blobs.delete_if_unused(tx, blob)
