"""`ticketbox capture import`: files of other tools become captures; hostile files are refused, with the reason."""

import json
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from tests.support.cli import run
from tests.support.server import World, ok
from tests.support.traces import CONTEXT, EVENTS, PAGE, REQUEST, build_trace
from ticketbox.cli.client.imports.files import build_parts, read_file
from ticketbox.domain.captures.capture import Stream
from ticketbox.domain.captures.imports.recording import ImportProblem, Recording
from ticketbox.domain.captures.steps import describe_action


def write_trace(path: Path) -> Path:
    """Write a trace of one browser context."""
    path.write_bytes(build_trace())
    return path


def write_har(path: Path) -> Path:
    """Write a HAR file as a browser saves it."""
    entry = REQUEST["snapshot"]
    assert isinstance(entry, dict)
    failed = {**entry, "response": {"status": 0, "_error": "net::ERR_FAILED"}}
    log = {"version": "1.2", "pages": [{"title": PAGE}], "entries": [entry, failed]}
    path.write_text(json.dumps({"log": log}))
    return path


def list_words(path: Path) -> list[str]:
    """The steps of a file in words."""
    actions = json.loads(build_parts(read_file(path), {})["actions"][1])
    assert [each["seq"] for each in actions] == sorted(each["seq"] for each in actions)
    recording = read_file(path)
    assert isinstance(recording, Recording)
    return [describe_action(each) for each in recording.entries[Stream.ACTIONS].kept]


def expect_problem(path: Path, *words: str) -> None:
    """Expect that a file is refused, with these words."""
    with pytest.raises(ImportProblem) as refused:
        read_file(path)
    for word in words:
        assert word in str(refused.value), str(refused.value)


def test_file_of_an_unpacked_trace_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "trace-1.trace"
    path.write_text("\n".join(json.dumps(each) for each in [CONTEXT, *EVENTS]))
    expect_problem(path, "a part of a trace", "zip file")


def test_report_of_the_extension_keeps_its_place_unless_another_is_given(tmp_path: Path) -> None:
    capture = {"id": "c-1", "page": {"url": PAGE}, "project_id": "proj_1", "title": "No total", "priority": "high"}
    report = {"ticketbox_report": 1, "capture": capture, "streams": {"console": []}, "screenshot": "iVBORw=="}
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report))
    parts = build_parts(read_file(path), {})
    assert json.loads(parts["capture"][1]) == capture
    assert (parts["console"][1], parts["screenshot"][1]) == (b"[]", b"\x89PNG")
    moved = json.loads(build_parts(read_file(path), {"ticket_id": "WEB-1"})["capture"][1])
    assert moved == {"id": "c-1", "page": {"url": PAGE}, "ticket_id": "WEB-1"}
    path.write_text(json.dumps({**report, "ticketbox_report": 2}))
    expect_problem(path, "newer version")


def test_trace_that_is_too_large_to_be_sent_is_refused_without_reading_it(tmp_path: Path) -> None:
    path = write_trace(tmp_path / "trace.zip")
    with path.open("r+b") as file:
        file.truncate(31 << 20)
    expect_problem(path, "31.0 MB", "30 MB")


def test_har_of_200_mb_is_refused_without_reading_it(tmp_path: Path) -> None:
    path = tmp_path / "huge.har"
    with path.open("wb") as file:
        file.write(b'{"log": ')
        file.truncate(200 << 20)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    expect_problem(path, "200 MB", "50 MB", "record fewer requests")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20 * 1024


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "none of"),
        (b"<html>", "none of"),
        (b'{"hello": 1}', "none of"),
        (b"[" * 100_000, "none of"),
        (b'{"log": 5}', "isn't a HAR file"),
        (b'{"log": {"entries": []}}', "no requests"),
        (
            b'{"log": {"entries": [{"startedDateTime": "soon", "request": {}, "response": {}}]}}',
            "a time that isn't one",
        ),
    ],
)
def test_other_json_is_refused_with_the_reason(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(content)
    expect_problem(path, words)


@pytest.fixture
def call(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Runs `ticketbox capture import` with the world's token."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    token = world.api.headers["Authorization"].removeprefix("Bearer ")

    def invoke(*arguments: str | Path) -> Result:
        return run("capture", "import", *arguments, SERVICE_API_TOKEN=token, TICKETBOX_URL=world.box.url)

    return invoke


def test_trace_becomes_a_ticket_and_a_har_its_second_capture(
    world: World, tmp_path: Path, call: Callable[..., Result]
) -> None:
    done = call(write_trace(tmp_path / "trace.zip"), "--project", world.project, "--label", "ci", "--attach", "--json")
    assert done.exit_code == 0, done.stderr
    made = json.loads(done.stdout)
    ticket = ok(world.api.get(f"/tickets/{made['ticket_id']}"))
    assert (ticket["title"], ticket["labels"]) == ("TypeError: cart is null", ["ci"])
    assert [each["name"] for each in ticket["attachments"]] == ["trace.zip"]
    assert ticket["capture"]["counts"] == {"console": 1, "network": 1, "errors": 1, "failed_requests": 1, "actions": 4}
    har = world.api.get(f"/captures/{made['capture_id']}/har").text
    assert "sk_live" not in har

    added = call(write_har(tmp_path / "x.har"), "--ticket", made["ticket_id"])
    assert added.exit_code == 0, added.stderr
    listed = ok(world.api.get(f"/tickets/{made['ticket_id']}/captures"))["items"]
    assert len(listed) == 2
    assert listed[0]["page"]["url"] == PAGE


def test_refused_imports_create_nothing(world: World, tmp_path: Path, call: Callable[..., Result]) -> None:
    good, bad = write_trace(tmp_path / "trace.zip"), tmp_path / "bad.zip"
    bad.write_bytes(good.read_bytes()[:900])
    for status, *arguments in (
        (1, bad, "--project", world.project),
        (1, good, "--project", "proj_000000000000"),
        (1, good, "--ticket", "t-00000000"),
        (2, good, "--project", world.project, "--ticket", "t-00000000"),
        (2, good, "--ticket", "t-00000000", "--title", "New"),
        (2, tmp_path / "missing.zip", "--project", world.project),
    ):
        done = call(*arguments)
        assert (done.exit_code, done.stdout) == (status, ""), done.stderr
    assert ok(world.api.get("/tickets", params={"project_id": world.project}))["items"] == []


def test_report_on_an_existing_ticket_counts_once_and_reopens_it(world: World, tmp_path: Path) -> None:
    ticket = world.ticket()["id"]
    page = {"url": PAGE, "title": "Cart", "referrer": None}
    health = {name: {"status": "ok"} for name in ("console", "network", "errors")}
    capture = {
        "id": "report-seen",
        "page": page,
        "captured_at": 1_795_253_390_060,
        "health": health,
        "ticket_id": ticket,
    }
    report = {"ticketbox_report": 1, "capture": capture, "streams": {"console": []}, "comment": "Again"}
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report))
    token = world.owner.token("tickets:write")

    def import_report(*arguments: str) -> dict[str, Any]:
        done = run("capture", "import", str(path), *arguments, SERVICE_API_TOKEN=token, TICKETBOX_URL=world.box.url)
        assert done.exit_code == 0, done.output
        return ok(world.api.get(f"/tickets/{ticket}"))

    def resolve() -> None:
        ok(world.api.patch(f"/tickets/{ticket}", json={"resolved": True}))

    resolve()
    seen = import_report()
    assert (seen["occurrences"], seen["resolved"]) == (2, False)
    resolve()
    seen = import_report()  # what was fixed since isn't broken again by the same report
    assert (seen["occurrences"], seen["resolved"]) == (2, True)
    path.write_text(json.dumps({**report, "capture": {**capture, "id": "report-other", "ticket_id": "t-00000000"}}))
    seen = import_report("--ticket", ticket)
    assert (seen["occurrences"], seen["resolved"]) == (3, False)
    assert len(ok(world.api.get(f"/tickets/{ticket}/comments"))["items"]) == 2
