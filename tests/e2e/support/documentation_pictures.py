"""The pictures in the documentation, at `docs/pictures`; `TICKETBOX_SNAPSHOTS=write` takes them again."""

import io
import os

from PIL import Image, ImageOps

from tests.docs.pages import ROOT

FOLDER = ROOT / "docs" / "pictures"
MOST_BYTES = 100_000
EDGE = 12  # pixels beside a popup
FRAME = "#b9b9b4"


def is_writing() -> bool:
    """Whether the pictures are taken again."""
    return os.environ.get("TICKETBOX_SNAPSHOTS") == "write"


def keep_picture(taken: bytes, name: str) -> None:
    """Keep a picture that a browser took, or see that the one in the documentation has its size."""
    with Image.open(io.BytesIO(taken)) as picture:
        if is_writing():
            picture.save(FOLDER / name, lossless=True, quality=100, method=6)  # the most effort
        with Image.open(FOLDER / name) as kept:
            assert kept.size == picture.size


def draw_popup(page: bytes, popup: bytes) -> bytes:
    """Draw the extension's popup where the browser shows it: over the upper right of the page."""
    with Image.open(io.BytesIO(page)) as shown, Image.open(io.BytesIO(popup)) as window:
        whole = Image.new("RGB", shown.size)
        whole.paste(shown.convert("RGB"))
        framed = ImageOps.expand(window.convert("RGB"), border=1, fill=FRAME)
        whole.paste(framed, (shown.width - framed.width - EDGE, EDGE))
    drawn = io.BytesIO()
    whole.save(drawn, "PNG")
    return drawn.getvalue()
