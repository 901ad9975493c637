"""`ticketbox demo`: a whole little world that is really there, and nobody else's file in danger."""

import contextlib
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from tests.demo import Demo
from tests.support.cli import run
from tests.support.seed import EMAIL, Seed, create_seed, faults
from tests.support.server import expect_error, ok
from ticketbox.cli.common import operate


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """The demo, made once."""
    with Demo(
        tmp_path_factory.mktemp("demo") / "folder" / "demo.db", log=tmp_path_factory.mktemp("log") / "log"
    ) as box:
        yield box


def everything(client: httpx.Client, path: str, **parameters: Any) -> list[dict[str, Any]]:
    """All pages of a list."""
    items: list[dict[str, Any]] = []
    while True:
        page = ok(client.get(path, params={"limit": 100, **parameters}))
        items += page["items"]
        if page["next_cursor"] is None:
            return items
        parameters["cursor"] = page["next_cursor"]


def test_it_holds_a_company_at_work(demo: Demo) -> None:
    with demo.client(demo.token) as client:
        (company,) = ok(client.get("/companies"))["items"]
        projects = {each["name"]: each for each in ok(client.get("/projects"))["items"]}
        assert set(projects) == {"Web shop", "Back office"}
        assert all(each["url_patterns"] for each in projects.values())
        assert len(ok(client.get(f"/companies/{company['id']}/members"))["items"]) == 5
        tickets = everything(client, "/tickets", status="all")
        assert len(tickets) == 25
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
        said = [comment for each in tickets for comment in everything(client, f"/tickets/{each['id']}/comments")]
        assert {comment["by"]["via"] for comment in said} == {"web", "mcp", "rest"}
        assert {each["created"]["via"] for each in tickets} == {"web", "mcp", "rest", "extension"}
        agents = {comment["by"]["token_label"] for comment in said if comment["by"]["via"] == "mcp"}
        assert agents == {"Jonas's coding agent"}


def test_its_captures_look_real_and_differ_in_health(demo: Demo) -> None:
    with demo.client(demo.token) as client:
        tickets = [each for each in everything(client, "/tickets", status="all") if each["capture"]]
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
        pictures = {client.get(f"/assets/{detail['screenshot']['id']}/content").content for detail in details}
        assert len(pictures) == 14
        assert all(picture.startswith(b"\x89PNG") for picture in pictures)
        marked = [ok(client.get(f"/assets/{detail['screenshot']['id']}/annotations"))["items"] for detail in details]
        kinds = {mark["kind"] for marks in marked for mark in marks}
        assert kinds == {"rectangle", "arrow", "redact", "ellipse", "pen", "text", "highlight"}
        assert any(detail["redaction"]["headers"] for detail in details)
        failed = [detail for detail in details if detail["counts"]["failed_requests"]]
        assert len(failed) > 5
        found = ok(client.get("/search", params={"q": "gift card"}))["items"]
        assert found


def test_its_history_is_in_order_and_none_of_it_in_the_future(demo: Demo) -> None:
    with demo.client(demo.token) as client:
        for ticket in everything(client, "/tickets", status="all"):
            times = [event["at"] for event in everything(client, f"/tickets/{ticket['id']}/history")]
            assert times == sorted(times)
            assert times[-1] <= time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()) + ".999Z"


def test_what_it_prints_opens_it(demo: Demo) -> None:
    with demo.client() as web:
        ok(web.post("/session", json={"email": "demo@example.org", "password": demo.password}))
        me = ok(web.get("/me"))
        assert [each["role"] for each in me["companies"]] == ["owner"]
    assert demo.token not in demo.log.read_text()
    assert demo.password not in demo.log.read_text()


def test_it_was_quick_and_is_whole(demo: Demo) -> None:
    times = psutil.Process(demo.process.pid).cpu_times()
    assert times.user + times.system < 5  # its own time: other tests have the machine as well
    assert faults(demo.db) == {}
    done = run("check", "--db", demo.db)
    assert (done.exit_code, "problem" in done.stdout) == (0, False)
    assert {each.name for each in demo.db.parent.iterdir()} <= {
        f"demo.db{end}" for end in ("", "-wal", "-shm", ".lock")
    }


def test_a_second_demo_on_the_file_is_refused_and_the_first_goes_on(demo: Demo) -> None:
    done = run("demo", "--db", demo.db, "--port", "0", "--no-open")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "another ticketbox serves this file" in done.stderr
    with demo.client(demo.token) as client:
        ok(client.get("/me"))


def test_a_demo_is_served_again_with_new_ways_in(demo: Demo, tmp_path: Path) -> None:
    copy = tmp_path / "demo.db"
    with contextlib.closing(sqlite3.connect(demo.db)) as connection:
        connection.execute("VACUUM INTO ?", (str(copy),))
    with Demo(copy) as again:
        assert (again.password, again.token) != (demo.password, demo.token)
        with again.client(again.token) as client, again.client(demo.token) as old, again.client() as web:
            assert len(everything(client, "/tickets", status="all")) == 25
            expect_error(old.get("/me"), 401, "unauthorized")
            given = {"email": "demo@example.org", "password": demo.password}
            expect_error(web.post("/session", json=given), 401, "unauthorized")
            ok(web.post("/session", json={**given, "password": again.password}))


@pytest.fixture(scope="module")
def seed(tmp_path_factory: pytest.TempPathFactory) -> Seed:
    """Somebody's file."""
    return create_seed(tmp_path_factory.mktemp("somebodys"))


def test_somebodys_file_is_refused_and_left_as_it_was(seed: Seed, tmp_path: Path) -> None:
    db = seed.copy(tmp_path)
    before = db.read_bytes()
    for environment in ({}, {"TICKETBOX_DB": str(db)}):
        flags = [] if environment else ["--db", str(db)]
        done = run("demo", *flags, "--port", "0", "--no-open", **environment)
        assert (done.exit_code, done.stdout) == (1, "")
        assert (
            done.stderr == f"ticketbox: {db}: this file is somebody's already, and no demo; name a new one with --db\n"
        )
        assert db.read_bytes() == before
    assert operate(db, "list_users", {}).items[0].email == EMAIL


@pytest.mark.long
def test_a_demo_that_is_killed_while_it_is_made_leaves_no_half_of_one(tmp_path: Path) -> None:
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
        assert len(everything(client, "/tickets", status="all")) == 25
    assert not list(tmp_path.glob("*.part*"))
