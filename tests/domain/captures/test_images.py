import subprocess
import sys
import zlib
from io import BytesIO

import msgspec
import pytest
from PIL import Image, ImageOps

from tests.support import pictures
from ticketbox.domain.captures.images import image_format
from ticketbox.domain.captures.images.annotations import AnnotationInput
from ticketbox.domain.captures.images.formats import png
from ticketbox.domain.captures.images.geometry import BoxGeometry
from ticketbox.domain.captures.images.processing import (
    ImageInfo,
    Picture,
    draw_annotations,
    inspect_image,
    redact_boxes,
    scale_image,
)
from ticketbox.domain.core.problems import InvalidRequest, PayloadTooLarge, Problem, UnsupportedMediaType

SOUND = {"image/png": pictures.png, "image/jpeg": pictures.jpeg, "image/webp": pictures.webp}


def open_image(picture: Picture | bytes) -> Image.Image:
    image = Image.open(BytesIO(picture if isinstance(picture, bytes) else picture.data))
    image.load()
    return image


def pixel(image: Image.Image, at: tuple[int, int]) -> tuple[int, ...]:
    """A pixel of a picture in colour."""
    pixel = image.getpixel(at)
    assert isinstance(pixel, tuple)
    return pixel


def marks(*given: dict[str, object]) -> list[AnnotationInput]:
    return msgspec.convert(list(given), type=list[AnnotationInput])


# --- inspect_image


@pytest.mark.parametrize("media_type", SOUND)
def test_valid_images_are_recognized(media_type: str) -> None:
    assert inspect_image(SOUND[media_type](70, 31)) == ImageInfo(media_type, 70, 31)


@pytest.mark.parametrize(
    "data",
    [
        pictures.encode(pictures.image(9, 7, (200,), "L"), "PNG"),
        pictures.encode(pictures.image(9, 7, (40, 50, 60, 128), "RGBA"), "PNG"),
        pictures.encode(pictures.image(9, 7, (40, 128), "LA"), "PNG"),
        pictures.encode(pictures.image(9, 7).quantize(5), "PNG"),
        pictures.encode(pictures.image(9, 7).convert("1"), "PNG"),
        pictures.encode(Image.new("I;16", (9, 7), 40_000), "PNG"),
        pictures.encode(pictures.image(9, 7, (200,), "L"), "JPEG"),
        pictures.encode(pictures.image(9, 7).convert("CMYK"), "JPEG"),
        pictures.jpeg(9, 7, progressive=True),
        pictures.jpeg(9, 7, restart_marker_blocks=1),
        pictures.jpeg(9, 7) + b"whatever a camera puts after the end",
        pictures.webp(9, 7, lossless=True),
        pictures.encode(pictures.image(9, 7, (40, 50, 60, 128), "RGBA"), "WEBP"),
    ],
)
def test_every_variant_can_be_inspected_scaled_and_burnt(data: bytes) -> None:
    info = inspect_image(data)
    assert (info.width, info.height) == (9, 7)
    assert open_image(scale_image(data, max_side=4)).size == (4, 3)
    for picture in (redact_boxes(data, [BoxGeometry(0, 0, 2, 2)]), draw_annotations(data, marks())):
        assert (picture.media_type, open_image(picture).size) == (info.media_type, (9, 7))


def test_interlaced_png_is_verified_in_all_passes() -> None:
    rows = []
    for left, top, right_step, down_step in png._ADAM7:
        columns, lines = len(range(left, 5, right_step)), len(range(top, 6, down_step))
        rows += [b"\0" + b"\x40" * 3 * columns] * lines if columns else []
    header = b"\0\0\0\5\0\0\0\6\x08\2\0\0\1"

    def build_png(pixels: bytes) -> bytes:
        parts = (b"IHDR", header), (b"IDAT", zlib.compress(pixels)), (b"IEND", b"")
        return b"\x89PNG\r\n\x1a\n" + b"".join(pictures.chunk(*part) for part in parts)

    whole = build_png(b"".join(rows))
    assert inspect_image(whole) == ImageInfo("image/png", 5, 6)
    assert open_image(redact_boxes(whole, [])).getpixel((4, 5)) == (0x40, 0x40, 0x40)
    with pytest.raises(InvalidRequest):
        inspect_image(build_png(b"".join(rows)[:-1]))


@pytest.mark.parametrize(
    "data",
    [
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"<!doctype html><script>alert(1)</script>",
        pictures.gif(),
        b"",
        b"plain",
        pictures.encode(pictures.image(), "TIFF"),
        pictures.encode(pictures.image(), "BMP"),
    ],
)
def test_other_types_are_rejected_by_content(data: bytes) -> None:
    for work in (inspect_image, scale_image):
        with pytest.raises(UnsupportedMediaType) as refused:
            work(data)
        assert refused.value.extra["valid"] == ["image/png", "image/jpeg", "image/webp"]


@pytest.mark.parametrize(
    "data",
    [
        pictures.bomb_png(),
        pictures.bomb_png(2**31 - 1, 1),
        pictures.bomb_png(7072, 7072),
        pictures.jpeg_sized(65_000, 65_000),
        pictures.jpeg_sized(50_001, 1001, form=0xC2),
        pictures.webp_sized(16_000, 16_000),
    ],
)
def test_too_many_pixels_are_rejected(data: bytes) -> None:
    with pytest.raises(PayloadTooLarge):
        inspect_image(data)


@pytest.mark.parametrize("data", [pictures.apng(), pictures.webp_animation()])
def test_animations_are_rejected(data: bytes) -> None:
    with pytest.raises(InvalidRequest, match="animated"):
        inspect_image(data)


@pytest.mark.parametrize(
    "data",
    [
        *(pictures.truncate(make(), share) for make in SOUND.values() for share in (0.3, 0.6, 0.98)),
        pictures.png_of(8, 8, b"\0" * (25 * 8 - 1)),
        pictures.png_of(8, 8, b"\5" * (25 * 8)),
        pictures.png_of(8, 8, b"\0" * 72, color=3),
        pictures.png_of(8, 8, b"\0" * 200, depth=3),
        pictures.png_of(0, 8, b"\0" * 200),
        pictures.png_of(8, 8, b"\0" * 200, extra=pictures.chunk(b"tRNS", b"x")),
        pictures.png()[:-12],
        pictures.png().replace(b"IDAT", b"IDAX"),
        pictures.jpeg()[:-2],
        pictures.jpeg_sized(16, 0),
        pictures.jpeg().replace(b"\xff\xda", b"\xff\xda\xff\xff"),
        b"\xff\xd8\xff\xd9",
        b"\xff\xd8" + b"\xff" * 1_000_000,
        b"\xff\xd8" + b"\xff\xfe\0\2" * 200_000,
        b"\x89PNG\r\n\x1a\n",
        b"RIFF\4\0\0\0WEBP",
        pictures.webp_sized(63, 48),
    ],
)
def test_truncated_and_corrupt_files_are_rejected(data: bytes) -> None:
    with pytest.raises(InvalidRequest, match="truncated or corrupt"):
        inspect_image(data)


def test_jpeg_with_endless_scans_is_rejected() -> None:
    data = pictures.jpeg(progressive=True)
    scan = data[data.rindex(b"\xff\xda") : -2]
    with pytest.raises(InvalidRequest):
        inspect_image(data[:-2] + scan * 40 + data[-2:])


HOSTILE = """
import resource, sys
from tests.support import pictures
from ticketbox.domain.captures.images.processing import inspect_image
from ticketbox.domain.captures.images.processing import scale_image
from ticketbox.domain.core.problems import Problem

inspect_image(pictures.png()), scale_image(pictures.jpeg(2000, 10)), scale_image(pictures.webp(2000, 10))
text = pictures.chunk(b"zTXt", b"a\\0\\0" + __import__("zlib").compress(bytes(900_000))) * 200
hostile = [
    pictures.bomb_png(), pictures.bomb_png(65_500, 700), pictures.short_png(),
    pictures.png_of(60, 60, bytes(60), extra=text),
    pictures.jpeg_sized(65_000, 65_000), pictures.jpeg_sized(60_000, 60_000, form=0xC2),
    pictures.truncate(pictures.jpeg_sized(7000, 7000, form=0xC2)),
    pictures.webp_sized(16_383, 16_383), pictures.webp_sized(7000, 7000),
    pictures.truncate(pictures.webp(3000, 3000)),
]
unit = 1 if sys.platform == "darwin" else 1024
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
for data in hostile:
    try:
        inspect_image(data)
    except Problem:
        continue
    raise SystemExit("a hostile picture passed")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit - before)
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="needs the resource module")
def test_hostile_images_use_little_memory() -> None:
    done = subprocess.run([sys.executable, "-c", HOSTILE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 64_000_000


def test_command_line_does_not_load_pillow() -> None:
    code = "import sys, ticketbox.domain.captures.images.processing; sys.exit('PIL' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# --- scale_image


def test_fitting_image_is_unchanged() -> None:
    for media_type, make in SOUND.items():
        data = make(300, 200)
        assert scale_image(data) == Picture(data, media_type, 300, 200)


def test_large_flat_image_stays_lossless() -> None:
    scaled = scale_image(pictures.png(2560, 1440))
    assert (scaled.media_type, scaled.width, scaled.height) == ("image/png", 1568, 882)
    image = open_image(scaled)
    assert image.getpixel((5, 5)) == pictures.RED
    assert image.getpixel((880, 400)) == pictures.BLUE


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
def test_noise_is_compressed_to_fit(form: str) -> None:
    scaled = scale_image(pictures.encode(pictures.noise(1800, 1200), form), max_bytes=200_000)
    assert (scaled.media_type, max(scaled.width, scaled.height) <= 1568) == ("image/jpeg", True)
    assert len(scaled.data) < 200_000
    assert open_image(scaled).size == (scaled.width, scaled.height)


@pytest.mark.parametrize(("width", "height"), [(60_000, 1), (1, 60_000), (5000, 4), (4001, 3999)])
def test_extreme_aspect_ratios(width: int, height: int) -> None:
    scaled = scale_image(pictures.png(width, height), max_side=100)
    assert (max(scaled.width, scaled.height), min(scaled.width, scaled.height) >= 1) == (100, True)


def test_reduction_in_strips_keeps_every_row() -> None:
    ramp = Image.linear_gradient("L").resize((40, 6000))
    scaled = open_image(scale_image(pictures.encode(ramp, "PNG"), max_side=1500))
    assert scaled.size == (10, 1500)
    column = list(scaled.crop((5, 0, 6, 1500)).tobytes())
    assert [column[y] for y in (0, 749, 1499)] == pytest.approx([0, 127, 255], abs=2)
    assert column == sorted(column)


def test_transparency_becomes_white_in_jpeg() -> None:
    clear = pictures.noise(600, 600).convert("RGBA")
    clear.paste((0, 0, 0, 0), (0, 0, 300, 600))
    scaled = scale_image(pictures.encode(clear, "PNG"), max_bytes=60_000)
    assert scaled.media_type == "image/jpeg"
    assert min(pixel(open_image(scaled), (10, 10))) > 240


def test_opaque_alpha_channel_is_free() -> None:
    assert open_image(scale_image(pictures.encode(pictures.image(2000, 100).convert("RGBA"), "PNG"))).mode == "RGB"


def test_sixteen_bit_grey_keeps_its_brightness() -> None:
    scaled = scale_image(pictures.encode(Image.new("I;16", (90, 70), 32_768), "PNG"), max_side=50)
    assert open_image(scaled).convert("L").getpixel((10, 10)) == pytest.approx(128, abs=1)


def test_impossible_limit_is_a_caller_error() -> None:
    with pytest.raises(ValueError, match="no image"):
        scale_image(pictures.png(), max_bytes=10)


# --- orientation


@pytest.mark.parametrize("orientation", range(1, 9))
def test_rotated_jpeg_is_shown_as_in_browsers(orientation: int) -> None:
    data = pictures.with_exif("JPEG", orientation)
    upright = (64, 48) if orientation < 5 else (48, 64)
    info = inspect_image(data)
    assert (info.width, info.height) == upright
    scaled = open_image(scale_image(data, max_side=63))
    assert scaled.size == ((63, 47) if orientation < 5 else (47, 63))
    burnt = open_image(redact_boxes(data, [BoxGeometry(0, 0, 16, 16)]))
    assert burnt.size == upright
    assert burnt.getpixel((4, 4)) == (0, 0, 0)
    shown = ImageOps.exif_transpose(open_image(data))
    rest = (0, 16, info.width, info.height)
    for got, expected in zip(burnt.crop(rest).tobytes(), shown.crop(rest).tobytes(), strict=True):
        assert abs(got - expected) < 40


@pytest.mark.parametrize("form", ["PNG", "WEBP"])
def test_other_rotated_images_are_rejected_as_ambiguous(form: str) -> None:
    assert inspect_image(pictures.with_exif(form, 1)).width == 64
    with pytest.raises(InvalidRequest, match="rotated by metadata"):
        inspect_image(pictures.with_exif(form, 6))


# --- redact_boxes

SECRET = b"what the old picture showed"


@pytest.mark.parametrize(
    ("form", "options"),
    [("PNG", {}), ("JPEG", {"quality": 90}), ("WEBP", {"quality": 80}), ("WEBP", {"lossless": True})],
)
def test_burnt_pixels_are_gone(form: str, options: dict[str, object]) -> None:
    before = pictures.noise(200, 160)
    exif = Image.Exif()
    exif[0x010E] = SECRET.decode()
    extras = {"exif": exif, "icc_profile": SECRET * 9, **options}
    data = pictures.encode(before, form, **extras) + SECRET
    assert data.count(SECRET) > 1
    assert SECRET not in image_format.parse_image(data).essence
    burnt = redact_boxes(data, [BoxGeometry(32, 32, 64, 48)])
    assert burnt.media_type == f"image/{form.lower()}"
    after = open_image(burnt)
    spread = 12 if options.get("quality") == 80 else 0  # WebP smooths across its blocks
    assert max(after.convert("RGB").crop((33, 33, 95, 79)).tobytes()) <= spread
    assert SECRET not in burnt.data
    assert not after.getexif()
    assert not {"exif", "icc_profile", "xmp", "comment", "photoshop"} & after.info.keys()
    old_rows = range(len(data) // 4, len(data) // 2, 97)
    assert all(data[at : at + 64] not in burnt.data for at in old_rows)
    kept = (120, 100, 200, 160)
    if options.get("lossless") or form == "PNG":
        assert after.convert("RGB").crop(kept).tobytes() == before.crop(kept).tobytes()


def test_png_keeps_only_pixel_data() -> None:
    extra = b"".join(pictures.chunk(kind, SECRET) for kind in (b"tEXt", b"eXIf", b"iTXt", b"prVt"))
    data = pictures.png_of(8, 8, b"\0" * 200, extra=extra)
    assert SECRET not in image_format.parse_image(data).essence
    burnt = redact_boxes(data, [BoxGeometry(0, 0, 1, 1)]).data
    kinds, at = [], 8
    while at < len(burnt):
        kinds.append(burnt[at + 4 : at + 8])
        at += 12 + int.from_bytes(burnt[at : at + 4], "big")
    assert kinds == [b"IHDR", b"IDAT", b"IEND"]


def test_rectangle_covers_every_touched_pixel() -> None:
    burnt = open_image(redact_boxes(pictures.png(20, 20), [BoxGeometry(3.9, 4.2, 2.2, 1)]))
    black = {(x, y) for x in range(20) for y in range(20) if burnt.getpixel((x, y)) == (0, 0, 0)}
    assert black == {(x, y) for x in (3, 4, 5, 6) for y in (4, 5)}


def test_lossy_source_loses_whole_blocks() -> None:
    burnt = open_image(redact_boxes(pictures.jpeg(64, 64), [BoxGeometry(20, 20, 5, 5)]))
    assert burnt.crop((16, 16, 32, 32)).getextrema() == ((0, 0),) * 3


def test_rectangle_beyond_the_edges_is_clipped() -> None:
    burnt = open_image(redact_boxes(pictures.png(20, 20), [BoxGeometry(-5, -5, 100_000, 100_000)]))
    assert burnt.getextrema() == ((0, 0),) * 3


def test_transparent_pixels_are_burnt_too() -> None:
    data = pictures.encode(Image.new("RGBA", (20, 20), (9, 8, 7, 0)), "PNG")
    assert open_image(redact_boxes(data, [BoxGeometry(0, 0, 9, 9)])).getpixel((5, 5)) == (0, 0, 0, 255)


@pytest.mark.parametrize("box", [(20, 0, 5, 5), (0, -5, 5, 5), (3, 3, 0, 5), (float("nan"), 1, 5, 5)])
def test_rectangle_that_covers_nothing_is_rejected(box: tuple[float, float, float, float]) -> None:
    with pytest.raises(InvalidRequest, match=r"rectangles\[1\]"):
        redact_boxes(pictures.png(20, 20), [BoxGeometry(0, 0, 1, 1), BoxGeometry(*box)])


# --- draw_annotations


@pytest.mark.parametrize(
    ("mark", "touched", "untouched"),
    [
        ({"kind": "arrow", "geometry": {"x1": 10, "y1": 50, "x2": 190, "y2": 50}}, (60, 50), (60, 70)),
        ({"kind": "arrow", "geometry": {"x1": 190, "y1": 50, "x2": 10, "y2": 50}}, (14, 50), (14, 44)),
        (
            {"kind": "rectangle", "geometry": {"x": 10, "y": 10, "width": 99, "height": 80}},
            (10, 50),
            (50, 50),
        ),
        ({"kind": "ellipse", "geometry": {"x": 10, "y": 10, "width": 81, "height": 81}}, (50, 10), (12, 12)),
        ({"kind": "pen", "geometry": {"points": [[5, 5], [100, 5], [100, 90]]}}, (100, 60), (60, 60)),
        ({"kind": "highlight", "geometry": {"x": 10, "y": 10, "width": 9, "height": 9}}, (18, 18), (19, 19)),
        ({"kind": "redact", "geometry": {"x": 10, "y": 10, "width": 9, "height": 9}}, (18, 18), (19, 19)),
    ],
)
@pytest.mark.parametrize("form", ["PNG", "WEBP", "JPEG"])
def test_annotations_are_drawn(
    mark: dict[str, object], touched: tuple[int, int], untouched: tuple[int, int], form: str
) -> None:
    data = pictures.encode(Image.new("RGB", (200, 100), "white"), form, quality=100)
    drawn = open_image(draw_annotations(data, marks({**mark, "color": "#ff0000"}))).convert("RGB")
    assert drawn.size == (200, 100)
    if form == "PNG":
        assert drawn.getpixel(untouched) == (255, 255, 255)
        red, green, blue = pixel(drawn, touched)
        match mark["kind"]:
            case "redact":
                assert (red, green, blue) == (0, 0, 0)
            case "highlight":
                assert (red, 100 < green < 200, blue) == (255, True, green)
            case _:
                assert (red, green, blue) == (255, 0, 0)
    assert drawn.tobytes() != open_image(data).convert("RGB").tobytes()


@pytest.mark.parametrize("text", ["Ärger", "two\nlines", "日本語 \u202e\t\x07 ✓", "x" * 500])
def test_any_text_is_drawn(text: str) -> None:
    blank = pictures.encode(Image.new("RGB", (200, 100), "white"), "PNG")
    label = {"kind": "rectangle", "geometry": {"x": 50, "y": 50, "width": 20, "height": 9}, "text": text}
    words = {"kind": "text", "geometry": {"x": 50, "y": 50, "size": 20}, "text": text}
    plain = open_image(draw_annotations(blank, marks({**label, "text": ""})))
    assert open_image(draw_annotations(blank, marks(label))).tobytes() != plain.tobytes()
    assert open_image(draw_annotations(blank, marks(words))).getextrema() != ((255, 255),) * 3


def test_annotations_far_outside_are_harmless() -> None:
    far = 100_000
    given = marks(
        {"kind": "ellipse", "geometry": {"x": -far, "y": -far, "width": far, "height": far}},
        {"kind": "redact", "geometry": {"x": far, "y": far, "width": far, "height": far}},
        {"kind": "arrow", "geometry": {"x1": 5, "y1": 5, "x2": 5, "y2": 5}},
        {"kind": "text", "geometry": {"x": far, "y": -far, "size": 500}, "text": "x" * 500},
    )
    assert draw_annotations(pictures.png(), given).width == 64


def test_text_is_no_larger_than_the_image() -> None:
    huge = {"x": 1, "y": 1, "size": 500}
    for text in ("W" * 500, "W\n" * 250):
        assert (
            draw_annotations(pictures.png(900, 900), marks({"kind": "text", "geometry": huge, "text": text})).width
            == 900
        )


def test_hostile_image_is_rejected_by_every_function() -> None:
    for work in (
        inspect_image,
        scale_image,
        lambda data: draw_annotations(data, marks()),
        lambda data: redact_boxes(data, []),
    ):
        for data in (pictures.bomb_png(), pictures.short_png(700, 700), pictures.apng(), b"GIF89a"):
            with pytest.raises(Problem):
                work(data)
