"""The official inspector's command line as a second client, over HTTP and over `ticketbox mcp`."""

import base64
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.mcp_client import ALL, EVERY_TOOL, create_capture
from tests.support.npm import install_once, node
from tests.support.pictures import png
from tests.support.server import World, ok
from ticketbox.mcp import tools
from ticketbox.operations.catalogue import load_registry

pytestmark = pytest.mark.long

INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
IS_ERROR, NO_AUTHORIZATION = 5, 3

Ask = Callable[..., tuple[int, Any]]


@pytest.fixture(scope="session")
def inspector() -> Path:
    """The inspector's command line, installed from npm."""
    return install_once(INSPECTOR) / "@modelcontextprotocol" / "inspector" / "clients" / "cli" / "build" / "index.js"


@pytest.fixture(params=["legacy", "modern"])
def era(request: pytest.FixtureRequest) -> str:
    """The protocol's generation, in the inspector's words."""
    return request.param


@pytest.fixture(params=["http", "stdio"])
def ask(request: pytest.FixtureRequest, inspector: Path, era: str, world: World, tmp_path: Path) -> Ask:
    """Runs one method; the exit status and the result."""
    token = world.owner.token(*ALL)
    hosted = [
        "--server-url",
        f"{world.box.url}{EVERY_TOOL}",
        "--transport",
        "http",
        "--header",
        f"Authorization: Bearer {token}",
    ]
    local = [
        *(
            "-e",
            f"SERVICE_API_TOKEN={token}",
            "-e",
            f"TICKETBOX_URL={world.box.url}",
            "-e",
            f"PATH={os.environ['PATH']}",
        ),
        *(sys.executable, "-m", "ticketbox", "mcp", "--tools", "all"),
    ]

    def run(method: str, *arguments: str) -> tuple[int, Any]:
        how = ["--protocol-era", era, "--format", "json", "--stored-auth-only", "--method", method, *arguments]
        done = node(inspector, *how, *(hosted if request.param == "http" else local), home=tmp_path)
        assert done.stdout, done.stderr
        return done.returncode, json.loads(done.stdout)["result"]

    return run


def call(ask: Ask, tool: str, **arguments: Any) -> tuple[int, Any]:
    """Call a tool; the inspector holds every answer to the tool's output schema."""
    return ask("tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments))


def test_inspector_lists_reads_calls_and_validates_errors(world: World, ask: Ask) -> None:
    """At both generations and over both transports, in one case for each pair."""
    receipt = create_capture(world)
    status, listed = ask("tools/list")
    assert (status, [tool["name"] for tool in listed["tools"]]) == (0, list(tools.get_tool_cards(load_registry())))

    status, ticket = call(ask, "get_ticket", ticket_id=receipt["ticket_id"])
    assert [each["type"] for each in ticket["content"]] == ["text", "image"]
    assert (status, json.loads(ticket["content"][0]["text"])["id"]) == (0, receipt["ticket_id"])
    status, comment = call(ask, "add_comment", ticket_id=receipt["ticket_id"], body="Seen.")
    (said,) = ok(world.api.get(f"/tickets/{receipt['ticket_id']}/comments"))["items"]
    assert (status, comment["structuredContent"]["id"]) == (0, said["id"])

    status, har = ask("resources/read", "--uri", f"capture://{receipt['capture_id']}/har")
    assert (status, json.loads(har["contents"][0]["text"])["log"]["version"]) == (0, "1.2")
    status, picture = ask("resources/read", "--uri", f"ticket://{receipt['ticket_id']}/screenshot")
    assert (status, base64.b64decode(picture["contents"][0]["blob"])) == (0, png(2000, 1000))

    status, prompt = ask(
        "prompts/get", "--prompt-name", "fix_ticket", "--prompt-args", f"ticket_id={receipt['ticket_id']}"
    )
    assert (status, receipt["ticket_id"] in prompt["messages"][0]["content"]["text"]) == (0, True)

    status, refused = call(ask, "get_ticket", ticket_id="t-zzzzzzzz")
    assert (status, refused["structuredContent"]["code"]) == (IS_ERROR, "not_found")
    assert "list_tickets" in refused["content"][0]["text"]


def test_inspector_without_a_token_is_asked_to_authorize(
    world: World, inspector: Path, era: str, tmp_path: Path
) -> None:
    where = ["--server-url", f"{world.box.url}{EVERY_TOOL}", "--transport", "http", "--protocol-era", era]
    done = node(inspector, *where, "--format", "json", "--stored-auth-only", "--method", "tools/list", home=tmp_path)
    assert (done.returncode, json.loads(done.stderr)["error"]["code"]) == (NO_AUTHORIZATION, "auth_required")
