"""Mail as a person meets it: the switch in the profile, and the page behind a mail's link."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from tests.e2e.support.browser import Chromium
from tests.e2e.support.webapp import expect_message, faults, open_as
from tests.support.mail_server import MailServer, run_mail_server
from tests.support.operation_cases import create_report
from tests.support.server import World, eventually, ok, run_server

SWITCH = "Send me email notifications"


def newest_link(mail_server: MailServer, address: str) -> str:
    """The link in the last mail to an address."""
    links = re.findall(r"https?://\S+/mail/mbx_\w+", mail_server.to(address)[-1].get_body(("plain",)).get_content())  # type: ignore[union-attr]
    return links[-1]


@pytest.mark.long
def test_email_notifications_are_enabled_confirmed_and_stopped(chromium: Chromium, tmp_path: Path) -> None:
    with run_mail_server() as mail_server:
        flags = ["--smtp-url", f"smtp://{mail_server.host}", "--smtp-from", "ticketbox <box@tickets.example>"]
        with run_server(tmp_path, *flags) as box:
            world = World(box)
            email = world.owner.email

            def came(count: int) -> Callable[[], bool]:
                return lambda: len(mail_server.to(email)) >= count

            async def want(page: Page) -> None:
                watch = await open_as(page, world.owner, "/settings/notifications")
                switch = page.get_by_role("switch", name=SWITCH)
                await expect(switch).not_to_be_checked()
                await switch.click()
                await expect_message(page, "Confirmation email sent")
                await page.get_by_text(f"Open the link in the email to {email}").wait_for()
                assert await faults(page) == {}
                await page.get_by_role("button", name="Resend email").click()
                await expect_message(page, "Confirmation email sent")
                watch.assert_clean(box)

            async def say(page: Page, button: str, heading: str) -> None:
                watch = await open_as(page, world.owner, newest_link(mail_server, email).removeprefix(box.url))
                await expect(page.locator("main")).to_contain_text(email)
                assert await faults(page) == {}
                await page.get_by_role("button", name=button).click()
                await page.get_by_role("heading", name=heading).wait_for()
                assert await faults(page) == {}
                watch.assert_clean(box)

            chromium.visit(want)
            eventually(came(2))
            chromium.visit(lambda page: say(page, "Turn on email notifications", "Email notifications are on"))
            assert ok(world.owner.web.get("/profile"))["mail"] == "on"
            chromium.visit(lambda page: say(page, "Turn off email notifications", "Email notifications are off"))
            assert ok(world.owner.web.get("/profile"))["mail"] == "off"


def test_invalid_email_link_shows_an_error(chromium: Chromium, world: World) -> None:
    async def visit(page: Page) -> None:
        answer = await page.goto(f"{world.box.url}/mail/mbx_nothing")
        assert answer is not None
        assert answer.status == 404
        await page.get_by_role("heading", name="This link has expired").wait_for()

    chromium.visit(visit)


def test_settings_report_that_the_server_sends_no_email(chromium: Chromium, world: World) -> None:
    async def visit(page: Page) -> None:
        watch = await open_as(page, world.owner, "/settings/notifications")
        await page.get_by_text("This server sends no email").wait_for()
        await expect(page.get_by_role("switch", name=SWITCH)).to_have_count(0)
        watch.assert_clean(world.box)

    chromium.visit(visit)


@pytest.mark.long
def test_member_replies_to_a_reporter(chromium: Chromium, tmp_path: Path) -> None:
    with run_mail_server() as mail_server:
        flags = ["--smtp-url", f"smtp://{mail_server.host}", "--smtp-from", "ticketbox <box@tickets.example>"]
        with run_server(tmp_path, *flags, "--trusted-proxy", "127.0.0.1/32") as box:
            world = World(box)
            ticket = create_report(world)

            async def reply(page: Page) -> None:
                watch = await open_as(page, world.owner, f"/tickets/{ticket}")
                await page.get_by_role("button", name="Reply", exact=True).click()
                dialog = page.get_by_role("dialog", name="Reply to reporter")
                await expect(dialog.get_by_label("Reply")).to_be_focused()
                await dialog.get_by_label("Reply").fill("Which browser do you use?")
                await dialog.get_by_role("button", name="Send reply").click()
                await expect(dialog).to_have_count(0)
                await expect(page.get_by_text("To the reporter:")).to_be_visible()
                watch.assert_clean(box)

            chromium.visit(reply)
            assert eventually(lambda: mail_server.to("eve@stranger.example"), 30)
