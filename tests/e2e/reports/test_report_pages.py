"""Reports without an account: keys in a project's settings, the form of a link, and its receipt."""

import httpx
import pytest
from playwright.async_api import FilePayload, Page, expect

from tests.e2e.support.app import PHONE, assert_fits
from tests.e2e.support.browser import Chromium
from tests.e2e.support.webapp import expect_message, faults, open_as
from tests.http.reports.test_reports import Reporter
from tests.support.operation_cases import create_external_capture
from tests.support.pictures import png
from tests.support.server import World, ok


@pytest.mark.long
def test_report_key_is_created_edited_turned_off_rotated_and_deleted(chromium: Chromium, world: World) -> None:
    async def visit(page: Page) -> None:
        watch = await open_as(
            page, world.owner, f"/companies/{world.company}/projects?project={world.project}&tab=reports"
        )
        keys = page.get_by_role("region", name="Reports")
        await keys.get_by_role("button", name="Add report key").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Name", exact=True).fill("Shop")
        await dialog.get_by_role("button", name="Create report key").click()
        link = dialog.get_by_label("Link", exact=True)
        await expect(link).to_be_visible()  # the key exists
        await expect(link).to_have_value(f"{world.box.url}/r/" + ok(list_keys(world))["items"][0]["key"])
        assert await faults(page) == {}
        await dialog.get_by_role("button", name="Done").click()
        row = keys.get_by_role("listitem")
        await expect(row).to_contain_text("Link · on · no report yet")
        await row.get_by_role("button", name="Actions for Shop").click()
        await page.get_by_role("menuitem", name="Edit report key").click()
        await dialog.get_by_label("Reports per day").fill("50")
        await dialog.get_by_role("button", name="Save report key").click()
        await expect(row).to_contain_text("20 a minute, 50 a day")
        await row.get_by_role("button", name="Actions for Shop").click()
        await page.get_by_role("menuitem", name="Turn off").click()
        await expect(row).to_contain_text("Link · off")
        await row.get_by_role("button", name="Actions for Shop").click()
        await page.get_by_role("menuitem", name="Rotate report key").click()
        await dialog.get_by_role("button", name="Rotate report key").click()
        await dialog.get_by_role("button", name="Done").click()
        await expect(row).to_contain_text("The former key expires")
        await row.get_by_role("button", name="Actions for Shop").click()
        await page.get_by_role("menuitem", name="Delete report key").click()
        await dialog.get_by_role("button", name="Delete report key").click()
        await expect_message(page, "Deleted Shop")
        await expect(row).to_have_count(0)
        await keys.get_by_role("button", name="Add report key").click()
        await dialog.get_by_label("Name", exact=True).fill("Pages")
        await dialog.get_by_label("Where people report").select_option("script")
        await dialog.get_by_label("Origins").fill("https://shop.example")
        await dialog.get_by_role("button", name="Create report key").click()
        await expect(dialog.get_by_role("button", name="Copy script")).to_be_visible()
        (key,) = ok(list_keys(world))["items"]
        snippet = f'<script src="{world.box.url}/reporter.js" data-key="{key["key"]}"></script>'
        await expect(dialog.get_by_label("Script", exact=True)).to_have_value(snippet)
        watch.assert_clean(world.box)

    chromium.visit(visit)


@pytest.mark.long
def test_member_confirms_the_capture_of_a_stranger(chromium: Chromium, world: World) -> None:
    capture = create_external_capture(world)

    async def visit(page: Page) -> None:
        watch = await open_as(page, world.owner, f"/tickets/{capture['ticket_id']}")
        await page.get_by_role("button", name="Confirm capture").click()
        await expect(page.get_by_text("Confirmed by Ann")).to_be_visible()
        await page.reload()
        await expect(page.get_by_text("Confirmed by Ann")).to_be_visible()
        await expect(page.get_by_role("button", name="Confirm capture")).to_have_count(0)
        watch.assert_clean(world.box)

    chromium.visit(visit)
    assert ok(world.api.get(f"/tickets/{capture['ticket_id']}"))["capture"]["confirmed"]["user"]["name"] == "Ann"


def list_keys(world: World) -> httpx.Response:
    """The project's report keys."""
    return world.owner.web.get(f"/projects/{world.project}/report-keys")


@pytest.mark.long
def test_stranger_reports_on_a_phone_and_reads_the_receipt(chromium: Chromium, world: World) -> None:
    reporter = Reporter(world, "link")

    async def visit(page: Page) -> None:
        await page.set_viewport_size({"width": 390, "height": 844})
        await page.goto(reporter.key["url"])
        assert await faults(page) == {}
        await page.get_by_label("What is wrong?").fill("No receipt came")
        await page.get_by_label("Your name").fill("Ann Example")
        await page.get_by_label("Your email address").fill("ann@example.org")
        picture: FilePayload = {"name": "shot.png", "mimeType": "image/png", "buffer": png()}
        await page.get_by_label("Pictures and files").set_input_files([picture])
        await page.get_by_role("button", name="Send report").click()
        await expect(page.get_by_role("heading", name="Your report")).to_be_visible()
        await expect(page.get_by_role("status")).to_contain_text("Received.")
        assert await faults(page) == {}
        width = await page.evaluate("document.documentElement.scrollWidth")
        assert width <= 390

    chromium.visit(visit)
    (ticket,) = reporter.find_tickets()
    assert ticket["title"] == "No receipt came"

    async def triage(page: Page) -> None:
        watch = await open_as(page, world.owner, f"/tickets/{ticket['id']}")
        await expect(page.get_by_role("link", name="Ann Example")).to_have_attribute("href", "mailto:ann%40example.org")
        assert await faults(page) == {}
        watch.assert_clean(world.box)

    chromium.visit(triage)


def test_reply_to_a_reporter_survives_a_narrower_window(chromium: Chromium, world: World) -> None:
    reporter = Reporter(world)
    ok(reporter.send(name="Ann", email="ann@example.org"))
    (ticket,) = reporter.find_tickets()

    async def visit(page: Page) -> None:
        watch = await open_as(page, world.owner, f"/tickets/{ticket['id']}")
        reply = page.get_by_role("button", name="Reply", exact=True)
        await reply.click()
        dialog = page.get_by_role("dialog", name="Reply to reporter")
        text = dialog.get_by_label("Reply", exact=True)
        await expect(text).to_be_focused()
        await text.fill("Which browser do you use?")
        await page.set_viewport_size(PHONE)
        # the dialog hides the page behind it from roles
        await expect(page.locator("section[aria-label=Properties]")).to_contain_text("Ann")
        await expect(text).to_have_value("Which browser do you use?")
        await page.keyboard.press("Escape")
        await expect(dialog).to_have_count(0)
        properties = page.get_by_role("region", name="Properties")
        await expect(properties.get_by_role("link", name="Ann")).to_be_visible()
        await expect(properties.get_by_text("Not verified")).to_be_visible()
        await reply.click()
        await expect(text).to_be_focused()
        await page.keyboard.press("Escape")
        await expect(dialog).to_have_count(0)
        assert await faults(page) == {}
        await assert_fits(page)
        watch.assert_clean(world.box)

    chromium.visit(visit)
