"""The hook of a coding agent: finds the claim that an agent made over MCP in the event of its hook.

Claude Code writes the event as JSON to standard input (https://code.claude.com/docs/en/hooks, "PostToolUse"). The
result of a tool is text, blocks of text, or an object, so the claim is looked for everywhere.
"""

import re
from typing import Any, cast

import msgspec

_LEASE = re.compile(r"lease_[0-9A-Za-z]{20,100}")
_DEEPEST = 8


def find_claim(event: bytes) -> dict[str, Any] | None:
    """Return the claimed ticket with its `id`, `claim` and `lease`; None if there is none in the event."""
    try:
        return _find(msgspec.json.decode(event), _DEEPEST)
    except msgspec.DecodeError:
        return None


def _find(node: Any, depth: int) -> dict[str, Any] | None:
    if isinstance(node, str) and "lease_" in node and node.lstrip().startswith(("{", "[")):
        try:
            node = msgspec.json.decode(node)
        except msgspec.DecodeError:
            return None
    if isinstance(node, dict):
        found = cast(dict[str, Any], node)
        lease, claim = found.get("lease"), found.get("claim")
        if isinstance(lease, str) and _LEASE.fullmatch(lease) and isinstance(claim, dict) and "until" in claim:
            return found
        parts = list(found.values())
    elif isinstance(node, list):
        parts = cast(list[Any], node)
    else:
        return None
    if depth == 0:
        return None
    return next((claimed for part in parts if (claimed := _find(part, depth - 1)) is not None), None)
