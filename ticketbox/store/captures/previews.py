"""Previews: screenshots for a model, and their thumbnails for a card, stored so that each is computed once."""

from enum import StrEnum

import msgspec

from ticketbox.store.core import blobs
from ticketbox.store.core.blobs import PackedContent
from ticketbox.store.file.database import Read, Write


class Purpose(StrEnum):
    """What a preview is for. A file has one preview for each purpose."""

    MODEL = "model"
    THUMBNAIL = "thumbnail"


class Preview(msgspec.Struct, frozen=True):
    """A preview; `made_of` is a digest of everything that it shows."""

    purpose: Purpose
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


SELECT_PREVIEW = (
    "SELECT blob_id, media_type, width, height FROM preview WHERE asset_id = ? AND purpose = ? AND made_of = ?"
)


def find_preview(tx: Read, asset: int, purpose: Purpose, made_of: bytes) -> StoredPreview | None:
    """Find a file's preview with this digest."""
    row = tx.fetch_one(SELECT_PREVIEW, (asset, purpose.value, made_of))
    return None if row is None else StoredPreview(*row)


INSERT_PREVIEW = """
INSERT INTO preview (asset_id, purpose, made_of, blob_id, media_type, width, height) VALUES (?, ?, ?, ?, ?, ?, ?)
"""


def save_preview(tx: Write, asset: int, source: int, new: Preview) -> None:
    """Store a file's preview in place of an earlier one.

    Does nothing if the file's content is no longer the blob `source`: a redaction since then must hold.
    """
    if tx.fetch_value("SELECT blob_id FROM asset WHERE id = ?", (asset,)) != source:
        return
    delete_previews(tx, asset, new.purpose)
    tx.execute(
        INSERT_PREVIEW,
        (asset, new.purpose.value, new.made_of, blobs.save_blob(tx, new.packed), new.media_type,
         new.width, new.height),
    )  # fmt: skip


SELECT_PREVIEWS = "SELECT purpose, blob_id FROM preview WHERE asset_id = ?"


def delete_previews(tx: Write, asset: int, *purposes: Purpose) -> None:
    """Delete a file's previews for these purposes, or for all, with their contents."""
    for purpose, blob in tx.fetch_all(SELECT_PREVIEWS, (asset,)):
        if not purposes or purpose in purposes:
            tx.execute("DELETE FROM preview WHERE asset_id = ? AND purpose = ?", (asset, purpose))
            blobs.delete_if_unused(tx, blob)
