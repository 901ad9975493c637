"""A pass is noted on the ticket of its test, whatever its name, by the plugin and by the reporter for Playwright."""

from pathlib import Path

import pytest

from tests.extension.node import run_module
from tests.support.pictures import png
from tests.support.server import World, ok
from tests.support.traces import CONTEXT, build_trace
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


def test_plugin_reads_no_trace_of_a_failure_that_has_a_ticket(world: World, tmp_path: Path) -> None:
    trace = tmp_path / "trace.zip"
    trace.write_bytes(build_trace())
    failure = Failure(name="a.py::test", message="E", report="E", path="a.py", line=1, output=[], trace=trace)
    with Server(world.box.url, world.owner.token("read", "tickets:write", "comments")) as server:
        assert "created" in tickets.file_failure(server, world.project, failure)
        trace.unlink()
        assert tickets.file_failure(server, world.project, failure).endswith("(2 times)")
    (ticket,) = ok(world.api.get("/tickets", params={"project_id": world.project}))["items"]
    detail = ok(world.api.get(f"/tickets/{ticket['id']}"))
    assert [each["name"] for each in detail["attachments"]] == ["trace.zip"]
    assert (detail["capture"]["counts"]["actions"], detail["capture"]["counts"]["errors"]) == (4, 2)


@pytest.mark.parametrize("trace", [b"PK\x03\x04 torn", build_trace(context={**CONTEXT, "version": 11})])
def test_trace_that_cannot_be_read_is_attached(world: World, tmp_path: Path, trace: bytes) -> None:
    path, picture = tmp_path / "trace.zip", tmp_path / "screenshot.png"
    path.write_bytes(trace)
    picture.write_bytes(png())
    failure = Failure(
        name="a.py::test", message="E", report="E", path="a.py", line=1, output=[], trace=path, screenshot=picture
    )
    with Server(world.box.url, world.owner.token("read", "tickets:write", "comments")) as server:
        assert "created" in tickets.file_failure(server, world.project, failure)
    (ticket,) = ok(world.api.get("/tickets", params={"project_id": world.project}))["items"]
    detail = ok(world.api.get(f"/tickets/{ticket['id']}"))
    assert [each["name"] for each in detail["attachments"]] == ["trace.zip"]
    assert detail["capture"]["screenshot"] is not None
    assert detail["capture"]["counts"]["errors"] == 1


def test_playwright_reporter_notes_each_pass(world: World) -> None:
    token = world.owner.token("read", "tickets:write", "comments")
    given = {"url": world.box.url, "token": token, "project": world.project, "names": NAMES}
    lines, calls = run_module("cli/note_passes.mjs", given)
    assert len(lines) == 3, lines
    assert calls.count("/captures") == 3  # each failed twice
    occurrences = ok(world.api.get("/tickets", params={"project_id": world.project}))["items"]
    assert [ok(world.api.get(f"/tickets/{each['id']}"))["occurrences"] for each in occurrences] == [2, 2, 2]
    assert list_labels(world) == [[]] * 3
