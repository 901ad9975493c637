"""The second factor in a browser: set up, sign in with a code, and what a company requires."""

import pytest
from playwright.async_api import Page, expect

from tests.e2e.support.app import run_axe
from tests.e2e.support.browser import Chromium
from tests.e2e.support.webapp import expect_message, open_as
from tests.support.authenticator import OF_USER, Phone, compute_current_code
from tests.support.operation_cases import update_row
from tests.support.server import PASSWORD, World

UNCONFIRM = f"UPDATE credential SET confirmed_at = 0 {OF_USER}"

pytestmark = pytest.mark.long


async def check(page: Page) -> None:
    """The page is accessible, and fits a narrow phone."""
    result = await run_axe(page)
    assert result.violations_count == 0, result.generate_report()
    before = page.viewport_size
    await page.set_viewport_size({"width": 320, "height": 700})
    assert await page.evaluate("() => document.documentElement.scrollWidth") <= 320
    assert before is not None
    await page.set_viewport_size(before)


async def sign_in(page: Page, email: str) -> None:
    await page.get_by_label("Email address").fill(email)
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign in", exact=True).click()


async def set_up(page: Page) -> list[str]:
    """Set up an authenticator app; return two recovery codes."""
    await page.get_by_role("button", name="Set up an authenticator app").click()
    await page.get_by_text("Enter the key instead").click()
    await check(page)
    picture = page.get_by_alt_text("QR code for an authenticator app")
    await expect(picture).to_be_visible()
    assert await picture.evaluate("(image) => image.decode().then(() => image.naturalWidth)") > 100
    secret = await page.locator("details code").inner_text()
    await page.get_by_label("Code").fill(compute_current_code(secret.replace(" ", "")))
    await page.get_by_role("button", name="Turn on").click()
    await expect(page.get_by_role("heading", name="Save your recovery codes")).to_be_visible()
    await check(page)
    codes = await page.locator("pre").inner_text()
    return codes.split()[:2]


def test_person_sets_up_a_second_factor_and_signs_in_with_a_recovery_code(chromium: Chromium, world: World) -> None:
    async def visit(page: Page) -> None:
        await open_as(page, world.owner, "/settings/sign-in")
        await page.get_by_role("link", name="Set up second factor").click()
        code, spare = await set_up(page)
        await page.goto(f"{world.box.url}/second-factor")
        await expect(page.get_by_text("On since")).to_be_visible()
        await check(page)
        await page.get_by_role("link", name="Back to Settings").click()
        await expect(page.get_by_text("10 of your recovery codes are unused.")).to_be_visible()
        update_row(world.box.db, UNCONFIRM, world.owner.id)
        await page.get_by_role("link", name="Profile").click()
        await page.get_by_label("Email address").fill(f"new.{world.owner.email}")
        await page.get_by_role("button", name="Save profile").click()
        dialog = page.get_by_role("dialog", name="Confirm password")
        await dialog.get_by_label("Password").fill(PASSWORD)
        await dialog.get_by_label("Code").fill("000000")
        await dialog.get_by_role("button", name="Confirm password").click()
        await expect(dialog.get_by_text("The code is wrong, or was already used.")).to_be_visible()
        await check(page)
        await dialog.get_by_label("Code").fill(spare)
        await dialog.get_by_role("button", name="Confirm password").click()
        await expect_message(page, "Profile saved")
        await page.goto("about:blank")  # or the app would notice, and leave for the sign-in page
        await page.context.clear_cookies()
        await page.goto(f"{world.box.url}/settings/sign-in")
        await sign_in(page, f"new.{world.owner.email}")
        await page.get_by_label("Code").fill("000000")
        await page.get_by_role("button", name="Sign in", exact=True).click()
        await expect(page.get_by_role("alert")).to_have_text("The code is wrong, or was already used.")
        await check(page)
        await page.get_by_label("Code").fill(code)
        await page.get_by_role("button", name="Sign in", exact=True).click()
        await expect(page).to_have_url(f"{world.box.url}/settings/sign-in")
        await expect(page.get_by_text("8 of your recovery codes are unused.")).to_be_visible()

    chromium.visit(visit, fresh=True)


def test_owner_requires_a_second_factor_and_resets_a_lost_one(chromium: Chromium, world: World) -> None:
    bob = Phone(world.join("Bob"))
    owner = Phone(world.owner)

    async def visit(page: Page) -> None:
        await open_as(page, owner.person, f"/companies/{world.company}/members")
        await expect(page.get_by_role("button", name="Edit Bob")).to_be_visible()
        await expect(page.get_by_text("No second factor")).to_have_count(0)  # nobody requires one
        await page.goto(f"{world.box.url}/companies/{world.company}/general")
        await page.get_by_role("button", name="Require second factor…").click()
        await page.get_by_role("dialog").get_by_role("button", name="Require second factor").click()
        await expect_message(page, "Second factor required")
        await page.goto(f"{world.box.url}/companies/{world.company}/members")
        await expect(page.get_by_text("No second factor")).to_have_count(0)
        await page.get_by_role("button", name="Edit Bob").click()
        await page.get_by_role("button", name="Reset second factor…").click()
        await page.get_by_role("dialog", name="Reset").get_by_role("button", name="Reset second factor").click()
        await expect_message(page, "Bob can sign in with the password alone")
        await page.goto(f"{world.box.url}/companies/{world.company}/members")
        row = page.get_by_role("listitem").filter(has_text=bob.person.email)
        await expect(row.get_by_text("No second factor")).to_be_visible()
        await page.goto("about:blank")  # or the app would notice, and leave for the sign-in page
        await page.context.clear_cookies()
        await page.goto(f"{world.box.url}/inbox")
        await sign_in(page, bob.person.email)
        await expect(page.get_by_text("A company of yours requires a second factor.")).to_be_visible()
        await page.goto(f"{world.box.url}/inbox")
        await expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        await sign_in(page, bob.person.email)
        await set_up(page)
        await page.get_by_role("link", name="I saved the codes").click()
        await expect(page).to_have_url(f"{world.box.url}/inbox")

    chromium.visit(visit, fresh=True)
