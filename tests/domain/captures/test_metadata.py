"""Pictures lose their metadata, and nothing else."""

from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from tests.support import pictures
from ticketbox.domain.captures.images.media_types import detect_media_type
from ticketbox.domain.captures.images.metadata import remove_metadata

SECRET = b"48.8584 N, 2.2945 E"
PROFILE = b"a colour profile" * 20


def encode(form: str, orientation: int = 1, **options: Any) -> bytes:
    exif = Image.Exif()
    if orientation != 1:
        exif[0x0112] = orientation
    exif[0x010E] = SECRET.decode()
    exif.get_ifd(0x8825)[1] = "N"
    return pictures.encode(pictures.image(), form, exif=exif, icc_profile=PROFILE, **options)


def clean(data: bytes) -> bytes:
    return remove_metadata(data, detect_media_type(data))


def decode(data: bytes) -> tuple[bytes, int, Any]:
    with Image.open(BytesIO(data)) as image:
        return image.tobytes(), image.getexif().get(0x0112, 1), image.info.get("icc_profile")


@pytest.mark.parametrize(
    "data",
    [
        *(encode("JPEG", orientation) for orientation in range(1, 9)),
        encode("JPEG", progressive=True, comment=SECRET, xmp=SECRET) + SECRET,
        encode("PNG", xmp=SECRET),
        encode("WEBP", xmp=SECRET),
        encode("WEBP", lossless=True),
        encode("WEBP", save_all=True, append_images=[pictures.image(color=(1, 2, 3))], xmp=SECRET),
        encode("PNG", save_all=True, append_images=[pictures.image(color=(1, 2, 3))]),
    ],
)
def test_metadata_is_removed_and_pixels_colours_and_rotation_stay(data: bytes) -> None:
    assert SECRET in data
    cleaned = clean(data)
    assert SECRET not in cleaned
    assert decode(cleaned) == decode(data)
    assert clean(cleaned) == cleaned
    with Image.open(BytesIO(data)) as before, Image.open(BytesIO(cleaned)) as after:
        assert getattr(after, "n_frames", 1) == getattr(before, "n_frames", 1)
        assert dict(after.getexif().get_ifd(0x8825)) == {}


@pytest.mark.parametrize("data", [pictures.png(), pictures.jpeg(), pictures.webp(), pictures.gif(), b"text", b""])
def test_file_without_metadata_stays_as_it_is(data: bytes) -> None:
    assert clean(data) == data


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
def test_damaged_file_loses_its_metadata_too(form: str) -> None:
    for length in range(0, len(data := encode(form)), 7):
        assert SECRET not in clean(data[:length]) or data[:length].endswith(SECRET)
    assert len(clean(data[:-20])) > len(data) / 4
