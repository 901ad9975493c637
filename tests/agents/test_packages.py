"""The versions in packages.toml, and the table of tested clients in the documentation."""

import itertools
import re

from tests.agents.coding_agents import AGENTS
from tests.agents.mcp_clients import BRIDGES, CLIENTS
from tests.agents.packages import load_packages
from tests.docs.pages import ROOT, table
from tests.mcp.test_inspector import INSPECTOR

PAIR = re.compile(r"(.+?)(?:\[\w+\])?(?:==|@)([^@=]+)")


def test_documentation_lists_the_tested_clients_with_their_versions() -> None:
    packages = load_packages()
    firsts = [*packages["agents"].values(), *(each[0] for each in packages["clients"].values()), INSPECTOR]
    pairs = {match.groups() for match in map(PAIR.fullmatch, firsts) if match is not None}
    assert len(pairs) == len(firsts)
    listed = {
        pair
        for client, versions, _ in table(ROOT / "docs" / "use" / "agents.md", "Tested clients")
        for pair in pair_up(re.findall(r"`([^`]+)`", client), versions.split(", "))
    }
    assert listed == pairs


def pair_up(names: list[str], versions: list[str]) -> list[tuple[str, str]]:
    """Each package with its version; one package can have several versions."""
    return list(zip(names if len(names) > 1 else itertools.repeat(names[0]), versions, strict=False))


def test_each_package_is_run() -> None:
    run = {client.bridge or client.packages or client.name for client in (*CLIENTS, *BRIDGES)}
    assert run == load_packages()["clients"].keys()
    assert {agent.name for agent in AGENTS} == load_packages()["agents"].keys()
