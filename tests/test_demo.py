"""`ticketbox demo`: its data is complete and consistent, and no other file is overwritten."""

import contextlib
import gzip
import io
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from PIL import Image

from tests.demo import Demo
from tests.support.cli import run
from tests.support.seed import EMAIL, Seed, create_seed, faults
from tests.support.server import Box, expect_error, ok
from ticketbox.cli.core.operations import run_operation
from ticketbox.demo.agents import DemoAgents
from ticketbox.demo.dataset import DATA, read_capture, read_replay, read_screenshot, read_tickets
from ticketbox.domain.captures.images.annotations import AnnotationInput
from ticketbox.domain.captures.images.geometry import compute_bounds


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """One demo for all tests of this file."""
    with Demo(
        tmp_path_factory.mktemp("demo") / "folder" / "demo.db", log=tmp_path_factory.mktemp("log") / "log"
    ) as box:
        yield box


def test_every_capture_has_a_ticket_and_a_screenshot() -> None:
    names = [ticket.capture for ticket in read_tickets() if ticket.capture]
    steps = [step for ticket in read_tickets() for step in ticket.history]
    proofs = {step.args["screenshot"] for step in steps if "screenshot" in step.args}
    assert sorted(names) == sorted(path.stem for path in (DATA / "captures").iterdir())
    assert {*names, *proofs} == {path.stem for path in (DATA / "screenshots").iterdir()}
    assert sum(len(read_screenshot(name)) for name in {*names, *proofs}) < 600_000


def test_screenshots_have_the_size_of_the_viewport_and_annotations_are_inside() -> None:
    for ticket in read_tickets():
        if ticket.capture is None:
            continue
        environment = read_capture(ticket.capture).environment
        assert environment.viewport
        assert environment.dpr
        with Image.open(io.BytesIO(read_screenshot(ticket.capture))) as image:
            width, height = image.size
        assert (environment.viewport.width * environment.dpr, environment.viewport.height * environment.dpr) == (
            width,
            height,
        )
        for step in ticket.history:
            for annotation in msgspec.convert(step.args.get("annotations", []), list[AnnotationInput]):
                left, top, right, bottom = compute_bounds(annotation.geometry)
                assert 0 <= left <= right <= width, annotation
                assert 0 <= top <= bottom <= height, annotation


def test_streams_are_in_order_and_end_before_the_capture() -> None:
    for path in (DATA / "captures").iterdir():
        capture = read_capture(path.stem)
        for entries in (capture.console, capture.network, capture.errors):
            times = [entry.ts for entry in entries]
            assert times == sorted(times)
            assert not times or times[-1] < capture.captured_at


def test_replays_are_small_begin_with_the_page_and_end_before_the_capture() -> None:
    paths = list((DATA / "replays").iterdir())
    assert paths
    for path in paths:
        assert len(gzip.compress(path.read_bytes())) < 60_000
        events, capture = read_replay(path.stem), read_capture(path.stem)
        assert [event["type"] for event in events[:2]] == [4, 2]  # the page's size, and all of the page
        times = [event["timestamp"] for event in events]
        assert times == sorted(times)
        assert 0 <= times[0] <= times[-1] <= capture.captured_at


def list_all(client: httpx.Client, path: str, **parameters: Any) -> list[dict[str, Any]]:
    """Return the items of all pages of a list."""
    items: list[dict[str, Any]] = []
    while True:
        page = ok(client.get(path, params={"limit": 100, **parameters}))
        items += page["items"]
        if page["next_cursor"] is None:
            return items
        parameters["cursor"] = page["next_cursor"]


def test_demo_shows_every_part_of_a_team_at_work(demo: Demo) -> None:
    with demo.client(demo.token) as client:
        (company,) = ok(client.get("/companies"))["items"]
        projects = {each["name"]: each for each in ok(client.get("/projects"))["items"]}
        assert set(projects) == {"Web shop", "Back office"}
        assert all(each["url_patterns"] for each in projects.values())
        assert len(ok(client.get(f"/companies/{company['id']}/members"))["items"]) == 5
        tickets = list_all(client, "/tickets", status="all")
        assert len(tickets) == 27
        for project in projects.values():
            columns = {
                each["id"]: each["name"] for each in ok(client.get(f"/projects/{project['id']}/columns"))["items"]
            }
            assert list(columns.values()) == ["To do", "In progress", "Review", "Done"]
            used = {columns[each["column_id"]] for each in tickets if each["project_id"] == project["id"]}
            assert {"To do", "In progress", "Done"} <= used
        assert sum(each["status"] == "archived" for each in tickets) >= 3
        assert {each["priority"] for each in tickets} == {"none", "low", "medium", "high", "urgent"}
        assert any(each["claim"] for each in tickets)
        assert any(each["branch"] for each in tickets)
        assert sum(bool(each["assignees"]) for each in tickets) > 10
        assert len({label for each in tickets for label in each["labels"]}) > 10
        comments = [comment for each in tickets for comment in list_all(client, f"/tickets/{each['id']}/comments")]
        assert {comment["by"]["via"] for comment in comments} == {"web", "mcp", "rest"}
        assert {each["created"]["via"] for each in tickets} == {"web", "mcp", "rest", "extension"}
        agents = {comment["by"]["token_label"] for comment in comments if comment["by"]["via"] == "mcp"}
        assert agents == {"Claude Code"}


def expect_agents_at_work(client: httpx.Client, since: float) -> dict[str, dict[str, Any]]:
    """Return the agents' sessions, with signs of life after a time: one works, one asks, one is done."""
    found = {
        session["question"]["kind"] if session["state"] == "awaiting_input" else session["state"]: session
        for session in ok(client.get("/work-sessions"))["items"]
        if session["ended"] is None
    }
    assert set(found) == {"active", "question", "done"}
    for name, session in found.items():
        steps = {"done"} if name == "done" else {"done", "active", "pending"}
        assert steps == {step["state"] for step in session["plan"]}
        assert datetime.fromisoformat(session["last_seen"]).timestamp() >= since - 0.001
    question = found["question"]["question"]
    assert (question["answer"], len(question["choices"])) == (None, 2)
    return found


def test_captures_look_real_and_differ_in_health(demo: Demo) -> None:
    with demo.client(demo.token) as client:
        tickets = [each for each in list_all(client, "/tickets", status="all") if each["capture"]]
        assert len(tickets) == 14
        details = [ok(client.get(f"/tickets/{each['id']}", params={"status": "all"}))["capture"] for each in tickets]
        healths = [detail["health"] for detail in details]
        seen = {
            (health[name]["status"], health[name]["reason"])
            for health in healths
            for name in ("console", "network", "errors")
        }
        assert {
            ("ok", None),
            ("blocked", "csp"),
            ("partial", "late_start"),
            ("partial", "limit"),
            ("disabled", "policy"),
        } <= seen
        assert any(
            all(health[name]["reason"] == "csp" for name in ("console", "network", "errors")) for health in healths
        )
        screenshots = {client.get(f"/assets/{detail['screenshot']['id']}/content").content for detail in details}
        assert len(screenshots) == 14
        assert all(each[:4] + each[8:12] == b"RIFFWEBP" for each in screenshots)
        annotations = [
            ok(client.get(f"/assets/{detail['screenshot']['id']}/annotations"))["items"] for detail in details
        ]
        kinds = {each["kind"] for items in annotations for each in items}
        assert kinds == {"rectangle", "arrow", "redact", "ellipse", "pen", "text", "highlight"}
        assert any(detail["redaction"]["headers"] for detail in details)
        assert sum(detail["counts"]["actions"] for detail in details) > 50
        failed = [detail for detail in details if detail["counts"]["failed_requests"]]
        assert len(failed) > 5
        hits = ok(client.get("/search", params={"q": "gift card"}))["items"]
        assert hits


def find_ticket(client: httpx.Client, title: str) -> dict[str, Any]:
    """Return a ticket with its details."""
    (found,) = ok(client.get("/search", params={"q": f'title:"{title}"'}))["items"]
    return ok(client.get(f"/tickets/{found['id']}"))


def test_bug_has_a_replay_and_the_authors_source_and_is_reproduced(demo: Demo) -> None:
    with demo.client(demo.token) as client:
        ticket = find_ticket(client, "contains a gift card")
        capture = ticket["capture"]
        assert capture["health"]["replay"]["status"] == "ok"
        replay = ok(client.get(f"/captures/{capture['id']}/replay"))
        assert len(replay) > 20
        (error,) = ok(client.get(f"/captures/{capture['id']}/errors"))["items"]
        original = error["frames"][0]["original"]
        assert (original["file"], original["line"], original["from_page"]) == ("src/cart/totals.ts", 41, True)
        assert "line.price.amount" in original["context"][2]
        assert {(link["kind"], link["ticket"]["resolved"]) for link in ticket["links"]} == {
            ("blocked_by", True), ("duplicated_by", True), ("blocks", False),
        }  # fmt: skip
        (request,) = ticket["git_links"]
        given = {name: request[name] for name in ("kind", "name", "state", "checks", "check_count")}
        assert given == {
            "kind": "pull_request", "name": "#318", "state": "open", "checks": "passing", "check_count": 12,
        }  # fmt: skip
        today = datetime.now(UTC).date()
        assert 1 <= (date.fromisoformat(ticket["due_on"]) - today).days <= 2


@pytest.mark.parametrize(
    ("title", "column", "branch"),
    [
        ("contains a gift card", "In progress", "fix/gift-card-total"),
        ("after switching colours twice", "Review", "fix/variant-state"),
    ],
)
def test_fix_is_verified_before_and_after(demo: Demo, title: str, column: str, branch: str) -> None:
    with demo.client(demo.token) as client:
        ticket = find_ticket(client, title)
        assert ticket["column"] == column
        after, before = ok(client.get(f"/tickets/{ticket['id']}/verifications"))["items"]
        assert (before["verdict"], after["verdict"], after["rounds"]) == ("reproduced", "gone", 3)
        assert (before["branch"], after["branch"]) == ("main", branch)
        assert after["commit"] != before["commit"]
        pictures = {client.get(f"/assets/{each['screenshot']}/content").content for each in (before, after)}
        assert len(pictures) == 2


def test_sidebar_has_views_with_tickets_and_the_inbox_every_reason(demo: Demo) -> None:
    with demo.client() as web:
        ok(web.post("/session", json={"email": "demo@example.org", "password": demo.password}))
        views = {each["name"]: each for each in ok(web.get("/views"))["items"]}
        assert set(views) == {"Checkout bugs", "Waiting for review"}
        for view in views.values():
            assert ok(web.get("/tickets", params={"view": view["id"]}))["items"]
        unread = list_all(web, "/notifications", unread=True)
        assert {each["reason"] for each in unread} == {"question", "approval", "mention", "assignment", "reply"}
        assert len(unread) < 10
        assert list_all(web, "/notifications", read=True)


def test_history_is_in_order_and_never_in_the_future(demo: Demo) -> None:
    with demo.client(demo.token) as client:
        for ticket in list_all(client, "/tickets", status="all"):
            times = [event["at"] for event in list_all(client, f"/tickets/{ticket['id']}/history")]
            assert times == sorted(times)
            assert times[-1] <= time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()) + ".999Z"


def test_printed_link_signs_in_once(demo: Demo) -> None:
    for signed_in in (303, 404):
        assert httpx.post(demo.link, timeout=60).status_code == signed_in


def test_printed_password_and_token_work(demo: Demo) -> None:
    with demo.client() as web:
        ok(web.post("/session", json={"email": "demo@example.org", "password": demo.password}))
        me = ok(web.get("/me"))
        assert [each["role"] for each in me["companies"]] == ["owner"]
        assert httpx.get(demo.shop, timeout=60).status_code == 200
    assert demo.token not in demo.log.read_text()
    assert demo.password not in demo.log.read_text()


def test_demo_passes_all_checks(demo: Demo) -> None:
    assert faults(demo.db) == {}
    done = run("check", "--db", demo.db)
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, "No problems.")
    assert {each.name for each in demo.db.parent.iterdir()} <= {
        f"demo.db{end}" for end in ("", "-wal", "-shm", ".lock")
    }


def test_second_demo_on_the_same_file_is_refused(demo: Demo) -> None:
    done = run("demo", "--db", demo.db, "--port", "0", "--no-open")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "another ticketbox server is using this file" in done.stderr
    with demo.client(demo.token) as client:
        ok(client.get("/me"))


def copy_file(db: Path, folder: Path) -> Path:
    """A copy of the demo's file."""
    with contextlib.closing(sqlite3.connect(db)) as connection:
        connection.execute("VACUUM INTO ?", (str(folder / "demo.db"),))
    return folder / "demo.db"


@pytest.mark.long
def test_existing_demo_is_served_with_new_credentials(demo: Demo, tmp_path: Path) -> None:
    copy = copy_file(demo.db, tmp_path)
    since = time.time()
    with Demo(copy) as again:
        assert (again.password, again.token) != (demo.password, demo.token)
        with again.client(again.token) as client, again.client(demo.token) as old, again.client() as web:
            assert len(list_all(client, "/tickets", status="all")) == 27
            expect_error(old.get("/me"), 401, "unauthorized")
            credentials = {"email": "demo@example.org", "password": demo.password}
            expect_error(web.post("/session", json=credentials), 401, "unauthorized")
            ok(web.post("/session", json={**credentials, "password": again.password}))
            sessions = expect_agents_at_work(client, since)
            assert {each["by"]["token_label"] for each in sessions.values()} == {"Claude Code", "Codex"}


@pytest.mark.long
def test_demo_agents_work_while_it_is_served_and_leave_what_people_ended(demo: Demo, tmp_path: Path) -> None:
    agents, since = DemoAgents(copy := copy_file(demo.db, tmp_path)), time.time()
    agents.start()
    with Box(copy) as box, box.client(demo.token) as client, box.client() as web:
        waiting = expect_agents_at_work(client, since)["question"]
        since = time.time()
        agents.renew()
        expect_agents_at_work(client, since)
        credentials = {"email": "demo@example.org", "password": demo.password}
        ok(web.post("/session", json=credentials))
        ok(web.delete(f"/tickets/{waiting['ticket']['id']}/work"))
        ok(web.post(f"/tickets/{waiting['ticket']['id']}/archive"))
        agents.renew()
        running = ok(client.get("/work-sessions", params={"state": "active"}))["items"]
        assert [each["by"]["user"]["name"] for each in running] == ["Mei Tanaka"]
        DemoAgents(copy).start()  # without the archived ticket
        assert len(ok(client.get("/work-sessions", params={"state": "active"}))["items"]) == 1


@pytest.fixture(scope="module")
def seed(tmp_path_factory: pytest.TempPathFactory) -> Seed:
    """A file that is not a demo."""
    return create_seed(tmp_path_factory.mktemp("seed"))


@pytest.mark.long
def test_other_file_is_refused_and_not_changed(seed: Seed, tmp_path: Path) -> None:
    db = seed.copy(tmp_path)
    before = db.read_bytes()
    for environment in ({}, {"TICKETBOX_DB": str(db)}):
        flags = [] if environment else ["--db", str(db)]
        done = run("demo", *flags, "--port", "0", "--no-open", **environment)
        assert (done.exit_code, done.stdout) == (1, "")
        assert done.stderr == f"ticketbox: {db}: this file is not a demo; choose another one with --db\n"
        assert db.read_bytes() == before
    assert run_operation(db, "list_users", {}).items[0].email == EMAIL


@pytest.mark.long
def test_killed_demo_leaves_no_incomplete_file(tmp_path: Path) -> None:
    db = tmp_path / "demo.db"
    command = [sys.executable, "-m", "ticketbox", "demo", "--db", str(db), "--port", "0", "--no-open"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        part = tmp_path / "demo.db.part-wal"
        while not (part.exists() and part.stat().st_size > 1_000_000):
            assert process.poll() is None
            time.sleep(0.005)
        process.kill()
    assert not db.exists()
    with Demo(db) as box, box.client(box.token) as client:
        assert len(list_all(client, "/tickets", status="all")) == 27
    assert not list(tmp_path.glob("*.part*"))
