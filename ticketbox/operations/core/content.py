"""Results of operations that aren't plain JSON: a file, or JSON with a session cookie."""

import csv
import io
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

import msgspec

T = TypeVar("T")

_FORMULA_SIGNS = frozenset("=+-@")


class Content(msgspec.Struct, frozen=True):
    """A file: its bytes and media type.

    `name` is a safe file name; `inline` says whether a browser may display the file instead of downloading it; `etag`
    is the SHA-256 of the bytes in hexadecimal, if known. `immutable` says that the URL never returns anything else.
    `annotation_texts` are the texts drawn on an image, from the bottom up.
    """

    media_type: str
    data: bytes
    name: str
    inline: bool = False
    etag: str | None = None
    width: int | None = None
    height: int | None = None
    next_cursor: str | None = None
    immutable: bool = False
    annotation_texts: tuple[str, ...] = ()


class JsonList(Content, frozen=True):
    """A JSON array."""


class Archive(Content, frozen=True):
    """An archive and its files, most telling first: a name and its bytes each.

    `shared` names those that are the same in every such archive, so that nobody has to read them; `note` says what to
    do with the files.
    """

    files: tuple[tuple[str, bytes], ...] = ()
    shared: tuple[str, ...] = ()
    note: str = ""


def render_csv(
    name: str, head: Sequence[str], rows: Iterable[Sequence[str | None]], next_cursor: str | None
) -> Content:
    """Render a page of a list as CSV (RFC 4180) in which no cell is a formula."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(head)
    for row in rows:
        writer.writerow([_neutralize_cell(cell) for cell in row])
    return Content("text/csv; charset=utf-8", text.getvalue().encode(), name, next_cursor=next_cursor)


def _neutralize_cell(cell: str | None) -> str:
    """Return a cell that spreadsheets don't treat as a formula (OWASP, CSV injection), also with wide characters.

    What can't be seen before a sign, such as U+FEFF, doesn't count.
    """
    text = cell or ""
    seen = next((letter for letter in text if unicodedata.category(letter)[0] not in "CMZ"), "")
    first = unicodedata.normalize("NFKC", seen)
    return "'" + text if first in _FORMULA_SIGNS or text.startswith(("\t", "\r")) else text


class WithSession(msgspec.Struct, Generic[T], frozen=True):
    """A result that also sets the session cookie to `secret` for `lifetime` seconds; `answer` is the body.

    An empty secret with lifetime 0 deletes the cookie. `device` is the new secret of the device's cookie.
    """

    secret: str
    lifetime: int
    answer: T
    device: str = ""
