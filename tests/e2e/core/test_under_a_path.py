"""Ticketbox under a path of another site, behind a real nginx: the app, apps that connect, and the extension."""

import re
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Page, expect

from tests.e2e.accounts.test_consent import Agent, Callback, sign_in, whoami
from tests.e2e.captures.test_replay import CART
from tests.e2e.sites.reporting_site import ReportingSite
from tests.e2e.support.browser import Chromium
from tests.e2e.support.captures import capture_on, line, request
from tests.e2e.support.extension_browser import ExtensionBrowser
from tests.e2e.support.webapp import open_as
from tests.http.reports.test_reports import Reporter
from tests.support.path_proxy import PATH, run_under_path
from tests.support.server import PASSWORD, Box, World, ok

pytestmark = pytest.mark.long

SECTIONS = ["profile", "sign-in", "tokens", "apps", "extension", "notifications", "new-company"]
COMPANY_SECTIONS = ["general", "members", "invitations", "projects", "labels", "webhooks", "audit", "agents"]
STRAY = f"""() => [...document.querySelectorAll('[href], [src], [action]')]
    .map(each => each.getAttribute('href') ?? each.getAttribute('src') ?? each.getAttribute('action'))
    .filter(address => /^\\/(?!\\/)/.test(address) && !address.startsWith('{PATH}/'))"""


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """A server under a path."""
    with run_under_path(tmp_path_factory.mktemp("path")) as running:
        yield running


def watch(page: Page) -> list[str]:
    """The addresses outside the path that a page asks for, and those that don't exist."""
    wrong: list[str] = []
    page.on(
        "request", lambda sent: None if f"{urlsplit(sent.url).path}/".startswith(f"{PATH}/") else wrong.append(sent.url)
    )
    page.on("response", lambda answer: wrong.append(f"{answer.status} {answer.url}") if answer.status >= 400 else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    return wrong


def test_person_signs_in_and_works(chromium: Chromium, world: World) -> None:
    ticket = capture_on(
        world, console=[line(1, "log", "started")], network=[request(1, "https://shop.example/")], replay=CART
    )
    picture = ok(world.api.get(f"/tickets/{ticket['id']}"))["capture"]["screenshot"]["id"]
    text = f"See {ticket['id']} and ![shot](/api/v1/assets/{picture}/content)"
    ok(world.api.post(f"/tickets/{ticket['id']}/comments", json={"body": text}))

    async def visit(page: Page) -> None:
        wrong = watch(page)
        await page.goto(f"{world.box.url}/tickets/{ticket['id']}/network")  # signs in first, and returns
        await page.get_by_label("Email address").fill(world.owner.email)
        await page.get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("button", name="Sign in", exact=True).click()
        await expect(page).to_have_url(f"{world.box.url}/tickets/{ticket['id']}/network")
        await expect(page.get_by_role("tab", name="Network")).to_have_attribute("aria-selected", "true")
        await page.reload()
        await expect(page.get_by_role("tab", name="Network")).to_have_attribute("aria-selected", "true")
        shot = page.get_by_role("img", name="shot")
        await shot.scroll_into_view_if_needed()
        await expect(shot).to_have_js_property("naturalWidth", 800)
        reference = page.get_by_role("link", name=ticket["id"], exact=True)
        assert await reference.get_attribute("href") == f"{PATH}/tickets/{ticket['id']}"
        await page.get_by_role("tab", name="Replay").click()
        await expect(page.locator("iframe.ready")).to_be_visible()
        await page.get_by_role("link", name=re.compile("^First project")).first.click()
        await expect(page).to_have_url(f"{world.box.url}/projects/{world.project}")
        await expect(page.locator(f"[data-ticket='{ticket['id']}']")).to_be_visible()
        await page.go_back()
        await expect(page.get_by_role("tab", name="Replay")).to_be_visible()
        await page.locator("button.account").click()
        await page.get_by_role("menuitem", name="Sign out").click()
        await expect(page).to_have_url(f"{world.box.url}/signin")
        assert wrong == []

    chromium.visit(visit, fresh=True)


def test_all_addresses_of_all_pages_are_under_the_path(chromium: Chromium, world: World) -> None:
    ticket = capture_on(world, network=[request(1, "https://shop.example/")])["id"]
    project = f"/projects/{world.project}"
    pages = [
        "/", "", project, f"{project}/table", f"{project}/archive", f"/tickets/{ticket}", "/inbox", "/search?q=is:open",
        *(f"/settings/{each}" for each in SECTIONS),
        *(f"/companies/{world.company}/{each}" for each in COMPANY_SECTIONS),
        "/settings/tokens?new", "/second-factor", "/api/docs", "/nowhere",
    ]  # fmt: skip

    async def visit(page: Page) -> dict[str, list[str]]:
        await open_as(page, world.owner, "/inbox")
        wrong = watch(page)
        stray: dict[str, list[str]] = {}
        for path in pages:
            await page.goto(world.box.url + path)
            await expect(page.get_by_role("heading", level=1).first).to_be_visible()
            stray[path] = await page.evaluate(STRAY)
        assert wrong == [f"404 {world.box.url}/nowhere"]
        return stray

    assert {path: found for path, found in chromium.visit(visit, fresh=True).items() if found} == {}


def test_mcp_client_connects_by_oauth_with_only_the_address(chromium: Chromium, world: World) -> None:
    async def approve(page: Page) -> None:
        await sign_in(page, world)
        await page.get_by_role("button", name="Approve").click()

    with Callback() as callback:
        agent = Agent(world, chromium, callback, approve)
        assert agent.talk(whoami)["token"]["kind"] == "oauth"
        assert callback.came[-1]["iss"] == world.box.url
    requests = world.box.log.read_text()
    origin = world.box.url.removesuffix(PATH)
    challenge = world.box.client().post(f"{world.box.url}/mcp", json={}).headers["www-authenticate"]
    assert f'resource_metadata="{origin}/.well-known/oauth-protected-resource{PATH}/mcp"' in challenge
    for document in (f"oauth-protected-resource{PATH}/mcp", f"oauth-authorization-server{PATH}"):
        assert f"path=/.well-known/{document} status=200" in requests


def test_extension_connects_from_the_address_of_a_page(
    launch_extension: Callable[..., ExtensionBrowser], world: World
) -> None:
    browser = launch_extension()

    async def connect() -> None:
        options = await browser.open_options()
        await options.get_by_label("Address of your ticketbox").fill(f"{world.box.url}/projects/{world.project}")
        async with browser.context.expect_page() as opened:
            await options.get_by_role("button", name="Connect ticketbox").click()
        await sign_in_extension(await opened.value, world)
        await expect(options.get_by_role("heading", name="Connected")).to_be_visible()
        await expect(options.get_by_role("link", name=world.box.url, exact=True)).to_be_visible()

    browser.run(connect())
    (app,) = ok(world.owner.web.get("/connected-apps"))["items"]
    assert app["name"] == "ticketbox browser extension"


async def sign_in_extension(page: Page, world: World) -> None:
    """Sign in, and approve what the extension asks for."""
    await sign_in(page, world)
    await page.get_by_role("button", name="Approve").click()


def test_reports_arrive_from_links_and_other_sites(chromium: Chromium, world: World) -> None:
    link = Reporter(world, kind="link").key["url"]
    assert link.startswith(f"{world.box.url}/r/")
    with ReportingSite() as site:
        site.embed(world.box.url, Reporter(world, origins=[site.url]).key["key"])

        async def visit(page: Page) -> None:
            await page.goto(link)
            await page.get_by_label("What is wrong?").fill("By the link")
            await page.get_by_role("button", name="Send report").click()
            await expect(page.get_by_role("status")).to_contain_text("Received.")
            assert page.url.startswith(f"{world.box.url}/r/rcpt_")
            await page.goto(f"{site.url}/cart")
            await page.get_by_role("button", name="Report a problem").click()
            dialog = page.get_by_role("dialog", name="Report a problem")
            await dialog.get_by_label("What is wrong?").fill("By the script")
            await dialog.get_by_role("button", name="Send report").click()
            await expect(page.get_by_role("link", name="Open receipt")).to_be_visible()

        chromium.visit(visit, fresh=True)
    titles = {each["title"] for each in ok(world.api.get("/tickets", params={"project_id": world.project}))["items"]}
    assert titles == {"By the link", "By the script"}
