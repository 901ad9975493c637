"""The number of attachments of a ticket and of a capture, however they arrive."""

from io import BytesIO

import httpx
from PIL import Image

from tests.support import pictures
from tests.support.operation_cases import build_parts, capture_arguments
from tests.support.server import World, expect_error, ok


def test_captures_cannot_exceed_the_attachments_of_a_ticket(world: World) -> None:
    ticket = world.ticket()["id"]

    def attach(count: int) -> list[tuple[str, tuple[str, bytes]]]:
        parts = build_parts(capture_arguments("", project_id=None, ticket_id=ticket))
        return [*parts, *(("attachments", (f"{number}.txt", b"text")) for number in range(count))]

    for _ in range(4):
        ok(world.api.post("/captures", files=attach(20)))
    ok(world.api.post("/captures", files=attach(19)))
    before = len(ok(world.api.get(f"/tickets/{ticket}/captures"))["items"])
    refused = expect_error(world.api.post("/captures", files=attach(2)), 409, "conflict")
    assert "100 attachments" in refused["detail"]
    assert len(ok(world.api.get(f"/tickets/{ticket}/captures"))["items"]) == before
    ok(world.api.post("/captures", files=attach(1)))
    expect_error(world.api.post(f"/tickets/{ticket}/attachments", files={"file": ("x.txt", b"x")}), 409, "conflict")
    ok(world.api.post("/captures", files=attach(0)))


def test_capture_has_at_most_20_attachments(world: World) -> None:
    def send(count: int) -> httpx.Response:
        files = [("attachments", (f"{number}.txt", b"text")) for number in range(count)]
        return world.api.post("/captures", files=[*build_parts(capture_arguments(world.project)), *files])

    ok(send(20))
    assert expect_error(send(21), 400, "invalid_request")["errors"][0]["field"] == "attachments"


def test_picture_that_cannot_be_shown_is_attached_as_a_download(world: World) -> None:
    ticket = world.ticket()["id"]
    refused = {
        "anim.webp": pictures.webp_animation(),
        "anim.png": pictures.apng(),
        "damaged.jpg": pictures.truncate(pictures.jpeg()),
        "huge.png": pictures.bomb_png(12_000, 9_000),
    }
    for name, data in refused.items():
        asset = ok(world.api.post(f"/tickets/{ticket}/attachments", files={"file": (name, data)}))
        assert (asset["name"], asset["width"], asset["media_type"]) == (name, None, "application/octet-stream")
        answer = world.api.get(f"/assets/{asset['id']}/content")
        assert answer.content == data
        assert answer.headers["content-disposition"].startswith("attachment;")
        expect_error(world.api.get(f"/assets/{asset['id']}/thumbnail"), 404, "not_found")
    parts = build_parts(capture_arguments("", project_id=None, ticket_id=ticket))
    ok(world.api.post("/captures", files=[*parts, ("attachments", ("anim.webp", refused["anim.webp"]))]))


def test_part_of_a_file_can_be_read(world: World) -> None:
    ticket = world.ticket()["id"]
    asset = ok(world.api.post(f"/tickets/{ticket}/attachments", files={"file": ("a.bin", b"0123456789")}))
    path = f"/assets/{asset['id']}/content"

    def read(**headers: str) -> tuple[int, bytes, str | None]:
        answer = world.api.get(path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        assert answer.headers["accept-ranges"] == "bytes"
        return answer.status_code, answer.content, answer.headers.get("content-range")

    whole = (200, b"0123456789", None)
    tag = world.api.get(path).headers["etag"]
    assert read(Range="bytes=2-4", If_Range=tag) == (206, b"234", "bytes 2-4/10")
    assert read(Range="bytes=7-") == read(Range="bytes=-3") == read(Range="bytes=7-99") == (206, b"789", "bytes 7-9/10")
    assert read(Range="bytes=-99") == (206, b"0123456789", "bytes 0-9/10")
    for other in ("bytes=10-", "bytes=4-2", "bytes=-0", "bytes=-", "bytes=0-1,3-4", "lines=0-1", "bytes=x"):
        assert read(Range=other) == whole
    assert read(Range="bytes=2-4", If_Range='"other"') == whole
    assert world.api.head(path, headers={"Range": "bytes=2-4"}).status_code == 200


def test_pictures_of_captures_lose_their_metadata_and_attachments_of_members_keep_it(world: World) -> None:
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 6, "48.8584 N"
    photo = pictures.jpeg(40, 20, exif=exif)
    parts = build_parts(capture_arguments(world.project))
    parts = [part for part in parts if part[0] != "screenshot"]
    files = [*parts, ("screenshot", ("a.jpg", photo)), ("attachments", ("photo.jpg", photo))]
    ticket = ok(world.api.post("/captures", files=files))["ticket_id"]
    ok(world.api.post(f"/tickets/{ticket}/attachments", files={"file": ("photo.jpg", photo)}))
    shown = world.api.get(f"/tickets/{ticket}/screenshot").content
    attached, own = ok(world.api.get(f"/tickets/{ticket}/attachments"))["items"]
    assert (attached["width"], attached["height"]) == (20, 40)
    for data in (shown, world.api.get(f"/assets/{attached['id']}/content").content):
        assert b"48.8584" not in data
        assert Image.open(BytesIO(data)).getexif().get(0x0112) == 6
    assert world.api.get(f"/assets/{own['id']}/content").content == photo
