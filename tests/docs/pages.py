"""The pages of the documentation, read as their readers do: headings, links, tables, commands."""

import functools
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "bench" / "RESULTS.md"])

_FENCE = re.compile(r"^```(.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^(#{1,6}) (.+)$", re.MULTILINE)
_LINK = re.compile(r"\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^)\s]+)\)")


def named(page: Path) -> str:
    """A page's path in the repository."""
    return page.relative_to(ROOT).as_posix()


@functools.cache
def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return _FENCE.sub("", page.read_text("utf-8"))


def blocks(page: Path, info: str) -> list[str]:
    """The blocks of code with this info string, in order."""
    return [body for found, body in _FENCE.findall(page.read_text("utf-8")) if found.strip() == info]


def headings(page: Path) -> list[str]:
    """The headings, without their marks."""
    return [text.replace("`", "").strip() for _, text in _HEADING.findall(prose(page))]


@functools.cache
def anchors(page: Path) -> list[str]:
    """The headings as GitHub makes anchors of them."""
    return [re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings(page)]


@functools.cache
def links(page: Path) -> list[str]:
    """The targets of links and pictures."""
    return _LINK.findall(prose(page))


def tables(page: Path, heading: str) -> list[list[list[str]]]:
    """The tables under a heading and above the next: rows of cells, without the head."""
    text = prose(page)
    places = [(match.start(), match[2].replace("`", "").strip()) for match in _HEADING.finditer(text)]
    (start,) = [at for at, words in places if words == heading]
    end = min([at for at, _ in places if at > start], default=len(text))
    found: list[list[list[str]]] = []
    for lump in re.findall(r"(?:^\|.*\|\n)+", text[start:end], re.MULTILINE):
        rows = [[cell.strip() for cell in line.strip("|\n").split(" | ")] for line in lump.splitlines()]
        found.append([[cell.strip("| ") for cell in row] for row in rows[2:]])
    return found


def table(page: Path, heading: str) -> list[list[str]]:
    """The one table under a heading."""
    (found,) = tables(page, heading)
    return found


def words(cells: list[str]) -> list[str]:
    """What stands in code marks in some cells."""
    return [word for cell in cells for word in re.findall(r"`([^`]+)`", cell)]
