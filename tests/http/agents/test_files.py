"""The files that an instance serves for coding agents, and the same as a command and in the repository."""

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.cli import run
from tests.support.server import Box, World
from ticketbox import __version__

ROOT = Path(__file__).parents[3]
SECRET = re.compile(r"(?:tok|lease)_[0-9A-Za-z]{8,}|Bearer [^.]")


def get(box: Box, path: str) -> httpx.Response:
    """A file, without a credential."""
    answer = httpx.get(f"{box.url}{path}", headers={"X-Forwarded-For": "192.0.2.7"})
    assert answer.status_code == 200, answer.text
    assert answer.headers["cache-control"] == "max-age=3600"
    return answer


@pytest.mark.parametrize(
    ("path", "media_type"),
    [
        ("/llms.txt", "text/plain; charset=utf-8"),
        ("/agents/AGENTS.md", "text/markdown; charset=utf-8"),
        ("/agents/server.json", "application/json"),
        ("/agents/skills/fix-ticket/SKILL.md", "text/markdown; charset=utf-8"),
        ("/agents/skills/triage-tickets/SKILL.md", "text/markdown; charset=utf-8"),
        ("/agents/skills/verify-fix/SKILL.md", "text/markdown; charset=utf-8"),
    ],
)
def test_file_has_the_address_and_no_secret(box: Box, path: str, media_type: str) -> None:
    answer = get(box, path)
    assert answer.headers["content-type"] == media_type
    assert f"{box.url}/mcp" in answer.text
    assert not SECRET.search(answer.text)
    assert "{url}" not in answer.text


def test_links_of_llms_txt_lead_to_pages(box: Box) -> None:
    text = get(box, "/llms.txt").text
    assert re.match(r"# ticketbox\n\n> ", text)  # https://llmstxt.org: a heading and a quote come first
    links = re.findall(r"^- \[[^]]+\]\((\S+)\): ", text, re.MULTILINE)
    assert len(links) >= 5
    for link in links:
        assert httpx.get(link, headers={"X-Forwarded-For": "192.0.2.7"}).status_code == 200, link


def test_lines_for_agents_name_tools_that_exist(world: World) -> None:
    text = get(world.box, "/agents/AGENTS.md").text
    from ticketbox.mcp.tools import get_tool_cards
    from ticketbox.operations.catalogue import load_registry

    named = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", text))
    assert named
    assert named <= get_tool_cards(load_registry()).keys()


def test_command_prints_the_lines_of_any_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    printed = run("agents-md", "--url", "https://tickets.example.org/mcp").stdout
    assert printed.startswith("## Tickets\n")
    assert "https://tickets.example.org/mcp" in printed
    assert "https://tickets.example.org/mcp/mcp" not in printed
    assert "http://localhost:8420" in run("agents-md").stdout


def test_command_prints_what_the_server_serves(box: Box) -> None:
    assert run("agents-md", "--url", box.url).stdout == get(box, "/agents/AGENTS.md").text


def check_server_description(found: dict[str, Any]) -> None:
    """Compare a description with the published schema of 2025-12-11, as far as it applies."""
    assert found["$schema"] == "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", found["name"])
    assert 1 <= len(found["description"]) <= 100
    assert 1 <= len(found["title"]) <= 100
    assert found["version"] == __version__
    assert found.keys() <= {"$schema", "name", "title", "description", "version", "packages", "remotes"}


def test_instance_describes_its_endpoint(box: Box) -> None:
    found = get(box, "/agents/server.json").json()
    check_server_description(found)
    assert found["remotes"] == [{"type": "streamable-http", "url": f"{box.url}/mcp"}]


def test_repository_describes_the_package(box: Box) -> None:
    found = json.loads((ROOT / "server.json").read_text())
    check_server_description(found)
    (package,) = found["packages"]
    assert (package["registryType"], package["identifier"], package["version"]) == ("pypi", "ticketbox", __version__)
    assert package["transport"] == {"type": "stdio"}
    assert [each["value"] for each in package["packageArguments"]] == ["mcp"]
    secret = {each["name"]: each.get("isSecret", False) for each in package["environmentVariables"]}
    assert secret == {"TICKETBOX_URL": False, "SERVICE_API_TOKEN": True}
    # The registry proves who owns a package on PyPI by this line of its description.
    assert f"mcp-name: {found['name']}" in (ROOT / "README.md").read_text()
    assert {**get(box, "/agents/server.json").json(), "packages": found["packages"]}.keys() - {
        "remotes"
    } == found.keys()
