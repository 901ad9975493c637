"""Records that every room's answers share. Outputs have no defaults."""

from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.core.access.policy import Via

Time = Annotated[
    str,
    Meta(
        description="RFC 3339, UTC, milliseconds.",
        examples=["2026-11-21T09:30:00.000Z"],
        extra_json_schema={"format": "date-time"},
    ),
]

Day = Annotated[
    str,
    Meta(
        description="A day, without a time zone (RFC 3339, full-date).",
        examples=["2026-12-24"],
        extra_json_schema={"format": "date"},
    ),
]


class Person(msgspec.Struct, frozen=True):
    """A user with their display name."""

    id: str
    name: str


class By(msgspec.Struct, frozen=True):
    """Who wrote something: the user, the token (null in a web session), the channel, and when."""

    user: Person
    token_id: str | None
    token_label: str | None
    via: Via
    at: Time
