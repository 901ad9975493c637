"""The pictures in the documentation, at `docs/pictures`; `TICKETBOX_SNAPSHOTS=write` takes them again."""

import io
import os

from PIL import Image

from tests.docs.pages import ROOT

FOLDER = ROOT / "docs" / "pictures"
MOST_BYTES = 75_000


def keep_picture(taken: bytes, name: str) -> None:
    """Keep a picture that a browser took, or see that the one in the documentation has its size."""
    with Image.open(io.BytesIO(taken)) as picture:
        if os.environ.get("TICKETBOX_SNAPSHOTS") == "write":
            _reduce_colours(picture.convert("RGB")).save(FOLDER / name, optimize=True)
        with Image.open(FOLDER / name) as kept:
            assert kept.size == picture.size


def _reduce_colours(picture: Image.Image) -> Image.Image:
    """Show a picture in 256 colours: most of them those of large parts, the others those of small signs."""
    parts, signs = (
        picture.quantize(count, method, kmeans=2, dither=Image.Dither.NONE).getpalette() or []
        for count, method in ((160, Image.Quantize.MEDIANCUT), (96, Image.Quantize.MAXCOVERAGE))
    )
    colours = Image.new("P", (1, 1))
    colours.putpalette(parts[: 3 * 160] + signs[: 3 * 96])
    return picture.quantize(palette=colours, dither=Image.Dither.NONE)
