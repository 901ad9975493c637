"""Read the documentation pages: headings, links, tables, commands."""

import functools
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "bench" / "RESULTS.md"])

_FENCE = re.compile(r"^```(.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^(#{1,6}) (.+)$", re.MULTILINE)
_LINK = re.compile(r"\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^)\s]+)\)")


def page_path(page: Path) -> str:
    """Return the path of a page in the repository."""
    return page.relative_to(ROOT).as_posix()


@functools.cache
def prose(page: Path) -> str:
    """Return a page without its code blocks."""
    return _FENCE.sub("", page.read_text("utf-8"))


def blocks(page: Path, info: str) -> list[str]:
    """Return the code blocks with this info string, in order."""
    return [body for label, body in _FENCE.findall(page.read_text("utf-8")) if label.strip() == info]


def headings(page: Path) -> list[str]:
    """Return the headings, without `#` and backticks."""
    return [text.replace("`", "").strip() for _, text in _HEADING.findall(prose(page))]


@functools.cache
def anchors(page: Path) -> list[str]:
    """Return the anchors that GitHub generates from the headings."""
    return [re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings(page)]


@functools.cache
def links(page: Path) -> list[str]:
    """Return the targets of links and pictures."""
    return _LINK.findall(prose(page))


def tables(page: Path, heading: str) -> list[list[list[str]]]:
    """Return the tables between a heading and the next one: rows of cells, without the header row."""
    text = prose(page)
    starts = [(match.start(), match[2].replace("`", "").strip()) for match in _HEADING.finditer(text)]
    (start,) = [position for position, title in starts if title == heading]
    end = min([position for position, _ in starts if position > start], default=len(text))
    result: list[list[list[str]]] = []
    for block in re.findall(r"(?:^\|.*\|\n)+", text[start:end], re.MULTILINE):
        rows = [[cell.strip() for cell in line.strip("|\n").split(" | ")] for line in block.splitlines()]
        result.append([[cell.strip("| ") for cell in row] for row in rows[2:]])
    return result


def table(page: Path, heading: str) -> list[list[str]]:
    """Return the only table under a heading."""
    (table,) = tables(page, heading)
    return table


def words(cells: list[str]) -> list[str]:
    """Return the texts in backticks in some cells."""
    return [word for cell in cells for word in re.findall(r"`([^`]+)`", cell)]
