"""`ticketbox ticket` and `ticketbox capture`, against a real server."""

import csv
import io
import json
import os
import pty
import re
import select
import subprocess
import sys
import threading
import zipfile
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from click.testing import Result

from tests.support.cli import run
from tests.support.operation_cases import create_external_capture, make_capture
from tests.support.server import World, ok
from ticketbox.cli.client import terminal
from ticketbox.cli.client.captures.reproductions import unpack_files

HOSTILE = "Hello\x1b[31m \u202egnp.exe\u202c \x9b2J"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder without a sign-in and without a claim."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


def call(
    world: World, *arguments: str | Path, token: str | None = None, stdin: str | None = None, **environment: str
) -> Result:
    """Run a command with the world's token."""
    secret = world.api.headers["Authorization"].removeprefix("Bearer ") if token is None else token
    return run(*arguments, stdin=stdin, SERVICE_API_TOKEN=secret, TICKETBOX_URL=world.box.url, **environment)


def read(world: World, *arguments: str | Path, stdin: str | None = None) -> str:
    """The output of a command that must succeed."""
    result = call(world, *arguments, stdin=stdin)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def as_json(world: World, *arguments: str | Path) -> Any:
    """The JSON that a command prints."""
    return json.loads(read(world, *arguments, "--json"))


def expect_failure(result: Result, status: int, *words: str) -> None:
    """Expect an exit status, nothing on standard output, and one message that contains these words."""
    assert (result.exit_code, result.stdout) == (status, ""), result.stderr
    assert result.stderr.startswith("ticketbox: ")
    assert all(word in result.stderr for word in words), result.stderr


def test_ticket_goes_from_creation_to_the_last_column_on_the_command_line(world: World) -> None:
    made = as_json(world, "ticket", "create", "The cart stays empty", "--project", world.project, "--priority", "high",
                   "--label", "cart", "--label", "shop")  # fmt: skip
    assert (made["title"], made["priority"], made["labels"]) == ("The cart stays empty", "high", ["cart", "shop"])
    ticket = made["id"]
    read(world, "ticket", "comment", ticket, "It is the **cache**.")
    assert "Moved" in read(world, "ticket", "move", ticket, world.columns[2])
    assert "Claimed" in read(world, "ticket", "claim", ticket, "--branch", "fix/cart")
    found = ok(world.api.get(f"/tickets/{ticket}"))
    assert (found["column_id"], found["branch"], found["comment_count"]) == (world.columns[2], "fix/cart", 1)
    shown = read(world, "ticket", "show", ticket)
    for words in ("The cart stays empty", "high priority", "cart, shop", "branch fix/cart", "It is the **cache**."):
        assert words in shown


def test_text_is_read_from_standard_input_for_a_dash(world: World) -> None:
    text = "First line\n\n- a list\n"
    made = read(world, "ticket", "create", "A", "--project", world.project, "--description", "-", "--json", stdin=text)
    ticket = json.loads(made)
    assert ticket["description"] == "First line\n\n- a list"
    read(world, "ticket", "comment", ticket["id"], "-", stdin="From a pipe\n")
    (comment,) = ok(world.api.get(f"/tickets/{ticket['id']}/comments"))["items"]
    assert comment["body"] == "From a pipe"


def test_list_accepts_the_filters_of_the_operation(world: World) -> None:
    world.ticket("Low", priority="low")
    high = world.ticket("High", priority="high", labels=["checkout"])
    listed = as_json(world, "ticket", "list", "--project", world.project, "--priority", "high", "--label", "checkout")
    assert [each["id"] for each in listed["items"]] == [high["id"]]
    assert as_json(world, "ticket", "list", "--project", world.project, "--resolved")["items"] == []
    unresolved = as_json(world, "ticket", "list", "--project", world.project, "--no-resolved", "--sort", "created")
    assert [each["title"] for each in unresolved["items"]] == ["Low", "High"]


def test_table_is_aligned_and_wide_characters_fill_two_cells(world: World) -> None:
    for title in ("Short", "カートが空です", "e\u0301te\u0301"):
        world.ticket(title, priority="low")
    head, *rows = read(world, "ticket", "list", "--project", world.project).splitlines()
    assert head.split() == ["TICKET", "TITLE", *(["COLUMN"] if "COLUMN" in head else []), "PRIORITY", "UPDATED"]
    starts = {terminal.measure_width(row[: row.index(" low ") + 1]) for row in rows}
    assert starts == {head.index("PRIORITY")}


def test_next_page_is_offered_on_standard_error(world: World) -> None:
    for number in range(3):
        world.ticket(f"Ticket {number}")
    first = call(world, "ticket", "list", "--project", world.project, "--limit", "2")
    assert len(first.stdout.splitlines()) == 3
    match = re.search(r"--cursor (\S+)", first.stderr)
    assert match is not None
    second = call(world, "ticket", "list", "--project", world.project, "--limit", "2", "--cursor", match[1])
    assert (len(second.stdout.splitlines()), second.stderr) == (2, "")


def test_empty_list_prints_nothing_on_standard_output(world: World) -> None:
    result = call(world, "ticket", "list", "--project", world.project)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr


def test_control_and_bidirectional_characters_are_printed_as_escapes(world: World) -> None:
    ticket = world.ticket("Title", description=HOSTILE)
    ok(world.api.post(f"/tickets/{ticket['id']}/comments", json={"body": HOSTILE}))
    for command in (["list", "--project", world.project], ["show", ticket["id"]]):
        for flags in ([], ["--json"]):
            printed = read(world, "ticket", *command, *flags)
            assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", printed), command
    assert r"Hello\x1b[31m \u202egnp.exe\u202c \x9b2J" in read(world, "ticket", "show", ticket["id"])
    assert as_json(world, "ticket", "show", ticket["id"])["description"] == HOSTILE


@pytest.mark.long
def test_colours_appear_only_in_a_terminal(world: World) -> None:
    world.ticket("A" * 200)
    command = [sys.executable, "-m", "ticketbox", "ticket", "list", "--project", world.project]
    secret = world.api.headers["Authorization"].removeprefix("Bearer ")
    environment = {**os.environ, "SERVICE_API_TOKEN": secret, "TICKETBOX_URL": world.box.url, "COLUMNS": "60"}
    environment.pop("NO_COLOR", None)
    environment["TERM"] = "xterm"
    piped = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert "\x1b" not in piped
    assert "A" * 200 in piped
    shown = run_in_terminal(command, environment)
    assert "\x1b[" in shown
    plain = [re.sub(r"\x1b\[\d*m", "", line) for line in shown.splitlines()]
    assert all(len(line) <= 60 for line in plain)
    assert "A…" in plain[1]
    assert "\x1b" not in run_in_terminal(command, {**environment, "NO_COLOR": "1"})


def run_in_terminal(command: list[str], environment: dict[str, str]) -> str:
    """What a command prints to a pseudo-terminal."""
    leader, follower = pty.openpty()
    with subprocess.Popen(command, env=environment, stdout=follower, stderr=subprocess.PIPE) as process:
        os.close(follower)
        printed = b""
        while select.select([leader], [], [], 30)[0]:
            try:
                part = os.read(leader, 65_536)
            except OSError:  # Linux reports the end of a terminal so
                break
            if not part:
                break
            printed += part
        assert process.wait(30) == 0
    os.close(leader)
    return printed.decode()


def test_errors_have_the_detail_of_the_server_and_an_exit_status(world: World) -> None:
    expect_failure(call(world, "ticket", "show", "t-00000000"), 1, "not found")
    expect_failure(call(world, "ticket", "create", "A"), 1, "project_id")
    expect_failure(call(world, "ticket", "list", token="tok_" + "0" * 36), 4, "credential")
    expect_failure(call(world, "ticket", "list", token=""), 4, "SERVICE_API_TOKEN")
    expect_failure(call(world, "ticket", "list", token="tok_\nX"), 4, "SERVICE_API_TOKEN")
    reader = world.owner.token("read")
    expect_failure(call(world, "ticket", "create", "A", "--project", world.project, token=reader), 1, "tickets:write")
    assert call(world, "ticket", "list", "--priority", "critical").exit_code == 2


def test_ticket_is_named_by_its_key_without_zeros_in_front(world: World) -> None:
    made = world.ticket("The cart stays empty")
    project = made["key"].partition("-")[0]
    for key in (made["key"], made["key"].lower()):
        assert as_json(world, "ticket", "show", key)["id"] == made["id"]
    for number in ("0", "01", "001"):
        expect_failure(call(world, "ticket", "show", f"{project}-{number}"), 1, "not found")
        expect_failure(call(world, "ticket", "comment", f"{project}-{number}", "Hi"), 1, "not found")
        expect_failure(call(world, "ticket", "claim", f"{project}-{number}"), 1, "not found")
    assert ok(world.api.get(f"/tickets/{made['id']}"))["comment_count"] == 0


def test_conflict_has_its_own_exit_status(world: World) -> None:
    ticket = world.ticket()["id"]
    read(world, "ticket", "claim", ticket)
    other = world.owner.token("tickets:write")
    expect_failure(call(world, "ticket", "claim", ticket, token=other), 6, "is working on this ticket")


def test_unreachable_server_is_named(world: World) -> None:
    gone = run("ticket", "list", SERVICE_API_TOKEN="tok_x", TICKETBOX_URL="http://localhost:1")
    expect_failure(gone, 5, "http://localhost:1", "ConnectError")
    expect_failure(run("ticket", "list", SERVICE_API_TOKEN="tok_x", TICKETBOX_URL="localhost"), 1, "address")


@pytest.mark.parametrize("path", ["/", "/mcp", "/mcp/", "/api/v1"])
def test_address_of_the_endpoint_is_accepted_as_the_server(world: World, path: str) -> None:
    ticket = world.ticket()
    secret = world.api.headers["Authorization"].removeprefix("Bearer ")
    shown = run("ticket", "show", ticket["id"], "--json", "--url", world.box.url + path, SERVICE_API_TOKEN=secret)
    assert json.loads(shown.stdout)["id"] == ticket["id"]


def test_ticket_is_found_by_its_web_address_on_this_server_only(world: World) -> None:
    ticket = world.ticket()
    for page in (f"tickets/{ticket['id']}?tab=x#c", f"t/{ticket['key']}", f"t/{ticket['key'].lower()}/"):
        assert as_json(world, "ticket", "show", f"{world.box.url}/{page}")["id"] == ticket["id"]
    expect_failure(
        call(world, "ticket", "show", f"http://evil.example/tickets/{ticket['id']}"), 1, "evil.example", "TICKETBOX_URL"
    )


def test_token_never_goes_to_another_path_than_the_operations(world: World) -> None:
    expect_failure(call(world, "ticket", "show", "../me"), 1, "not found")
    expect_failure(call(world, "ticket", "show", "?status=all"), 1, "not found")


def test_capture_is_shown_with_its_failures_first(world: World) -> None:
    made = make_capture(world)
    ticket, capture = made["ticket_id"], made["capture_id"]
    shown = read(world, "capture", "show", ticket)
    assert capture in shown
    lines = [line.split() for line in shown.splitlines()]
    order = [[words[0], words[-1]] for words in lines if words[:1] in (["error"], ["request"], ["step"], ["console"])]
    assert order == [
        ["error", "cart"],
        ["request", "https://shop.example/api/cart"],
        ["step", "“Pay”"],
        ["console", "empty"],
    ]
    expect_failure(call(world, "capture", "show", world.ticket()["id"]), 3, "no capture")
    lines = read(world, "capture", "timeline", ticket).splitlines()
    assert [line.split()[2:] for line in lines if line.strip().startswith("+")][-2:] == [
        ["request", "GET", "/api/cart", "500"], ["error", "no", "cart"]
    ]  # fmt: skip
    assert "left out" not in "".join(lines)
    only = as_json(world, "capture", "timeline", ticket, "--kind", "console", "--kind", "errors")
    assert [moment["kind"] for moment in only["items"]] == ["console", "errors"]
    expect_failure(call(world, "capture", "timeline", world.ticket()["id"]), 3, "no capture")
    lines = read(world, "capture", "replay-transcript", ticket).splitlines()
    assert [line.split()[2:] for line in lines if line.split()[2:3] == ["screen"]] == [
        ["screen", "Cart"], ["screen", "heading", "“Cart”", "→", "“Cart", "(empty)”"]
    ]  # fmt: skip
    assert any(line.split()[2:3] == ["error"] for line in lines)


def test_requests_and_picture_are_saved_next_to_each_other(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_capture(world)
    ticket, capture = made["ticket_id"], made["capture_id"]
    monkeypatch.chdir(tmp_path)
    read(world, "capture", "har", ticket)
    read(world, "capture", "har", capture, "--output", "again.har")
    assert json.loads((tmp_path / f"{capture}.har").read_text())["log"]["version"] == "1.2"
    assert (tmp_path / "again.har").read_bytes() == (tmp_path / f"{capture}.har").read_bytes()
    read(world, "capture", "screenshot", ticket, "--max-side", "64")
    (picture,) = tmp_path.glob(f"{ticket}.*")
    assert picture.read_bytes() == ok_bytes(world, ticket)
    before = picture.read_bytes()
    expect_failure(call(world, "capture", "screenshot", ticket), 1, "exists", "--output")
    assert picture.read_bytes() == before
    expect_failure(call(world, "capture", "har", ticket, "-o", tmp_path / "no" / "such.har"), 1, "can't write")
    expect_failure(call(world, "capture", "har", world.ticket()["id"]), 3, "no capture")
    assert json.loads(read(world, "capture", "har", ticket, "-o", "-"))["log"]


def test_reproduction_is_unpacked_or_saved(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_capture(world)
    ticket, capture = made["ticket_id"], made["capture_id"]
    monkeypatch.chdir(tmp_path)
    read(world, "capture", "reproduce", ticket)
    folder = tmp_path / f"reproduction-{capture}"
    assert "Clicked button “Pay”" in (folder / "reproduce.spec.ts").read_text()
    expect_failure(call(world, "capture", "reproduce", ticket), 1, "exists", "--output")
    read(world, "capture", "reproduce", capture, "--output", "pack.zip")
    with zipfile.ZipFile(tmp_path / "pack.zip") as pack:
        assert set(pack.namelist()) == {path.name for path in folder.iterdir()}
    (tmp_path / "file").touch()
    expect_failure(call(world, "capture", "reproduce", capture, "-o", "file"), 1, "can't write")


@pytest.mark.parametrize("name", ["../evil.js", "/evil.js", "a/b.js", "C:\\evil.js", ".bashrc"])
def test_archive_of_a_hostile_server_stays_in_its_folder(name: str, tmp_path: Path) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("network.har", "{}")
        opened.writestr(name, "evil")
    with pytest.raises(ValueError, match="isn't allowed"):
        unpack_files(archive.getvalue(), tmp_path / "pack")
    with pytest.raises(ValueError, match="isn't a zip archive"):
        unpack_files(b"<html>", tmp_path / "pack")
    assert list(tmp_path.iterdir()) == []


def ok_bytes(world: World, ticket: str) -> bytes:
    """The picture as the API returns it."""
    answer = world.api.get(f"/tickets/{ticket}/screenshot", params={"max_side": 64})
    assert answer.status_code == 200
    return answer.content


class LimitedServer(BaseHTTPRequestHandler):
    """Refuses the first call with 429, which the budgets of a real server do only after hundreds of calls."""

    keys: ClassVar[list[str | None]] = []

    def do_POST(self) -> None:
        """Answer 429, then 201."""
        self.rfile.read(int(self.headers["content-length"]))
        self.keys.append(self.headers["idempotency-key"])
        status, body = (429, b"{}") if len(self.keys) == 1 else (201, b'{"id": "cmt_1"}')
        self.send_response(status)
        self.send_header("retry-after", "0")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any, **more: Any) -> None:
        """Print nothing."""


def test_call_that_exceeds_a_budget_is_repeated_with_its_key() -> None:
    with HTTPServer(("127.0.0.1", 0), LimitedServer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}"
        result = run("ticket", "comment", "t-000000", "Hello", SERVICE_API_TOKEN="tok_x", TICKETBOX_URL=url)
        server.shutdown()
        thread.join()
    assert (result.exit_code, result.stdout) == (0, "Added comment cmt_1\n")
    assert len(LimitedServer.keys) == 2
    assert LimitedServer.keys[0] == LimitedServer.keys[1]


def test_server_that_is_not_ticketbox_is_named() -> None:
    with HTTPServer(("127.0.0.1", 0), LimitedServer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}"
        result = run("ticket", "show", "t-000000", SERVICE_API_TOKEN="tok_x", TICKETBOX_URL=url)
        server.shutdown()
        thread.join()
    expect_failure(result, 1, f"{url} answered 501; is it a ticketbox server?")


def test_tickets_are_linked(world: World) -> None:
    first, second = world.ticket("First")["id"], world.ticket("Second")["id"]
    assert read(world, "ticket", "link", first, "blocks", second).split()[0] == "blocks"
    shown = read(world, "ticket", "show", second)
    assert re.search(r"^blocked by +\S+ +First$", shown, re.MULTILINE), shown
    expect_failure(call(world, "ticket", "link", second, "blocks", first), 6)
    assert call(world, "ticket", "link", first, "likes", second).exit_code == 2


def find_lease_files(home: Path) -> list[Path]:
    """The files of the leases that this machine holds."""
    return sorted((home / "state" / "ticketbox" / "leases").rglob("*.json"))


def test_lease_of_a_claim_is_kept_in_a_private_file(world: World, home: Path) -> None:
    ticket = world.ticket()["id"]
    assert "lease_" not in read(world, "ticket", "claim", ticket, "--run", "worktree 2")
    (path,) = find_lease_files(home)
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert json.loads(path.read_text())["lease"].startswith("lease_")
    assert "worktree 2" in json.dumps(ok(world.api.get(f"/tickets/{ticket}"))["claim"])
    expect_failure(call(world, "ticket", "claim", ticket), 6, "is working on this ticket")
    before = ok(world.api.get(f"/tickets/{ticket}"))["claim"]["until"]
    renewed = as_json(world, "ticket", "claim", f"{world.box.url}/tickets/{ticket}", "--renew", "--lease-minutes", "90")
    assert renewed["claim"]["until"] > before
    assert "Released" in read(world, "ticket", "stop", ticket)
    assert find_lease_files(home) == []
    assert ok(world.api.get(f"/tickets/{ticket}"))["claim"] is None


def test_claim_of_another_machine_is_neither_renewed_nor_stopped(
    world: World, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticket = world.ticket()["id"]
    read(world, "ticket", "claim", ticket)
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "other machine"))
    expect_failure(call(world, "ticket", "claim", ticket, "--renew"), 3, "no claim")
    expect_failure(call(world, "ticket", "stop", ticket), 6, "is working on this ticket")


def test_claims_of_the_folder_are_renewed_after_half_of_their_time(
    world: World, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    ticket = world.ticket()["id"]
    read(world, "ticket", "claim", ticket, "--lease-minutes", "30")
    (path,) = find_lease_files(home)
    until = ok(world.api.get(f"/tickets/{ticket}"))["claim"]["until"]
    fresh = path.read_text()
    assert call(world, "ticket", "renew").stdout == ""
    assert path.read_text() == fresh

    started = datetime.now(UTC) - timedelta(minutes=40)
    path.write_text(json.dumps({**json.loads(fresh), "since": started.isoformat()}))
    elsewhere = home / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert call(world, "ticket", "renew").exit_code == 0
    assert ok(world.api.get(f"/tickets/{ticket}"))["claim"]["until"] == until
    monkeypatch.chdir(home)
    renewed = call(world, "ticket", "renew")
    assert (renewed.exit_code, renewed.output) == (0, "")
    assert ok(world.api.get(f"/tickets/{ticket}"))["claim"]["until"] > until
    assert json.loads(path.read_text())["lease"] == json.loads(fresh)["lease"]

    path.write_text(json.dumps({**json.loads(fresh), "until": started.isoformat()}))
    assert call(world, "ticket", "renew").exit_code == 0
    assert find_lease_files(home) == []


def test_damaged_lease_is_ignored(world: World, home: Path) -> None:
    ticket = world.ticket()["id"]
    read(world, "ticket", "claim", ticket)
    (path,) = find_lease_files(home)
    path.write_text("{")
    expect_failure(call(world, "ticket", "claim", ticket, "--renew"), 3, "no claim")


def measure_minutes_left(ticket: dict[str, Any]) -> float:
    """How long a ticket's claim lasts from now."""
    return (datetime.fromisoformat(ticket["claim"]["until"]) - datetime.now(UTC)).total_seconds() / 60


def send_event(world: World, tool: str, result: Any, **sent: Any) -> Result:
    """Call the hook as a coding agent does after a tool returned a result."""
    event = {"hook_event_name": "PostToolUse", "tool_name": tool, "tool_input": sent, "tool_response": result}
    return call(world, "ticket", "renew", "--hook", stdin=json.dumps(event))


@pytest.mark.parametrize("shape", ["object", "structured", "text", "blocks"])
@pytest.mark.parametrize("tool", ["mcp__ticketbox__start_work_on_ticket", "mcp__plugin_a_ticketbox__claim_next_ticket"])
def test_hook_keeps_the_lease_of_a_claim_that_an_agent_made(
    world: World, home: Path, monkeypatch: pytest.MonkeyPatch, tool: str, shape: str
) -> None:
    monkeypatch.chdir(home)
    ticket = world.ticket()["id"]
    claimed = ok(world.api.post(f"/tickets/{ticket}/work", json={"lease_minutes": 5}))  # as after a wait
    text = json.dumps(claimed)
    shapes = {"object": claimed, "structured": {"structuredContent": claimed}, "text": text}
    done = send_event(world, tool, shapes.get(shape, [{"type": "text", "text": text}]), lease_minutes=240)
    assert (done.exit_code, done.output) == (0, "")
    assert measure_minutes_left(ok(world.api.get(f"/tickets/{ticket}"))) > 200
    assert "Released" in read(world, "ticket", "stop", ticket)


def test_words_of_a_ticket_never_change_the_lease_that_is_kept(
    world: World, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook reads the result of every tool, and most results have texts that others wrote."""
    monkeypatch.chdir(home)
    ticket = world.ticket()["id"]
    claimed = as_json(world, "ticket", "claim", ticket)
    (path,) = find_lease_files(home)
    kept = path.read_text()
    forged = {"id": ticket, "lease": f"lease_{'a' * 32}", "claim": {"until": "2020-01-01T00:00:00.000Z"}}
    named = "mcp__ticketbox__start_work_on_ticket"
    written = {**claimed, "lease": None, "description": json.dumps(forged), "labels": [forged], "capture": forged}
    for tool, result in (
        ("mcp__ticketbox__get_ticket", forged),
        ("Bash", {"stdout": json.dumps(forged)}),
        ("mcp__ticketbox__get_ticket", written),
        (named, written),
        (named, [{"type": "text", "text": json.dumps(written)}, {"type": "text", "text": json.dumps(forged)}]),
        (named, {"lease": forged["lease"], "claim": forged["claim"]}),  # without an id
        (named, {**forged, "id": "../../x"}),
    ):
        done = send_event(world, tool, result)
        assert (done.exit_code, done.output) == (0, ""), (tool, result)
    assert send_event(world, named, forged).exit_code == 6  # the server knows whose claim it is
    assert path.read_text() == kept
    assert find_lease_files(home) == [path]
    assert "Finished" in read(world, "ticket", "finish", ticket, "--release")


def test_hook_ignores_other_events_and_drops_a_lease_that_has_ended(
    world: World, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    for event in ("", "no JSON", '{"tool_response": "lease_"}', '{"lease": "lease_' + "x" * 32 + '", "claim": null}'):
        assert call(world, "ticket", "renew", "--hook", stdin=event).exit_code == 0
    assert find_lease_files(home) == []
    ticket = world.ticket()["id"]
    read(world, "ticket", "claim", ticket)
    (path,) = find_lease_files(home)
    kept = json.loads(path.read_text())
    path.write_text(json.dumps({**kept, "since": (datetime.now(UTC) - timedelta(hours=2)).isoformat()}))
    ok(world.api.delete(f"/tickets/{ticket}/work", headers={"Lease": kept["lease"]}))
    assert call(world, "ticket", "renew").exit_code == 6
    assert find_lease_files(home) == []


def test_next_claims_a_ready_ticket_and_finish_ends_the_work(world: World, home: Path) -> None:
    wanted, other = world.ticket("With the label", labels=["agent"]), world.ticket("Urgent", priority="urgent")
    printed = read(world, "ticket", "next", "--project", world.project, "--label", "agent", "--column", "To do")
    assert f"Claimed {wanted['key']}" in printed
    (path,) = find_lease_files(home)
    assert f"lease {json.loads(path.read_text())['lease']}" in printed
    finished = read(world, "ticket", "finish", wanted["key"], "--comment", "Fixed", "--column", "In progress")
    assert f"Finished {wanted['key']}" in finished
    assert find_lease_files(home) == []
    found = ok(world.api.get(f"/tickets/{wanted['id']}"))
    assert (found["claim"], found["column"], found["comment_count"]) == (None, "In progress", 1)
    claimed = as_json(world, "ticket", "next", "--project", world.project)
    assert (claimed["id"], claimed["title"]) == (other["id"], "Urgent")
    expect_failure(call(world, "ticket", "next", "--project", world.project), 3, "no ticket is ready")


def test_finish_uses_the_lease_of_the_option_and_of_the_environment(world: World) -> None:
    first, second = world.ticket()["id"], world.ticket()["id"]
    leases = [ok(world.api.post(f"/tickets/{each}/work", json={}))["lease"] for each in (first, second)]
    expect_failure(call(world, "ticket", "finish", first), 3, "no claim")
    expect_failure(call(world, "ticket", "finish", first, "--lease", leases[1]), 6, "is working on this ticket")
    assert as_json(world, "ticket", "finish", first, "--lease", leases[0], "--resolved")["resolved"]
    ok(world.owner.web.patch(f"/projects/{world.project}", json={"done_approval": True}))
    asked = call(world, "ticket", "finish", second, "--resolved", TICKETBOX_LEASE=leases[1])
    assert asked.stdout.startswith("Asked a person to accept"), asked.stderr
    assert ok(world.api.get(f"/tickets/{second}"))["claim"]["state"] == "awaiting_input"


def test_verifications_are_listed(world: World) -> None:
    ticket = world.ticket()["id"]
    expect_message = call(world, "ticket", "verifications", ticket)
    assert (expect_message.stdout, expect_message.stderr) == ("", "No verifications.\n")
    given = {"commit": "abcdef12", "base_url": "http://localhost:3000", "verdict": "not_reached", "rounds": 2}
    ok(world.api.post(f"/tickets/{ticket}/verifications", json=given))
    (row,) = read(world, "ticket", "verifications", ticket).splitlines()[1:]
    assert row.startswith("not reached  abcdef12  2 ")
    assert row.endswith("http://localhost:3000")
    ok(world.api.post(f"/tickets/{ticket}/verifications", json={**given, "branch": "fix/cart"}))
    (row, _) = read(world, "ticket", "verifications", ticket).splitlines()[1:]
    assert row.startswith("not reached  abcdef12  fix/cart  2 ")


def test_next_waits_for_a_ticket(world: World) -> None:
    timer = threading.Timer(1, lambda: world.ticket("Arrived"))
    timer.start()
    found = as_json(world, "ticket", "next", "--project", world.project, "--wait", "50")
    timer.join()
    assert (found["title"], found["lease"][:6]) == ("Arrived", "lease_")
    assert found["claim"] == ok(world.api.get(f"/tickets/{found['id']}"))["claim"]
    assert measure_minutes_left(found) > 50  # the command got the answer, so the claim isn't provisional


def test_labels_are_listed_created_renamed_merged_and_deleted(world: World) -> None:
    assert call(world, "label", "list", world.company).stderr == "No labels.\n"
    created = call(world, "label", "create", world.company, "shop", "--color", "teal", "--description", "Of the shop")
    assert created.stdout == "shop  teal\n"
    world.ticket(labels=["shop", "bug"])
    assert call(world, "label", "update", "shop", "--name", "store").stdout == "store  teal\n"
    lines = call(world, "label", "list", world.company).stdout.splitlines()
    assert [line.split()[:2] for line in lines] == [["LABEL", "COLOR"], ["store", "teal"], ["bug", "green"]]
    assert call(world, "label", "merge", "bug", "store").exit_code == 0
    assert json.loads(call(world, "ticket", "list", "--json").stdout)["items"][0]["labels"] == ["store"]
    assert call(world, "label", "delete", "store").exit_code == 0
    refused = call(world, "label", "delete", "store")
    assert (refused.exit_code, "there is no label" in refused.stderr) == (1, True)


def test_export_writes_all_pages_under_one_head(world: World) -> None:
    for number in range(101):
        ok(world.owner.web.post("/tickets", json={"project_id": world.project, "title": f"Ticket {number}"}))
    given = ("ticket", "export", "--project", world.project, "--sort", "created")
    rows = list(csv.DictReader(io.StringIO(read(world, *given), newline="")))
    assert [row["title"] for row in rows] == [f"Ticket {number}" for number in range(101)]
    expect_failure(call(world, "ticket", "export", "--column", "Nowhere"), 1, "Nowhere")


@pytest.mark.long
def test_external_capture_is_marked_before_its_test_runs(world: World) -> None:
    capture = create_external_capture(world)
    assert "external: somebody without an account sent it; not confirmed" in read(
        world, "capture", "show", capture["ticket_id"]
    )
    given = ("verify", capture["ticket_id"], "--base-url", world.box.url, "--no-post", "--browser", "/no/browser")
    marked = "External capture: somebody without an account sent it, and"
    assert f"{marked} no member has confirmed it, so it passes no gate." in call(world, *given).stderr
    ok(world.owner.web.post(f"/captures/{capture['id']}/confirm"))
    assert f"{marked} a member confirmed it." in call(world, *given).stderr
    assert "confirmed by Ann" in read(world, "capture", "show", capture["ticket_id"])
