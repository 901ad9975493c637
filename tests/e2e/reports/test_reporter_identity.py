"""The signed identity of a reporter: its secret in the settings, the panel of a page, and what the ticket shows."""

import json
import re
from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.e2e.reports.test_embedded_reporter import embed, press_send, read_capture
from tests.e2e.sites.reporting_site import ReportingSite
from tests.e2e.support.browser import Chromium
from tests.e2e.support.webapp import expect_message, faults, open_as
from tests.http.reports.test_reporter_identity import create_secret, sign
from tests.http.reports.test_reports import Reporter
from tests.support.server import World, ok

pytestmark = pytest.mark.long

IDENTITY_SECRET = re.compile(r"idkey_[0-9A-Za-z]{36}")


def find_reporter(world: World, reporter: Reporter, title: str) -> dict[str, Any]:
    """Who reported the ticket with a title."""
    (ticket,) = [each for each in reporter.find_tickets() if each["title"] == title]
    return ok(world.api.get(f"/tickets/{ticket['id']}/reporter"))


def test_signed_in_person_reports_and_the_ticket_shows_them_verified(chromium: Chromium, world: World) -> None:
    with ReportingSite() as site:
        reporter = embed(world, site)
        token = sign(create_secret(reporter))
        site.embed(world.box.url, reporter.key["key"], f' data-identity="{token}"')

        async def visit(page: Page) -> None:
            await page.goto(f"{site.url}/cart")
            await page.evaluate("token => console.log('signed in with', token)", token)
            await page.get_by_role("button", name="Report a problem").click()
            dialog = page.get_by_role("dialog", name="Report a problem")
            title = dialog.get_by_label("What is wrong?")
            await expect(title).to_be_focused()
            await expect(dialog.get_by_text("You report as Ann Example, ann@example.org.")).to_be_visible()
            await expect(dialog.get_by_label("Your name")).to_have_count(0)
            await expect(dialog.locator("iframe[title=Page]")).to_be_visible()
            assert await faults(page) == {}
            await title.fill("Verified")
            await press_send(page)
            await expect(page.get_by_role("link", name="Open receipt")).to_be_visible()

        chromium.visit(visit)
    detail, streams = read_capture(world, reporter)
    shown = find_reporter(world, reporter, "Verified")
    assert (shown["name"], shown["user_id"], shown["verified"]) == ("Ann Example", "4711", True)
    # the token proves who somebody is, so nobody who reads the capture may find it there
    replay = ok(world.api.get(f"/captures/{detail['capture']['id']}/replay"))
    assert "Your cart" in str(replay)
    assert token not in json.dumps([detail, streams, replay])

    async def read(page: Page) -> None:
        watch = await open_as(page, world.owner, f"/tickets/{detail['id']}")
        await expect(page.get_by_role("link", name="Ann Example")).to_be_visible()
        await expect(page.get_by_text("Verified", exact=True).last).to_be_visible()
        await expect(page.get_by_text("Id 4711")).to_be_visible()
        assert await faults(page) == {}
        watch.assert_clean(world.box)

    chromium.visit(read)


def test_refused_identity_loses_nothing_that_was_entered(chromium: Chromium, world: World) -> None:
    with ReportingSite() as site:
        reporter = embed(world, site)
        secret = create_secret(reporter)

        async def visit(page: Page) -> None:
            await page.goto(f"{site.url}/cart")
            script = page.locator("script[data-key]")
            await script.evaluate("(each, token) => { each.dataset.identity = token; }", sign(secret, -3600))
            await page.get_by_role("button", name="Report a problem").click()
            dialog = page.get_by_role("dialog", name="Report a problem")
            await expect(dialog.get_by_text("You report as Ann Example")).to_be_visible()
            await dialog.get_by_label("What is wrong?").fill("Not verified")
            await press_send(page)
            await expect(dialog.get_by_role("alert")).to_contain_text("couldn’t confirm who you are")
            await expect(dialog.get_by_label("What is wrong?")).to_have_value("Not verified")
            await dialog.get_by_label("Your name").fill("Ann herself")
            await press_send(page)
            await expect(page.get_by_role("link", name="Open receipt")).to_be_visible()
            await page.get_by_role("button", name="Done").click()
            # the page signs again
            await script.evaluate("(each, token) => { each.dataset.identity = token; }", sign(secret))
            await page.get_by_role("button", name="Report a problem").click()
            await expect(dialog.get_by_text("You report as Ann Example")).to_be_visible()
            await dialog.get_by_label("What is wrong?").fill("Signed again")
            await press_send(page)
            await expect(page.get_by_role("link", name="Open receipt")).to_be_visible()

        chromium.visit(visit)
    shown = find_reporter(world, reporter, "Not verified")
    assert (shown["name"], shown["user_id"], shown["verified"]) == ("Ann herself", None, False)
    assert find_reporter(world, reporter, "Signed again")["verified"] is True

    async def read(page: Page) -> None:
        await open_as(page, world.owner, f"/tickets/{shown['ticket_id']}")
        await expect(page.get_by_text("Ann herself")).to_be_visible()
        await expect(page.get_by_title("As they wrote it; nobody has checked it")).to_have_text("Not verified")

    chromium.visit(read)


def test_identity_secret_is_created_replaced_and_deleted_in_the_settings(chromium: Chromium, world: World) -> None:
    reporter = Reporter(world)

    async def visit(page: Page) -> None:
        watch = await open_as(
            page, world.owner, f"/companies/{world.company}/projects?project={world.project}&tab=reports"
        )
        keys = page.get_by_role("region", name="Reports")
        row = keys.get_by_role("listitem")
        await row.get_by_role("button", name="Actions for Shop").click()
        await page.get_by_role("menuitem", name="Signed identity").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_role("button", name="Create identity secret").click()
        field = dialog.get_by_label("Identity secret", exact=True)
        await expect(field).to_have_value(IDENTITY_SECRET)
        first = await field.input_value()
        assert await faults(page) == {}
        await dialog.get_by_role("button", name="Done").click()
        await expect(row).to_contain_text("Identities are signed")
        assert reporter.send(identity=sign(first)).status_code == 201
        await row.get_by_role("button", name="Actions for Shop").click()
        await page.get_by_role("menuitem", name="Signed identity").click()
        await expect(field).to_have_count(0)
        await dialog.get_by_role("button", name="Replace identity secret").click()
        await dialog.get_by_role("button", name="Replace identity secret").click()
        await expect(field).to_have_value(IDENTITY_SECRET)
        await expect(dialog).to_contain_text("The old secret expires")
        second = await field.input_value()
        assert second != first
        await dialog.get_by_role("button", name="Done").click()
        await row.get_by_role("button", name="Actions for Shop").click()
        await page.get_by_role("menuitem", name="Signed identity").click()
        await dialog.get_by_role("button", name="Delete identity secret").click()
        await expect(dialog).to_contain_text("Signed identities are refused from now on.")
        await dialog.get_by_role("button", name="Delete identity secret").click()
        await expect_message(page, "Deleted the identity secret of Shop")
        await dialog.get_by_role("button", name="Cancel").click()
        await expect(row).not_to_contain_text("Identities are signed")
        watch.assert_clean(world.box)

    chromium.visit(visit)
