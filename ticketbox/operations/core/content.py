"""Results of operations that aren't plain JSON: a file, or JSON with a session cookie."""

from typing import Generic, TypeVar

import msgspec

T = TypeVar("T")


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
    """An archive and its files, most telling first: a name and its bytes each."""

    files: tuple[tuple[str, bytes], ...] = ()


class WithSession(msgspec.Struct, Generic[T], frozen=True):
    """A result that also sets the session cookie to `secret` for `lifetime` seconds; `answer` is the body.

    An empty secret with lifetime 0 deletes the cookie. `device` is the new secret of the device's cookie.
    """

    secret: str
    lifetime: int
    answer: T
    device: str = ""
