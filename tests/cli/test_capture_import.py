"""`ticketbox capture import`: files of other tools become captures; hostile files are refused, with the reason."""

import json
import resource
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from tests.support.cli import run
from tests.support.pictures import png
from tests.support.server import World, ok
from ticketbox.cli.client.imports import archive
from ticketbox.cli.client.imports.files import build_parts, read_file
from ticketbox.cli.client.imports.recording import ImportProblem, Recording
from ticketbox.domain.captures.capture import Stream
from ticketbox.domain.captures.steps import describe_action

PAGE = "https://shop.example/cart"
CONTEXT = {
    "version": 10, "type": "context-options", "origin": "library", "browserName": "chromium", "platform": "linux",
    "playwrightVersion": "1.65.1", "wallTime": 1_795_253_390_000, "monotonicTime": 1_000,
    "title": "cart.spec.ts › pays", "options": {"viewport": {"width": 1280, "height": 720}},
}  # fmt: skip
EVENTS: list[dict[str, Any]] = [
    {"type": "before", "startTime": 1_010, "class": "Frame", "method": "goto", "params": {"url": PAGE}},
    {"type": "before", "startTime": 1_020, "class": "Frame", "method": "fill",
     "params": {"selector": 'internal:label="Code"i', "value": "hunter2-secret"}},
    {"type": "before", "startTime": 1_030, "class": "Frame", "method": "press",
     "params": {"selector": "input >> nth=0", "key": "Control+a"}},
    {"type": "before", "startTime": 1_040, "class": "Frame", "method": "click",
     "params": {"selector": 'internal:role=button[name="Pay"i]'}},
    {"type": "before", "startTime": 1_045, "class": "Frame", "method": "expect", "params": {}},
    {"type": "console", "messageType": "warning", "text": "slow 3", "args": [{"preview": "slow"}, {"preview": "3"}],
     "location": {"url": PAGE, "lineNumber": 0, "columnNumber": 9}, "time": 1_050},
    {"type": "event", "time": 1_060, "class": "BrowserContext", "method": "pageError", "params": {"error": {"error": {
        "name": "TypeError", "message": "cart is null",
        "stack": f"TypeError: cart is null\n    at pay ({PAGE}/app.js:3:7)"}}}},
    {"type": "screencast-frame", "file": "screencast/1.jpeg", "timestamp": 1_055},
    {"type": "screencast-frame", "file": "screencast/2.png", "timestamp": 1_065},
]  # fmt: skip
REQUEST = {
    "type": "resource-snapshot",
    "snapshot": {
        "startedDateTime": "2026-11-21T09:29:50.045Z", "time": 12.5, "_resourceType": "fetch",
        "request": {"method": "POST", "url": "https://shop.example/api/pay", "headers": [
            {"name": "User-Agent", "value": "Mozilla/5.0 HeadlessChrome/156.0.0.0 Safari/537.36"},
            {"name": "Authorization", "value": "Bearer sk_live_abcdefghijklmnop123456"}]},
        "response": {"status": 500, "statusText": "Internal Server Error", "headers": [],
                     "content": {"size": 16, "mimeType": "application/json", "_file": "resources/a.json"}},
    },
}  # fmt: skip


def write_trace(path: Path, events: list[Any] = EVENTS, context: Any = CONTEXT, extra: str | None = None) -> Path:
    """Write a trace of one browser context."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("trace.trace", "\n".join(json.dumps(each) for each in [context, *events]))
        made.writestr("trace.network", json.dumps(REQUEST))
        made.writestr("resources/a.json", '{"error": "boom"}')
        made.writestr("screencast/1.jpeg", b"\xff\xd8")
        made.writestr("screencast/2.png", png())
        if extra is not None:
            made.writestr(extra, "{}")
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


def test_trace_is_read_with_its_steps_console_requests_errors_and_last_picture(tmp_path: Path) -> None:
    path = write_trace(tmp_path / "trace.zip")
    assert list_words(path) == [
        "Opened /cart",
        "Typed 11–50 characters into “Code”",
        "Pressed Ctrl+A in element input >> nth=0",
        "Clicked button “Pay”",
    ]
    recording = read_file(path)
    parts = build_parts(recording, {})
    (line,), (error,), (request,) = (json.loads(parts[name][1]) for name in ("console", "errors", "network"))
    assert (line["level"], line["args"], line["source"]) == ("warn", ["slow", "3"], f"{PAGE}:1:10")
    assert (error["name"], error["frames"][0]["function"], error["frames"][0]["line"]) == ("TypeError", "pay", 3)
    assert (request["status"], request["response"]["body"]) == (500, '{"error": "boom"}')
    assert recording.screenshot == png()
    envelope = json.loads(parts["capture"][1])
    assert (envelope["title"], envelope["page"]["url"]) == ("TypeError: cart is null", PAGE)
    assert envelope["environment"]["browser"] == "Chrome 156.0"
    assert envelope["captured_at"] == 1_795_253_390_060
    assert b"hunter2" not in b"".join(data for _, data, _ in parts.values())


@pytest.mark.parametrize(
    ("selector", "words", "selectors"),
    [
        ('aria-ref=e7 >> internal:describe="Pay now"', "Clicked “Pay now”", []),
        ("aria-ref=e7", "Clicked an element", []),
        ('#pay >> internal:describe="The \\"pay\\" button"', 'Clicked “The "pay" button”', ["#pay"]),
        ('internal:role=button[name="Pay"i] >> internal:describe="x"', "Clicked button “Pay”",
         ['internal:role=button[name="Pay"i]']),
        ("internal:role=button", "Clicked a button", ["internal:role=button"]),
    ],
)  # fmt: skip
def test_described_elements_are_named_and_what_finds_nothing_later_is_left_out(
    tmp_path: Path, selector: str, words: str, selectors: list[str]
) -> None:
    click = {"type": "before", "startTime": 1_010, "class": "Frame", "method": "click"}
    path = write_trace(tmp_path / "trace.zip", [{**click, "params": {"selector": selector}}])
    assert list_words(path) == [words]
    recording = read_file(path)
    assert isinstance(recording, Recording)
    target = recording.entries[Stream.ACTIONS].kept[0].target
    assert target.selectors == selectors


def test_console_of_a_trace_is_formatted_as_a_console_does(tmp_path: Path) -> None:
    def log(*previews: str, text: str = "") -> dict[str, Any]:
        return {"type": "console", "text": text, "args": [{"preview": each} for each in previews], "time": 1_050}

    lines = [
        log("Order %s failed %c(%d %%)", "A", "color: red", "7", "rest"), log("50 %"), log("%s"), log("%s and %s", "a"),
        log(text="[DOM] Password field is not contained in a form"), log(text="Refused to load the image"),
    ]  # fmt: skip
    parts = build_parts(read_file(write_trace(tmp_path / "trace.zip", lines)), {})
    assert [each["args"] for each in json.loads(parts["console"][1])] == [
        ["Order A failed (7 %)", "rest"], ["50 %"], ["%s"], ["a and %s"], ["Refused to load the image"],
    ]  # fmt: skip


@pytest.mark.parametrize(("has_snapshots", "status"), [(True, "ok"), (False, "disabled")])
def test_requests_of_a_trace_without_snapshots_were_not_recorded(
    tmp_path: Path, has_snapshots: bool, status: str
) -> None:
    snapshot = {"type": "frame-snapshot", "snapshot": {"isMainFrame": True, "frameUrl": PAGE, "wallTime": 1}}
    path = tmp_path / "trace.zip"
    with zipfile.ZipFile(path, "w") as made:
        events = [CONTEXT, *([snapshot] if has_snapshots else []), *EVENTS]
        made.writestr("trace.trace", "\n".join(json.dumps(each) for each in events))
        made.writestr("trace.network", "")
    health = json.loads(build_parts(read_file(path), {})["capture"][1])["health"]
    assert (health["network"]["status"], health["console"]["status"]) == (status, "ok")


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


def test_stream_keeps_its_newest_entries_and_counts_the_others(tmp_path: Path) -> None:
    lines = [{"type": "console", "messageType": "log", "text": str(n), "time": 1_000 + n} for n in range(5_003)]
    parts = build_parts(read_file(write_trace(tmp_path / "long.zip", lines)), {})
    assert json.loads(parts["console"][1])[0]["args"] == ["3"]
    health = json.loads(parts["capture"][1])["health"]["console"]
    assert (health["status"], health["reason"], health["captured"], health["dropped"]) == ("partial", "limit", 5_000, 3)


@pytest.mark.parametrize("version", [6, 11])
def test_trace_of_another_format_is_refused_with_the_version_of_playwright(tmp_path: Path, version: int) -> None:
    path = write_trace(tmp_path / "t.zip", context={**CONTEXT, "version": version, "playwrightVersion": "1.99.0"})
    expect_problem(path, "Playwright 1.99.0", f"format {version}", "7 to 10")


def test_torn_and_damaged_zips_are_refused(tmp_path: Path) -> None:
    whole = write_trace(tmp_path / "t.zip").read_bytes()
    torn = tmp_path / "torn.zip"
    for size in range(30, len(whole) - 1, 97):
        torn.write_bytes(whole[:size])
        expect_problem(torn, "torn or damaged")
    at = whole.index(b"trace.trace") + 40
    torn.write_bytes(whole[:at] + bytes(20) + whole[at + 20 :])
    expect_problem(torn, "torn or damaged")


def test_zip_without_a_trace_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "photos.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("photo.png", png())
    expect_problem(path, "no trace")
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("x.trace", "not json\n")
    expect_problem(path, "isn't a trace")


@pytest.mark.parametrize("name", ["../trace.trace", "/etc/x.trace", "a/../../x.trace", "..\\x.trace"])
def test_zip_that_names_files_outside_of_it_is_refused(tmp_path: Path, name: str) -> None:
    path = write_trace(tmp_path / "t.zip", extra=name)
    expect_problem(path, "leads out of it")


def test_file_of_a_picture_outside_of_the_zip_is_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.png"
    secret.write_bytes(png())
    events = [{"type": "screencast-frame", "file": str(secret), "timestamp": 1}]
    assert read_file(write_trace(tmp_path / "t.zip", events)).screenshot is None


def test_zip_bomb_is_refused_in_bounded_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_INFLATED", 64 * archive.MIB)
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made, made.open("trace.trace", "w") as file:
        file.write(json.dumps(CONTEXT).encode() + b"\n")
        for _ in range(65):
            file.write(bytes(archive.MIB))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    expect_problem(path, "holds more than 64 MB")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024


def test_zip_with_a_huge_list_of_files_is_refused_before_it_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "many.zip"
    path.write_bytes(b"PK\x03\x04" + struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 9, 9, 5 << 20, 4, 0))
    expect_problem(path, "lists too many files")


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
