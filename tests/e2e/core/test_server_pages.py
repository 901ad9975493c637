"""Every page that the server renders, in every state: axe finds nothing, and nothing is wider than a phone."""

import contextlib
import re
import secrets
import sqlite3
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import httpx
import pytest
from playwright.async_api import Page, expect

from tests.e2e.accounts.test_passkeys import REQUIRE, Authenticator
from tests.e2e.support.browser import Chromium
from tests.e2e.support.webapp import faults
from tests.http.reports.test_reports import Reporter
from tests.support.authenticator import compute_current_code
from tests.support.mail_server import MailServer, run_mail_server
from tests.support.oauth_app import App
from tests.support.openid_issuer import Issuer, run_issuer
from tests.support.operation_cases import create_invitation, update_row
from tests.support.server import PASSWORD, Box, Person, World, eventually, ok, run_server, ticketbox

PROXY = ("--trusted-proxy", "127.0.0.1/32")
LONG_NAME = "Website of the international department, as projects are sometimes named in large companies"
Check = Callable[[str], Awaitable[None]]


class Stage(NamedTuple):
    """Where the pages are: a server that sends email and has an identity provider, and one without either."""

    box: Box
    plain: Box
    mail_server: MailServer
    issuer: Issuer
    folder: Path


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory, box: Box) -> Iterator[Stage]:
    with contextlib.ExitStack() as running:
        mail_server = running.enter_context(run_mail_server())
        issuer = running.enter_context(run_issuer())
        full = run_server(
            tmp_path_factory.mktemp("full"), *PROXY, "--smtp-url", f"smtp://{mail_server.host}",
            "--smtp-from", "ticketbox <box@tickets.example>", "--oidc-issuer", issuer.url,
            "--oidc-client-id", "ticketbox", "--oidc-name", "Acme International Directory", "--allow-private-addresses",
        )  # fmt: skip
        yield Stage(running.enter_context(full), box, mail_server, issuer, Path())


@pytest.fixture
def stage(servers: Stage, tmp_path: Path) -> Stage:
    """The servers, and a folder for another one."""
    return servers._replace(folder=tmp_path)


async def use_session(page: Page, person: Person) -> None:
    """Sign a person in without the page."""
    cookies = [{"name": each.name, "value": each.value, "url": person.box.url} for each in person.web.cookies.jar]
    await page.context.add_cookies(cookies)  # type: ignore[arg-type]


async def leave(page: Page) -> None:
    """Sign out as a browser does that forgets its cookies."""
    await page.goto("about:blank")  # so that the app doesn't ask for anything meanwhile
    await page.context.clear_cookies()


async def enter_password(page: Page, email: str, password: str = PASSWORD) -> None:
    await page.get_by_label("Email address").fill(email)
    await page.get_by_label("Password").fill(password)
    await page.get_by_role("button", name="Sign in", exact=True).click()


async def submit_unchecked(page: Page, button: str) -> None:
    """Send a form that the browser wouldn't send."""
    await page.evaluate("() => { for (const form of document.forms) form.noValidate = true; }")
    async with page.expect_navigation():
        await page.get_by_role("button", name=button, exact=True).click()


async def open_page(page: Page, address: str, heading: str, status: int = 200) -> None:
    answer = await page.goto(address)
    assert answer is not None
    assert answer.status == status
    await expect(page.get_by_role("heading", level=1)).to_have_text(heading)


async def visit_refusals(page: Page, stage: Stage, check: Check) -> None:
    """Requests that are refused: by the edge, or because of a fault of the server."""
    with run_server(stage.folder, *PROXY) as box:
        world = World(box)
        secret, link = world.owner.token("read"), Reporter(world, "link").key["url"]
        await open_page(page, f"{box.url}/?token={secret}", "This request isn’t valid", 401)
        await check("401 token in the URL")
        form = f"<form method=post action='{box.url}/signin'><button>Go</button></form>"
        await page.route("http://evil.example/", lambda route: route.fulfill(content_type="text/html", body=form))
        await page.goto("http://evil.example/")
        await page.get_by_role("button", name="Go").click()
        await expect(page.get_by_role("heading", name="This isn’t allowed")).to_be_visible()
        await expect(page.get_by_text("Open ticketbox, and try again there.")).to_be_visible()
        await check("403 form of another site")
        await open_page(page, f"{box.url}/nowhere", "Page not found", 404)
        await check("404")
        await page.evaluate("() => { document.body.innerHTML = '<form method=post><button>Go</button></form>'; }")
        await page.get_by_role("button", name="Go").click()
        await expect(page.get_by_role("heading", name="Page not found")).to_be_visible()
        await check("405")
        await open_page(page, box.url.replace("localhost", "else.localhost"), "ticketbox isn’t at this address", 421)
        await expect(page.get_by_text("ask the operator, who sets it with --public-url")).to_be_visible()
        await check("421")
        address = {"X-Forwarded-For": "192.0.2.7"}
        await page.set_extra_http_headers(address)
        with httpx.Client(headers=address) as busy, ThreadPoolExecutor() as threads:
            stopping = threading.Event()
            threads.submit(lambda: [busy.get(f"{box.url}/llms.txt") for _ in iter(stopping.is_set, True)])
            while "Too many" not in await page.title():
                await page.goto(f"{box.url}/signin")
            stopping.set()
        await check("429")
        await page.set_extra_http_headers({})
        await open_page(page, f"{box.url}/signin?a=1&a=2", "This request isn’t valid", 400)
        await check("400")
        damage(box, "ALTER TABLE report_key RENAME TO lost")
        await open_page(page, link, "Something went wrong", 500)
        await check("500")
        box.db.rename(box.db.with_name("lost.db"))
        await open_page(page, f"{box.url}/healthz", "ticketbox isn’t available", 503)
        await check("503")


def damage(box: Box, statement: str) -> None:
    """Run a statement on the file of a server."""
    with contextlib.closing(sqlite3.connect(box.db)) as connection:
        connection.execute("PRAGMA legacy_alter_table = ON")  # triggers use functions that only the server has
        connection.execute(statement)
        connection.commit()


async def visit_set_up(page: Page, stage: Stage, check: Check) -> None:
    """A new server: before it is set up, the form, and the link that was used."""
    with run_server(stage.folder, init=False) as box:
        address = box.setup_address()
        await open_page(page, box.url, "ticketbox isn’t set up yet")
        await check("not set up")
        await open_page(page, address, "Set up ticketbox")
        await check("set-up")
        answers = {"name": "Ann", "email": "nobody", "password": "short", "password_again": "short", "company": " "}
        for name, value in {**answers, "project": "Shop"}.items():
            await page.fill(f"#{name}", value)
        await submit_unchecked(page, "Create account")
        await expect(page.get_by_role("alert")).to_be_visible()
        await check("set-up, refused")
        for name, value in {"email": "ann@example.org", "company": "Acme"}.items():
            await page.fill(f"#{name}", value)
        for name in ("password", "password_again"):
            await page.fill(f"#{name}", PASSWORD)
        await page.get_by_role("button", name="Create account").click()
        await expect(page).to_have_url(re.compile("/projects/"))
        await leave(page)
        await open_page(page, address, "This link has expired", 404)
        await check("set-up link expired")
        await page.goto(f"{box.url}/api/docs")
        # the page repeats one template some 150 times
        await page.evaluate("() => [...document.querySelectorAll('.operation')].slice(10).map(each => each.remove())")
        await check("API reference")


async def visit_sign_in(page: Page, stage: Stage, check: Check) -> None:
    """The form, the link of the operator, and what the extension opens."""
    person = World(stage.plain).owner
    url = stage.plain.url
    await open_page(page, f"{url}/signin", "Sign in")
    await check("sign-in")
    await enter_password(page, person.email, "wrong password")
    await expect(page.get_by_role("alert").filter(visible=True)).to_be_visible()
    await check("sign-in, refused")
    await page.set_extra_http_headers({"X-Forwarded-For": "192.0.2.8"})
    alert = page.get_by_role("alert").filter(has_text="Too many")
    while not await alert.count():
        async with page.expect_navigation():
            await enter_password(page, person.email, "wrong password")
    await check("sign-in, too many attempts")
    await page.set_extra_http_headers({})
    await open_page(page, f"{url}/extension/connected", "Back to the extension")
    await check("extension connected")
    made = ticketbox("user", "sign-in-link", person.email, "--public-url", url, db=stage.plain.db)
    link = made.stdout.strip()
    await open_page(page, link, "Sign in")
    await check("sign-in link")
    await page.get_by_role("button", name="Sign in").click()
    await page.wait_for_url(lambda address: "/signin" not in address)
    await leave(page)
    await page.goto(link)
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("heading", name="This link can’t be used")).to_be_visible()
    await check("sign-in link, used")


async def visit_second_factor(page: Page, stage: Stage, check: Check) -> None:
    """Setting it up with an app and with a passkey, and signing in with each and with a recovery code."""
    url, world = stage.plain.url, World(stage.plain)
    device = await Authenticator.add(page)
    await use_session(page, world.owner)
    await open_page(page, f"{url}/second-factor", "Second factor")
    await expect(page.get_by_role("button", name="Create a passkey")).to_be_visible()
    await check("second factor, off")
    await page.get_by_role("button", name="Set up an authenticator app").click()
    await expect(page.get_by_label("Code")).to_be_focused()
    await check("authenticator app")
    await page.get_by_text("Enter the key instead").click()
    secret = (await page.locator("details code").inner_text()).replace(" ", "")
    await check("authenticator app, key")
    await page.get_by_label("Code").fill("000000")
    await page.get_by_role("button", name="Turn on").click()
    await expect(page.get_by_role("alert")).to_be_visible()
    await expect(page.get_by_label("Code")).to_be_focused()
    await check("authenticator app, wrong code")
    await page.get_by_label("Code").fill(compute_current_code(secret))
    await page.get_by_role("button", name="Turn on").click()
    await expect(page.get_by_role("heading", name="Save your recovery codes")).to_be_focused()
    await check("recovery codes")
    await open_page(page, f"{url}/second-factor", "Second factor")
    await check("second factor, on with an app")
    await leave(page)
    await page.goto(f"{url}/signin")
    await enter_password(page, world.owner.email)
    await expect(page.get_by_label("Code")).to_be_visible()
    await check("code")
    await page.get_by_label("Code").fill("000000")
    await page.get_by_role("button", name="Sign in", exact=True).click()
    await expect(page.get_by_role("alert")).to_be_visible()
    await expect(page.get_by_label("Code")).to_be_focused()
    await check("code, wrong")

    bob = world.join("Bob")
    update_row(stage.plain.db, REQUIRE, world.company)
    await page.goto(f"{url}/signin")
    await enter_password(page, bob.email)
    await expect(page.get_by_text("A company of yours requires")).to_be_visible()
    await check("second factor, required")
    await device.verify(False)
    await page.get_by_role("button", name="Create a passkey").click()
    await expect(page.get_by_role("alert")).to_be_visible()
    await expect(page.get_by_role("button", name="Create a passkey")).to_be_focused()
    await check("passkey, not created")
    await device.verify(True)
    await page.get_by_role("button", name="Create a passkey").click()
    await expect(page.get_by_role("heading", name="Save your recovery codes")).to_be_focused()
    await check("recovery codes of a passkey")
    await open_page(page, f"{url}/second-factor", "Second factor")
    await check("second factor, on with a passkey")
    await leave(page)
    await page.goto(f"{url}/signin")
    await enter_password(page, bob.email)
    await expect(page.get_by_role("button", name="Use a passkey")).to_be_focused()
    await expect(page.get_by_label("Recovery code")).to_be_visible()
    await check("passkey")
    await device.verify(False)
    await page.get_by_role("button", name="Use a passkey").click()
    await expect(page.get_by_role("alert")).to_be_visible()
    await expect(page.get_by_role("button", name="Use a passkey")).to_be_focused()
    await check("passkey, not used")
    await page.get_by_label("Recovery code").fill("000000")
    await page.get_by_role("button", name="Sign in", exact=True).click()
    await expect(page.get_by_role("alert").filter(visible=True)).to_be_visible()
    await expect(page.get_by_label("Recovery code")).to_be_focused()
    await check("recovery code, wrong")


async def visit_consent(page: Page, stage: Stage, check: Check) -> None:
    """An app that connects: signing in first, its choices, the refused form, and the end."""
    world, url = World(stage.plain), stage.plain.url
    for name in (LONG_NAME, "Shop", "W" * 100):
        world.new_project(name)
    ok(world.owner.web.post("/companies", json={"name": "Beside & Sons"}))
    website = App(
        stage.plain, "https://very-long-name-of-an-app.example.org:8443/callback", name="Agent <b>" + "W" * 80
    )
    editor = App(stage.plain, "org.example.editor:/back/here", name="Editor")
    await open_page(page, f"{url}/oauth/authorize?{urlencode(website.request())}", "Sign in")
    await check("sign-in for an app")
    await enter_password(page, world.owner.email)
    await expect(page.get_by_role("button", name="Approve")).to_be_visible()
    await check("consent")
    await page.get_by_role("radio", name="Ann's company").check()
    await check("consent, projects")
    for scope in await page.locator("input[name=scope]").all():
        await scope.uncheck()
    await page.get_by_role("button", name="Approve").click()
    await expect(page.get_by_role("alert")).to_be_visible()
    await expect(page.get_by_role("checkbox", name="Read read")).to_be_focused()
    await check("consent, refused")
    await open_page(page, f"{url}/oauth/authorize?client_id=app_unknown", "The app can’t be connected", 400)
    await check("unknown app")
    wrong = editor.request(response_type="token")
    await open_page(page, f"{url}/oauth/authorize?{urlencode(wrong)}", "The app can’t be connected", 400)
    await check("wrong request of an app")
    for button, heading in (("Deny", "App not connected"), ("Approve", "App connected")):
        await open_page(page, f"{url}/oauth/authorize?{urlencode(editor.request())}", "Connect Editor?")
        await check("consent for an app on this device")
        await page.get_by_role("button", name=button).click()
        await expect(page.get_by_role("heading", name=heading)).to_be_visible()
        await check(heading)
    await open_page(page, f"{url}/oauth/authorize?{urlencode(editor.request())}", "Connect Editor?")
    await page.context.clear_cookies()
    await page.get_by_role("button", name="Approve").click()
    await expect(page.get_by_role("heading", name="This request has expired")).to_be_visible()
    await check("consent, signed out")


async def visit_provider(page: Page, stage: Stage, check: Check) -> None:
    """Signing in with an identity provider, and linking an account."""
    url, person = stage.box.url, World(stage.box).owner
    await open_page(page, f"{url}/signin", "Sign in")
    await expect(page.get_by_role("link", name="Sign in with Acme")).to_be_focused()
    await check("sign-in with a provider")
    for is_verified in (False, True):
        stage.issuer.person = {"sub": secrets.token_hex(8), "email": person.email, "email_verified": is_verified}
        await page.goto(f"{url}/signin/provider")
        await expect(page.get_by_role("heading", name="Link your account")).to_be_visible()
        await check(f"link account, {'verified' if is_verified else 'not verified'}")
    await page.get_by_label("Password").fill("wrong")
    await page.get_by_role("button", name="Link account").click()
    await expect(page.get_by_role("alert")).to_be_visible()
    await check("link account, refused")
    await open_page(page, f"{url}/signin/callback?state=nothing", "Sign-in didn’t work", 404)
    await check("provider, expired")
    stage.issuer.person = {"sub": "stranger", "email": "stranger@example.net"}
    await open_page(page, f"{url}/signin/provider", "Sign-in didn’t work", 403)
    await check("provider, refused")
    stage.issuer.is_down = True
    try:
        await open_page(page, f"{url}/signin/provider", "Acme International Directory can’t be reached", 503)
        await check("provider, down")
    finally:
        stage.issuer.is_down = False


async def visit_links(page: Page, stage: Stage, check: Check) -> None:
    """What is behind the links of emails and reports."""
    url, world = stage.box.url, World(stage.box)
    bob, mail = world.join("Bob"), stage.mail_server
    ok(bob.web.patch("/profile", json={"mail": True}))
    link = find_link(mail, bob.email, "mail")
    await open_page(page, link, "Confirm email notifications")
    await check("email, confirm")
    await page.get_by_role("button", name="Turn on email notifications").click()
    await expect(page.get_by_role("heading", name="Email notifications are on")).to_be_visible()
    await check("email, on")
    await open_page(page, link, "Turn off email notifications?")
    await check("email, turn off")
    await page.get_by_role("button", name="Turn off email notifications").click()
    await expect(page.get_by_role("heading", name="Email notifications are off")).to_be_visible()
    await check("email, off")
    await open_page(page, f"{url}/mail/mbx_nothing", "This link has expired", 404)
    await check("email link expired")

    await open_page(page, f"{url}/password", "Forgot your password?")
    await check("forgotten password")
    await page.get_by_label("Email address").fill(bob.email)
    await page.get_by_role("button", name="Send a link").click()
    await expect(page.get_by_role("heading", name="Check your email")).to_be_visible()
    await check("forgotten password, sent")
    reset = find_link(mail, bob.email, "password")
    await open_page(page, reset, "Choose a new password")
    await check("new password")
    await page.get_by_label("New password").fill("a better one, longer")
    await page.get_by_label("Confirm password").fill("another, also longer")
    await page.get_by_role("button", name="Change password").click()
    await expect(page.get_by_role("alert")).to_have_text("The passwords don’t match.")
    await check("new password, refused")
    await page.get_by_label("New password").fill("a better one, longer")
    await page.get_by_label("Confirm password").fill("a better one, longer")
    await page.get_by_role("button", name="Change password").click()
    await expect(page.get_by_role("heading", name="Password changed")).to_be_visible()
    await check("new password, changed")
    await open_page(page, reset, "This link has expired", 404)
    await check("new password, expired")

    carl = world.join("Carl")
    ok(carl.web.patch("/profile", json={"mail": True}))
    httpx.post(find_link(mail, carl.email, "mail"), data={"wanted": "yes"}).raise_for_status()
    address = f"a.rather.long.address.of.somebody.{carl.email}"
    ok(carl.web.patch("/profile", json={"email": address}))
    confirm = find_link(mail, address, "address")
    await open_page(page, confirm, "Confirm your new email address")
    await check("new address")
    await page.get_by_role("button", name="Use this address").click()
    await expect(page.get_by_role("heading", name="Email address changed")).to_be_visible()
    await check("new address, changed")
    await open_page(page, confirm, "This link has expired", 404)
    await check("new address, expired")

    dora = world.join("Dora")
    ok(dora.web.patch("/profile", json={"mail": True}))
    httpx.post(find_link(mail, dora.email, "mail"), data={"wanted": "yes"}).raise_for_status()
    ok(dora.web.patch("/profile", json={"email": f"new.{dora.email}"}))
    taken = find_link(mail, f"new.{dora.email}", "address")
    update_row(stage.box.db, "UPDATE user SET email = ? WHERE public_id = ?", f"new.{dora.email}", carl.id)
    await page.goto(taken)
    await page.get_by_role("button", name="Use this address").click()
    await expect(page.get_by_role("heading", name="This address can’t be used")).to_be_visible()
    await check("new address, taken")

    reporter = Reporter(world, "link", name=LONG_NAME)
    await open_page(page, reporter.key["url"], "Report a problem")
    await check("report")
    await page.get_by_label("What is wrong?").fill(" ")
    await submit_unchecked(page, "Send report")
    await expect(page.get_by_role("alert")).to_be_visible()
    await expect(page.get_by_label("What is wrong?")).to_be_focused()
    await check("report, refused")
    await page.get_by_label("What is wrong?").fill("The cart stays empty " + "W" * 100)
    await page.get_by_role("button", name="Send report").click()
    await expect(page.get_by_role("heading", name="Your report")).to_be_visible()
    await check("report, received")
    receipt = page.url
    (ticket,) = reporter.find_tickets()
    for column in world.columns[1:]:
        ok(world.api.post(f"/tickets/{ticket['id']}/move", json={"column_id": column}))
        await page.goto(receipt)
        await check(f"report, {await page.locator('.state').get_attribute('class')}")
    await open_page(page, f"{url}/r/pub_nothing", "This link isn’t valid", 404)
    await check("report link not valid")


async def visit_invitations(page: Page, stage: Stage, check: Check) -> None:
    """The page of an invitation, which the app renders: for somebody new, for an account, and when it was used."""
    url, world = stage.plain.url, World(stage.plain)
    invitation = create_invitation(world)["path"]
    await open_page(page, url + invitation, "Join Ann's company")
    await check("invitation")
    eve = Person(stage.plain, "Eve")
    await use_session(page, eve)
    await open_page(page, url + invitation, "Join Ann's company")
    await expect(page.get_by_text("You are signed in as Eve")).to_be_visible()
    await check("invitation, signed in")
    await page.get_by_role("button", name="Join company").click()
    await expect(page).to_have_url(re.compile("/projects/"))
    await leave(page)
    await open_page(page, url + invitation, "This invitation is no longer valid")
    await check("invitation, used")


def find_link(mail_server: MailServer, address: str, kind: str) -> str:
    """The link of a kind in the newest email to an address, once it has come."""

    def find() -> str | None:
        for each in mail_server.to(address):
            text = each.get_body(("plain",)).get_content()  # type: ignore[union-attr]
            if found := re.search(rf"https?://\S+/{kind}/mbx_\w+", text):
                return found[0]
        return None

    return eventually(find)


PARTS = {
    "refusals": visit_refusals,
    "set-up": visit_set_up,
    "sign-in": visit_sign_in,
    "second-factor": visit_second_factor,
    "consent": visit_consent,
    "provider": visit_provider,
    "links": visit_links,
    "invitations": visit_invitations,
}


INK = "() => getComputedStyle(document.querySelector('h1')).color"


async def read_lightness(page: Page) -> float:
    """How light the ink of a page's heading is, from 0 to 1."""
    kind, _, number = (await page.evaluate(INK)).split()[0].partition("(")
    return float(number) / (100 if kind == "lab" else 1)


@pytest.mark.long
@pytest.mark.parametrize("part", PARTS)
def test_every_page_of_the_server_is_accessible(chromium: Chromium, stage: Stage, part: str) -> None:
    result: dict[str, Any] = {}

    async def visit(page: Page) -> None:
        async def check(name: str) -> None:
            if found := await faults(page, "dark", "forced-colors"):
                result[name] = found
            light = await read_lightness(page)
            await page.emulate_media(color_scheme="dark")
            dark = await read_lightness(page)
            await page.emulate_media(color_scheme="light")
            assert (light < 0.3, dark > 0.9) == (True, True), (name, light, dark)

        await PARTS[part](page, stage, check)

    chromium.visit(visit)
    assert result == {}
