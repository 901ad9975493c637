"""Shared by the measurements of the web app: servers with the same tickets, and browser tabs."""

import contextlib
import json
import shutil
import time
from collections import Counter
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, Self

import httpx
from playwright.sync_api import Browser, Page
from websockets.sync.client import connect

from bench.launch import ROOT, launch_ticketbox
from bench.replay import SECONDS, build_replay
from bench.seed import PASSWORD, seed
from bench.uploads import screenshot, streams
from ticketbox.edge.site import name_session_cookie

WINDOW = {"width": 1280, "height": 800}
CARDS = 1_000
LINES = 5_000
QUIET_S = 0.5


class Target(NamedTuple):
    """A server to measure, with its project, its ticket, and the one whose capture has a replay."""

    name: str
    url: str
    session: str
    project: str
    ticket: str
    replay: str


def build_cookies(target: Target) -> list[Any]:
    """Build the cookie of the session, and the one that earlier versions had."""
    names = ("ticketbox", name_session_cookie(target.url))
    return [{"name": name, "value": target.session, "url": target.url} for name in names]


class Tab:
    """A page in a fresh profile, with counts of its requests and bytes, and its processor time."""

    def __init__(self, browser: Browser, target: Target) -> None:
        self._context = browser.new_context(viewport=WINDOW)  # type: ignore[arg-type]
        self._context.add_cookies(build_cookies(target))
        self.page: Page = self._context.new_page()
        self.url = target.url
        self.requests: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self._types: dict[str, str] = {}
        self._cdp: Any = self._context.new_cdp_session(self.page)
        self._cdp.send("Network.enable")
        self._cdp.send("Performance.enable", {"timeDomain": "threadTicks"})
        self._cdp.on("Network.requestWillBeSent", self._count_request)
        self._cdp.on("Network.loadingFinished", self._count_bytes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._context.close()

    def slow_down(self, factor: int) -> None:
        """Slow the page's main thread down from now on."""
        self._cdp.send("Emulation.setCPUThrottlingRate", {"rate": factor})

    def open(self, path: str) -> None:
        """Load a path of the app, and wait until the network is idle."""
        self.page.goto(self.url + path)
        before = -1
        while before != (before := sum(self.kinds.values())):
            self.page.wait_for_timeout(QUIET_S * 1000)

    def cpu_ms(self) -> dict[str, float]:
        """Return the processor time of the main thread so far."""
        figures = {each["name"]: each["value"] for each in self._cdp.send("Performance.getMetrics")["metrics"]}
        return {name: figures[f"{name}Duration"] * 1000 for name in ("Task", "Script", "Layout", "RecalcStyle")}

    def _count_request(self, event: dict[str, Any]) -> None:
        self.requests[f"{event['request']['method']} {event['request']['url'].removeprefix(self.url)}"] += 1
        self._types[event["requestId"]] = event["type"]

    def _count_bytes(self, event: dict[str, Any]) -> None:
        self.kinds[self._types.get(event["requestId"], "Other")] += int(event["encodedDataLength"])


class QuietTab:
    """A page in a fresh profile that nobody listens to, as in a person's browser.

    A page of Playwright reports each request, context and console line, with stack traces, which takes a quarter of the
    time of a load. Here, its script has only `alert(text)`.
    """

    def __init__(self, browser: Browser, port: int, target: Target, script: str, slowed: int) -> None:
        self._browser: Any = browser.new_browser_cdp_session()
        self._context = self._browser.send("Target.createBrowserContext")["browserContextId"]
        profile = {"browserContextId": self._context}
        self._browser.send("Storage.setCookies", {**profile, "cookies": build_cookies(target)})
        page = self._browser.send("Target.createTarget", {**profile, **WINDOW, "url": "about:blank"})["targetId"]
        self._url = target.url
        self._page = connect(f"ws://127.0.0.1:{port}/devtools/page/{page}", max_size=None, proxy=None)
        self._send("Page.enable")
        self._send("Page.addScriptToEvaluateOnNewDocument", source=f"({script})()")
        self._send("Emulation.setCPUThrottlingRate", rate=slowed)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._page.close()
        self._browser.send("Target.disposeBrowserContext", {"browserContextId": self._context})
        self._browser.detach()

    def load(self, path: str) -> Any:
        """Load a path of the app, and return what the script alerts as JSON."""
        self._send("Page.navigate", url=self._url + path)
        opened = self._wait(lambda message: message.get("method") == "Page.javascriptDialogOpening")
        return json.loads(opened["params"]["message"])

    def _send(self, method: str, **params: Any) -> None:
        """Call a method of https://chromedevtools.github.io/devtools-protocol/."""
        self._page.send(json.dumps({"id": 1, "method": method, "params": params}))
        answer = self._wait(lambda message: "id" in message)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")

    def _wait(self, is_awaited: Callable[[Any], bool]) -> Any:
        while not is_awaited(message := json.loads(self._page.recv(timeout=60))):
            pass
        return message


@contextlib.contextmanager
def launch_targets(folder: Path, trees: list[Path]) -> Generator[list[Target]]:
    """Run a server of each tree on a copy of a file: 1,000 tickets in three columns, and one with a long capture."""
    seeded = seed(folder / "web.db", 20)
    with launch_ticketbox(seeded.db) as server, httpx.Client(base_url=f"{server.url}/api/v1", timeout=60) as client:

        def request(method: str, path: str, **options: Any) -> Any:
            response = client.request(method, path, **options)
            if response.is_error:
                raise RuntimeError(f"{method} {path}: {response.text[:500]}")
            return response.json()

        request("POST", "/session", json={"email": "bench@example.org", "password": PASSWORD})
        member = {"Authorization": f"Bearer {seeded.token}"}
        company = request("GET", "/companies")["items"][0]["id"]
        project = request("POST", f"/companies/{company}/projects", json={"name": "Shop"})["id"]
        columns = [each["id"] for each in request("GET", f"/projects/{project}/columns")["items"]]
        labels = ["checkout", "cart", "login"]

        def create_ticket(number: int) -> None:
            title = f"Ticket {number}: the cart stays empty after the coupon was used on a phone"
            body = {
                "column_id": columns[number % 3],
                "title": title[: 40 + number % 40],
                "labels": labels[: number % 4],
            }
            request("POST", "/tickets", json=body, headers=member)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(create_ticket, range(CARDS)))
        entries = {name: json.loads(text)[:LINES] for name, text in streams(5_000_000).items()}
        healthy = {name: {"status": "ok"} for name in entries}
        capture = {
            "id": "bench-web-capture", "column_id": columns[2], "captured_at": time.time() * 1000, "health": healthy,
            "page": {"url": "https://shop.example/cart", "title": "Cart"},
        }  # fmt: skip
        parts = {name: (None, json.dumps(part)) for name, part in {"capture": capture, **entries}.items()}
        parts["screenshot"] = ("shot.png", screenshot(300_000))  # type: ignore[assignment]
        ticket = request("POST", "/captures", files=parts, headers=member)["ticket_id"]
        request("PATCH", f"/tickets/{ticket}", json={"description": "The cart stays empty."}, headers={"If-Match": "*"})
        events = build_replay(capture["captured_at"] - SECONDS * 1000)
        health = {**healthy, "replay": {"status": "ok", "captured": len(events)}}
        page = {**capture, "id": "bench-web-replay", "health": health}
        shown = {"capture": (None, json.dumps(page)), "replay": ("replay.json", json.dumps(events))}
        shown["screenshot"] = parts["screenshot"]
        replay = request("POST", "/captures", files=shown, headers=member)["ticket_id"]
        session = client.cookies[name_session_cookie(server.url)]
    with contextlib.ExitStack() as stack:
        targets: list[Target] = []
        for number, tree in enumerate([ROOT, *trees]):
            db = folder / str(number) / "web.db"
            db.parent.mkdir()
            shutil.copy(seeded.db, db)
            name = tree.name if number else "ticketbox"
            url = stack.enter_context(launch_ticketbox(db, tree)).url
            targets.append(Target(name, url, session, project, ticket, replay))
        yield targets
