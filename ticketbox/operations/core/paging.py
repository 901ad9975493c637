"""Pages of lists, and the cursors between them (docs/use/api.md, "Lists").

A cursor is opaque to clients and bound to its caller and to the question: it carries the place to go
on after, and a digest of who asked what.
"""

import base64
import binascii
import hashlib
import typing
from collections.abc import Sequence
from typing import Annotated, Generic, Protocol, TypeVar

import msgspec
from msgspec import Meta

from ticketbox.domain.core.policy import Actor
from ticketbox.domain.core.problems import InvalidField

T = TypeVar("T")

# Greater than every key: where a list with the newest first starts.
NEWEST = 2**62

Limit = Annotated[int, Meta(ge=1, le=100, description="How many items at the most.")]
Cursor = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=512,
        description="The `next_cursor` of the page before; bound to the same question.",
    ),
]


class Page(msgspec.Struct, Generic[T], frozen=True):
    """A page of a list; `next_cursor` is null on the last one."""

    items: list[T]
    next_cursor: str | None


Position = int | tuple[int, ...]


class Paged(Protocol):
    """The arguments of a list."""

    @property
    def limit(self) -> int:
        """How many items at the most."""
        ...

    @property
    def cursor(self) -> str | None:
        """Where the page before ended."""
        ...


class _CursorPosition(msgspec.Struct, array_like=True):
    question: bytes
    place: tuple[int, ...]


_decoder = msgspec.msgpack.Decoder(_CursorPosition)


def decode_cursor(actor: Actor, args: Paged, width: int = 1) -> tuple[int, ...] | None:
    """The place that the cursor in `args` goes on after; None on the first page.

    Raises InvalidRequest for a cursor that is garbled, or belongs to another caller or question.
    """
    cursor = args.cursor
    if cursor is None:
        return None
    try:
        found = _decoder.decode(base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True))
    except (binascii.Error, ValueError, msgspec.DecodeError):
        found = None
    if found is None or found.question != _digest_of_question(actor, args) or len(found.place) != width:
        raise InvalidField("cursor", "this cursor belongs to another question; start again without it")
    if any(abs(value) >= 2**63 for value in found.place):
        raise InvalidField("cursor", "this cursor is damaged; start again without it")
    return found.place


def build_page(actor: Actor, args: Paged, found: Sequence[tuple[Position, T]]) -> Page[T]:
    """Make a page of up to `limit` items from places and items, of which one more was asked for."""
    limit = args.limit
    kept = found[:limit]
    if len(found) <= limit:
        return Page([item for _, item in kept], None)
    last = kept[-1][0]
    place = (last,) if isinstance(last, int) else last
    packed = msgspec.msgpack.encode(_CursorPosition(_digest_of_question(actor, args), place))
    return Page([item for _, item in kept], base64.urlsafe_b64encode(packed).rstrip(b"=").decode())


def _digest_of_question(actor: Actor, args: Paged) -> bytes:
    asked = msgspec.structs.asdict(typing.cast(msgspec.Struct, args))
    for part in ("cursor", "limit"):
        asked.pop(part, None)
    text = msgspec.json.encode([actor.user, actor.credential, type(args).__name__, asked], order="deterministic")
    return hashlib.sha256(text).digest()[:9]
