"""Arguments that are headers in REST, and plain arguments in MCP."""

import re
from typing import Any

import msgspec

from ticketbox.domain.core.problems import InvalidField, PreconditionFailed
from ticketbox.operations.core.registry import Body, Operation


class HeaderArgument(msgspec.Struct, frozen=True):
    """The header of an argument; `schema` describes the header's text.

    `in_body` says that it isn't a header but a field of the body, if the operation has one.
    """

    name: str
    description: str
    schema: dict[str, Any]
    in_body: bool = False

    @property
    def key(self) -> bytes:
        """The header's name in the form that ASGI uses."""
        return self.name.lower().encode()


_ETAG = '(W/)?"[1-9][0-9]{0,14}"'
_ETAGS = re.compile(rf"{_ETAG}(?:[ \t]*,[ \t]*{_ETAG})*")

HEADER_ARGUMENTS = {
    "idempotency_key": HeaderArgument(
        "Idempotency-Key",
        "Repeating the key within 24 hours returns the first answer.",
        {"type": "string", "minLength": 1, "maxLength": 200},
    ),
    "expected_version": HeaderArgument(
        "If-Match",
        "The ETag of the ticket as it was read, or `*`.",
        {"type": "string", "pattern": f"^({_ETAG}(\\s*,\\s*{_ETAG})*|\\*)$"},
    ),
    "last_event": HeaderArgument(
        "Last-Event-ID",
        "The id of the last event received; browsers send it when they reconnect. It takes precedence over `after`.",
        {"type": "string", "pattern": "^evt_[0-9a-z]{12}$"},
    ),
    "lease": HeaderArgument(
        "Lease",
        "The `lease` that start_work returned. It is a secret, so it isn't accepted in the URL.",
        {"type": "string", "minLength": 1, "maxLength": 100},
        in_body=True,
    ),
}


def list_header_arguments(operation: Operation) -> dict[str, HeaderArgument]:
    """Return the arguments of an operation that are headers in REST."""
    return {
        name: header
        for name, header in HEADER_ARGUMENTS.items()
        if name in operation.arguments.__struct_fields__ and not (header.in_body and operation.body is not Body.NONE)
    }


def read_version(if_match: str) -> int:
    """Return the version that If-Match names. Raises InvalidField and PreconditionFailed.

    Versions only grow, so only the highest one of a list can be the current one. A weak ETag never matches (RFC 9110,
    13.1.1).
    """
    if not _ETAGS.fullmatch(if_match):
        raise InvalidField("If-Match", "send the ETag of the ticket as it was read, or *")
    versions = [int(part) for part in re.findall(r"(?<!W/)\"(\d+)\"", if_match)]
    if not versions:
        raise PreconditionFailed("a weak ETag never matches; send the ETag without W/, which a proxy may have added")
    return max(versions)
