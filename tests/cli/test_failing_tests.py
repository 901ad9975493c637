"""A pass is noted on the ticket of its test, whatever its name, by the plugin and by the reporter for Playwright."""

import pytest

from tests.extension.node import run_module
from tests.support.server import World, ok
from ticketbox.cli.client.connection import Server
from ticketbox.cli.client.failing_tests import tickets
from ticketbox.cli.client.failing_tests.failures import Failure
from ticketbox.domain.accounts.secrets import generate_secret

# something in each is redacted in the description, or can't be in one line of it
NAMES = [
    f"tests/test_login.py::test_login[token={generate_secret()}]",
    "pays with card 4111 1111 1111 1111",
    "a\nb `c`",
]


def list_labels(world: World) -> list[list[str]]:
    return [each["labels"] for each in ok(world.api.get("/tickets", params={"project_id": world.project}))["items"]]


def test_pytest_plugin_notes_each_pass(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tickets, "PAGE", 2)
    with Server(world.box.url, world.owner.token("read", "tickets:write", "comments")) as server:
        for name in NAMES:
            failure = Failure(name=name, message="E", report="E", path="a.py", line=1, output=[])
            assert "created" in tickets.file_failure(server, world.project, failure)
        assert list_labels(world) == [["failing-test"]] * 3
        lines = list(tickets.note_passes(server, world.project, {*NAMES, "another"}))
    assert len(lines) == 3
    assert list_labels(world) == [[]] * 3


def test_playwright_reporter_notes_each_pass(world: World) -> None:
    token = world.owner.token("read", "tickets:write", "comments")
    given = {"url": world.box.url, "token": token, "project": world.project, "names": NAMES}
    lines = run_module("cli/note_passes.mjs", given)
    assert len(lines) == 3, lines
    assert list_labels(world) == [[]] * 3
