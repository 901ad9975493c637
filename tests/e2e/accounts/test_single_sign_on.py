"""Sign in with an identity provider in a browser: the button, confirming, linking and unlinking."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from tests.e2e.support.browser import Chromium
from tests.e2e.support.webapp import expect_message, open_as
from tests.support.openid_issuer import Issuer, run_issuer
from tests.support.server import PASSWORD, Box, World, run_server

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    """The issuer, which signs in whom the test names."""
    with run_issuer() as running:
        yield running


@pytest.fixture(scope="module")
def sso(tmp_path_factory: pytest.TempPathFactory, issuer: Issuer) -> Iterator[Box]:
    """A server with that issuer."""
    with run_server(
        Path(tmp_path_factory.mktemp("sso")), "--oidc-issuer", issuer.url, "--oidc-client-id", "ticketbox",
        "--oidc-name", "Acme", "--oidc-create-accounts", "--allow-private-addresses",
        "--trusted-proxy", "127.0.0.1/32",
    ) as box:  # fmt: skip
        yield box


def test_new_person_signs_in_with_the_button_and_confirms_at_the_provider(
    chromium: Chromium, sso: Box, issuer: Issuer
) -> None:
    async def visit(page: Page) -> None:
        issuer.person = {"sub": "ann", "email": "ann@acme.example", "email_verified": True, "name": "Ann"}
        await page.goto(f"{sso.url}/settings/profile")
        await page.get_by_role("link", name="Sign in with Acme").click()
        await expect(page).to_have_url(f"{sso.url}/settings/profile")
        await page.get_by_role("link", name="Sign-in and sessions").click()
        await expect(page.get_by_text("You sign in with Acme.")).to_be_visible()
        await expect(page.get_by_role("heading", name="Password")).to_have_count(0)
        await page.get_by_role("link", name="Profile").click()
        await page.get_by_label("Email address").fill("new@acme.example")
        await page.get_by_role("button", name="Save profile").click()
        question = page.get_by_role("dialog", name="Confirm")
        issuer.person["auth_time"] = int(time.time())
        await expect(question.get_by_label("Password")).to_have_count(0)
        await question.get_by_role("link", name="Sign in with Acme").click()
        await expect(question).to_have_count(0)
        await expect(page).to_have_url(f"{sso.url}/settings/profile")
        await page.get_by_label("Email address").fill("new@acme.example")
        await page.get_by_role("button", name="Save profile").click()
        await expect_message(page, "Profile saved")

    chromium.visit(visit, fresh=True)


def test_account_is_linked_and_unlinked_in_settings(chromium: Chromium, sso: Box, issuer: Issuer) -> None:
    owner = World(sso).owner

    async def visit(page: Page) -> None:
        issuer.person = {"sub": "bob"}
        await open_as(page, owner, "/settings/sign-in")
        await page.get_by_role("button", name="Link Acme").click()
        await expect(page.get_by_text("You sign in with Acme or with your password.")).to_be_visible()
        await page.get_by_role("button", name="Unlink Acme").click()
        await page.get_by_role("dialog").get_by_role("button", name="Unlink").click()
        await expect_message(page, "Acme unlinked")
        await expect(page.get_by_role("button", name="Link Acme")).to_be_visible()

    chromium.visit(visit, fresh=True)


def test_account_with_the_same_address_is_linked_by_its_password(chromium: Chromium, sso: Box, issuer: Issuer) -> None:
    owner = World(sso).owner

    async def visit(page: Page) -> None:
        issuer.person = {"sub": "carl", "email": owner.email}
        await page.goto(f"{sso.url}/signin?next=/settings/sign-in")
        await page.get_by_role("link", name="Sign in with Acme").click()
        await page.get_by_label("Password").fill("wrong")
        await page.get_by_role("button", name="Link account").click()
        await expect(page.get_by_role("alert")).to_be_visible()
        await page.get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("button", name="Link account").click()
        await expect(page).to_have_url(f"{sso.url}/settings/sign-in")
        await expect(page.get_by_text("You sign in with Acme or with your password.")).to_be_visible()

    chromium.visit(visit, fresh=True)
