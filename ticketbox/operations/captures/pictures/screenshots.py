"""Rendering screenshots: with annotations, at the size that models need, and as thumbnails."""

import contextlib
import hashlib
from collections.abc import Callable
from functools import partial
from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.captures.images import drawing, processing, thumbnail
from ticketbox.domain.captures.images.annotations import Annotation
from ticketbox.domain.captures.records import Asset
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import InvalidField, NotFound, Problem
from ticketbox.operations.core.content import Content
from ticketbox.operations.core.lookups import AssetId, CaptureId, TicketId, find_readable, find_readable_ticket
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.operations.core.services import Services
from ticketbox.store.captures import assets, captures, previews
from ticketbox.store.captures.previews import Preview, Purpose
from ticketbox.store.core import blobs
from ticketbox.store.file.database import Read


class GetScreenshot(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The screenshot is that of the ticket's richest capture, unless `capture_id` names another one."""

    ticket_id: Annotated[TicketId, Meta(description="The ticket; not required with capture_id.")] | None = None
    capture_id: Annotated[CaptureId, Meta(description="Default: the ticket's richest.")] | None = None
    annotated: Annotated[bool, Meta(description="Draw the annotations.")] = False
    max_side: (
        Annotated[
            int,
            Meta(ge=16, le=8192, description="Scale down to at most this width and height in pixels, and 900 KB."),
        ]
        | None
    ) = None


class StoredScreenshot(msgspec.Struct, frozen=True):
    """A screenshot and its annotations. `ready` says that `content` has the requested size and annotations."""

    asset: int
    blob: int
    made_of: bytes
    content: Content
    marks: list[Annotation]
    ready: bool = False


async def render_screenshot(services: Services, actor: Actor, args: GetScreenshot, shot: StoredScreenshot) -> Content:
    """Draw the annotations and scale the image. Stores the size for models, for the next call."""
    content = await _render_image(services, actor, args, shot)
    texts = tuple(mark.text for mark in shot.marks if mark.text.strip())
    return msgspec.structs.replace(content, annotation_texts=texts) if texts else content


async def _render_image(services: Services, actor: Actor, args: GetScreenshot, shot: StoredScreenshot) -> Content:
    content = shot.content
    if shot.ready:
        return content
    if shot.marks:
        image = await services.rendering.run(actor.fair_share, processing.draw_annotations, content.data, shot.marks)
        content = _build_content(image)
    if args.max_side is not None and not _is_small_enough(content, args.max_side):
        image = await services.rendering.run(actor.fair_share, processing.scale_image, content.data, args.max_side)
        content = _build_content(image)
    if _is_for_models(args, shot.content) and content is not shot.content:
        await _store_preview(services, actor, shot, Purpose.MODEL, content)
    return content


async def _store_preview(
    services: Services, actor: Actor, shot: StoredScreenshot, purpose: Purpose, content: Content
) -> None:
    packed = await services.rendering.run(actor.fair_share, partial(blobs.pack_content, content.data, compress=False))
    new = Preview(purpose, shot.made_of, packed, content.media_type, content.width or 0, content.height or 0)
    with contextlib.suppress(Problem):  # a full disk: the next call renders the image again
        await services.database.write(lambda tx: previews.save_preview(tx, shot.asset, shot.blob, new))


def _is_for_models(args: GetScreenshot, original: Content | Asset) -> bool:
    """Whether this is the size in which get_ticket shows the screenshot."""
    side = processing.compute_model_side(original.width or 1, original.height or 1)
    return args.annotated and args.max_side == side


def _is_small_enough(content: Content, max_side: int) -> bool:
    longest = max(content.width or 0, content.height or 0)
    return longest <= max_side and len(content.data) < processing.MODEL_BYTES


def _build_content(image: processing.Picture) -> Content:
    return Content(
        media_type=image.media_type,
        data=image.data,
        name="screenshot." + image.media_type.rpartition("/")[2],
        inline=True,
        width=image.width,
        height=image.height,
    )


@operation(
    "get_screenshot",
    scope=Scope.READ,
    budget=Budget.READ,
    rest="GET /tickets/{ticket_id}/screenshot",
    finish=render_screenshot,
    media=("image/png", "image/jpeg", "image/webp"),
    tool=Tool(
        "View a ticket's screenshot",
        "Use this to see what the reporter saw, with their annotations if annotated is true.",
        {"ticket_id": "WEB-42", "annotated": True},
        defaults={"max_side": processing.MODEL_SIDE},
        tool_set="core",
    ),
)
def get_screenshot(tx: Read, actor: Actor, args: GetScreenshot) -> StoredScreenshot:
    """Download the screenshot of a ticket's richest capture, with or without annotations, at the requested size."""
    capture = _find_capture(tx, actor, args)
    key = None if capture is None else assets.find_screenshot(tx, capture)
    if key is None:
        raise NotFound("screenshot")
    return _load_screenshot(
        tx, key, annotated=args.annotated, purpose=lambda asset: Purpose.MODEL if _is_for_models(args, asset) else None
    )


def _find_capture(tx: Read, actor: Actor, args: GetScreenshot) -> int | None:
    """Find the capture whose screenshot is wanted. Raises NotFound, and InvalidRequest for one of another ticket."""
    if args.capture_id is None and args.ticket_id is None:
        raise InvalidField("ticket_id", "ticket_id or capture_id is required")
    ticket = None if args.ticket_id is None else find_readable_ticket(tx, actor, args.ticket_id).key
    if args.capture_id is None:
        return None if ticket is None else captures.find_shown_capture(tx, ticket)
    capture = find_readable(tx, actor, "capture", args.capture_id).key
    if ticket not in {None, captures.load_ticket_key(tx, capture)}:
        raise InvalidField("capture_id", "the capture belongs to another ticket")
    return capture


def _load_screenshot(
    tx: Read, key: int, *, annotated: bool, purpose: Callable[[Asset], Purpose | None]
) -> StoredScreenshot:
    """Load a stored image, or its preview for the purpose that it is wanted for."""
    blob, asset = assets.load_asset(tx, key)
    marks = assets.list_annotations(tx, key) if annotated else []
    versions = b"%d.%d." % (drawing.VERSION, thumbnail.VERSION)
    made_of = hashlib.sha256(versions + asset.sha256.encode() + msgspec.json.encode(marks)).digest()
    wanted = purpose(asset)
    preview = None if wanted is None else previews.find_preview(tx, key, wanted, made_of)
    if preview is not None:
        image = processing.Picture(
            blobs.load_content(tx, preview.blob), preview.media_type, preview.width, preview.height
        )
        return StoredScreenshot(key, blob, made_of, _build_content(image), marks, ready=True)
    content = Content(
        media_type=asset.media_type,
        data=blobs.load_content(tx, blob),
        name=asset.name,
        inline=True,
        etag=asset.sha256,
        width=asset.width,
        height=asset.height,
    )
    return StoredScreenshot(key, blob, made_of, content, marks)


class GetThumbnail(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The thumbnail of an image shows what is annotated, or the top of the page."""

    asset_id: AssetId
    version: (
        Annotated[
            int,
            Meta(ge=1, le=2**53, description="`screenshot_version` of the capture: browsers keep the answer."),
        ]
        | None
    ) = None


async def render_thumbnail(services: Services, actor: Actor, args: GetThumbnail, shot: StoredScreenshot) -> Content:
    """Draw the thumbnail, and store it for the next call."""
    content = shot.content
    if not shot.ready:
        image = await services.rendering.run(actor.fair_share, processing.draw_thumbnail, content.data, shot.marks)
        content = _build_content(image)
        await _store_preview(services, actor, shot, Purpose.THUMBNAIL, content)
    return msgspec.structs.replace(content, immutable=args.version is not None)


@operation(
    "get_thumbnail",
    scope=Scope.READ,
    budget=Budget.READ,
    rest="GET /assets/{asset_id}/thumbnail",
    finish=render_thumbnail,
    media=("image/webp",),
)
def get_thumbnail(tx: Read, actor: Actor, args: GetThumbnail) -> StoredScreenshot:
    """Download a part of an image at the size of a card, 640 pixels wide, with the annotations drawn."""
    key = find_readable(tx, actor, "asset", args.asset_id).key
    if assets.load_asset(tx, key)[1].width is None:
        raise NotFound("screenshot")
    return _load_screenshot(tx, key, annotated=True, purpose=lambda _: Purpose.THUMBNAIL)
