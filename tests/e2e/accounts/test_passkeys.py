"""Passkeys in a browser with a virtual authenticator: added, used to sign in and to confirm, and required."""

from typing import Any

import pytest
from playwright.async_api import CDPSession, Page, expect

from tests.e2e.support.app import run_axe
from tests.e2e.support.browser import Chromium
from tests.e2e.support.webapp import expect_message
from tests.support.authenticator import OF_USER
from tests.support.operation_cases import update_row
from tests.support.server import PASSWORD, Person, World

UNCONFIRM = f"UPDATE credential SET confirmed_at = 0 {OF_USER}"
REQUIRE = "UPDATE company SET second_factor_required = 1 WHERE public_id = ?"

pytestmark = pytest.mark.long


class Authenticator:
    """The device's own authenticator, as Chromium's developer tools simulate it."""

    def __init__(self, session: CDPSession, device: str) -> None:
        self.session, self._device = session, device

    @classmethod
    async def add(cls, page: Page) -> "Authenticator":
        """Give the page's browser an authenticator that verifies its person."""
        session = await page.context.new_cdp_session(page)
        await session.send("WebAuthn.enable")
        options = {
            "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
            "isUserVerified": True, "automaticPresenceSimulation": True,
        }  # fmt: skip
        added = await session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
        return cls(session, added["authenticatorId"])

    async def verify(self, verified: bool) -> None:
        """Whether the person's fingerprint is the right one."""
        values = {"authenticatorId": self._device, "isUserVerified": verified}
        await self.session.send("WebAuthn.setUserVerified", values)

    async def list_credentials(self) -> list[dict[str, Any]]:
        found = await self.session.send("WebAuthn.getCredentials", {"authenticatorId": self._device})
        return found["credentials"]

    async def reset_counters(self) -> None:
        """Put the passkeys back as they were when they were new, as a copy of the device would have them."""
        for credential in await self.list_credentials():
            copied = {**credential, "signCount": 0}
            named = {"authenticatorId": self._device, "credentialId": credential["credentialId"]}
            await self.session.send("WebAuthn.removeCredential", named)
            await self.session.send("WebAuthn.addCredential", {"authenticatorId": self._device, "credential": copied})


async def check(page: Page) -> None:
    """The page is accessible, and fits a narrow phone."""
    result = await run_axe(page)
    assert result.violations_count == 0, result.generate_report()
    before = page.viewport_size
    await page.set_viewport_size({"width": 320, "height": 700})
    assert await page.evaluate("() => document.documentElement.scrollWidth") <= 320
    assert before is not None
    await page.set_viewport_size(before)


async def enter_password(page: Page, person: Person) -> None:
    await page.get_by_label("Email address").fill(person.email)
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign in", exact=True).click()


async def leave(page: Page, path: str) -> None:
    """Sign out as a browser does that forgets its cookies, and open a page."""
    await page.goto("about:blank")  # so that the app doesn't ask for anything meanwhile
    await page.context.clear_cookies()
    await page.goto(path)


def test_person_adds_a_passkey_and_signs_in_with_it(chromium: Chromium, world: World) -> None:
    bob = world.join("Bob")
    settings = f"{world.box.url}/settings/sign-in"

    async def visit(page: Page) -> None:
        device = await Authenticator.add(page)
        await page.goto(settings)
        await enter_password(page, bob)
        await expect(page).to_have_url(settings)
        update_row(world.box.db, UNCONFIRM, bob.id)
        await page.get_by_role("button", name="Add passkey…").click()
        dialog = page.get_by_role("dialog", name="Add passkey")
        await dialog.get_by_label("Name").fill("Bob's laptop")
        await dialog.get_by_role("button", name="Add passkey").click()
        confirm = page.get_by_role("dialog", name="Confirm password")
        await confirm.get_by_label("Password").fill(PASSWORD)
        await confirm.get_by_role("button", name="Confirm password").click()
        saved = page.get_by_role("dialog", name="Save your recovery codes")
        await expect(saved.locator("pre")).to_contain_text("-")
        assert len((await saved.locator("pre").inner_text()).split()) == 10
        await check(page)
        await saved.get_by_role("button", name="I saved the codes").click()
        passkeys = page.get_by_role("list", name="Passkeys")
        await expect(passkeys.get_by_text("Bob's laptop")).to_be_visible()
        await expect(page.get_by_text("also requires a passkey. 10 of your recovery codes")).to_be_visible()
        await check(page)
        (credential,) = await device.list_credentials()
        assert credential["rpId"] == "localhost"
        assert credential["isResidentCredential"] is True

        await leave(page, settings)
        await expect(page.get_by_role("button", name="Sign in with a passkey")).to_be_visible()
        await check(page)
        await device.verify(False)
        await page.get_by_role("button", name="Sign in with a passkey").click()
        await expect(page.get_by_role("alert")).to_have_text("No passkey was used. Try again, or choose another way.")
        await device.verify(True)
        await page.get_by_role("button", name="Sign in with a passkey").click()
        await expect(page).to_have_url(settings)
        await expect(passkeys.get_by_text("never used")).to_have_count(0)

        await passkeys.get_by_role("button", name="Rename Bob's laptop").click()
        dialog = page.get_by_role("dialog", name="Rename passkey")
        await dialog.get_by_label("Name").fill("Blue laptop")
        await dialog.get_by_role("button", name="Rename passkey").click()
        await expect_message(page, "Passkey renamed")
        await passkeys.get_by_role("button", name="Delete Blue laptop").click()
        dialog = page.get_by_role("dialog", name="Delete Blue laptop?")
        await expect(dialog.get_by_text("Your password is then enough")).to_be_visible()
        await dialog.get_by_role("button", name="Delete passkey").click()
        await expect_message(page, "Passkey deleted")
        await expect(passkeys).to_have_count(0)
        await leave(page, settings)
        await page.get_by_role("button", name="Sign in with a passkey").click()
        await expect(page.get_by_role("alert")).to_have_text("This passkey isn’t one of the account’s.")
        await enter_password(page, bob)
        await expect(page).to_have_url(settings)

    chromium.visit(visit, fresh=True)


def test_passkey_is_the_second_step_and_confirms(chromium: Chromium, world: World) -> None:
    bob = world.join("Bob")
    profile = f"{world.box.url}/settings/profile"

    async def visit(page: Page) -> None:
        device = await Authenticator.add(page)
        await page.goto(f"{world.box.url}/inbox")
        update_row(world.box.db, REQUIRE, world.company)
        await enter_password(page, bob)
        await expect(page.get_by_text("A company of yours requires a second factor.")).to_be_visible()
        await check(page)
        await page.get_by_label("Name of the passkey").fill("Key")
        await page.get_by_role("button", name="Create a passkey").click()
        await expect(page.get_by_role("heading", name="Save your recovery codes")).to_be_focused()
        code = (await page.locator("pre").inner_text()).split()[0]
        await check(page)
        await page.get_by_role("link", name="I saved the codes").click()
        await expect(page).to_have_url(f"{world.box.url}/inbox")

        await leave(page, profile)
        await enter_password(page, bob)
        await expect(page.get_by_role("heading", name="Confirm that it’s you")).to_be_visible()
        await check(page)
        await page.get_by_label("Code").fill("000000")
        await page.get_by_role("button", name="Sign in", exact=True).click()
        await expect(page.get_by_role("alert").filter(visible=True)).to_have_text(
            "The code is wrong, or was already used."
        )
        await page.get_by_role("button", name="Use a passkey").click()
        await expect(page).to_have_url(profile)

        update_row(world.box.db, UNCONFIRM, bob.id)
        await page.get_by_label("Email address").fill(f"new.{bob.email}")
        await page.get_by_role("button", name="Save profile").click()
        dialog = page.get_by_role("dialog", name="Confirm password")
        await expect(dialog.get_by_role("button", name="Use a passkey")).to_be_visible()
        await check(page)
        await dialog.get_by_role("button", name="Use a passkey").click()
        await expect_message(page, "Profile saved")

        update_row(world.box.db, UNCONFIRM, bob.id)
        await page.get_by_role("link", name="Sign-in and sessions").click()
        await page.get_by_role("button", name="Change password…").click()
        await page.get_by_label("Current password").fill(PASSWORD)
        await page.get_by_label("New password").fill("a better one, longer")
        await page.get_by_label("Confirm password").fill("a better one, longer")
        await page.get_by_role("button", name="Change password", exact=True).click()
        await dialog.get_by_role("button", name="Use a passkey").click()
        await expect_message(page, "Password changed")

        elsewhere = "/https:evil.example/"
        await leave(page, f"{world.box.url}/signin?next={elsewhere}")
        await page.get_by_role("button", name="Sign in with a passkey").click()
        await expect(page).to_have_url(f"{world.box.url}{elsewhere}")

        await device.reset_counters()
        await leave(page, profile)
        await page.get_by_role("button", name="Sign in with a passkey").click()
        await expect(page.get_by_role("alert")).to_contain_text("its counter went back")
        await page.get_by_label("Email address").fill(f"new.{bob.email}")
        await page.get_by_label("Password").fill("a better one, longer")
        await page.get_by_role("button", name="Sign in", exact=True).click()
        await page.get_by_label("Code").fill(code)
        await page.get_by_role("button", name="Sign in", exact=True).click()
        await expect(page).to_have_url(profile)

    chromium.visit(visit, fresh=True)
