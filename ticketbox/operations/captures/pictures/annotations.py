"""Annotations on images. Redactions destroy their pixels in the stored image permanently."""

from functools import partial
from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.captures.images import processing
from ticketbox.domain.captures.images.annotations import (
    MAX_ANNOTATIONS,
    Annotation,
    AnnotationInput,
    RedactInput,
    check_annotations,
)
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import Conflict, InvalidField, TicketArchived
from ticketbox.domain.tickets.records import Status
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.lookups import AssetId, find_readable, find_writable
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.operations.core.services import Services
from ticketbox.operations.tickets.recording import record_ticket_event
from ticketbox.store.captures import assets, captures
from ticketbox.store.core import blobs, bylines
from ticketbox.store.core.blobs import PackedContent
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.file.database import Read, Write
from ticketbox.store.tickets import tickets


class ListAnnotations(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Annotations of archived tickets can be read too."""

    asset_id: AssetId


class Annotations(msgspec.Struct, frozen=True):
    """All annotations of an image, from the bottom up. `next_cursor` is always null."""

    items: list[Annotation]
    next_cursor: str | None


@operation(
    "list_annotations",
    scope=Scope.READ,
    budget=Budget.READ,
    rest="GET /assets/{asset_id}/annotations",
    tool=Tool(
        "List annotations",
        "Use this to read the marks and texts that people drew on a screenshot, with their positions in pixels.",
        {"asset_id": "asset_6n9q2t5w8z1c"},
    ),
)
def list_annotations(tx: Read, actor: Actor, args: ListAnnotations) -> Annotations:
    """List the annotations of an image, from the bottom up."""
    return Annotations(assets.list_annotations(tx, find_readable(tx, actor, "asset", args.asset_id).key), None)


class SaveAnnotations(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Annotations that aren't in the list are deleted. The pixels under a redaction can't be restored."""

    asset_id: AssetId
    annotations: Annotated[
        list[AnnotationInput], Meta(max_length=MAX_ANNOTATIONS, description="All annotations of the image.")
    ]


class RedactedImage(msgspec.Struct, frozen=True):
    """An image with new redactions applied, and the key of the blob it was made from."""

    origin: int
    packed: PackedContent
    picture_type: str
    width: int
    height: int


async def burn_redactions(
    services: Services, actor: Actor, args: SaveAnnotations, context: RequestContext
) -> RedactedImage | None:
    """Check the positions of the annotations, and apply new redactions to the image."""
    blob, width, height, done = await services.read(lambda tx: _load_image(tx, actor, args), actor.fair_share)
    check_annotations(args.annotations, width, height)
    new = [
        mark.geometry
        for mark in args.annotations
        if isinstance(mark, RedactInput) and msgspec.json.encode(mark.geometry).decode() not in done
    ]
    if not new:
        return None
    data = await services.read(lambda tx: blobs.load_content(tx, blob), actor.fair_share)
    image = await services.rendering.run(actor.fair_share, processing.redact_boxes, data, new)
    packed = await services.rendering.run(actor.fair_share, partial(blobs.pack_content, image.data, compress=False))
    return RedactedImage(blob, packed, image.media_type, image.width, image.height)


def _load_image(tx: Read, actor: Actor, args: SaveAnnotations) -> tuple[int, int, int, set[str]]:
    row = _find_image(tx, actor, args.asset_id)
    blob, asset = assets.load_asset(tx, row.key)
    if asset.width is None or asset.height is None:
        raise InvalidField("asset_id", "only images can be annotated")
    return blob, asset.width, asset.height, assets.list_redacted_geometries(tx, row.key)


def _find_image(tx: Read, actor: Actor, asset_id: str) -> VisibleRow:
    row = find_writable(tx, actor, "asset", asset_id)
    if tickets.load_state(tx, assets.load_ticket_key(tx, row.key)).status is Status.ARCHIVED:
        raise TicketArchived
    return row


@operation(
    "save_annotations", scope=Scope.TICKETS_WRITE, budget=Budget.WRITE, rest="PUT /assets/{asset_id}/annotations",
    refuses=(Conflict, TicketArchived), prepare=burn_redactions,
    example={
        "asset_id": "asset_6n9q2t5w8z1c",
        "annotations": [
            {"kind": "rectangle", "geometry": {"x": 40, "y": 60, "width": 200, "height": 80}, "text": "empty"}
        ],
    },
)  # fmt: skip
def save_annotations(tx: Write, actor: Actor, args: SaveAnnotations, burnt: RedactedImage | None) -> Annotations:
    """Replace all annotations of an image.

    A new redaction destroys the pixels under it in the stored image; deleting it later doesn't restore them.
    """
    row = _find_image(tx, actor, args.asset_id)
    _require_known_ids(tx, row.key, args.annotations)
    if burnt is not None:
        if assets.load_asset(tx, row.key)[0] != burnt.origin:
            raise Conflict("somebody else redacted this image at the same time; try again")
        assets.replace_content(tx, row.key, burnt.packed, burnt.width, burnt.height, burnt.picture_type)
    assets.save_annotations(tx, row.key, args.annotations, bylines.ensure_byline(tx, actor))
    captures.increment_screenshot_version(tx, row.key)
    ticket = VisibleRow(assets.load_ticket_key(tx, row.key), row.project, row.company, row.role, within=True)
    record_ticket_event(
        tx, actor, ticket, "annotations.saved",
        asset_id=args.asset_id, count=len(args.annotations), redacted=burnt is not None,
    )  # fmt: skip
    return Annotations(assets.list_annotations(tx, row.key), None)


def _require_known_ids(tx: Read, asset: int, marks: list[AnnotationInput]) -> None:
    known = assets.list_annotation_ids(tx, asset)
    for index, mark in enumerate(marks):
        if mark.id is not None and mark.id not in known:
            raise InvalidField(f"annotations[{index}].id", "the image has no annotation with this id; omit the id")
