"""Invitations: made in the company's settings, opened by somebody new and by somebody signed in."""

import re

import pytest
from playwright.async_api import Page, ViewportSize, expect

from tests.e2e.core.test_pages import Watch
from tests.e2e.support.app import SIZES, find_still_box
from tests.e2e.support.browser import Chromium
from tests.e2e.support.webapp import disable_form_validation, expect_message, field_error, open_as
from tests.support.operation_cases import create_invitation
from tests.support.server import PASSWORD, Person, World, ok


@pytest.mark.long
@SIZES
def test_invitation_is_created_and_used_once(chromium: Chromium, world: World, size: ViewportSize) -> None:
    email = f"new-{world.company}@example.org"

    async def invite(page: Page) -> str:
        watch = await open_as(page, world.owner, f"/companies/{world.company}/members")
        await page.get_by_role("link", name="Invite people").click()
        await expect(page.get_by_role("radio", name="Member")).to_be_focused()
        await page.get_by_role("radio", name="Viewer").check()
        await page.get_by_label("Email address (optional)").fill(email.upper())
        await page.get_by_role("button", name="Create link").click()
        link = await page.get_by_label("Link", exact=True).input_value()
        await page.get_by_role("button", name="Done").click()
        row = page.get_by_role("listitem").filter(has_text=email)
        await expect(row).to_contain_text("Viewer · all projects · created by Ann", use_inner_text=True)
        watch.assert_clean(world.box)
        return link

    link = chromium.visit(invite, viewport=size)
    assert link.startswith(f"{world.box.url}/invitations/tok_")

    async def join(page: Page) -> None:
        watch = Watch(page)
        await page.goto(link)
        await page.get_by_role("heading", name="Join Ann's company").wait_for()
        await page.get_by_text("Ann invited you as a viewer. You can read everything.").wait_for()
        await expect(page.get_by_label("Email address")).to_have_value(email)
        await disable_form_validation(page)
        await page.get_by_label("Name").fill("New")
        await page.get_by_label("Password").fill("short")
        await page.get_by_role("button", name="Create account and join").click()
        assert await field_error(page, "Password") == "Use 10 to 200 characters."
        await expect(page.get_by_label("Name")).to_have_value("New")
        await page.get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("button", name="Create account and join").click()
        await page.wait_for_url("**/projects/proj_*")
        await page.goto(link)
        await page.get_by_role("heading", name="This invitation is no longer valid").wait_for()
        watch.assert_clean(world.box)

    chromium.visit(join, viewport=size)
    members = ok(world.api.get(f"/companies/{world.company}/members"))["items"]
    assert [(each["email"], each["role"]) for each in members][1:] == [(email, "viewer")]


def test_signed_in_user_joins_with_one_click(chromium: Chromium, world: World) -> None:
    bob = Person(world.box, "Bob")
    path = create_invitation(world)["path"]

    async def visit(page: Page) -> None:
        watch = await open_as(page, bob, path)
        await page.get_by_text("You are signed in as Bob").wait_for()
        await page.get_by_role("button", name="Join").click()
        await page.wait_for_url("**/projects/proj_*")
        watch.assert_clean(world.box)

    chromium.visit(visit)
    assert world.company in {each["id"] for each in ok(world.api.get("/companies"))["items"]}
    assert bob.id in {each["id"] for each in ok(world.api.get(f"/companies/{world.company}/members"))["items"]}


@pytest.mark.long
def test_user_with_an_account_signs_in_and_joins(chromium: Chromium, world: World) -> None:
    bob = Person(world.box, "Bob")
    path = create_invitation(world)["path"]

    async def visit(page: Page) -> None:
        await page.goto(world.box.url + path)
        await page.get_by_label("Name").fill("Bob")
        await page.get_by_label("Email address").fill(bob.email)
        await page.get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("button", name="Create account and join").click()
        words = re.compile("an account with this email address already exists", re.IGNORECASE)
        await expect(page.get_by_role("alert")).to_contain_text(words)
        await page.get_by_role("link", name="Sign in to join").click()
        await page.get_by_label("mail address").fill(bob.email)
        await page.get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("button", name="Sign in", exact=True).click()
        await page.get_by_role("button", name="Join").click()
        await page.wait_for_url("**/projects/proj_*")

    chromium.visit(visit)


def test_invitation_for_another_address_is_refused(chromium: Chromium, world: World) -> None:
    bob = Person(world.box, "Bob")
    path = create_invitation(world, email="eve@example.org")["path"]

    async def visit(page: Page) -> None:
        await open_as(page, bob, path)
        await page.get_by_text("This invitation is for eve@example.org.").wait_for()
        await page.get_by_role("button", name="Join").click()
        await expect(page.get_by_role("alert")).to_have_text("This invitation is for another email address.")

    chromium.visit(visit)


@pytest.mark.long
def test_withdrawn_invitation_is_invalid(chromium: Chromium, world: World) -> None:
    path = create_invitation(world)["path"]

    async def withdraw(page: Page) -> None:
        watch = await open_as(page, world.owner, f"/companies/{world.company}/invitations")
        await page.get_by_role("button", name="Withdraw the invitation for anyone").click()
        await page.get_by_role("dialog").get_by_role("button", name="Withdraw invitation").click()
        await expect_message(page, "Invitation withdrawn")
        await page.get_by_role("heading", name="No open invitations").wait_for()
        watch.assert_clean(world.box)

    chromium.visit(withdraw)

    async def visit(page: Page) -> None:
        await page.goto(world.box.url + path)
        await page.get_by_role("heading", name="This invitation is no longer valid").wait_for()

    chromium.visit(visit)


@pytest.mark.long
@SIZES
def test_invitation_looks_like_the_page_for_signing_in(chromium: Chromium, world: World, size: ViewportSize) -> None:
    link = f"{world.box.url}/invitations/{create_invitation(world)['secret']}"

    async def compare(page: Page) -> None:
        measured = []
        for address, button in ((f"{world.box.url}/signin", "Sign in"), (link, "Create account and join")):
            await page.goto(address)
            submit = page.get_by_role("button", name=button, exact=True)
            await find_still_box(submit)
            look = "element => { const {x, y, width} = element.getBoundingClientRect(); return [x, y, width] }"
            card = page.locator("main .card, main > section")
            heading = page.get_by_role("heading", level=1)
            measured.append(
                [
                    await card.evaluate(look),
                    (await heading.evaluate(look))[:2],
                    await heading.evaluate("element => getComputedStyle(element).font"),
                    (await submit.evaluate(look))[::2],
                ]
            )
        assert measured[0] == measured[1]

    chromium.visit(compare, viewport=size)
