"""The picture of a report: what a stranger sees of the page, can remove, and what the ticket shows of it."""

import json
from collections.abc import Iterator

import pytest
from playwright.async_api import Page, expect

from tests.e2e.reports.test_embedded_reporter import embed, press_send, read_capture
from tests.e2e.sites.reporting_site import ReportingSite
from tests.e2e.support.app import find_still_box
from tests.e2e.support.browser import Chromium
from tests.e2e.support.webapp import faults, open_as
from tests.http.reports.test_reports import AWS_KEY
from tests.support.server import World, ok

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def site() -> Iterator[ReportingSite]:
    """The site that embeds the reporter."""
    with ReportingSite() as running:
        yield running


async def open_panel(page: Page, site: ReportingSite) -> None:
    """Open the panel on a page where something secret was entered."""
    await page.goto(f"{site.url}/cart?api_key={AWS_KEY}")
    await page.get_by_label("Coupon").fill("SUMMER")
    await page.get_by_role("button", name="Report a problem").click()
    await page.get_by_role("dialog").get_by_label("What is wrong?").fill("The cart stays empty")


async def send(page: Page) -> None:
    """Send the report."""
    await press_send(page)
    await expect(page.get_by_role("link", name="Open receipt")).to_be_visible()


def test_picture_is_shown_on_a_page_with_a_strict_policy_and_on_the_ticket(
    chromium: Chromium, world: World, site: ReportingSite
) -> None:
    reporter = embed(world, site)

    async def visit(page: Page) -> None:
        blocked: list[str] = []
        asked: list[str] = []
        page.on("console", lambda line: blocked.append(line.text) if "Policy" in line.text else None)
        await open_panel(page, site)
        page.on("request", lambda request: asked.append(request.url))
        shown = page.frame_locator("iframe[title=Page]")
        await expect(shown.locator("h1")).to_have_css("color", "rgb(0, 80, 0)")
        await expect(shown.locator("main")).to_have_css("background-color", "rgb(240, 248, 255)")
        await expect(shown.locator("input")).to_have_value("******")
        await expect(shown.locator("script")).to_have_count(0)
        await expect(shown.locator("ticketbox-reporter")).to_have_text("")
        frame = page.locator("iframe[title=Page]")
        assert await frame.get_attribute("sandbox") == "allow-same-origin"
        assert await faults(page) == {}
        await page.emulate_media(color_scheme="dark")
        assert await page.get_by_role("dialog").evaluate("each => getComputedStyle(each).colorScheme") == "light dark"
        assert await faults(page) == {}
        assert (blocked, asked) == ([], [])
        await send(page)

    chromium.visit(visit)
    detail, _ = read_capture(world, reporter)
    events = ok(world.api.get(f"/captures/{detail['capture']['id']}/replay"))
    assert [each["type"] for each in events] == [4, 2]
    assert "Your cart" in str(events)
    assert AWS_KEY not in str(events)
    assert "SUMMER" not in str(events)
    transcript = ok(world.api.get(f"/captures/{detail['capture']['id']}/replay/transcript"))
    assert "Your cart" in str(transcript["items"])

    async def read(page: Page) -> None:
        await open_as(page, world.owner, f"/tickets/{detail['id']}?tab=replay")
        shown = page.frame_locator("iframe[title='Recorded page']").frame_locator("iframe")
        await expect(shown.locator("h1")).to_have_text("Your cart")
        await expect(shown.locator("main")).to_have_css("background-color", "rgb(240, 248, 255)")
        await expect(page.get_by_role("button", name="Play replay")).to_have_count(0)

    chromium.visit(read)


def test_removed_picture_is_not_sent(chromium: Chromium, world: World, site: ReportingSite) -> None:
    reporter = embed(world, site)

    async def visit(page: Page) -> None:
        await open_panel(page, site)
        await page.get_by_role("button", name="Remove picture").click()
        await expect(page.locator("iframe[title=Page]")).to_have_count(0)
        await send(page)

    chromium.visit(visit)
    detail, _ = read_capture(world, reporter)
    assert detail["capture"]["health"]["replay"]["status"] == "disabled"
    assert world.api.get(f"/captures/{detail['capture']['id']}/replay").status_code == 404


def test_marks_are_part_of_the_picture_and_redactions_mask_its_texts(
    chromium: Chromium, world: World, site: ReportingSite
) -> None:
    reporter = embed(world, site)

    async def drag(page: Page, tool: str, within: str) -> None:
        editor = page.get_by_role("dialog", name="Annotate picture")
        await editor.get_by_role("radio", name=tool).click()
        box = await find_still_box(page.frame_locator("iframe[title=Page] >> nth=1").locator(within))
        await page.mouse.move(box["x"] + 2, box["y"] + 2)
        await page.mouse.down()
        await page.mouse.move(box["x"] + 60, box["y"] + box["height"], steps=3)
        await page.mouse.up()

    async def visit(page: Page) -> None:
        await open_panel(page, site)
        await page.get_by_role("button", name="Annotate picture").click()
        editor = page.get_by_role("dialog", name="Annotate picture")
        await expect(page.frame_locator("iframe[title=Page] >> nth=1").locator("h1")).to_be_visible()
        assert await faults(page) == {}
        await page.set_viewport_size({"width": 1280, "height": 720})
        await drag(page, "Redact", "h1")
        await drag(page, "Arrow", "label")
        await editor.get_by_role("group", name="Picture of the page").focus()
        await page.keyboard.press("Enter")
        await expect(editor.get_by_label("Annotation text")).to_be_focused()
        await page.keyboard.type("Here")
        await page.keyboard.press("Enter")
        await editor.get_by_role("button", name="Done").click()
        await expect(page.get_by_role("group", name="Annotations").locator("path")).not_to_have_count(0)
        await send(page)

    chromium.visit(visit)
    detail, _ = read_capture(world, reporter)
    text = json.dumps(ok(world.api.get(f"/captures/{detail['capture']['id']}/replay")))
    assert '"tagName": "path"' in text
    assert '"textContent": "Here"' in text
    assert "Add lamp" in text
    assert text.count("Your cart") == 1  # the title, which the picture doesn't show

    async def read(page: Page) -> None:
        await open_as(page, world.owner, f"/tickets/{detail['id']}?tab=replay")
        shown = page.frame_locator("iframe[title='Recorded page']").frame_locator("iframe")
        await expect(shown.locator("h1")).to_have_text("*********")
        await expect(shown.locator("svg path").first).to_be_visible()

    chromium.visit(read)
