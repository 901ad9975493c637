"""Text for a terminal: aligned, coloured, and without anything that a terminal would obey.

Titles, comments and captures come from people and web pages. A control character in them could move the cursor or hide
text, and a bidirectional one could reorder it (CVE-2021-42574), so both are printed as escapes such as `\\x1b`.
"""

import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import click

from ticketbox.domain.core.unsafe_characters import escape_unsafe, escape_unsafe_json

_LINE_BREAKS = re.compile(r"[\t\n]")
_AGES = ((60, 1, "s"), (3600, 60, "min"), (2 * 86_400, 3600, "h"), (60 * 86_400, 86_400, "d"))
Style = Mapping[str, bool | str]

_GAP = "  "
_NARROWEST = 12


def escape_text(text: str) -> str:
    """Return a text of several lines with its unsafe characters as escapes."""
    return escape_unsafe(text.replace("\r\n", "\n"))


def escape_line(text: str) -> str:
    """Return a text as one line with its unsafe characters as escapes."""
    return _LINE_BREAKS.sub(" ", escape_text(text))


def escape_json(text: str) -> str:
    """Return JSON with its unsafe characters as JSON escapes; the value stays the same."""
    return escape_unsafe_json(text)


def style(text: str, **styles: Any) -> str:
    """Style a text; `click.echo` removes the style when the output isn't a terminal. NO_COLOR turns it off."""
    if not (text and styles) or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return click.style(text, **styles)


def print_line(text: str = "") -> None:
    """Print a line that was escaped before it was styled."""
    click.echo(text)


def measure_width(text: str) -> int:
    """Return the number of cells that a text fills in a terminal."""
    return sum(
        0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text
    )


def cut_line(text: str, width: int) -> str:
    """Cut a line to so many cells; a cut line ends in an ellipsis."""
    if measure_width(text) <= width:
        return text
    while text and measure_width(text) > width - 1:
        text = text[:-1]
    return text + "…"


def get_terminal_width() -> int | None:
    """Return the number of cells in a line, or None if the output isn't a terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def print_table(names: Sequence[str], rows: Sequence[Sequence[str]], *, flexible: int, styles: Sequence[Style]) -> None:
    """Print rows in aligned columns. Columns without a value are left out.

    In a terminal, the column `flexible` is cut so that a row fits on a line. `styles` has one style for each column.
    """
    cells = [[escape_line(cell) for cell in row] for row in rows]
    kept = [index for index in range(len(names)) if any(row[index] for row in cells)]
    widths = {index: max(measure_width(row[index]) for row in [names, *cells]) for index in kept}
    if (available := get_terminal_width()) is not None and flexible in widths:
        others = sum(width + len(_GAP) for index, width in widths.items() if index != flexible)
        widths[flexible] = min(widths[flexible], max(_NARROWEST, available - others))

    def format_row(row: Sequence[str], row_styles: Sequence[Style]) -> str:
        parts: list[str] = []
        for index in kept:
            cell = cut_line(row[index], widths[index])
            padding = "" if index == kept[-1] else " " * (widths[index] - measure_width(cell))
            parts.append(style(cell, **row_styles[index]) + padding)
        return _GAP.join(parts).rstrip()

    print_line(format_row(names, [{"dim": True}] * len(names)))
    for row in cells:
        print_line(format_row(row, styles))


def format_age(time: str) -> str:
    """Format a time as its distance from now: "5 min ago"; one that is months away as a date."""
    seconds = (datetime.now(UTC) - datetime.fromisoformat(time)).total_seconds()
    for limit, unit, name in _AGES:
        if abs(seconds) < limit:
            figure = f"{int(abs(seconds) // unit)} {name}"
            return f"{figure} ago" if seconds >= 0 else f"in {figure}"
    return time[:10]


def format_count(count: int, noun: str) -> str:
    """Format a number of things: "1 error", "3 errors"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def print_page(
    page: Mapping[str, Any],
    noun: str,
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    flexible: int,
    styles: Sequence[Style],
) -> None:
    """Print the rows of a list's page as a table, or that there are none, and how to get the next page."""
    if not rows:
        click.echo(escape_line(page.get("note") or f"No {noun}."), err=True)
        return
    print_table(names, rows, flexible=flexible, styles=styles)
    if page["next_cursor"]:
        click.echo(f"There are more: add --cursor {page['next_cursor']}", err=True)
