"""The screenshot that comes with get_ticket: small, made once, and gone when its original is burnt."""

import base64
import hashlib
import random
from io import BytesIO
from typing import Any

import httpx
import pytest
from PIL import Image

from tests.support.mcp_client import create_capture, post
from tests.support.operation_cases import read_only, update_row
from tests.support.pictures import encode, png
from tests.support.server import World, expect_error, ok


def get_preview(world: World, ticket: str) -> bytes:
    """The picture that a model gets."""
    call = {"name": "get_ticket", "arguments": {"ticket_id": ticket}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    token = world.owner.token("read")
    content = ok(post(world, message, Authorization=f"Bearer {token}"))["result"]["content"]
    (picture,) = [each for each in content if each["type"] == "image"]
    return base64.b64decode(picture["data"])


def list_stored_previews(world: World, asset: str) -> list[tuple[Any, ...]]:
    """What is kept for an asset: its blob's key and bytes."""
    sql = "SELECT b.id, b.data FROM preview p JOIN blob b ON b.id = p.blob_id JOIN asset a ON a.id = p.asset_id "
    with read_only(world.box.db) as connection:
        return connection.execute(sql + "WHERE a.public_id = ?", (asset,)).fetchall()


def shot(world: World, ticket: str) -> str:
    """The id of a ticket's screenshot."""
    return ok(world.api.get(f"/tickets/{ticket}"))["capture"]["screenshot"]["id"]


def mark(world: World, asset: str, kind: str) -> None:
    """Put one mark on a picture."""
    geometry = {"x": 100, "y": 100, "width": 1200, "height": 400}
    given = {"annotations": [{"kind": kind, "geometry": geometry}]}
    ok(world.api.put(f"/assets/{asset}/annotations", json=given))


def test_screenshot_is_scaled_down_once(world: World) -> None:
    ticket = create_capture(world, screenshot=png(2000, 1000, (1, 2, 3)))["ticket_id"]
    asset = shot(world, ticket)
    assert list_stored_previews(world, asset) == []
    first = get_preview(world, ticket)
    assert Image.open(BytesIO(first)).size == (1568, 784)
    ((blob, data),) = list_stored_previews(world, asset)
    assert data == first
    other = png(8, 8)
    update_row(world.box.db, "UPDATE blob SET data = ? WHERE id = ?", other, blob)
    assert get_preview(world, ticket) == other


def test_new_annotations_create_a_new_preview(world: World) -> None:
    ticket = create_capture(world)["ticket_id"]
    asset = shot(world, ticket)
    before = get_preview(world, ticket)
    mark(world, asset, "rectangle")
    after = get_preview(world, ticket)
    assert before != after == get_preview(world, ticket)
    assert [data for _, data in list_stored_previews(world, asset)] == [after]
    assert world.api.get(f"/tickets/{ticket}/screenshot").content == png(2000, 1000)


@pytest.mark.long
def test_burning_in_a_redaction_deletes_the_preview(world: World) -> None:
    ticket = create_capture(world, screenshot=png(2000, 1000, (7, 8, 9)))["ticket_id"]
    asset = shot(world, ticket)
    before = get_preview(world, ticket)
    assert [data for _, data in list_stored_previews(world, asset)] == [before]
    mark(world, asset, "redact")
    assert list_stored_previews(world, asset) == []
    with read_only(world.box.db) as connection:
        assert connection.execute("SELECT 1 FROM blob WHERE data = ?", (before,)).fetchall() == []
    burnt = Image.open(BytesIO(get_preview(world, ticket))).convert("RGB")
    assert burnt.getpixel((300, 200)) == (0, 0, 0)


def test_small_image_of_many_bytes_is_recompressed(world: World) -> None:
    noise = Image.frombytes("RGB", (1000, 1000), random.Random(1).randbytes(3_000_000))
    heavy = encode(noise, "PNG")
    assert len(heavy) > 2_000_000
    ticket = create_capture(world, screenshot=heavy)["ticket_id"]
    assert len(get_preview(world, ticket)) < 900_000


def test_ticket_is_returned_without_a_preview_that_cannot_be_made(world: World) -> None:
    ticket = create_capture(world, screenshot=png(2000, 1000, (4, 5, 6)))["ticket_id"]
    spoil = "UPDATE blob SET data = ? WHERE id = (SELECT blob_id FROM asset WHERE public_id = ?)"
    update_row(world.box.db, spoil, b"spoilt", shot(world, ticket))
    call = {"name": "get_ticket", "arguments": {"ticket_id": ticket}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    result = ok(post(world, message, Authorization=f"Bearer {world.owner.token('read')}"))["result"]
    assert ([each["type"] for each in result["content"]], result["isError"]) == (["text"], False)


def get_thumbnail(world: World, ticket: str) -> httpx.Response:
    """A card's picture, as the app asks for it."""
    capture = ok(world.api.get(f"/tickets/{ticket}"))["capture"]
    version = ok(world.api.get("/tickets"))["items"][0]["capture"]["screenshot_version"]
    return world.api.get(f"/assets/{capture['screenshot']['id']}/thumbnail", params={"version": version})


@pytest.mark.long
def test_thumbnail_shows_what_is_marked_and_is_kept_until_the_marks_change(world: World) -> None:
    ticket = create_capture(world)["ticket_id"]
    asset = shot(world, ticket)
    first = get_thumbnail(world, ticket)
    assert first.headers["content-type"] == "image/webp"
    assert first.headers["cache-control"] == "private, max-age=31536000, immutable"
    assert Image.open(BytesIO(first.content)).size == (640, 204)
    assert [data for _, data in list_stored_previews(world, asset)] == [first.content]
    assert "immutable" not in world.api.get(f"/assets/{asset}/thumbnail").headers.get("cache-control", "")
    mark(world, asset, "rectangle")
    marked = get_thumbnail(world, ticket)
    assert (marked.request.url.params["version"], first.request.url.params["version"]) == ("2", "1")
    assert marked.content != first.content
    get_preview(world, ticket)
    assert len(list_stored_previews(world, asset)) == 2
    mark(world, asset, "redact")
    assert list_stored_previews(world, asset) == []
    burnt = Image.open(BytesIO(get_thumbnail(world, ticket).content)).convert("L")
    assert burnt.getpixel((320, 102)) == 0


def test_thumbnail_is_not_around_what_was_removed(world: World) -> None:
    ticket = create_capture(world, screenshot=png(2000, 1000, (90, 90, 90)))["ticket_id"]
    removed = {"kind": "redact", "geometry": {"x": 1500, "y": 800, "width": 400, "height": 150}}
    ok(world.api.put(f"/assets/{shot(world, ticket)}/annotations", json={"annotations": [removed]}))
    shown = Image.open(BytesIO(get_thumbnail(world, ticket).content)).convert("L")
    assert min(shown.tobytes()) > 50


def test_thumbnail_that_an_earlier_version_cropped_is_drawn_again(world: World) -> None:
    ticket = create_capture(world)["ticket_id"]
    get_thumbnail(world, ticket)
    screenshot = ok(world.api.get(f"/tickets/{ticket}"))["capture"]["screenshot"]
    ((blob, _),) = list_stored_previews(world, screenshot["id"])
    earlier = hashlib.sha256(b"2" + screenshot["sha256"].encode() + b"[]").digest()
    update_row(world.box.db, "UPDATE preview SET made_of = ? WHERE blob_id = ?", earlier, blob)
    update_row(world.box.db, "UPDATE blob SET data = ? WHERE id = ?", png(8, 8), blob)
    assert Image.open(BytesIO(get_thumbnail(world, ticket).content)).size == (640, 204)


def test_file_that_is_no_image_has_no_thumbnail(world: World) -> None:
    ticket = world.ticket("A log")["id"]
    log = ok(world.api.post(f"/tickets/{ticket}/attachments", files={"file": ("a.txt", b"hello", "text/plain")}))
    expect_error(world.api.get(f"/assets/{log['id']}/thumbnail"), 404, "not_found")


@pytest.mark.parametrize("size", [(1568, 800), (64, 48)])
def test_already_small_image_is_stored_once(world: World, size: tuple[int, int]) -> None:
    original = png(*size)
    ticket = create_capture(world, screenshot=original)["ticket_id"]
    assert get_preview(world, ticket) == original
    assert list_stored_previews(world, shot(world, ticket)) == []
