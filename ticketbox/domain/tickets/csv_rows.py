"""Rows of CSV files that other programs exported, or that Excel saved again."""

import csv
import io
import re
from collections.abc import Sequence

from ticketbox.domain.core.problems import InvalidField, InvalidRequest

Cells = dict[str, list[str]]

_SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab"}
_SEPARATOR_LINE = re.compile(r'"?sep=([,;\t])"?\r?\n')  # for Excel


def read_rows(text: str, required: Sequence[str], name: str) -> list[Cells]:
    """Read CSV with a header, separated by commas, semicolons or tabs; raises InvalidRequest.

    Each row has the cells that aren't empty by the lower-case name of their column; columns can have the same name.
    """
    line = _SEPARATOR_LINE.match(text)
    separator = _choose_separator(text) if line is None else line[1]
    table = text if line is None else text[line.end() :]
    try:
        rows = list(csv.reader(io.StringIO(table, newline=""), delimiter=separator, strict=True))
    except csv.Error as error:
        raise InvalidField("file", f"this isn't CSV: {error}") from None
    head = [column.strip().lower() for column in rows[0]] if rows else []
    for column in required:
        if column.lower() not in head:
            found = f"there is no column {column}, with {_SEPARATORS[separator]} between the columns"
            raise InvalidField("file", f"this isn't {name}'s CSV: {found}")
    return [_build_cells(head, row, number) for number, row in enumerate(rows[1:], 2) if any(map(str.strip, row))]


def _choose_separator(text: str) -> str:
    """Return the separator that the header has most of."""
    header = text.partition("\n")[0]
    return max(_SEPARATORS, key=header.count)


def _build_cells(head: list[str], row: list[str], number: int) -> Cells:
    """Excel leaves out empty cells at the end of a row."""
    if any(cell.strip() for cell in row[len(head) :]):
        raise InvalidRequest(f"file: row {number} has {len(row)} cells, and the head {len(head)}")
    cells: Cells = {}
    for column, cell in zip(head, row, strict=False):
        if cell.strip():
            cells.setdefault(column, []).append(cell.strip())
    return cells
