"""The sets of tools that a client can list (docs/use/agents.md, "What a token sees")."""

import typing
from collections.abc import Iterable
from urllib.parse import parse_qs

from ticketbox.domain.core.problems import InvalidField
from ticketbox.edge import asgi as edge
from ticketbox.operations.core.registry import ToolSet

SETS: tuple[ToolSet, ...] = typing.get_args(ToolSet)
ALL = "all"
DEFAULT: frozenset[ToolSet] = frozenset({"core"})


def parse_tool_sets(text: str) -> frozenset[ToolSet]:
    """Return the sets that a text names, separated by commas; nothing means the default. Raises InvalidRequest."""
    named = {name.strip().lower() for name in text.split(",")} - {""}
    if unknown := sorted(named - {*SETS, ALL}):
        valid = [*SETS, ALL]
        raise InvalidField(
            "tools", f"there is no set of tools {unknown[0][:100]!r}; valid: {', '.join(valid)}", valid=valid
        )
    return frozenset(each for each in SETS if each in named or ALL in named) or DEFAULT


def read_tool_sets(scope: edge.Scope) -> frozenset[ToolSet]:
    """Return the sets that a request asks for, by `/mcp?tools=core,evidence` or a header. Raises InvalidRequest."""
    query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
    return parse_tool_sets(",".join(_drop_empty([edge.get_header(scope, b"ticketbox-tools"), *query.get("tools", ())])))


def _drop_empty(texts: Iterable[str | None]) -> list[str]:
    return [text for text in texts if text]
