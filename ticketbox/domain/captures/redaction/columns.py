"""Secrets whose names are in another list: `(name, password) VALUES (…)`, `Key (api_key)=(…)`, tables and CSV."""

import re
from collections.abc import Callable, Iterator

Span = tuple[int, int]
IsName = Callable[[str], bool]
IsSecret = Callable[[str, str, bool], bool]  # name, value, whether the value must look like a secret

_MAX_COLUMNS = 64
_MAX_HEADER = 600
_LISTS = re.compile(r"\(([^()]{3,1000})\)[ \t\r\n]{0,8}(?:=|values)[ \t\r\n]{0,8}\(", re.IGNORECASE)
_ITEM = re.compile(
    r"[ \t\r\n]{0,40}(?:'((?:[^'\\]|\\[\s\S]|''){0,2048})'|\"((?:[^\"\\]|\\[\s\S]){0,2048})\""
    r"|([^,'\"()\[\]\r\n]{0,2048})(?:\([^()]{0,200}\))?)[ \t\r\n]{0,40}([,)\]])"
)
_NEXT_ROW = re.compile(r"[ \t\r\n]{0,8},[ \t\r\n]{0,8}\(")
_PARAMETERS = re.compile(
    r"[^\[\](){}]{0,80}?(?:params|parameters|bindings|args|with|values)[^\[\](){}\r\n]{0,40}[\[(]", re.IGNORECASE
)
_PLACEHOLDER = re.compile(r"\?|\$[0-9]{1,3}|%s|:[A-Za-z_0-9]{1,60}")
_AROUND_NAME = re.compile(r"^[ \t\r\n`\"'\[]+|[ \t\r\n`\"'\]]+$")
_DELIMITER = re.compile(r"[|\t;,]")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_ .()/-]{0,40}")


def find_in_lists(text: str, is_name: IsName, is_secret: IsSecret) -> Iterator[Span]:
    """Find the secrets in lists of values that follow a list of names, as SQL and its errors have them."""
    position = 0
    while match := _LISTS.search(text, position):
        position = match.end()
        names = [_AROUND_NAME.sub("", name) for name in match[1].split(",")]
        if len(names) > _MAX_COLUMNS or not any(map(is_name, names)):
            continue
        spans, position = _read_list(text, position)
        if all(_PLACEHOLDER.fullmatch(text, *span) for span in spans):
            parameters = _PARAMETERS.match(text, position)
            spans, position = _read_list(text, parameters.end()) if parameters else ([], position)
        while len(spans) == len(names):
            for name, (start, end) in zip(names, spans, strict=True):
                if is_secret(name, text[start:end], False):
                    yield start, end
            row = _NEXT_ROW.match(text, position)
            spans, position = _read_list(text, row.end()) if row else ([], position)


def find_in_tables(text: str, is_name: IsName, is_secret: IsSecret) -> Iterator[Span]:
    """Find the secrets in the rows of tables, under a line of names with commas, semicolons, tabs or bars."""
    delimiter, names, start = "", list[str](), 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        if delimiter and text.find(delimiter, start, end) >= 0:
            cells = _split_line(text, start, end, delimiter)
            for name, cell in zip(names, cells, strict=False) if len(cells) == len(names) else ():
                if name and is_secret(name, text[slice(*cell)], True):
                    yield cell
        else:
            delimiter = ""
            found = _DELIMITER.search(text, start, end) if end - start <= _MAX_HEADER else None
            if found:
                cells = [text[slice(*cell)] for cell in _split_line(text, start, end, found[0])]
                filled = [cell for cell in cells if cell]
                if len(filled) > 1 and all(map(_NAME.fullmatch, filled)) and any(map(is_name, filled)):
                    delimiter, names = found[0], [cell if cell and is_name(cell) else "" for cell in cells]
        start = end + 1


def _read_list(text: str, start: int) -> tuple[list[Span], int]:
    """Read the items of a list after its bracket; return where they are, without quotes, and where the list ends."""
    spans: list[Span] = []
    while len(spans) <= _MAX_COLUMNS and (item := _ITEM.match(text, start)):
        start = item.end()
        spans.append(next(item.span(group) for group in (1, 2, 3) if item[group] is not None))
        if item[4] != ",":
            break
    return spans, start


def _split_line(text: str, start: int, end: int, delimiter: str) -> list[Span]:
    """Split a line into cells, without the spaces and quotes around them."""
    cells: list[Span] = []
    while start <= end:
        stop = text.find(delimiter, start, end)
        stop = end if stop < 0 else stop
        first, last = start, stop
        while first < last and text[first] in ' \t"':
            first += 1
        while last > first and text[last - 1] in ' \t\r"':
            last -= 1
        cells.append((first, last))
        start = stop + 1
    return cells
