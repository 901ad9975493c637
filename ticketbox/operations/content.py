"""An answer that isn't JSON: a stored file, a picture, a table."""

import msgspec


class Content(msgspec.Struct, frozen=True):
    """Bytes with their type.

    `name` is a safe file name; `inline` says whether a browser may show the bytes itself; `etag` is the
    SHA-256 of the bytes in hexadecimal, where it is known.
    """

    media_type: str
    data: bytes
    name: str
    inline: bool = False
    etag: str | None = None
    width: int | None = None
    height: int | None = None
    next_cursor: str | None = None
