"""Whatever the bytes: a Problem or a sound answer, and `scale_image` keeps what it promises."""

from io import BytesIO

from hypothesis import example, given, settings
from hypothesis import strategies as st
from PIL import Image

from tests.support import pictures
from ticketbox.domain.captures.images import media_types
from ticketbox.domain.captures.images.geometry import BoxGeometry
from ticketbox.domain.captures.images.processing import Picture, inspect_image, redact_boxes, scale_image
from ticketbox.domain.core.problems import Problem

VALID = [
    pictures.png(40, 30),
    pictures.encode(pictures.image(40, 30).quantize(7), "PNG"),
    pictures.encode(pictures.image(40, 30, (9, 9, 9, 50), "RGBA"), "PNG"),
    pictures.jpeg(40, 30),
    pictures.jpeg(40, 30, progressive=True),
    pictures.with_exif("JPEG", 6),
    pictures.webp(40, 30),
    pictures.webp(40, 30, lossless=True),
    pictures.apng(),
    pictures.webp_animation(),
]
MAGIC = [
    b"",
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    b"\xff\xd8\xff",
    b"RIFF\x20\0\0\0WEBPVP8 ",
    b"GIF89a",
    b"<svg",
]


@st.composite
def mutate_image(draw: st.DrawFn) -> bytes:
    """A valid picture with a few bytes overwritten, removed, doubled, or of another picture."""
    data = bytearray(draw(st.sampled_from(VALID)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        match draw(st.sampled_from(["overwrite", "remove", "double", "cut", "other"])):
            case "overwrite":
                data[at : at + 1] = draw(st.binary(min_size=1, max_size=4))
            case "remove":
                del data[at : at + draw(st.integers(1, 40))]
            case "double":
                data[at:at] = data[at : at + draw(st.integers(1, 40))]
            case "cut":
                del data[at:]
            case _:
                data[at:] = draw(st.sampled_from(VALID))[at:]
    return bytes(data)


def repair_checksums(data: bytes) -> bytes:
    """Repair a PNG's checksums, so that the damage gets past them."""
    parts, at = [data[:8]], 8
    while data.startswith(b"\x89PNG") and at + 12 <= len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        parts.append(pictures.chunk(data[at + 4 : at + 8], data[at + 8 : at + 8 + size]))
        at += 12 + size
    return b"".join(parts) if len(parts) > 1 else data


def check(data: bytes) -> None:
    try:
        inspect_image(data)
    except Problem:
        return
    # What was accepted is never rejected later.
    assert_sound(scale_image(data, max_side=20, max_bytes=2000))
    assert_sound(redact_boxes(data, [BoxGeometry(1, 1, 5, 5)]))


def assert_sound(picture: Picture) -> None:
    with Image.open(BytesIO(picture.data)) as image:
        image.load()
        assert image.size == (picture.width, picture.height)
        assert media_types.detect_media_type(picture.data) == picture.media_type == f"image/{str(image.format).lower()}"


@given(st.sampled_from(MAGIC), st.binary(max_size=400))
@settings(max_examples=150, deadline=None)
def test_arbitrary_bytes(start: bytes, rest: bytes) -> None:
    check(start + rest)


@given(mutate_image(), st.booleans())
@settings(max_examples=250, deadline=None)
def test_mutated_images(data: bytes, repair: bool) -> None:
    check(repair_checksums(data) if repair else data)


@given(
    st.integers(1, 300),
    st.integers(1, 300),
    st.sampled_from(["PNG", "JPEG", "WEBP"]),
    st.booleans(),
    st.integers(1, 300),
    st.integers(1024, 20_000),
)
@example(1, 300, "PNG", True, 1, 1024)
@settings(max_examples=80, deadline=None)
def test_scale_keeps_its_guarantees(
    width: int, height: int, form: str, noisy: bool, max_side: int, max_bytes: int
) -> None:
    picture = pictures.noise(width, height) if noisy else pictures.image(width, height)
    data = pictures.encode(picture, form)
    scaled = scale_image(data, max_side=max_side, max_bytes=max_bytes)
    assert_sound(scaled)
    assert max(scaled.width, scaled.height) <= max_side
    assert len(scaled.data) < max_bytes
    if max(width, height) <= max_side and len(data) < max_bytes:
        assert scaled.data == data
    else:
        assert scaled.media_type in (media_types.PNG, media_types.JPEG)
        ratio = min(1, scaled.width / width)
        assert abs(scaled.height - height * ratio) <= 1 + height / width


@given(st.text(max_size=300))
@settings(max_examples=150, deadline=None)
def test_names(name: str) -> None:
    safe = media_types.sanitize_file_name(name)
    assert 1 <= len(safe) <= media_types.MAX_NAME
    assert safe.replace("\u200c", "").replace("\u200d", "").isprintable()
    assert not {"/", "\\"} & set(safe)
    assert media_types.sanitize_file_name(safe) == safe
    media_types.format_content_disposition(name, inline=False).encode("ascii")


@given(st.binary(max_size=200))
def test_sniffing_returns_only_supported_types(head: bytes) -> None:
    assert media_types.detect_media_type(head).startswith(("image/", "application/", "video/", "text/"))
