"""The default set of tools and all tools: how many tokens the lists take, and who lists which."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client

import ticketbox
from tests.support.mcp_client import (
    ALL,
    EVERY_TOOL,
    GENERATIONS,
    MESSAGE,
    NEWEST,
    modern,
    post,
    talk,
    talk_over_stdio,
)
from tests.support.server import World, ok
from tests.support.tokens import count_tokens
from ticketbox.mcp import tools
from ticketbox.operations.catalogue import load_registry

CARDS = tools.get_tool_cards(load_registry())
CORE = [name for name, card in CARDS.items() if card.tool_set == "core"]
PACKAGE = Path(ticketbox.__file__).parent
SERVICE = {  # what the description of the service names or implies
    "list_tickets", "get_ticket", "create_ticket", "update_ticket", "archive_ticket", "restore_ticket", "move_ticket",
    "assign_ticket", "unassign_ticket", "bulk_move_tickets", "bulk_assign_tickets", "add_comment", "search_tickets",
    "start_work_on_ticket", "stop_work_on_ticket",
}  # fmt: skip


async def list_names(client: Client) -> list[str]:
    """The names of the tools that a client lists."""
    return [tool.name for tool in (await client.list_tools()).tools]


def list_tools(world: World, tools_header: str = "core") -> list[dict[str, Any]]:
    """The list of tools as it is sent, at the newest generation."""
    headers = {"Authorization": f"Bearer {world.owner.token(*ALL)}", "Ticketbox-Tools": tools_header}
    return ok(modern(world, "tools/list", None, **headers))["result"]["tools"]


@pytest.mark.parametrize(("tools_header", "limit"), [("core", 8_500), ("all", 12_000)])
def test_list_of_tools_fits_a_context(world: World, tools_header: str, limit: int) -> None:
    """Clients keep `_meta` for themselves."""
    seen = [{name: part for name, part in tool.items() if name != "_meta"} for tool in list_tools(world, tools_header)]
    listed = json.dumps(seen, ensure_ascii=False, separators=(",", ":"))
    assert limit // 3 < count_tokens(listed) <= limit


def test_every_argument_is_described(world: World) -> None:
    for tool in list_tools(world, "all"):
        for name, schema in tool["inputSchema"]["properties"].items():
            assert schema.get("description"), (tool["name"], name)
            assert schema.keys() & {"type", "anyOf"}, (tool["name"], name)


def test_core_has_all_tools_of_the_service(world: World) -> None:
    assert {tool["name"] for tool in list_tools(world)} == set(CORE) >= SERVICE


def test_texts_for_agents_name_only_tools_that_are_listed() -> None:
    read = 0
    for place, text in list_texts_for_agents():
        named = set(re.findall(r"[a-z_]+", text)) & set(CARDS)
        own = {name for name in named if place == CARDS[name].operation.module or text.startswith(f"{name}(")}
        assert named <= {*CORE, *own}, (place, text)
        read += len(named)
    assert read > 100


def list_texts_for_agents() -> Iterator[tuple[str, str]]:
    """Each text that an agent can read, with the module or file that has it.

    A tool outside the set core can name the tools of the same module, and the call that continues an answer.
    """
    for path in (PACKAGE / "http" / "agents" / "files").rglob("*"):
        if path.is_file():
            yield str(path), path.read_text()
    for room in ("mcp", "operations", "domain"):
        for path in (PACKAGE / room).rglob("*.py"):
            module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
            tree = ast.parse(path.read_text())
            doc = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            for node in ast.walk(tree):
                text = node.value if isinstance(node, ast.Constant) and id(node) not in doc else None
                if isinstance(text, str) and text not in CARDS and not text.startswith("/"):
                    yield module, text


@pytest.mark.parametrize("mode", GENERATIONS)
def test_address_and_header_choose_the_set(world: World, mode: str) -> None:
    assert talk(world, mode, list_names, path="/mcp") == CORE
    assert talk(world, mode, list_names, path="/mcp?tools=core") == CORE
    assert talk(world, mode, list_names, path=EVERY_TOOL) == list(CARDS)
    named = [name for name, card in CARDS.items() if card.tool_set in {"core", "evidence"}]
    assert talk(world, mode, list_names, path="/mcp?tools=core,Evidence") == named
    token = f"Bearer {world.owner.token(*ALL)}"
    legacy = ok(post(world, MESSAGE, Authorization=token, **{"Ticketbox-Tools": "all"}))
    assert [tool["name"] for tool in legacy["result"]["tools"]] == list(CARDS)


def test_unknown_set_of_tools_is_refused_with_the_valid_ones(world: World) -> None:
    headers = {"Authorization": f"Bearer {world.owner.token(*ALL)}", "Ticketbox-Tools": "core,evidnce"}
    error = modern(world, "tools/list", None, **headers).json()["error"]
    assert error["data"]["valid"] == ["core", "evidence", "triage", "admin", "all"]
    assert "there is no set of tools 'evidnce'" in error["message"]


@pytest.mark.parametrize("mode", GENERATIONS)
def test_tool_outside_the_listed_set_works(world: World, mode: str) -> None:
    assert "list_companies" not in CORE

    async def call(client: Client) -> Any:
        return await client.call_tool("list_companies", {})

    assert talk(world, mode, call, path="/mcp").structured_content["items"][0]["id"] == world.company


@pytest.mark.long
def test_local_server_passes_the_choice_on(world: World, tmp_path: Path) -> None:
    environment = {"TICKETBOX_URL": world.box.url, "SERVICE_API_TOKEN": world.owner.token(*ALL)}
    log = tmp_path / "log"
    assert talk_over_stdio(NEWEST, environment, log, list_names) == CORE
    assert talk_over_stdio(NEWEST, {**environment, "TICKETBOX_TOOLS": "all"}, log, list_names) == list(CARDS)
    assert talk_over_stdio(NEWEST, environment, log, list_names, "--tools", "all") == list(CARDS)
