"""From red to green with the demo's sample shop: capture a bug, reproduce it, fix the shop, and close the ticket."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import Result
from playwright.async_api import Page, ViewportSize, expect

from tests.demo import Demo
from tests.e2e.sites.sample_shop import MESSAGE, STEPS
from tests.e2e.sites.shop_evidence import MOST_TOKENS, call_demo_tool, check_agent_reads, expect_evidence
from tests.e2e.support.browser import Chromium, list_sandbox_options
from tests.e2e.support.documentation_pictures import draw_popup, keep_picture
from tests.e2e.support.extension_browser import ExtensionBrowser
from tests.support.cli import run
from tests.support.server import expect_error, ok
from tests.support.tokens import count_result_tokens
from ticketbox.demo.shop.api import Fault

pytestmark = pytest.mark.long

DESK: ViewportSize = {"width": 1280, "height": 900}
WINDOW: ViewportSize = {"width": 1280, "height": 800}


async def break_shop(page: Page, address: str) -> None:
    """Break the gift cards of the shop, and run into it."""
    await page.goto(address)
    # the choice loads the page again, which would end a request that still runs with an error
    await expect(page.get_by_role("button", name="Add Arc floor lamp")).to_be_visible()
    await page.locator("#faults").get_by_label("Gift card").check()
    await expect(page.locator("#faults")).to_have_class("gift-card")
    await page.get_by_role("button", name="Add Arc floor lamp").click()
    await page.get_by_role("link", name="Cart 1").click()
    await expect(page.get_by_role("heading", name="Arc floor lamp")).to_be_visible()
    await page.get_by_role("textbox", name="Gift card").fill("SPRING50")
    async with page.expect_event("pageerror"):
        await page.get_by_role("button", name="Apply gift card").click()


async def take_form(popup: Page) -> bytes:
    """Take the picture of the popup, which a window without scroll bars leaves a margin."""
    form = await popup.evaluate(
        "() => ({ x: 0, y: 0, width: document.querySelector('main').offsetWidth, height: innerHeight })"
    )
    return await popup.screenshot(animations="disabled", caret="hide", clip=form)


@pytest.fixture(scope="module")
def ticket(demo: Demo, launch_extension: Callable[..., ExtensionBrowser]) -> dict[str, Any]:
    """The ticket of the bug in the shop, captured with the extension."""
    browser, agent, owner = launch_extension(), demo.client(demo.token), demo.client()
    ok(owner.post("/session", json={"email": "demo@example.org", "password": demo.password}))
    (project,) = (each for each in ok(agent.get("/projects"))["items"] if each["name"] == "Web shop")
    given = {"url_patterns": [f"{demo.shop}/*"], "verification": True}
    ok(owner.patch(f"/projects/{project['id']}", json=given))

    async def work() -> str:
        await browser.connect_with_token(demo.url, demo.token)
        await browser.record_all_sites()
        options = await browser.open_options()
        await options.evaluate("() => chrome.runtime.sendMessage({kind: 'load-projects'})")
        await options.close()
        page = await browser.context.new_page()
        await page.set_viewport_size(WINDOW)
        await break_shop(page, demo.shop)
        shown = await page.screenshot(animations="disabled", caret="hide")
        popup = await browser.open_popup(page)
        await expect(popup.get_by_label("Title")).to_have_value("TypeError after clicking “Apply gift card”")
        keep_picture(draw_popup(shown, await take_form(popup)), "report.webp")
        await popup.get_by_role("switch", name="Send earlier pages").scroll_into_view_if_needed()
        keep_picture(await take_form(popup), "popup.webp")
        return await browser.file_ticket(popup)

    return ok(agent.get(f"/tickets/{browser.run(work())}"))


def verify(demo: Demo, ticket: dict[str, Any], shell: str, *options: str) -> Result:
    """Run `ticketbox verify` against the shop as it is."""
    given = ["verify", ticket["key"], "--base-url", demo.shop, "--rounds", "1", *list_sandbox_options(), *options]
    return run(*given, TICKETBOX_URL=demo.url, SERVICE_API_TOKEN=demo.token, TICKETBOX_BROWSER=shell)


def test_ticket_shows_steps_timeline_replay_and_stack(demo: Demo, ticket: dict[str, Any], chromium: Chromium) -> None:
    async def visit(page: Page) -> None:
        await expect_evidence(page, demo, ticket)
        keep_picture(await page.screenshot(animations="disabled", caret="hide"), "evidence.webp")

    chromium.visit(visit, viewport=DESK, color_scheme="light")


def test_agent_reads_all_of_it_in_one_call(demo: Demo, ticket: dict[str, Any]) -> None:
    check_agent_reads(demo, ticket, "SPRING50")


def test_agent_gets_the_failing_test_in_two_calls(demo: Demo, ticket: dict[str, Any]) -> None:
    read = call_demo_tool(demo, "get_ticket", ticket_id=ticket["key"])
    pack = call_demo_tool(demo, "get_reproduction", capture_id=ticket["capture"]["id"])
    files = {each["name"]: each.get("text", "") for each in json.loads(pack["content"][0]["text"])["files"]}
    spec = files["reproduce.spec.ts"]
    assert "(it) => it.fill('Sample1')" in spec
    assert f"  // Fails if this happens again: {MESSAGE}\n  await finish();\n" in spec
    assert "Scrolled" not in spec
    assert count_result_tokens(read) + count_result_tokens(pack) <= MOST_TOKENS - 500  # for a command that runs it


def test_bug_in_the_shop_is_captured_reproduced_fixed_and_closed(
    demo: Demo,
    ticket: dict[str, Any],
    chromium: Chromium,
    shell: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    agent = demo.client(demo.token)
    capture = f"/captures/{ticket['capture']['id']}"
    steps = ok(agent.get(f"{capture}/actions"))["items"]
    assert [each["words"] for each in steps if each["kind"] != "scroll"] == STEPS
    assert {each["document"] for each in steps} == {0, 1, 2}
    (error,) = ok(agent.get(f"{capture}/errors"))["items"]
    assert f"{error['name']}: {error['message']}" == MESSAGE

    expect_error(agent.patch(f"/tickets/{ticket['id']}", json={"resolved": True}), 409, "approval_required")
    before = verify(demo, ticket, shell, "--commit", "1" * 40, "--expect", "reproduced")
    assert before.exit_code == 0, before.output
    expect_error(agent.patch(f"/tickets/{ticket['id']}", json={"resolved": True}), 409, "approval_required")

    ok(httpx.put(f"{demo.shop}/api/fault", json={"fault": Fault.NONE}))  # what a fix does
    after = verify(demo, ticket, shell, "--commit", "2" * 40)
    assert after.exit_code == 0, after.output
    newest, oldest = ok(agent.get(f"/tickets/{ticket['id']}/verifications"))["items"]
    assert (newest["verdict"], oldest["verdict"], oldest["console"]) == ("gone", "reproduced", [MESSAGE])
    assert ok(agent.patch(f"/tickets/{ticket['id']}", json={"resolved": True}))["resolved"]
    cookie = demo.sign_in()

    async def visit(page: Page) -> None:
        await page.context.add_cookies([{"name": demo.cookie, "value": cookie, "url": demo.url}])
        await page.goto(ticket["url"])
        shown = page.get_by_role("region", name="Verifications")
        await expect(shown.get_by_role("article", name="Before")).to_contain_text("Reproduced")
        await expect(shown.get_by_role("article", name="After")).to_contain_text("Gone")
        await shown.scroll_into_view_if_needed()
        await expect(shown.get_by_role("img")).to_have_count(0)  # they are decoration
        await page.wait_for_function("() => [...document.images].every((each) => each.complete)")
        keep_picture(await shown.screenshot(animations="disabled"), "verifications.webp")

    chromium.visit(visit, viewport=DESK, color_scheme="light")
