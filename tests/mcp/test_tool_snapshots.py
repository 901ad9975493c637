"""Each tool as an agent reads it, beside the last one that was reviewed."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.mcp_client import NEWEST, talk
from tests.support.server import Box, World
from ticketbox.mcp import tools
from ticketbox.operations.catalogue import load_registry

SNAPSHOTS = Path(__file__).parents[1] / "snapshots" / "tools"
NAMES = list(tools.get_tool_cards(load_registry()))


@pytest.fixture(scope="module")
def listed(box: Box) -> dict[str, Any]:
    """What `tools/list` answers to a token that may do everything."""
    answer = talk(World(box), NEWEST, lambda client: client.list_tools())
    return {tool.name: tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in answer.tools}


@pytest.mark.parametrize("name", NAMES)
def test_tool_matches_its_reviewed_snapshot(listed: dict[str, Any], name: str) -> None:
    """`TICKETBOX_SNAPSHOTS=write uv run --group dev pytest tests/mcp/test_tool_snapshots.py` rewrites them."""
    result = json.dumps(listed[name], indent=2, ensure_ascii=False) + "\n"
    path = SNAPSHOTS / f"{name}.json"
    if os.environ.get("TICKETBOX_SNAPSHOTS") == "write":
        SNAPSHOTS.mkdir(exist_ok=True)
        path.write_text(result, "utf-8")
    assert result == path.read_text("utf-8")


def test_every_snapshot_has_a_tool() -> None:
    assert sorted(path.stem for path in SNAPSHOTS.iterdir()) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_tool_has_title_annotations_and_descriptions(listed: dict[str, Any], name: str) -> None:
    tool = listed[name]
    has_files = name in {
        "get_ticket",
        "get_screenshot",
        "get_attachment",
        "claim_next_ticket",
        "get_reproduction",
    }
    output = set() if has_files else {"outputSchema"}
    assert {"name", "title", "description", "inputSchema", "annotations"} | output == tool.keys() - {"_meta"}
    # the specification gives the other two a meaning only for tools that write
    writes = set() if tool["annotations"]["readOnlyHint"] else {"destructiveHint", "idempotentHint"}
    assert set(tool["annotations"]) == {"readOnlyHint", "openWorldHint"} | writes
    assert "Use this" in tool["description"]
    assert " Example: {" in tool["description"]
    assert tool["inputSchema"]["additionalProperties"] is False
    for argument, schema in tool["inputSchema"]["properties"].items():
        assert all("type" in each for each in schema.get("anyOf", [schema])), argument
