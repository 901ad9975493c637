"""Answers that are more than a JSON body: a stored file, a picture, a table, a session cookie."""

from typing import Generic, TypeVar

import msgspec

T = TypeVar("T")


class Content(msgspec.Struct, frozen=True):
    """Bytes with their type.

    `name` is a safe file name; `inline` says whether a browser may show the bytes itself; `etag` is the
    SHA-256 of the bytes in hexadecimal, where it is known. `annotation_texts` are the texts that are drawn onto a
    picture, from the bottom up.
    """

    media_type: str
    data: bytes
    name: str
    inline: bool = False
    etag: str | None = None
    width: int | None = None
    height: int | None = None
    next_cursor: str | None = None
    annotation_texts: tuple[str, ...] = ()


class WithSession(msgspec.Struct, Generic[T], frozen=True):
    """An answer that also sets the session cookie: `secret` for `lifetime` seconds; `answer` is the body.

    An empty secret with lifetime 0 removes the cookie.
    """

    secret: str
    lifetime: int
    answer: T
