"""The SDK's own OAuth client from end to end, with a person who answers in Chromium; and the pages themselves."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, TypeVar
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import httpx2
import pytest
from mcp.client import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from playwright.async_api import Locator, Page, expect

from tests.e2e.core.test_pages import NARROWEST, PHONE, Watch
from tests.e2e.support.browser import Chromium
from tests.support.authenticator import Phone
from tests.support.long_runs import mark_long
from tests.support.oauth_app import ALL, App
from tests.support.operation_cases import update_row
from tests.support.server import PASSWORD, World, ok
from ticketbox.domain.accounts.secrets import hash_secret

T = TypeVar("T")

EXPIRE = "UPDATE oauth_secret SET expires_at = created_at WHERE secret_hash = ?"


class Callback:
    """An app's own little server on this machine, where the browser comes back to."""

    def __init__(self) -> None:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                if parts.path == "/callback":
                    outer.came.append(dict(parse_qsl(parts.query)))
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"<title>The app</title>Back in the app.<script>window.close()</script>")

            def log_message(self, *_: Any, **__: Any) -> None:
                """Say nothing."""

        self.came: list[dict[str, str]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/callback"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class Memory:
    """Where the SDK keeps what it holds."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


Answering = Callable[[Page], Awaitable[None]]


class Agent:
    """An agent with the SDK's client; `answering` is what the person does when the browser opens."""

    auth: OAuthClientProvider  # of the last talk

    def __init__(self, world: World, chromium: Chromium, callback: Callback, answering: Answering) -> None:
        self.world, self.chromium, self.callback, self.answering = world, chromium, callback, answering
        self.memory = Memory()
        self.opened: list[str] = []
        self.titles: list[str] = []

    async def _open(self, address: str) -> None:
        self.opened.append(address)

        async def visit(page: Page) -> None:
            await page.goto(address)
            await self.answering(page)
            await page.wait_for_url(f"{self.callback.url}?*")
            self.titles.append(await page.title())

        await asyncio.to_thread(self.chromium.visit, visit, java_script_enabled=False)

    async def _answer(self) -> AuthorizationCodeResult:
        came = self.callback.came[-1]
        return AuthorizationCodeResult(code=came.get("code", ""), state=came.get("state"), iss=came.get("iss"))

    def talk(self, work: Callable[[Client], Awaitable[T]]) -> T:
        """Connect as an agent that has only the address, and do something."""

        async def run() -> T:
            metadata = OAuthClientMetadata(redirect_uris=[self.callback.url], client_name="SDK agent")  # type: ignore[list-item]
            url = f"{self.world.box.url}/mcp"
            self.auth = OAuthClientProvider(url, metadata, self.memory, self._open, self._answer)
            async with httpx2.AsyncClient(auth=self.auth, timeout=60) as http:
                transport = streamable_http_client(url, http_client=http, terminate_on_close=False)
                async with Client(transport) as client:
                    return await work(client)

        return asyncio.run(run())


async def whoami(client: Client) -> dict[str, Any]:
    """What whoami says."""
    return (await client.call_tool("whoami", {})).structured_content


async def sign_in(page: Page, world: World) -> None:
    """Sign in on the page that shows."""
    await page.get_by_label("Email address").fill(world.owner.email)
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign in", exact=True).click()
    await page.get_by_role("button", name="Approve").wait_for()


def test_the_sdks_client_connects_works_refreshes_and_is_let_go(chromium: Chromium, world: World) -> None:
    async def approve(page: Page) -> None:
        await sign_in(page, world)
        await expect(page.get_by_role("heading", level=1)).to_contain_text("SDK agent", use_inner_text=True)
        await page.get_by_role("checkbox", name="Assign people").uncheck()
        await page.get_by_role("button", name="Approve").click()

    async def work(client: Client) -> tuple[OAuthToken, dict[str, Any], OAuthToken, dict[str, Any]]:
        identity, first = await whoami(client), agent.memory.tokens
        assert first is not None
        update_row(world.box.db, EXPIRE, hash_secret(first.access_token))
        agent.auth.context.token_expiry_time = time.time() - 1
        again, later = await whoami(client), agent.memory.tokens
        assert later is not None
        return first, identity, later, again

    with Callback() as callback:
        agent = Agent(world, chromium, callback, approve)
        first, identity, later, again = agent.talk(work)
        assert (identity["token"]["kind"], identity["token"]["label"]) == ("oauth", "SDK agent")
        assert identity["token"]["scopes"] == ["comments", "read", "tickets:write"]
        assert identity["token"]["company_id"] == world.company
        assert callback.came[-1]["iss"] == world.box.url
        assert agent.titles == ["The app"]
        assert (again["token"]["id"], len(agent.opened)) == (identity["token"]["id"], 1)
        assert {first.access_token, first.refresh_token}.isdisjoint({later.access_token, later.refresh_token})

        (listed,) = ok(world.owner.web.get("/connected-apps"))["items"]
        assert (listed["id"], listed["name"]) == (identity["token"]["id"], "SDK agent")
        ok(world.owner.web.delete(f"/connected-apps/{listed['id']}"))
        assert agent.talk(whoami)["token"]["id"] != identity["token"]["id"]
        assert len(agent.opened) == 2


@pytest.mark.long
def test_who_is_denied_gets_nothing(chromium: Chromium, world: World) -> None:
    async def deny(page: Page) -> None:
        await sign_in(page, world)
        await page.get_by_role("button", name="Deny").click()

    with Callback() as callback:
        agent = Agent(world, chromium, callback, deny)
        with pytest.raises(Exception, match=r"unhandled|No auth") as refusal:
            agent.talk(whoami)
        assert "No authorization code" in _report(refusal.value)
        assert callback.came[-1]["error"] == "access_denied"
        assert agent.memory.tokens is None
    assert ok(world.owner.web.get("/connected-apps"))["items"] == []


def _report(error: BaseException) -> str:
    inner = "".join(_report(each) for each in getattr(error, "exceptions", ()))
    return f"{error} {inner} {error.__cause__ or ''}"


@pytest.mark.long
def test_projects_are_chosen_by_keyboard_and_only_the_chosen_companys_show(chromium: Chromium, world: World) -> None:
    second = world.new_project("Second project")
    beside = ok(world.owner.web.post("/companies", json={"name": "Beside"}))["id"]
    app = App(world.box, name="Keyboard")

    async def visit(page: Page) -> str:
        watch = Watch(page)
        await page.goto(f"{world.box.url}/oauth/authorize?{urlencode(app.request())}")
        await sign_in(page, world)
        await expect(page.get_by_role("radio", name="All companies")).to_be_checked()
        inner = page.get_by_role("checkbox", name="Second project")
        await expect(inner).not_to_be_visible()
        await page.get_by_role("radio", name="All companies").press("ArrowDown")
        await expect(page.get_by_role("radio", name="Ann's company")).to_be_checked()
        await expect(inner).to_be_visible()
        await inner.press("Space")
        for scope in ALL.split():
            await page.locator(f'input[value="{scope}"]').uncheck()
        await page.get_by_role("button", name="Approve").press("Enter")
        await expect(page.get_by_role("alert")).to_contain_text("Select at least one", use_inner_text=True)
        await expect(inner).to_be_checked()
        await page.get_by_role("checkbox", name="Read read").check()
        watch.assert_clean(world.box)
        async with page.expect_request("http://127.0.0.1:33418/**") as back:  # where nobody listens
            await page.get_by_role("button", name="Approve").press("Enter")
        return dict(parse_qsl(urlsplit((await back.value).url).query))["code"]

    pair = ok(app.redeem(chromium.visit(visit)))
    identity = ok(app.call(pair["access_token"]))["result"]["structuredContent"]["token"]
    assert (identity["scopes"], identity["company_id"], identity["project_ids"]) == (["read"], world.company, [second])
    assert beside


async def tab_to(page: Page, target: Locator) -> None:
    """Press Tab until an element has the focus; each stop before it shows that it has it."""
    async with asyncio.timeout(30):
        while not await target.evaluate("(element) => element === document.activeElement"):
            await page.keyboard.press("Tab")
            focused = page.locator(":focus")
            if await focused.count():  # the browser's own controls come after the page's last one
                assert await focused.evaluate("(element) => getComputedStyle(element).outlineStyle") == "solid"


@pytest.mark.long
def test_app_is_connected_with_a_second_factor_by_keyboard_alone(chromium: Chromium, world: World) -> None:
    second = world.new_project("Second project")
    ok(world.owner.web.post("/companies", json={"name": "Beside"}))
    phone, app = Phone(world.owner), App(world.box, name="Keyboard")

    async def visit(page: Page) -> str:
        keys = page.keyboard
        await page.goto(f"{world.box.url}/oauth/authorize?{urlencode(app.request())}")
        await expect(page.get_by_label("Email address")).to_be_focused()
        await keys.type(world.owner.email)
        await keys.press("Tab")
        await keys.type(PASSWORD)
        await keys.press("Enter")
        await expect(page.get_by_label("Code")).to_be_focused()
        await keys.type("000000")
        await keys.press("Enter")
        await expect(page.get_by_role("alert")).to_be_visible()
        await expect(page.get_by_label("Code")).to_be_focused()
        await keys.type(phone.show_code())
        await keys.press("Enter")
        approve = page.get_by_role("button", name="Approve")
        await expect(approve).to_be_visible()
        scopes = page.locator("input[name=scope]")
        for scope in await scopes.all():
            await tab_to(page, scope)
            await keys.press("Space")
        await tab_to(page, approve)
        await keys.press("Enter")
        await expect(page.get_by_role("alert")).to_be_visible()
        await expect(scopes.first).to_be_focused()
        await keys.press("Space")
        await tab_to(page, page.get_by_role("radio", name="All companies"))
        await keys.press("ArrowDown")
        await tab_to(page, page.get_by_role("checkbox", name="Second project"))
        await keys.press("Space")
        await tab_to(page, approve)
        async with page.expect_request("http://127.0.0.1:33418/**") as back:  # where nobody listens
            await keys.press("Enter")
        return dict(parse_qsl(urlsplit((await back.value).url).query))["code"]

    pair = ok(app.redeem(chromium.visit(visit)))
    identity = ok(app.call(pair["access_token"]))["result"]["structuredContent"]["token"]
    assert (identity["scopes"], identity["company_id"], identity["project_ids"]) == (["read"], world.company, [second])


async def open_tab(page: Page, address: str) -> Page:
    """Open a tab as a program does: with the address as its only page, while Playwright begins with an empty one."""
    browser = page.context.browser
    assert browser is not None
    own, whole = await page.context.new_cdp_session(page), await browser.new_browser_cdp_session()
    target = (await own.send("Target.getTargetInfo"))["targetInfo"]
    async with page.context.expect_page() as opened:
        await whole.send("Target.createTarget", {"url": address, "browserContextId": target["browserContextId"]})
    return await opened.value


@pytest.mark.parametrize("scheme", ["http", mark_long("org.example.editor")])
def test_consent_tab_closes_after_approval(chromium: Chromium, world: World, scheme: str) -> None:
    """Also after a sign-in in it. The client's page closes the tab; for an app that opens, ours does."""
    with Callback() as callback:
        app = App(world.box, callback.url if scheme == "http" else "org.example.editor:/callback")

        async def visit(first: Page) -> None:
            page = await open_tab(first, f"{world.box.url}/oauth/authorize?{urlencode(app.request())}")
            await page.get_by_label("Email address").fill(world.owner.email)
            await page.get_by_label("Password").fill("wrong password")
            await page.get_by_role("button", name="Sign in", exact=True).click()
            await page.get_by_role("alert").wait_for()
            await sign_in(page, world)
            async with page.expect_event("close"):
                await page.get_by_role("button", name="Approve").click()

        chromium.visit(visit)
        assert len(callback.came) == (scheme == "http")


async def each_page(page: Page, world: World, check: Callable[[str], Awaitable[None]]) -> None:
    """Show every page of the authorization server in every state, and check it."""
    world.new_project("Website with a rather long name, as projects sometimes have")
    ok(world.owner.web.post("/companies", json={"name": "Beside & Sons"}))
    app = App(world.box, "https://very-long-name-of-an-app.example.org:8443/callback", name="Agent <b>" + "W" * 80)
    scheme = App(world.box, "org.example.editor:/back/here", name="Editor")
    asking = f"{world.box.url}/oauth/authorize?{urlencode(app.request())}"
    await page.goto(asking)
    await check("sign-in")
    await page.get_by_label("Email address").fill(world.owner.email)
    await page.get_by_label("Password").fill("wrong password")
    await page.get_by_role("button", name="Sign in", exact=True).click()
    await page.get_by_role("alert").wait_for()
    await check("sign-in, refused")
    await sign_in(page, world)
    await check("consent")
    await page.get_by_role("radio", name="Ann's company").check()
    for scope in ALL.split():
        await page.locator(f'input[value="{scope}"]').uncheck()
    await page.get_by_role("button", name="Approve").click()
    await page.get_by_role("alert").wait_for()
    await check("consent, refused")
    await page.goto(f"{world.box.url}/oauth/authorize?client_id=app_unknown")
    await check("unknown app")
    await page.goto(f"{world.box.url}/oauth/authorize?{urlencode(scheme.request())}")
    await page.get_by_role("button", name="Approve").click()
    await page.get_by_text("You can close this tab").wait_for()
    await check("done")
    assert quote(world.box.url, safe="") in (
        await page.get_by_role("link", name="open the app").get_attribute("href") or ""
    )


@pytest.mark.long
def test_no_page_of_it_is_wider_than_a_phone(chromium: Chromium, world: World) -> None:
    wide: dict[str, int] = {}

    async def visit(page: Page) -> None:
        async def check(name: str) -> None:
            for width in (PHONE["width"], NARROWEST):
                await page.set_viewport_size({"width": width, "height": 844})
                scroll_width = await page.evaluate("() => document.documentElement.scrollWidth")
                if scroll_width > width:
                    wide[f"{name} at {width}"] = scroll_width

        await each_page(page, world, check)

    chromium.visit(visit, is_mobile=True, has_touch=True)
    assert wide == {}


@pytest.mark.long
def test_another_sites_form_answers_nothing(chromium: Chromium, world: World) -> None:
    app = App(world.box)

    async def visit(page: Page) -> None:
        await page.goto(f"{world.box.url}/oauth/authorize?{urlencode(app.request())}")
        await sign_in(page, world)
        handle = await page.locator('input[name="handle"]').get_attribute("value")
        fields = f"<input name=handle value='{handle}'><input name=decision value=approve><input name=scope value=read>"
        form = f"<form method=post action='{world.box.url}/oauth/authorize'>{fields}<button>Go</button></form>"
        await page.route("http://evil.example/", lambda route: route.fulfill(content_type="text/html", body=form))
        await page.goto("http://evil.example/")
        async with page.expect_response(f"{world.box.url}/oauth/authorize") as answered:
            await page.get_by_role("button").click()
        assert (await answered.value).status in {401, 403}

    chromium.visit(visit)
    assert ok(world.owner.web.get("/connected-apps"))["items"] == []
