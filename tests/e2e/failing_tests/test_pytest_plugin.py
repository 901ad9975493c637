"""The plugin for pytest, in runs of pytest with a real server, and with pages of a real browser."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from tests.support.pypi import install_once
from tests.support.server import World, ok

RERUNS = "pytest-rerunfailures==16.7"
CONFTEST = """
import os, pytest
from playwright.sync_api import sync_playwright

@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=os.environ["CHROMIUM"], args=["--no-sandbox"])

@pytest.fixture
def context(browser):  # as pytest-playwright has it
    context = browser.new_context()
    yield context
    context.close()

@pytest.fixture
def page(context):
    return context.new_page()
"""
PAGE_TEST = """
from playwright.sync_api import expect
HTML = '<title>Cart</title><label>Code <input></label><button onclick="console.warn(1); null.total">Pay</button>'

def test_pays(page):
    page.route("**/*", lambda route: route.fulfill(body=HTML, content_type="text/html"))
    page.goto("http://shop.test/cart")
    page.get_by_label("Code").fill("hunter2-secret")
    with page.expect_event("pageerror"):
        page.get_by_role("button", name="Pay").click()
    expect(page).to_have_title("Thanks", timeout=100)
"""
PLAIN_TEST = """
import logging, os

def test_adds_up():
    print("adding 1 and 1")
    logging.getLogger("sums").warning("slow sum")
    result = 1 + 1
    expected = int(os.environ.get("SUM", 2))
    assert result == expected, f"{object()} is another one each time"

def test_passes():
    pass
"""
BOTH_TEST = """
import unittest
import pytest

COUNT = []

@pytest.fixture
def broken_cleanup():
    yield
    raise RuntimeError("cleanup failed")

def test_fails_and_cleans_up(broken_cleanup):
    assert False, "the test\x1b itself"

def test_only_cleans_up(broken_cleanup):
    pass

class TestParts(unittest.TestCase):
    def test_parts(self):
        for number in (1, 2):
            with self.subTest(number=number):
                self.assertEqual(number, 3)

def test_flaky():
    COUNT.append(1)
    print("once more")
    helper(len(COUNT))

def helper(count):
    if count == 1:
        raise ValueError("first time")
"""
UNUSED = """
import sys

def test_nothing_else_is_loaded():
    assert "ticketbox.pytest_plugin" in sys.modules
    assert [name for name in sys.modules if name.startswith("ticketbox.")] == ["ticketbox.pytest_plugin"]
"""

# plugins of this environment that take longer to load than the tests run
UNRELATED = ("-p", "no:schemathesis", "-p", "no:hypothesispytest", "-p", "no:anyio")

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(world: World, tmp_path: Path) -> Run:
    """Runs pytest in an empty folder."""
    assert [each.value for each in entry_points(group="pytest11", name="ticketbox")] == ["ticketbox.pytest_plugin"]
    token = world.owner.token("read", "tickets:write", "comments")
    given = {"TICKETBOX_URL": world.box.url, "SERVICE_API_TOKEN": token, "TICKETBOX_PROJECT": world.project}

    def run_tests(*arguments: str, **environment: str | None) -> subprocess.CompletedProcess[str]:
        whole = {**os.environ, **given, "GITHUB_SHA": "9fceb02d0ae598e9", **environment}
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *UNRELATED, *arguments],
            env={name: value for name, value in whole.items() if value is not None},
            cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip

    return run_tests


@contextlib.contextmanager
def hang() -> Iterator[str]:
    """A server that accepts connections, and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def list_tickets(world: World) -> list[dict[str, Any]]:
    """The tickets of the project with everything."""
    listed = ok(world.api.get("/tickets", params={"project_id": world.project}))["items"]
    include = {"include": "capture,comments"}
    return [ok(world.api.get(f"/tickets/{each['id']}", params=include)) for each in listed]


@pytest.mark.long
def test_plain_test_becomes_one_ticket_that_is_counted_and_noted_when_it_passes(
    world: World, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "test_sums.py").write_text(PLAIN_TEST)
    first = run("--ticketbox", SUM="3")
    assert first.returncode == 1, first.stdout
    (ticket,) = list_tickets(world)
    assert f"ticketbox: test_sums.py::test_adds_up: created {ticket['url']}" in first.stdout
    assert ticket["title"].startswith("test_sums.py::test_adds_up: ")
    assert "- Test: `test_sums.py::test_adds_up`\n" in ticket["description"]
    capture = ticket["capture"]
    assert capture["errors"]["items"][0]["frames"][0]["function"] == "test_adds_up"
    lines = {each["source"]: each["args"][0] for each in capture["console"]["items"]}
    assert lines["stdout"] == "adding 1 and 1\n"
    assert "slow sum" in lines["log"]

    assert run(SUM="3", TICKETBOX_PYTEST="1").returncode == 1
    (again,) = list_tickets(world)
    assert (again["occurrences"], again["labels"], again["comments"]) == (2, ["failing-test"], [])

    assert run("--ticketbox").returncode == 0
    (passes,) = list_tickets(world)
    assert passes["labels"] == []
    assert [each["body"] for each in passes["comments"]] == ["The test passes on 9fceb02d0ae5, after 2 failures."]

    ok(world.api.patch(f"/tickets/{ticket['id']}", json={"resolved": True}))
    assert run("--ticketbox", "-n", "1", SUM="3").returncode == 1  # with pytest-xdist, once
    (back,) = list_tickets(world)
    assert (back["resolved"], back["occurrences"]) == (False, 3)
    assert back["comments"][-1]["body"] == "The test fails again on 9fceb02d0ae5."


@pytest.mark.long
@pytest.mark.parametrize("workers", [[], ["-n", "1"]])
def test_page_of_a_failed_test_is_captured(
    world: World, run: Run, shell: str, tmp_path: Path, workers: list[str]
) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_cart.py").write_text(PAGE_TEST)
    done = run("--ticketbox", *workers, CHROMIUM=shell)
    assert done.returncode == 1, done.stdout
    (ticket,) = list_tickets(world)
    capture = ticket["capture"]
    assert capture["page"]["url"] == "http://shop.test/cart"
    words = [each["words"] for each in capture["actions"]["items"]]
    assert words == ["Opened /cart", "Typed 11–50 characters into “Code”", "Clicked button “Pay”"]
    assert capture["counts"]["errors"] == 2
    assert capture["screenshot"]["media_type"] == "image/png"
    assert [each["name"] for each in ticket["attachments"]] == ["trace.zip"]


@pytest.mark.long
def test_plugin_never_fails_a_run_and_says_in_one_line_why_nothing_was_reported(
    world: World, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "test_sums.py").write_text(PLAIN_TEST)
    for environment, words in (
        ({"TICKETBOX_URL": None, "SERVICE_API_TOKEN": ""}, "TICKETBOX_URL, SERVICE_API_TOKEN not set"),
        ({"TICKETBOX_URL": "http://127.0.0.1:9"}, "can't reach http://127.0.0.1:9"),
        ({"SERVICE_API_TOKEN": "tok_wrong"}, "not everything was reported:"),
        ({"TICKETBOX_PROJECT": "Nowhere"}, "not everything was reported:"),
    ):
        done = run("--ticketbox", SUM="3", **environment)
        assert done.returncode == 1, done.stdout
        (line,) = [each for each in done.stdout.splitlines() if each.startswith("ticketbox: ")]
        assert words in line
    with hang() as url:
        before = time.monotonic()
        assert run("--ticketbox", TICKETBOX_URL=url).returncode == 0
        assert time.monotonic() - before < 25  # the wait for other calls is 60 s
    assert list_tickets(world) == []


@pytest.mark.long
def test_plugin_that_is_not_turned_on_loads_and_reports_nothing(world: World, run: Run, tmp_path: Path) -> None:
    (tmp_path / "test_unused.py").write_text(UNUSED)
    (tmp_path / "test_sums.py").write_text(PLAIN_TEST)
    done = run(SUM="3")
    assert done.returncode == 1
    assert "1 failed, 2 passed" in done.stdout
    assert "ticketbox: " not in done.stdout
    assert list_tickets(world) == []


@pytest.mark.long
def test_first_failure_of_a_test_is_filed_and_flaky_is_what_passed_when_it_was_repeated(
    world: World, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "test_both.py").write_text(BOTH_TEST)
    (tmp_path / "test_torn.py").write_text("def")
    (package,) = install_once(RERUNS).parent.parent.glob("lib/*/site-packages/pytest_rerunfailures.py")
    shutil.copy(package, tmp_path)
    options = ("--ticketbox", "-p", "pytest_rerunfailures", "--reruns", "1", "--continue-on-collection-errors")
    done = run(*options, PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    assert "ticketbox: test_torn.py: an error outside of tests isn't reported as a ticket" in done.stdout
    tickets = {each["title"].partition(": ")[0].rpartition("::")[2]: each for each in list_tickets(world)}
    assert tickets["test_fails_and_cleans_up"]["title"].endswith("AssertionError: the test itself")
    assert tickets["test_only_cleans_up"]["title"].endswith("RuntimeError: cleanup failed")
    assert "AssertionError: 1 != 3" in tickets["test_parts"]["title"]
    flaky = [name for name, each in tickets.items() if each["description"].startswith("A test is flaky")]
    assert (len(tickets), flaky) == (4, ["test_flaky"]), done.stdout
    assert "- Place: `test_both.py:31`\n" in tickets["test_flaky"]["description"]  # of the failure, not of the test
    console = tickets["test_flaky"]["capture"]["console"]["items"]
    assert [each["args"] for each in console] == [["once more\n"]]
