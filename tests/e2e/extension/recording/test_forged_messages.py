"""A compromised page speaks for its content script: the extension's background obeys none of it.

What a renderer can do is done here through the debugging protocol, in the world of the extension's own content scripts:
send every kind of message that the extension's files name, and every message that its pages were seen sending, with the
ids of other tabs.
"""

import asyncio
import json
import re
import time
import zipfile
from io import BytesIO
from typing import Any

import pytest
from playwright.async_api import CDPSession, Frame, Page

from tests.e2e.sites.varied_site import VariedSite
from tests.e2e.support.app import expect_value
from tests.e2e.support.extension_browser import ExtensionBrowser
from tests.e2e.support.reported_ticket import report_page
from tests.support.server import World, ok
from ticketbox.http.extension_zip import EXTENSION

pytestmark = pytest.mark.long

PRIVATE, FORGED = "private-to-the-victim", "forged-by-the-attacker"
LISTEN = """() => {
  globalThis.sent = [];
  const { runtime } = chrome;
  const send = runtime.sendMessage.bind(runtime);
  runtime.sendMessage = (...given) => { sent.push(given[0]); return send(...given); };
}"""
SEND = """function (messages) {
  const late = () => new Promise((done) => setTimeout(done, 2000, null));
  const answer = (message) => chrome.runtime.sendMessage(message).then((each) => each ?? null, String);
  return Promise.all(messages.map((message) => Promise.race([answer(message), late()])));
}"""
CONNECT = """function (messages) {
  const heard = [];
  for (const name of ["", "popup", "options", "editor", "keep-alive"]) {
    try {
      const port = chrome.runtime.connect({ name });
      port.onMessage.addListener((message) => heard.push(message));
      for (const message of messages) port.postMessage(message);
    } catch (error) {
      heard.push(String(error));
    }
  }
  return new Promise((done) => setTimeout(done, 2000, heard));
}"""
READ_STORES = """async function () {
  const read = async (area) => { try { return await chrome.storage[area].get(null); } catch (error) { return null; } };
  const names = async () => { try { return await indexedDB.databases(); } catch (error) { return []; } };
  return [await read("local"), await read("session"), await read("sync"), await names()];
}"""
SNAPSHOT = """async () => {
  const opened = await new Promise((done) => { indexedDB.open("ticketbox").onsuccess = (e) => done(e.target.result); });
  const stores = {};
  for (const name of opened.objectStoreNames) {
    const all = opened.transaction(name).objectStore(name).getAllKeys();
    stores[name] = await new Promise((done) => { all.onsuccess = () => done(all.result); });
  }
  opened.close();
  const own = await chrome.tabs.getCurrent();
  const tabs = (await chrome.tabs.query({})).filter(({ id }) => id !== own.id);
  const local = await chrome.storage.local.get(null);
  return { stores, local, tabs: tabs.map(({ id, url = "" }) => [id, url]) };
}"""
FIND_TAB = "async (url) => (await chrome.tabs.query({})).find((each) => each.url === url).id"


def list_kinds(archive: bytes) -> list[str]:
    """Every kind of message that the files of the extension name."""
    with zipfile.ZipFile(BytesIO(archive)) as zipped:
        scripts = [zipped.read(name).decode() for name in zipped.namelist() if name.endswith(".js")]
    quoted = r"""(?:kind|type|action)(?:\s*[:=]=?=?\s*)["'`]([\w-]{2,40})["'`]|case\s*["'`]([\w-]{2,40})["'`]"""
    keys = r"""["'`]([a-z]+(?:-[a-z]+)+)["'`]\s*:"""
    found = {name for script in scripts for match in re.findall(f"{quoted}|{keys}", script) for name in match}
    return sorted(found - {""})


def forge(kinds: list[str], seen: list[Any], tab: int, address: str) -> list[Any]:
    """Messages about a tab: of every kind, in the shapes that a listener may expect, and like those that were seen.

    Those that start something come last.
    """
    known = {name: value for each in seen for name, value in each.items()}
    target = {"tabId": tab, "frameId": 0, "documentId": FORGED, "url": address, "origin": address}
    full = {
        **known, **target, "id": FORGED, "draft": FORGED, "address": address, "site": address, "pattern": "*://*/*",
        "origins": ["*://*/*"], "entries": [{"args": [FORGED]}], "value": FORGED, "title": FORGED, "tab": tab,
        "on": True,
    }  # fmt: skip
    nested = {**full, "tab": {"id": tab, "url": address, "title": FORGED}}
    shapes: list[dict[str, Any]] = [{}, {"tabId": tab}, {"tab": tab}, target, nested, full]
    return [*seen, *({**shape, "kind": kind} for shape in shapes for kind in kinds)]


class ContentWorld:
    """The world of the extension's content scripts in a page or one of its frames."""

    def __init__(self, session: CDPSession, context: int) -> None:
        self._session, self._context = session, context

    @classmethod
    async def find(cls, browser: ExtensionBrowser, page: Page | Frame) -> "ContentWorld":
        """Wait for the world."""
        session = await browser.context.new_cdp_session(page)
        contexts: list[dict[str, Any]] = []
        session.on("Runtime.executionContextCreated", lambda event: contexts.append(event["context"]))
        await session.send("Runtime.enable")
        async with asyncio.timeout(30):
            while True:
                for each in contexts:
                    if each["origin"] == f"chrome-extension://{browser.id}":
                        return cls(session, each["id"])
                await asyncio.sleep(0.05)

    async def call(self, function: str, *arguments: Any) -> Any:
        """Call a function in it, and return its result."""
        given = {
            "functionDeclaration": function, "executionContextId": self._context, "awaitPromise": True,
            "returnByValue": True, "arguments": [{"value": each} for each in arguments],
        }  # fmt: skip
        result = await self._session.send("Runtime.callFunctionOn", given)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")


async def ask_extension(browser: ExtensionBrowser, script: str, argument: Any = None) -> Any:
    """Run a script in a page of the extension."""
    options = await browser.open_options()
    result = await options.evaluate(script, argument)
    await options.close()
    return result


async def watch_popup(browser: ExtensionBrowser, page: Page) -> list[Any]:
    """Capture the full page, and return the messages of the popup."""
    popup = await browser.open_popup(page)
    await popup.evaluate(LISTEN)
    await popup.get_by_role("button", name="Capture full page").click()
    await popup.get_by_alt_text("The full page").wait_for()
    sent = await popup.evaluate("() => sent")
    await popup.close()
    return sent


async def open_victim(browser: ExtensionBrowser, site: VariedSite) -> Page:
    """A page whose address, title and console are nobody else's business."""
    page = await browser.context.new_page()
    await page.goto(f"{site.url}/plain?{PRIVATE}")
    await page.evaluate(f"console.log('{PRIVATE}'); document.title = '{PRIVATE}'")
    return page


@pytest.mark.parametrize("attacker", ["in another tab", "in a later page of the tab"])
def test_attack_with_forged_messages_starts_nothing_and_learns_nothing(
    recording_browser: ExtensionBrowser, reporter: World, varied_site: VariedSite, attacker: str
) -> None:
    browser, foreign = recording_browser, varied_site.url.replace("127.0.0.1", "127.0.0.2")
    kinds = list_kinds((EXTENSION / "chromium.zip").read_bytes())
    tickets = {"project_id": reporter.project, "limit": 100}
    before = ok(reporter.api.get("/tickets", params=tickets))["items"]

    async def attack() -> tuple[list[Any], Any, Any, list[Any]]:
        victim = await open_victim(browser, varied_site)
        seen = await watch_popup(browser, victim)
        target = await ask_extension(browser, FIND_TAB, victim.url)
        if attacker == "in another tab":
            page = await browser.context.new_page()
        else:
            page, victim = victim, await open_victim(browser, varied_site)
            target = await ask_extension(browser, FIND_TAB, victim.url)
        await page.goto(f"{foreign}/plain")
        world = await ContentWorld.find(browser, page)
        state = await ask_extension(browser, SNAPSHOT)
        messages = forge(kinds, seen, target, victim.url)
        answers = [await world.call(SEND, messages[first : first + 50]) for first in range(0, len(messages), 50)]
        answers += [await world.call(CONNECT, messages), await world.call(READ_STORES)]
        answers.append(await page.evaluate("(id) => String(globalThis.chrome?.runtime?.sendMessage)", browser.id))
        after = await ask_extension(browser, SNAPSHOT)
        await victim.close()
        await page.close()
        return answers, state, after, seen

    answers, state, after, seen = browser.run(attack())
    assert "capture-full-page" in {each["kind"] for each in seen} <= set(kinds)
    shown = json.dumps(answers)
    for secret in (PRIVATE, "tok_", reporter.project, reporter.company, reporter.owner.name, "First project"):
        assert secret not in shown, shown[max(0, shown.find(secret) - 300) :][:600]
    assert after == state
    assert ok(reporter.api.get("/tickets", params=tickets))["items"] == before


def build_forged_record(tab: int, address: str) -> dict[str, Any]:
    """What a script says when its page is left, about another tab."""
    now = int(time.time() * 1000)
    line = {"seq": 1, "ts": now, "level": "log", "args": [FORGED]}
    streams = {"startedAt": now, "console": [line], "network": [], "errors": []}
    dropped = {"console": 0, "network": 0, "errors": 0}
    return {
        "kind": "hand-over", "document": FORGED, "isTop": True, "leftAt": now, "hasPredecessor": False, "tab": tab,
        "tabId": tab, "url": address, "origin": address, "pageRecord": json.dumps({**streams, "dropped": dropped}),
        "actions": {"entries": [], "dropped": 0},
    }  # fmt: skip


async def list_tabs_with_forged_records(browser: ExtensionBrowser) -> list[str]:
    """The tabs for which the extension keeps something forged."""
    kept = await ask_extension(browser, "() => chrome.storage.session.get(null)")
    return [name for name, value in kept.items() if FORGED in json.dumps(value)]


def test_attack_with_forged_messages_adds_nothing_to_reports_of_others(
    recording_browser: ExtensionBrowser, reporter: World, varied_site: VariedSite
) -> None:
    """The attacker claims to be the reported tab: what it says is kept for its own."""
    browser, foreign = recording_browser, varied_site.url.replace("127.0.0.1", "127.0.0.2")
    kinds = list_kinds((EXTENSION / "chromium.zip").read_bytes())

    async def visit(victim: Page) -> None:
        await victim.goto(f"{varied_site.url}/plain?{PRIVATE}")
        await victim.evaluate(f"console.log('{PRIVATE}')")
        page = await browser.context.new_page()
        await page.goto(f"{foreign}/plain")
        world = await ContentWorld.find(browser, page)
        target, own = [await ask_extension(browser, FIND_TAB, each.url) for each in (victim, page)]
        record = build_forged_record(target, victim.url)
        await world.call(SEND, [*forge(kinds, [], target, victim.url), record])
        await expect_value(lambda: list_tabs_with_forged_records(browser), [f"tab-{own}"])
        await page.close()

    ticket = report_page(browser, reporter, visit)
    assert [PRIVATE] in ticket.console_args()
    assert FORGED not in json.dumps([ticket.record, ticket.streams])


def test_attack_by_embedding_pages_of_the_extension_shows_none(
    recording_browser: ExtensionBrowser, varied_site: VariedSite
) -> None:
    """Nothing of the extension can be framed, opened or loaded by a page."""
    with zipfile.ZipFile(BytesIO((EXTENSION / "chromium.zip").read_bytes())) as zipped:
        names = zipped.namelist()

    async def attack() -> tuple[list[str], list[str]]:
        page = await recording_browser.context.new_page()
        await page.goto(f"{varied_site.url}/plain")
        base = f"chrome-extension://{recording_browser.id}"
        load = "(url) => fetch(url).then(() => url, () => null)"
        loaded = [await page.evaluate(load, f"{base}/{name}") for name in names]
        for name in names:
            if name.endswith(".html"):
                await page.evaluate(
                    "(src) => new Promise((done) => { const frame = document.createElement('iframe');"
                    " Object.assign(frame, { src, onload: done, onerror: done }); document.body.append(frame); })",
                    f"{base}/{name}",
                )
        framed = [each.url for each in page.frames if each.url.startswith(base)]
        await page.close()
        return [each for each in loaded if each], framed

    assert recording_browser.run(attack()) == ([], [])
