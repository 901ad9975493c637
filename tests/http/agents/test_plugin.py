"""The plugin for Claude Code: its files follow the documented formats, and Claude Code accepts them.

Formats: https://code.claude.com/docs/en/plugins/manifest-reference, https://code.claude.com/docs/en/plugins/components,
https://agentskills.io/specification.
"""

import io
import json
import os
import platform
import re
import shlex
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.cli import run
from tests.support.npm import install_once
from tests.support.server import Box
from ticketbox import __version__
from ticketbox.mcp.tools import get_tool_cards
from ticketbox.operations.catalogue import load_registry

CLAUDE_CODE = "@anthropic-ai/claude-code@2.1.330"
EVENTS = {"PreToolUse", "PostToolUse", "SessionStart", "SessionEnd", "Stop", "UserPromptSubmit"}
NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


@pytest.fixture
def plugin(box: Box, tmp_path: Path) -> Path:
    """The plugin that an instance serves, unpacked."""
    answer = httpx.get(f"{box.url}/agents/claude-plugin.zip", headers={"X-Forwarded-For": "192.0.2.8"})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/zip")
    folder = tmp_path / "ticketbox-plugin"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert not [name for name in archive.namelist() if name.startswith(("/", "..")) or "__pycache__" in name]
        archive.extractall(folder)
    return folder


def load(path: Path) -> Any:
    """A JSON file."""
    return json.loads(path.read_text())


def test_manifest_and_marketplace_have_the_documented_fields(plugin: Path) -> None:
    manifest = load(plugin / ".claude-plugin" / "plugin.json")
    assert NAME.fullmatch(manifest["name"])
    assert manifest["version"] == __version__
    assert manifest["author"]["name"]
    market = load(plugin / ".claude-plugin" / "marketplace.json")
    assert NAME.fullmatch(market["name"])
    assert market["owner"]["name"]
    (entry,) = market["plugins"]
    assert entry["name"] == manifest["name"]
    assert (plugin / entry["source"] / ".claude-plugin" / "plugin.json").is_file()
    assert {path.name for path in (plugin / ".claude-plugin").iterdir()} == {"marketplace.json", "plugin.json"}


def test_mcp_server_has_the_address_of_the_instance_and_no_credential(plugin: Path, box: Box) -> None:
    assert load(plugin / ".mcp.json") == {
        "mcpServers": {"ticketbox": {"type": "http", "url": f"{box.url}/mcp"}},
    }
    for path in plugin.rglob("*"):
        if path.is_file():
            text = path.read_text()
            assert "{url}" not in text
            assert "{version}" not in text
            assert not re.search(r"(?:tok|lease)_[0-9A-Za-z]{8,}|Bearer", text)


def test_skills_follow_the_specification(plugin: Path) -> None:
    skills = sorted((plugin / "skills").iterdir())
    assert [skill.name for skill in skills] == ["fix-ticket", "triage-tickets", "verify-fix"]
    for skill in skills:
        match = re.fullmatch(r"---\n(.*?)\n---\n(.+)", (skill / "SKILL.md").read_text(), re.DOTALL)
        assert match is not None
        front = dict(line.split(": ", 1) for line in match[1].splitlines())
        assert front.keys() == {"name", "description"}
        assert front["name"] == skill.name
        assert NAME.fullmatch(front["name"])
        assert len(front["name"]) <= 64
        assert 1 <= len(front["description"]) <= 1024
        assert " Use when " in front["description"]
        assert ": " not in front["description"]  # plain YAML without quotes
        assert match[2].count("\n") < 500


def test_skills_name_tools_and_arguments_that_exist(plugin: Path) -> None:
    tools = get_tool_cards(load_registry())
    arguments = {name for card in tools.values() for name in card.input_schema["properties"]}
    codes = {"already_claimed", "approval_required"}
    for skill in (plugin / "skills").iterdir():
        named = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", (skill / "SKILL.md").read_text()))
        assert named <= tools.keys() | arguments | codes


def test_skills_lead_from_the_capture_to_the_proof_with_commands_that_exist(plugin: Path) -> None:
    texts = {name: (plugin / "skills" / name / "SKILL.md").read_text() for name in ("fix-ticket", "verify-fix")}
    assert "`get_reproduction`" in texts["fix-ticket"]
    assert "`add_verification`" in texts["verify-fix"]
    for text in texts.values():
        commands = [shlex.split(each)[1:] for each in re.findall(r"`(ticketbox [^`]+)`", text)]
        assert "verify" in {words[0] for words in commands}
        for words in commands:
            own = words[: words.index("--")] if "--" in words else words
            assert run(*own, "--help").exit_code == 0, words  # unknown commands and options are refused before it


def test_hooks_have_the_documented_form_and_call_a_command_that_exists(plugin: Path, box: Box) -> None:
    hooks = load(plugin / "hooks" / "hooks.json")["hooks"]
    assert hooks.keys() <= EVENTS
    ((group,),) = hooks.values()
    assert re.fullmatch(group["matcher"], "mcp__plugin_ticketbox_ticketbox__start_work_on_ticket")
    (hook,) = group["hooks"]
    assert (hook["type"], hook["async"]) == ("command", True)
    match = re.search(r"&& ticketbox (.+?) >", hook["command"])
    assert match is not None
    assert run(*shlex.split(match[1]), stdin="{}").exit_code == 0
    assert f"--url '{box.url}'" in hook["command"]


def test_zip_is_the_same_each_time(box: Box) -> None:
    address, headers = f"{box.url}/agents/claude-plugin.zip", {"X-Forwarded-For": "192.0.2.8"}
    assert httpx.get(address, headers=headers).content == httpx.get(address, headers=headers).content


def test_unknown_skill_is_not_found(box: Box) -> None:
    for name in ("nothing", "..%2f..%2fplugin.json"):
        address = f"{box.url}/agents/skills/{name}/SKILL.md"
        assert httpx.get(address, headers={"X-Forwarded-For": "192.0.2.8"}).status_code == 404


@pytest.mark.long
def test_claude_code_validates_installs_and_lists_the_plugin(plugin: Path, tmp_path: Path) -> None:
    machine = "arm64" if platform.machine() in {"aarch64", "arm64"} else "x64"
    claude = install_once(CLAUDE_CODE) / "@anthropic-ai" / f"claude-code-linux-{machine}" / "claude"
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "DISABLE_AUTOUPDATER": "1"}

    def call(*arguments: str | Path) -> str:
        done = subprocess.run(
            [str(claude), "plugin", *map(str, arguments)],
            env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "Validation passed" in call("validate", "--strict", plugin)
    call("marketplace", "add", f"./{plugin.name}")
    call("install", "ticketbox@ticketbox")
    details = call("details", "ticketbox")
    for part in ("fix-ticket", "triage-tickets", "verify-fix", "ticketbox"):
        assert part in details
