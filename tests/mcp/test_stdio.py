"""The local stdio server, started and spoken to as an MCP client does."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp_types import TextContent, TextResourceContents

from tests.support.long_runs import mark_long
from tests.support.mcp_client import GENERATIONS, NEWEST, talk_over_stdio
from tests.support.server import Box, World, copy_initialized_file, find_free_port, ok
from ticketbox.cli.core.operations import run_operation


@pytest.mark.parametrize("mode", GENERATIONS)
def test_hosted_tools_and_errors_are_relayed(world: World, mode: str, tmp_path: Path) -> None:
    made = world.ticket("Relayed")
    environment = {"TICKETBOX_URL": world.box.url, "SERVICE_API_TOKEN": world.owner.token("comments", label="local")}

    async def work(client: Client) -> None:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert "add_comment" in names
        assert "create_ticket" not in names
        read = await client.call_tool("get_ticket", {"ticket_id": made["id"]})
        assert read.structured_content is not None
        assert read.structured_content["title"] == "Relayed"
        await client.call_tool("add_comment", {"ticket_id": made["id"], "body": "From here."})
        lost = await client.call_tool("get_ticket", {"ticket_id": "t-zzzzzzzz"})
        assert lost.structured_content is not None
        assert (lost.is_error, lost.structured_content["code"]) == (True, "not_found")
        prompts = await client.list_prompts()
        assert {prompt.name for prompt in prompts.prompts} == {"fix_ticket", "triage_column", "verify_fix", "sweep"}
        (resource,) = (await client.read_resource(f"ticket://{made['id']}")).contents
        assert isinstance(resource, TextResourceContents)
        assert made["id"] in resource.text

    talk_over_stdio(mode, environment, tmp_path / "log", work)
    said = ok(world.api.get(f"/tickets/{made['id']}/comments"))["items"][0]["by"]
    assert (said["via"], said["token_label"]) == ("mcp", "local")
    assert (tmp_path / "log").read_text() == ""


@pytest.mark.parametrize(
    ("environment", "reason"),
    [
        ({}, "SERVICE_API_TOKEN isn't set"),
        ({"SERVICE_API_TOKEN": "tok_wrong"}, "answers 401"),
        mark_long(({"SERVICE_API_TOKEN": "tok_wrong", "TICKETBOX_URL": "http://127.0.0.1:9"}, "can't be reached")),
    ],
)
def test_without_a_valid_token_the_list_is_empty_and_stderr_says_why(
    world: World, environment: dict[str, str], reason: str, tmp_path: Path
) -> None:
    given = {"TICKETBOX_URL": world.box.url, **environment}

    async def count(client: Client) -> int:
        return len((await client.list_tools()).tools)

    assert talk_over_stdio("legacy", given, tmp_path / "log", count) == 0
    assert reason in (tmp_path / "log").read_text()
    assert "tok_wrong" not in (tmp_path / "log").read_text()


def test_ctrl_c_ends_it_while_it_waits_for_its_client(world: World, tmp_path: Path) -> None:
    environment = {**os.environ, "TICKETBOX_URL": world.box.url, "SERVICE_API_TOKEN": world.owner.token("read")}
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    initialize = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}
    with (tmp_path / "log").open("w") as log, subprocess.Popen(
        [sys.executable, "-m", "ticketbox", "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
        env=environment, text=True,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(initialize) + "\n")
        process.stdin.flush()
        assert "serverInfo" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(30) == -signal.SIGINT
        finally:
            process.kill()
    assert (tmp_path / "log").read_text() == ""


@pytest.mark.parametrize("path", [mark_long("/mcp"), "/mcp/", mark_long("/api/v1"), mark_long("/")])
def test_address_of_an_endpoint_is_accepted(world: World, path: str, tmp_path: Path) -> None:
    environment = {"TICKETBOX_URL": world.box.url + path, "SERVICE_API_TOKEN": world.owner.token("read")}

    async def work(client: Client) -> None:
        assert not (await client.call_tool("whoami", {})).is_error

    talk_over_stdio("2026-07-28", environment, tmp_path / "log", work)
    assert (tmp_path / "log").read_text() == ""


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ("localhost:8420", "TICKETBOX_URL: localhost:8420 isn't a server's address"),
        mark_long(("http://[", "TICKETBOX_URL: http://[ isn't a server's address")),
        ("{url}/tickets", "not as ticketbox does; set TICKETBOX_URL"),
    ],
)
def test_wrong_address_is_explained(world: World, setting: str, reason: str, tmp_path: Path) -> None:
    token = world.owner.token("read")
    environment = {"TICKETBOX_URL": setting.format(url=world.box.url), "SERVICE_API_TOKEN": token}

    async def work(client: Client) -> None:
        assert (await client.list_tools()).tools == []
        result = await client.call_tool("whoami", {})
        assert result.is_error
        assert isinstance(result.content[0], TextContent)
        assert reason in result.content[0].text

    talk_over_stdio("legacy", environment, tmp_path / "log", work)
    assert reason in (tmp_path / "log").read_text()


@pytest.mark.long
def test_unresponsive_service_does_not_block_the_client(tmp_path: Path) -> None:
    """The client gets its empty list long before it gives the server up."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        environment = {"TICKETBOX_URL": f"http://127.0.0.1:{silent.getsockname()[1]}", "SERVICE_API_TOKEN": "tok_x"}

        async def count(client: Client) -> int:
            async with asyncio.timeout(30):
                return len((await client.list_tools()).tools)

        assert talk_over_stdio("legacy", environment, tmp_path / "log", count) == 0
    assert "can't be reached (TimeoutError)" in (tmp_path / "log").read_text()


@pytest.mark.long
def test_tools_appear_when_the_service_starts(tmp_path: Path) -> None:
    db, port = copy_initialized_file(tmp_path), find_free_port()
    token = run_operation(db, "issue_token", {"user": "root@example.org", "label": "l", "scopes": ["read"]}).secret
    environment = {"TICKETBOX_URL": f"http://localhost:{port}", "SERVICE_API_TOKEN": token}

    async def work(client: Client) -> tuple[int, int]:
        before = len((await client.list_tools()).tools)
        box = await asyncio.to_thread(Box, db, "--port", str(port))
        try:
            after = len((await client.list_tools(cache_mode="bypass")).tools)
        finally:
            await asyncio.to_thread(box.stop)
        return before, after

    before, after = talk_over_stdio("legacy", environment, tmp_path / "log", work)
    assert before == 0
    assert after > 10


@pytest.mark.long
def test_stdout_has_only_protocol_and_arguments_are_rejected(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ticketbox", "mcp"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    quiet = subprocess.run(command, input="", capture_output=True, text=True, timeout=60, env=environment, check=False)
    assert (quiet.returncode, quiet.stdout) == (0, "")
    assert "SERVICE_API_TOKEN" in quiet.stderr
    for secret in (["--token", "tok_secret"], ["tok_secret"], ["--tok_secret"]):
        told = subprocess.run(
            [*command, *secret], capture_output=True, text=True, timeout=60, env=environment, check=False
        )
        assert told.returncode == 2
        assert "tok_secret" not in told.stdout + told.stderr
    assert "set SERVICE_API_TOKEN" in told.stderr


@pytest.mark.long
def test_client_that_gives_up_on_discovery_can_use_the_older_generation(tmp_path: Path) -> None:
    """The AI SDK waits for a second; while the server starts, both requests are in its input already."""
    about = {
        "io.modelcontextprotocol/protocolVersion": NEWEST,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    }
    discover = {"jsonrpc": "2.0", "id": 0, "method": "server/discover", "params": {"_meta": about}}
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    initialize = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}
    assert ask_local_server(tmp_path, discover, initialize)["result"]["protocolVersion"] == "2025-11-25"
    assert NEWEST in ask_local_server(tmp_path, discover)["result"]["supportedVersions"]


@pytest.mark.long
def test_byte_order_mark_is_ignored_and_other_lines_that_are_no_message_reported(tmp_path: Path) -> None:
    """PowerShell begins what it pipes with a mark."""
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    initialize = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}
    told = subprocess.run(
        [sys.executable, "-m", "ticketbox", "mcp"],
        input=f"\ufeff{json.dumps(initialize)}\nnonsense\n[1]\n",
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        check=False,
    )
    assert json.loads(told.stdout)["result"]["protocolVersion"] == "2025-11-25"
    assert told.stderr.count("isn't a JSON-RPC message") == 1


def ask_local_server(folder: Path, *messages: dict[str, Any]) -> dict[str, Any]:
    """Send messages together, and return the first answer."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    command = [sys.executable, "-m", "ticketbox", "mcp"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("".join(json.dumps(message) + "\n" for message in messages))
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        process.stdin.close()
        assert process.wait(30) == 0
    return answer
