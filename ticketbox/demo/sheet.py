"""A sheet to draw pages on, with the parts that pages are made of."""

import io
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont, ImageFont

WIDTH, HEIGHT = 1280, 760
INK, FAINT, LINE, GROUND, PAPER = "#1f2430", "#7b8494", "#dfe3ea", "#f5f6f8", "#ffffff"
RED, GREEN, AMBER = "#c62f3b", "#2c7a4b", "#b7791f"


class Sheet:
    """A page under the pen. Coordinates are pixels from the top left corner."""

    def __init__(self, brand: str, color: str, items: Sequence[str], current: int) -> None:
        from PIL import Image, ImageDraw

        self.color = color
        self.image = Image.new("RGB", (WIDTH, HEIGHT), GROUND)
        self.pen = ImageDraw.Draw(self.image)
        self.pen.rectangle((0, 0, WIDTH, 60), fill=color)
        self.text(40, 17, brand, size=24, color=PAPER)
        for place, item in enumerate(items):
            x = 320 + place * 140
            self.text(x, 22, item, size=16, color=PAPER)
            if place == current:
                self.pen.rectangle((x, 54, x + 90, 58), fill=PAPER)

    def text(self, x: float, y: float, words: str, size: int = 16, color: str = INK) -> None:
        """One line, or several."""
        self.pen.multiline_text((x, y), words, fill=color, font=_font(size), spacing=6)

    def card(self, x: int, y: int, width: int, height: int) -> None:
        """A white box."""
        self.pen.rounded_rectangle((x, y, x + width, y + height), 8, fill=PAPER, outline=LINE)

    def button(self, x: int, y: int, words: str, *, width: int = 180, faint: bool = False) -> None:
        """A button; a faint one can't be pressed."""
        fill = LINE if faint else self.color
        self.pen.rounded_rectangle((x, y, x + width, y + 42), 6, fill=fill)
        self.text(x + 18, y + 12, words, color=FAINT if faint else PAPER)

    def field(self, x: int, y: int, label: str, words: str, *, width: int = 360, error: str = "") -> None:
        """A labelled input; what is wrong with it stands below."""
        self.text(x, y, label, size=14, color=FAINT)
        self.pen.rounded_rectangle(
            (x, y + 22, x + width, y + 62), 5, fill=PAPER, outline=RED if error else LINE, width=2
        )
        self.text(x + 12, y + 33, words)
        self.text(x, y + 68, error, size=13, color=RED)

    def banner(self, y: int, words: str, color: str = RED) -> None:
        """A message across the page."""
        self.pen.rounded_rectangle((40, y, WIDTH - 40, y + 48), 6, fill=PAPER, outline=color, width=2)
        self.pen.rectangle((40, y + 4, 48, y + 44), fill=color)
        self.text(68, y + 15, words, color=color)

    def table(self, y: int, widths: Sequence[int], rows: Sequence[Sequence[str]], wrong: Sequence[int] = ()) -> None:
        """A table with a head; `wrong` names rows that stand out."""
        self.card(40, y, WIDTH - 80, 44 * len(rows) + 6)
        for place, row in enumerate(rows):
            top = y + 4 + 44 * place
            if place in wrong:
                self.pen.rectangle((42, top, WIDTH - 42, top + 43), fill="#fbe9ea")
            x = 64
            for width, words in zip(widths, row, strict=True):
                self.text(x, top + 13, words, size=15, color=FAINT if place == 0 else INK)
                x += width
            if place:
                self.pen.line((42, top, WIDTH - 42, top), fill=LINE)

    def product(self, x: int, y: int, name: str, price: str, tint: str | None) -> None:
        """A product's card; without a tint its picture is missing."""
        self.card(x, y, 270, 250)
        box = (x + 12, y + 12, x + 258, y + 172)
        if tint:
            self.pen.rectangle(box, fill=tint)
            self.pen.rounded_rectangle((x + 80, y + 60, x + 190, y + 110), 8, fill=PAPER)
            for leg in (92, 172):
                self.pen.rectangle((x + leg, y + 110, x + leg + 8, y + 150), fill=PAPER)
        else:
            self.pen.rectangle(box, fill=GROUND, outline=LINE)
            self.pen.line((x + 115, y + 70, x + 155, y + 110), fill=FAINT, width=3)
            self.pen.rectangle((x + 110, y + 65, x + 160, y + 115), outline=FAINT, width=2)
        self.text(x + 14, y + 184, name)
        self.text(x + 14, y + 212, price, size=18, color=INK if "NaN" not in price else RED)

    def bars(self, x: int, y: int, heights: Sequence[int], labels: Sequence[str]) -> None:
        """A bar chart."""
        self.card(x, y, 100 * len(heights) + 40, 300)
        for place, (height, label) in enumerate(zip(heights, labels, strict=True)):
            left = x + 36 + 100 * place
            self.pen.rectangle((left, y + 250 - height, left + 60, y + 250), fill=self.color)
            self.text(left + 8, y + 262, label, size=14, color=FAINT)

    def ghosts(self, x: int, y: int, rows: int, width: int) -> None:
        """Grey bars where something should have loaded."""
        for row in range(rows):
            top = y + 40 * row
            self.pen.rounded_rectangle((x, top, x + width - 90 * (row % 3), top + 20), 8, fill="#e6e9ef")

    def png(self) -> bytes:
        """The page as a file."""
        buffer = io.BytesIO()
        self.image.save(buffer, "PNG", compress_level=4)
        return buffer.getvalue()


@cache
def _font(size: int) -> "FreeTypeFont | ImageFont":
    from PIL import ImageFont

    return ImageFont.load_default(size)
