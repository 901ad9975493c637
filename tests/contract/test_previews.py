"""The screenshot that comes with get_ticket: small, made once, and gone when its original is burnt."""

import base64
import random
from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from tests.box import World, ok
from tests.contract.agents import captured, post
from tests.contract.cases import alter, read_only
from tests.domain.pictures import encode, png


def seen(world: World, ticket: str) -> bytes:
    """The picture that a model gets."""
    call = {"name": "get_ticket", "arguments": {"ticket_id": ticket}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    token = world.owner.token("read")
    content = ok(post(world, message, Authorization=f"Bearer {token}"))["result"]["content"]
    (picture,) = [each for each in content if each["type"] == "image"]
    return base64.b64decode(picture["data"])


def kept(world: World, asset: str) -> list[tuple[Any, ...]]:
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


def test_a_screenshot_is_made_small_once(world: World) -> None:
    ticket = captured(world, screenshot=png(2000, 1000, (1, 2, 3)))["ticket_id"]
    asset = shot(world, ticket)
    assert kept(world, asset) == []
    first = seen(world, ticket)
    assert Image.open(BytesIO(first)).size == (1568, 784)
    ((blob, data),) = kept(world, asset)
    assert data == first
    other = png(8, 8)
    alter(world.box.db, "UPDATE blob SET data = ? WHERE id = ?", other, blob)
    assert seen(world, ticket) == other


def test_new_marks_make_a_new_picture(world: World) -> None:
    ticket = captured(world)["ticket_id"]
    asset = shot(world, ticket)
    before = seen(world, ticket)
    mark(world, asset, "rectangle")
    after = seen(world, ticket)
    assert before != after == seen(world, ticket)
    assert [data for _, data in kept(world, asset)] == [after]
    assert world.api.get(f"/tickets/{ticket}/screenshot").content == png(2000, 1000)


def test_burning_a_picture_destroys_its_small_one(world: World) -> None:
    ticket = captured(world, screenshot=png(2000, 1000, (7, 8, 9)))["ticket_id"]
    asset = shot(world, ticket)
    before = seen(world, ticket)
    assert [data for _, data in kept(world, asset)] == [before]
    mark(world, asset, "redact")
    assert kept(world, asset) == []
    with read_only(world.box.db) as connection:
        assert connection.execute("SELECT 1 FROM blob WHERE data = ?", (before,)).fetchall() == []
    burnt = Image.open(BytesIO(seen(world, ticket))).convert("RGB")
    assert burnt.getpixel((300, 200)) == (0, 0, 0)


def test_a_small_picture_of_many_bytes_is_made_lighter(world: World) -> None:
    noise = Image.frombytes("RGB", (1000, 1000), random.Random(1).randbytes(3_000_000))
    heavy = encode(noise, "PNG")
    assert len(heavy) > 2_000_000
    ticket = captured(world, screenshot=heavy)["ticket_id"]
    assert len(seen(world, ticket)) < 900_000


def test_a_ticket_comes_without_a_picture_that_cant_be_made(world: World) -> None:
    ticket = captured(world, screenshot=png(2000, 1000, (4, 5, 6)))["ticket_id"]
    spoil = "UPDATE blob SET data = ? WHERE id = (SELECT blob_id FROM asset WHERE public_id = ?)"
    alter(world.box.db, spoil, b"spoilt", shot(world, ticket))
    call = {"name": "get_ticket", "arguments": {"ticket_id": ticket}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    result = ok(post(world, message, Authorization=f"Bearer {world.owner.token('read')}"))["result"]
    assert ([each["type"] for each in result["content"]], result["isError"]) == (["text"], False)


@pytest.mark.parametrize("size", [(1568, 800), (64, 48)])
def test_a_picture_that_is_small_already_is_kept_once(world: World, size: tuple[int, int]) -> None:
    original = png(*size)
    ticket = captured(world, screenshot=original)["ticket_id"]
    assert seen(world, ticket) == original
    assert kept(world, shot(world, ticket)) == []
