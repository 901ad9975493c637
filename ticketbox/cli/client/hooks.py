"""The hook of a coding agent: finds the claim that an agent made over MCP in the event of its hook.

Claude Code writes the event as JSON to standard input (https://code.claude.com/docs/en/hooks, "PostToolUse"). The
result of a tool is an object, text, or blocks of text. Texts inside the result are the words of others, such as the
description of a ticket, so a claim is only read from the result itself.
"""

import re
from typing import Any, cast

import msgspec

_CLAIMING = ("start_work_on_ticket", "claim_next_ticket")
_TICKET = re.compile(r"t-[0-9a-z]{1,40}")
_LEASE = re.compile(r"lease_[0-9A-Za-z]{20,100}")


def find_claim(event: bytes) -> dict[str, Any] | None:
    """Return what renews the claim that an event says an agent made, as start_work takes it; None for other events."""
    found = _decode_object(event)
    if str(found.get("tool_name")).rpartition("__")[2] not in _CLAIMING:
        return None
    result = _find_result(found.get("tool_response"))
    ticket, lease = result.get("id"), result.get("lease")
    if not (
        isinstance(ticket, str) and isinstance(lease, str) and _TICKET.fullmatch(ticket) and _LEASE.fullmatch(lease)
    ):
        return None
    sent = found.get("tool_input")
    minutes = cast(dict[str, Any], sent).get("lease_minutes") if isinstance(sent, dict) else None
    return {"ticket_id": ticket, "lease": lease, **({"lease_minutes": minutes} if isinstance(minutes, int) else {})}


def _find_result(response: Any) -> dict[str, Any]:
    """Return the object that a tool returned: as it is, as structured content, or as the text of the first block."""
    if isinstance(response, dict):
        found = cast(dict[str, Any], response)
        response = found.get("structuredContent") or found.get("content") or found
    if isinstance(response, list):
        response = cast(list[Any], response)[0] if response else None
        response = cast(dict[str, Any], response).get("text") if isinstance(response, dict) else response
    if isinstance(response, str):
        return _decode_object(response)
    return cast(dict[str, Any], response) if isinstance(response, dict) else {}


def _decode_object(text: str | bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeError):
        return {}
