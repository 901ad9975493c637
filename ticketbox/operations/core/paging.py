"""Pagination with cursors (docs/use/api.md, "Lists").

A cursor is opaque to clients. It contains the position to continue after, and a digest of the caller and the arguments
of the query, so that it can't be used with others.
"""

import base64
import binascii
import hashlib
import typing
from collections.abc import Sequence
from typing import Annotated, Generic, Protocol, TypeVar, overload

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.problems import InvalidField

T = TypeVar("T")
PlaceT = TypeVar("PlaceT", bound=tuple[int | str, ...])

# Greater than every key: the start of a list with the newest first.
NEWEST = 2**62

Limit = Annotated[int, Meta(ge=1, le=100, description="The maximum number of items.")]
Cursor = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=512,
        description="The `next_cursor` of the previous page; all other arguments must stay the same.",
    ),
]


class Page(msgspec.Struct, Generic[T], frozen=True):
    """A page of a list. `next_cursor` is null on the last page.

    An empty page has a `note` if a filter names something that the caller can't see.
    """

    items: list[T]
    next_cursor: str | None
    note: str | UnsetType = UNSET


Position = int | tuple[int | str, ...]


class PageRequest(Protocol):
    """The arguments of an operation that returns a page."""

    @property
    def limit(self) -> int:
        """The maximum number of items."""
        ...

    @property
    def cursor(self) -> str | None:
        """The `next_cursor` of the previous page."""
        ...


class _CursorPosition(msgspec.Struct, array_like=True):
    query_digest: bytes
    place: tuple[int | str, ...]


_decoder = msgspec.msgpack.Decoder(_CursorPosition)


@overload
def decode_cursor(actor: Actor, args: PageRequest) -> tuple[int] | None: ...


@overload
def decode_cursor(actor: Actor, args: PageRequest, shape: type[PlaceT]) -> PlaceT | None: ...


def decode_cursor(actor: Actor, args: PageRequest, shape: type[tuple[int | str, ...]] = tuple[int]) -> object:
    """Return the position that the cursor in `args` continues after, as `shape`; None for the first page.

    Raises InvalidRequest if the cursor is damaged, or belongs to another caller or query.
    """
    cursor = args.cursor
    if cursor is None:
        return None
    try:
        decoded = _decoder.decode(base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True))
        place = msgspec.convert(decoded.place, shape)
    except (binascii.Error, ValueError, msgspec.DecodeError):
        decoded = place = None
    if decoded is None or place is None or decoded.query_digest != _digest_query(actor, args):
        raise InvalidField("cursor", "this cursor belongs to a different query; start again without a cursor")
    if any(isinstance(value, int) and abs(value) >= 2**63 for value in place):
        raise InvalidField("cursor", "this cursor is damaged; start again without a cursor")
    return place


def build_page(actor: Actor, args: PageRequest, entries: Sequence[tuple[Position, T]]) -> Page[T]:
    """Build a page of at most `limit` items from positions and items. The caller must have queried one item more."""
    limit = args.limit
    shown = entries[:limit]
    if len(entries) <= limit:
        return Page([item for _, item in shown], None)
    last = shown[-1][0]
    place = (last,) if isinstance(last, int) else last
    packed = msgspec.msgpack.encode(_CursorPosition(_digest_query(actor, args), place))
    return Page([item for _, item in shown], base64.urlsafe_b64encode(packed).rstrip(b"=").decode())


def _digest_query(actor: Actor, args: PageRequest) -> bytes:
    fields = msgspec.structs.asdict(typing.cast(msgspec.Struct, args))
    for part in ("cursor", "limit", "wait_seconds", "count"):
        fields.pop(part, None)
    text = msgspec.json.encode([actor.user, actor.credential, type(args).__name__, fields], order="deterministic")
    return hashlib.sha256(text).digest()[:9]
