"""What the measurements of the web app share: servers with the same tickets, and a tab of a browser."""

import contextlib
import json
import shutil
import time
from collections import Counter
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, Self

import httpx
from playwright.sync_api import Browser, Page

from bench.seed import PASSWORD, seed
from bench.serving import ROOT, ticketbox
from bench.uploads import screenshot, streams

WINDOW = {"width": 1280, "height": 800}
CARDS = 1_000
LINES = 5_000
QUIET_S = 0.5


class Prepared(NamedTuple):
    """A server that is measured, and what is on it."""

    name: str
    url: str
    session: str
    project: str
    ticket: str


class Tab:
    """A page in a fresh profile, and what its network and its processor time came to."""

    def __init__(self, browser: Browser, prepared: Prepared, script: str | None = None, slowed: int = 1) -> None:
        self._context = browser.new_context(viewport=WINDOW)  # type: ignore[arg-type]
        self._context.add_cookies([{"name": "ticketbox", "value": prepared.session, "url": prepared.url}])
        self.page: Page = self._context.new_page()
        self.url = prepared.url
        self.asked: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self._types: dict[str, str] = {}
        self._cdp: Any = self._context.new_cdp_session(self.page)
        self._cdp.send("Network.enable")
        self._cdp.send("Performance.enable", {"timeDomain": "threadTicks"})
        self._cdp.on("Network.requestWillBeSent", self._sent)
        self._cdp.on("Network.loadingFinished", self._loaded)
        self.slow_down(slowed)
        if script:
            self.page.add_init_script(f"({script})()")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._context.close()

    def slow_down(self, factor: int) -> None:
        """Give the page's main thread less of the processor from now on."""
        self._cdp.send("Emulation.setCPUThrottlingRate", {"rate": factor})

    def open(self, path: str) -> None:
        """Load an address of the app, and wait until the network has been quiet for a moment."""
        self.page.goto(self.url + path)
        before = -1
        while before != (before := sum(self.kinds.values())):
            self.page.wait_for_timeout(QUIET_S * 1000)

    def cpu_ms(self) -> dict[str, float]:
        """Processor time of the main thread so far."""
        figures = {each["name"]: each["value"] for each in self._cdp.send("Performance.getMetrics")["metrics"]}
        return {name: figures[f"{name}Duration"] * 1000 for name in ("Task", "Script", "Layout", "RecalcStyle")}

    def _sent(self, event: dict[str, Any]) -> None:
        self.asked[f"{event['request']['method']} {event['request']['url'].removeprefix(self.url)}"] += 1
        self._types[event["requestId"]] = event["type"]

    def _loaded(self, event: dict[str, Any]) -> None:
        self.kinds[self._types.get(event["requestId"], "Other")] += int(event["encodedDataLength"])


@contextlib.contextmanager
def prepared(folder: Path, trees: list[Path]) -> Generator[list[Prepared]]:
    """A server of each tree on its copy of one file: 1,000 tickets in three columns, and one with a long capture."""
    seeded = seed(folder / "web.db", 20)
    with ticketbox(seeded.db) as server, httpx.Client(base_url=f"{server.url}/api/v1", timeout=60) as client:

        def ask(method: str, path: str, **given: Any) -> Any:
            answer = client.request(method, path, **given)
            if answer.is_error:
                raise RuntimeError(f"{method} {path}: {answer.text[:500]}")
            return answer.json()

        ask("POST", "/session", json={"email": "bench@example.org", "password": PASSWORD})
        member = {"Authorization": f"Bearer {seeded.token}"}
        company = ask("GET", "/companies")["items"][0]["id"]
        project = ask("POST", f"/companies/{company}/projects", json={"name": "Shop"})["id"]
        columns = [each["id"] for each in ask("GET", f"/projects/{project}/columns")["items"]]
        labels = ["checkout", "cart", "login"]

        def make(number: int) -> None:
            title = f"Ticket {number}: the cart stays empty after the coupon was used on a phone"
            body = {
                "column_id": columns[number % 3],
                "title": title[: 40 + number % 40],
                "labels": labels[: number % 4],
            }
            ask("POST", "/tickets", json=body, headers=member)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(make, range(CARDS)))
        entries = {name: json.loads(text)[:LINES] for name, text in streams(5_000_000).items()}
        healthy = {name: {"status": "ok"} for name in entries}
        facts = {
            "id": "bench-web-capture", "column_id": columns[2], "captured_at": time.time() * 1000, "health": healthy,
            "page": {"url": "https://shop.example/cart", "title": "Cart"},
        }  # fmt: skip
        parts = {name: (None, json.dumps(told)) for name, told in {"capture": facts, **entries}.items()}
        parts["screenshot"] = ("shot.png", screenshot(300_000))  # type: ignore[assignment]
        ticket = ask("POST", "/captures", files=parts, headers=member)["ticket_id"]
        ask("PATCH", f"/tickets/{ticket}", json={"description": "The cart stays empty."}, headers={"If-Match": "*"})
        session = client.cookies["ticketbox"]
    with contextlib.ExitStack() as stack:
        found: list[Prepared] = []
        for number, tree in enumerate([ROOT, *trees]):
            db = folder / str(number) / "web.db"
            db.parent.mkdir()
            shutil.copy(seeded.db, db)
            name = tree.name if number else "ticketbox"
            found.append(Prepared(name, stack.enter_context(ticketbox(db, tree)).url, session, project, ticket))
        yield found
