"""The pictures in the documentation, at `docs/pictures`; `TICKETBOX_SNAPSHOTS=write` takes them again."""

import io
import os

from PIL import Image

from tests.docs.pages import ROOT

FOLDER = ROOT / "docs" / "pictures"
MOST_BYTES = 100_000


def keep_picture(taken: bytes, name: str) -> None:
    """Keep a picture that a browser took, or see that the one in the documentation has its size."""
    with Image.open(io.BytesIO(taken)) as picture:
        if os.environ.get("TICKETBOX_SNAPSHOTS") == "write":
            picture.save(FOLDER / name, lossless=True, quality=100, method=6)  # the most effort
        with Image.open(FOLDER / name) as kept:
            assert kept.size == picture.size
