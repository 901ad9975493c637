"""Settings of the account: profile, password, sessions, connected apps, colours; signing out."""

import asyncio
import re

import pytest
from playwright.async_api import Page, Route, ViewportSize, expect

from tests.e2e.support.app import PHONE, SIZES, expect_value
from tests.e2e.support.browser import Chromium
from tests.e2e.support.webapp import disable_form_validation, expect_message, field_error, open_as
from tests.support.oauth_app import App
from tests.support.server import PASSWORD, Person, World, expect_error, ok

NEW = "another battery staple"


@pytest.mark.long
def test_name_and_address_are_changed_and_a_taken_address_is_refused(chromium: Chromium, world: World) -> None:
    taken = world.join("Bob").email

    async def visit(page: Page) -> None:
        watch = await open_as(page, world.owner, "/settings/profile")
        await page.get_by_label("Name", exact=True).fill("Anna")
        await page.get_by_label("Email address").fill(taken)
        await page.get_by_role("button", name="Save").click()
        assert "no other account has" in await field_error(page, "Email address")
        await expect(page.get_by_label("Name", exact=True)).to_have_value("Anna")
        await page.get_by_role("link", name="Sign-in and sessions").click()
        question = page.get_by_role("dialog", name="Save your changes?")
        await question.get_by_role("button", name="Save").click()
        await expect(question).to_have_count(0)
        assert "no other account has" in await field_error(page, "Email address")
        await expect(page.get_by_label("Name", exact=True)).to_have_value("Anna")
        await page.get_by_label("Email address").fill(f"x{taken}")
        await page.get_by_role("button", name="Save").click()
        await expect_message(page, "Saved")
        await page.get_by_role("button", name="Anna").wait_for()
        await page.get_by_role("link", name="Sign-in and sessions").click()
        await page.get_by_role("heading", name="Sign-in and sessions").wait_for()
        watch.assert_clean(world.box)

    chromium.visit(visit)
    assert ok(world.owner.web.get("/profile"))["email"] == f"x{taken}"


@pytest.mark.long
def test_password_change_requires_the_current_password(chromium: Chromium, world: World) -> None:
    elsewhere = world.box.client()
    ok(elsewhere.post("/session", json={"email": world.owner.email, "password": PASSWORD}))

    async def fill(page: Page, present: str, new: str, again: str) -> None:
        await page.get_by_label("Current password").fill(present)
        await page.get_by_label("New password", exact=True).fill(new)
        await page.get_by_label("Confirm password").fill(again)
        await page.get_by_role("button", name="Change password", exact=True).click()

    async def visit(page: Page) -> None:
        watch = await open_as(page, world.owner, "/settings/sign-in")
        await page.get_by_role("button", name="Change password…").click()
        await expect(page.get_by_label("Current password")).to_be_focused()
        await disable_form_validation(page)
        await fill(page, PASSWORD, NEW, "something else")
        assert await field_error(page, "Confirm password") == "The passwords do not match."
        await fill(page, PASSWORD, "short", "short")
        assert await field_error(page, "New password") == "Use 10 to 200 characters."
        await fill(page, "wrong", NEW, NEW)
        assert await field_error(page, "Current password") == "The current password is wrong."
        await fill(page, PASSWORD, NEW, NEW)
        await expect_message(page, "Password changed")
        await expect(page.get_by_role("dialog")).to_have_count(0)
        watch.assert_clean(world.box)

    chromium.visit(visit)
    expect_error(elsewhere.get("/me"), 401, "unauthorized")
    ok(world.owner.web.get("/me"))
    ok(world.box.client().post("/session", json={"email": world.owner.email, "password": NEW}))


@pytest.mark.long
def test_other_sessions_are_signed_out_from_the_list(chromium: Chromium, world: World) -> None:
    others = [world.box.client(**{"User-Agent": agent}) for agent in ("Firefox/140.0 (Windows)", "curl", "Safari/1")]
    for other in others:
        ok(other.post("/session", json={"email": world.owner.email, "password": PASSWORD}))

    async def visit(page: Page) -> None:
        watch = await open_as(page, world.owner, "/settings/sign-in")
        here = page.get_by_role("listitem").filter(has_text="This session")
        await here.wait_for()
        row = page.get_by_role("listitem").filter(has_text="Firefox on Windows")
        await row.get_by_role("button", name="Sign out").click()
        await page.get_by_role("dialog").get_by_role("button", name="Sign out").click()
        await expect_message(page, "Session signed out")
        await page.get_by_role("button", name="Sign out other sessions").click()
        await page.get_by_role("dialog").get_by_role("button", name="Sign out").click()
        await expect_message(page, "2 sessions signed out")
        await here.wait_for()
        await expect(page.get_by_role("list", name="Sessions").get_by_role("listitem")).to_have_count(1)
        events = page.get_by_role("list", name="Security events").get_by_role("listitem")
        await events.filter(has_text="Signed in with a new browser").filter(has_text="Firefox on Windows").wait_for()
        watch.assert_clean(world.box)
        await here.get_by_role("button", name="Sign out").click()
        await page.get_by_role("dialog").get_by_role("button", name="Sign out").click()
        await page.wait_for_url("**/signin")

    chromium.visit(visit)
    for client in (*others, world.owner.web):
        expect_error(client.get("/me"), 401, "unauthorized")


@pytest.mark.long
@SIZES
def test_sign_out_ends_the_session_and_sign_in_returns_to_the_page(
    chromium: Chromium, world: World, size: ViewportSize
) -> None:
    async def visit(page: Page) -> None:
        watch = await open_as(page, world.owner, "/settings/profile")
        await page.get_by_role("heading", name="Profile").wait_for()
        if size is PHONE:
            await page.get_by_role("button", name="Menu", exact=True).click()
        await page.get_by_role("button", name="Ann", exact=True).click()
        await page.get_by_role("menuitem", name="Sign out").click()
        await page.wait_for_url("**/signin")
        await page.goto(f"{world.box.url}/settings/tokens?new")
        await page.get_by_label("mail address").fill(world.owner.email)
        await page.get_by_label("Password").fill("wrong password")
        await page.get_by_role("button", name="Sign in", exact=True).click()
        await expect(page.get_by_role("alert")).to_contain_text("wrong", use_inner_text=True)
        await page.get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("button", name="Sign in", exact=True).click()
        await page.wait_for_url("**/settings/tokens?new")
        await page.get_by_role("heading", name="New API token").wait_for()
        watch.assert_clean(world.box)

    chromium.visit(visit, viewport=size)
    expect_error(world.owner.web.get("/me"), 401, "unauthorized")


@pytest.mark.long
def test_sign_out_of_a_page_that_still_loads_leads_to_no_page(chromium: Chromium, world: World) -> None:
    async def visit(page: Page) -> None:
        await open_as(page, world.owner, "/settings/profile")
        await page.get_by_role("heading", name="Profile").wait_for()
        is_signed_out, is_over = asyncio.Event(), asyncio.Event()

        async def load_late(route: Route) -> None:
            await is_signed_out.wait()
            await route.continue_()  # refused, before the page knows that the session has ended

        async def end_session(route: Route) -> None:
            await route.fetch()
            is_signed_out.set()
            await is_over.wait()  # the refusal is what the page learns first
            await route.abort()

        await page.route("**/api/v1/tokens?*", load_late)
        await page.route("**/api/v1/session", end_session)
        async with page.expect_request("**/api/v1/tokens?*"):
            await page.get_by_role("link", name="Agents and tokens").click()
        await page.get_by_role("button", name="Ann", exact=True).click()
        await page.get_by_role("menuitem", name="Sign out").click()
        await expect(page).to_have_url(f"{world.box.url}/signin")
        is_over.set()
        await page.unroute_all(behavior="wait")

    chromium.visit(visit, fresh=True)


def test_expired_session_redirects_to_sign_in(chromium: Chromium, world: World) -> None:
    async def visit(page: Page) -> None:
        await open_as(page, world.owner, "/settings/profile")
        await page.wait_for_load_state("networkidle")  # or what the page still loads redirects first
        await page.context.clear_cookies()
        await page.get_by_role("link", name="Agents and tokens").click()
        await expect(page).to_have_url(re.compile(r"/signin\?next=%2Fsettings%2Ftokens$"))

    chromium.visit(visit)


@pytest.mark.long
def test_a_connected_app_is_disconnected(chromium: Chromium, world: World) -> None:
    app = App(world.box, name="Editor <b>one</b>")
    secret = app.connect(world.owner, "read")["access_token"]
    ok(app.call(secret))

    async def visit(page: Page) -> None:
        watch = await open_as(page, world.owner, "/settings/apps")
        row = page.get_by_role("listitem").filter(has_text="Editor <b>one</b>")
        await expect(row).to_contain_text(re.compile("127.0.0.1|localhost"))
        await row.get_by_role("button", name="Disconnect").click()
        await page.get_by_role("dialog").get_by_role("button", name="Disconnect").click()
        await expect_message(page, "Disconnected")
        await expect(page.locator("main")).to_contain_text(f"{world.box.url}/mcp", use_inner_text=True)
        watch.assert_clean(world.box)

    chromium.visit(visit)
    assert app.call(secret).status_code == 401


@pytest.mark.long
def test_theme_is_selected_and_saved(chromium: Chromium, world: World) -> None:
    async def expect_ground(page: Page, scheme: str) -> None:
        """Wait for the lightness in percent: the browser gives colours in OKLCH as `lab(98.3 -0.07 0.76)`."""

        async def read() -> str:
            colour = await page.evaluate("() => getComputedStyle(document.documentElement).backgroundColor")
            lightness = float(colour[4:].split()[0])
            return "light" if lightness > 90 else "dark" if lightness < 20 else colour

        await expect_value(read, scheme)

    async def visit(page: Page) -> None:
        await open_as(page, world.owner, "/settings/appearance")
        system = page.get_by_role("radio", name="System")
        await expect(system).to_be_checked()
        await expect_ground(page, "light")
        await system.press("ArrowDown")
        await page.get_by_role("radio", name="Light").press("ArrowDown")
        await expect(page.get_by_role("radio", name="Dark")).to_be_checked()
        await expect_ground(page, "dark")
        await page.reload()
        await expect(page.get_by_role("radio", name="Dark")).to_be_checked()
        await expect_ground(page, "dark")
        await page.get_by_role("radio", name="System").check()
        await expect_ground(page, "light")

    chromium.visit(visit, color_scheme="light")


def test_a_new_company_starts_with_its_first_project(chromium: Chromium, world: World) -> None:
    alone = Person(world.box, "Solo")

    async def visit(page: Page) -> None:
        watch = await open_as(page, alone, "/")
        await page.get_by_role("link", name="Create company").click()
        await page.get_by_label("Name", exact=True).fill("Solo & Co")
        await page.get_by_role("button", name="Create company").click()
        await page.get_by_role("heading", name="New project").wait_for()
        await page.get_by_label("Name", exact=True).fill("First")
        await page.get_by_label("URL patterns").fill("https://shop.example/*\n\nhttps://www.shop.example/*")
        await page.get_by_role("button", name="Create project").click()
        await page.wait_for_url("**/projects/proj_*")
        watch.assert_clean(world.box)

    chromium.visit(visit)
    (project,) = ok(alone.web.get("/projects"))["items"]
    assert project["url_patterns"] == ["https://shop.example/*", "https://www.shop.example/*"]


@pytest.mark.long
def test_menu_closed_before_its_content_loads_stays_closed(chromium: Chromium, world: World) -> None:
    async def visit(page: Page) -> None:
        closed = asyncio.Event()

        async def hold(route: Route) -> None:
            await closed.wait()
            await route.continue_()

        await page.route("**/MenuContent*.js", hold)
        await open_as(page, world.owner, "/settings/profile")
        menu = page.get_by_role("button", name="Ann", exact=True)
        await menu.click()
        await page.keyboard.press("Escape")
        async with page.expect_response("**/MenuContent*.js"):
            closed.set()
        await page.get_by_role("link", name="Appearance").click()
        await expect(page.get_by_role("menu")).to_have_count(0)

    chromium.visit(visit)


@pytest.mark.long
def test_page_is_clickable_after_a_menu_closes(chromium: Chromium, world: World) -> None:
    async def visit(page: Page) -> None:
        await open_as(page, world.owner, "/settings/profile")
        menu = page.get_by_role("button", name="Ann", exact=True)
        await menu.click()
        await page.get_by_role("menu").wait_for()
        await page.keyboard.press("Escape")
        await page.get_by_role("link", name="Appearance").click()
        await menu.click()
        await page.get_by_role("menuitem", name="Connect agent").click()
        await page.get_by_role("heading", name="Connect an agent", level=1).wait_for()
        await page.get_by_role("button", name="Ann's company").click()
        await page.get_by_role("menuitem", name="Invite people").click()
        await page.get_by_role("button", name="Cancel").click()
        await page.get_by_role("link", name="Members", exact=True).click()
        await page.get_by_role("heading", name="Members").wait_for()

    chromium.visit(visit)
