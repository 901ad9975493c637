"""Arguments that are headers in REST, and plain arguments in MCP."""

from typing import Any

import msgspec


class HeaderArgument(msgspec.Struct, frozen=True):
    """The header of an argument; `schema` describes the header's text."""

    name: str
    description: str
    schema: dict[str, Any]

    @property
    def key(self) -> bytes:
        """The header's name in the form that ASGI uses."""
        return self.name.lower().encode()


HEADER_ARGUMENTS = {
    "idempotency_key": HeaderArgument(
        "Idempotency-Key",
        "Repeating the key within 24 hours returns the first answer.",
        {"type": "string", "minLength": 1, "maxLength": 200},
    ),
    "expected_version": HeaderArgument(
        "If-Match",
        "The ETag of the ticket as it was read, or `*`.",
        {"type": "string", "pattern": '^("[1-9][0-9]{0,14}"|\\*)$'},
    ),
    "last_event": HeaderArgument(
        "Last-Event-ID",
        "The id of the last event received; browsers send it when they reconnect. It takes precedence over `after`.",
        {"type": "string", "pattern": "^evt_[0-9a-z]{12}$"},
    ),
}
