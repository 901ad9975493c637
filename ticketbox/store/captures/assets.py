"""Assets: the stored files of tickets, and the annotations on them."""

from typing import NamedTuple

import msgspec

from ticketbox.domain.captures.images.annotations import Annotation, AnnotationInput, AnnotationKind, build_annotation
from ticketbox.domain.captures.records import Asset, AssetKind
from ticketbox.domain.core.ids import Prefix, generate_id
from ticketbox.store.captures import previews
from ticketbox.store.core import blobs
from ticketbox.store.core.blobs import PackedContent
from ticketbox.store.core.bylines import Bylines
from ticketbox.store.file.database import Read, Row, Write


class NewAsset(msgspec.Struct, frozen=True):
    """A file to store."""

    kind: AssetKind
    packed: PackedContent
    media_type: str
    width: int | None
    height: int | None
    name: str


INSERT_ASSET = """
INSERT INTO asset (public_id, ticket_id, capture_id, kind, blob_id, media_type, width, height, name,
  created_at, created_by)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


def insert_asset(tx: Write, ticket: int, capture: int | None, new: NewAsset, byline: int) -> tuple[int, str]:
    """Insert a file, and return its key and its public id."""
    public_id = generate_id(Prefix.ASSET)
    key = tx.insert(
        INSERT_ASSET,
        (public_id, ticket, capture, new.kind.value, blobs.save_blob(tx, new.packed), new.media_type,
         new.width, new.height, new.name, tx.now, byline),
    )  # fmt: skip
    return key, public_id


_SELECT_ASSET = """
SELECT a.id, a.public_id, t.public_id, k.public_id, a.kind, a.media_type, a.width, a.height, b.bytes, b.sha256,
  a.name, a.created_at, a.created_by, a.blob_id
FROM asset a JOIN ticket t ON t.id = a.ticket_id JOIN blob b ON b.id = a.blob_id
LEFT JOIN capture k ON k.id = a.capture_id
"""


class _AssetRow(NamedTuple):
    """A row of `_SELECT_ASSET`."""

    key: int
    id: str
    ticket_id: str
    capture_id: str | None
    kind: str
    media_type: str
    width: int | None
    height: int | None
    size: int
    sha256: bytes
    name: str
    created_at: int
    created_by: int
    blob: int


SELECT_ASSET = f"{_SELECT_ASSET} WHERE a.id = ?"
SELECT_ASSETS_OF_CAPTURE = f"{_SELECT_ASSET} WHERE a.capture_id = ? ORDER BY a.id"
SELECT_ATTACHMENTS = f"{_SELECT_ASSET} WHERE a.ticket_id = ? AND a.kind = 'attachment' ORDER BY a.id LIMIT 200"


def load_asset(tx: Read, key: int) -> tuple[int, Asset]:
    """Load an asset that exists; return the key of its blob, and the asset."""
    row = tx.fetch_one(SELECT_ASSET, (key,))
    assert row is not None
    return _AssetRow._make(row).blob, _build_assets(tx, [row])[0]


def list_assets_of_capture(tx: Read, capture: int) -> list[Asset]:
    """List the files of a capture."""
    return _build_assets(tx, tx.fetch_all(SELECT_ASSETS_OF_CAPTURE, (capture,)))


def list_attachments(tx: Read, ticket: int) -> list[Asset]:
    """List the files attached to a ticket, oldest first."""
    return _build_assets(tx, tx.fetch_all(SELECT_ATTACHMENTS, (ticket,)))


def _build_assets(tx: Read, records: list[Row]) -> list[Asset]:
    rows = [_AssetRow._make(record) for record in records]
    bylines = Bylines(tx, [row.created_by for row in rows])
    return [
        Asset(
            id=row.id,
            ticket_id=row.ticket_id,
            capture_id=row.capture_id,
            kind=AssetKind(row.kind),
            media_type=row.media_type,
            width=row.width,
            height=row.height,
            bytes=row.size,
            sha256=row.sha256.hex(),
            name=row.name,
            created=bylines.build(row.created_by, row.created_at),
        )
        for row in rows
    ]


SELECT_SCREENSHOT = "SELECT id FROM asset WHERE capture_id = ? AND kind = 'screenshot' ORDER BY id LIMIT 1"


def find_screenshot(tx: Read, capture: int) -> int | None:
    """Return the key of a capture's screenshot, or None."""
    return tx.fetch_value(SELECT_SCREENSHOT, (capture,))


def load_ticket_key(tx: Read, key: int) -> int:
    """Return the key of the ticket that an asset belongs to."""
    return tx.fetch_value("SELECT ticket_id FROM asset WHERE id = ?", (key,))


def replace_content(tx: Write, key: int, packed: PackedContent, width: int, height: int, media_type: str) -> None:
    """Replace an asset's content. The old content and its previews are destroyed unless something else uses them."""
    previews.delete_previews(tx, key)
    old = tx.fetch_value("SELECT blob_id FROM asset WHERE id = ?", (key,))
    new = blobs.save_blob(tx, packed)
    tx.execute(
        "UPDATE asset SET blob_id = ?, width = ?, height = ?, media_type = ? WHERE id = ?",
        (new, width, height, media_type, key),
    )
    if old != new:
        blobs.delete_if_unused(tx, old)


SELECT_ANNOTATIONS = """
SELECT n.public_id, a.public_id, n.kind, n.geometry, n.color, n.text, n.created_at, n.created_by
FROM annotation n JOIN asset a ON a.id = n.asset_id WHERE n.asset_id = ? ORDER BY n.place
"""


class _AnnotationRow(NamedTuple):
    """A row of SELECT_ANNOTATIONS."""

    id: str
    asset_id: str
    kind: str
    geometry: str
    color: str
    text: str
    created_at: int
    created_by: int


def list_annotations(tx: Read, asset: int) -> list[Annotation]:
    """List the annotations of an image, from the bottom to the top."""
    rows = [_AnnotationRow._make(row) for row in tx.fetch_all(SELECT_ANNOTATIONS, (asset,))]
    bylines = Bylines(tx, [row.created_by for row in rows])
    return [
        build_annotation(
            row.kind,
            row.geometry.encode(),
            id=row.id,
            asset_id=row.asset_id,
            color=row.color,
            text=row.text,
            by=bylines.build(row.created_by, row.created_at),
        )
        for row in rows
    ]


INSERT_ANNOTATION = """
INSERT INTO annotation (public_id, asset_id, place, kind, geometry, color, text, created_at, created_by)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
SELECT_ANNOTATION_BYLINES = (
    "SELECT public_id, kind, geometry, color, text, created_at, created_by FROM annotation WHERE asset_id = ?"
)


def save_annotations(tx: Write, asset: int, marks: list[AnnotationInput], byline: int) -> None:
    """Replace all annotations of an image. One that is sent back unchanged keeps its byline."""
    rows = tx.fetch_all(SELECT_ANNOTATION_BYLINES, (asset,))
    bylines = {(id_, *content): (at, by) for id_, *content, at, by in rows}
    tx.execute("DELETE FROM annotation WHERE asset_id = ?", (asset,))
    inserts: list[Row] = []
    for place, mark in enumerate(marks):
        content = (mark.kind.value, msgspec.json.encode(mark.geometry).decode(), mark.color, mark.text)
        at, by = bylines.get((mark.id, *content), (tx.now, byline))
        inserts.append((mark.id or generate_id(Prefix.ANNOTATION), asset, place, *content, at, by))
    tx.execute_many(INSERT_ANNOTATION, inserts)


def list_annotation_ids(tx: Read, asset: int) -> set[str]:
    """List the ids of an image's annotations."""
    rows = tx.fetch_all("SELECT public_id FROM annotation WHERE asset_id = ?", (asset,))
    return {public_id for (public_id,) in rows}


SELECT_REDACTED_GEOMETRIES = "SELECT geometry FROM annotation WHERE asset_id = ? AND kind = ?"


def list_redacted_geometries(tx: Read, asset: int) -> set[str]:
    """List the geometries, as JSON, of the boxes that are already redacted in an image."""
    rows = tx.fetch_all(SELECT_REDACTED_GEOMETRIES, (asset, AnnotationKind.REDACT.value))
    return {geometry for (geometry,) in rows}
