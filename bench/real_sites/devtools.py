"""What the DevTools protocol reports of a tab: its frames, and the requests of its workers."""

import asyncio
from functools import partial
from typing import Any, NamedTuple, Self
from urllib.parse import parse_qsl, unquote, urlsplit

from playwright.async_api import CDPSession, Page, Response
from playwright.async_api import Request as PageRequest

Json = dict[str, Any]
LEVELS = {"debug": "debug", "warning": "warn", "error": "error", "assert": "error", "info": "info"}
NOT_LINES = {"clear", "endGroup", "profile", "profileEnd"}
EVENTS = (
    "Network.requestWillBeSent", "Network.webSocketCreated", "Network.responseReceived",
    "Network.webSocketHandshakeResponseReceived", "Runtime.consoleAPICalled", "Runtime.exceptionThrown",
    "Runtime.exceptionRevoked", "Page.frameNavigated", "Page.navigatedWithinDocument",
)  # fmt: skip


class Request(NamedTuple):
    """What identifies a request: not the values of its parameters, which a capture may have redacted."""

    method: str
    address: str
    status: int | None


def request_of(method: str, url: str, status: int | None) -> Request:
    """Return what identifies a request. `status`: None if no response came."""
    parts = urlsplit(url)
    names = ",".join(sorted({name for name, _ in parse_qsl(parts.query, keep_blank_values=True)}))
    return Request(method, f"{parts.scheme}://{parts.netloc}{unquote(parts.path)}?{names}", status)


class DevTools:
    """Listens to a tab. The lists have an index of the tab's page with each entry; 0 is the first page."""

    def __init__(self) -> None:
        self._requests: dict[str, Json] = {}
        self._of_workers: list[tuple[int, Request]] = []
        self._loaders: list[str] = []
        self._frame = self._address = ""
        self.lines: list[tuple[int, str, str]] = []  # page, level, first argument
        self.errors: dict[int, tuple[int, str]] = {}  # page, text
        self.navigations: list[tuple[int, str]] = []
        self.last_event = 0.0
        self.is_stopped = False

    @classmethod
    async def attach(cls, page: Page, session: CDPSession) -> Self:
        """Listen to a page, and to the requests of its workers."""
        self = cls()
        for method in EVENTS:
            session.on(method, partial(self._handle, method))
        page.on("response", self._handle_response)
        page.on("requestfailed", lambda request: self._add_of_worker(request, None))
        for domain in ("Network", "Runtime", "Page"):
            await session.send(f"{domain}.enable")
        self.last_event = asyncio.get_running_loop().time()
        return self

    async def wait_until_quiet(self, seconds: float = 1, patience: float = 20) -> None:
        """Wait until nothing has been reported for a while; sites that never rest are left after the patience."""
        end = asyncio.get_running_loop().time() + patience
        while (now := asyncio.get_running_loop().time()) < end and now - self.last_event < seconds:
            await asyncio.sleep(0.1)

    def requests(self) -> list[tuple[int, Request]]:
        """The requests over the network, with the page of each."""
        own = [
            (entry["page"], request_of(entry["method"], entry["url"], entry["status"]))
            for entry in self._requests.values()
            if entry["url"].startswith(("http", "ws"))
        ]
        return [*own, *((page, request) for page, request in self._of_workers if request.address.startswith("http"))]

    def _handle_response(self, response: Response) -> None:
        self._add_of_worker(response.request, response.status)

    def _add_of_worker(self, request: PageRequest, status: int | None) -> None:
        """Add a request that the page's own session doesn't report."""
        if self.is_stopped:
            return
        if not any(entry["url"] == request.url for entry in self._requests.values()) and not request.redirected_from:
            found = request_of(request.method, request.url, status)
            self._of_workers.append((self._page(), found))

    def _page(self, loader: str | None = None) -> int:
        if loader in self._loaders:
            return self._loaders.index(loader)
        return max(len(self._loaders) - 1, 0)

    def _handle(self, method: str, event: Json) -> None:
        if self.is_stopped:
            return
        self.last_event = asyncio.get_running_loop().time()
        key = event.get("requestId", "")
        match method:
            case "Network.requestWillBeSent":
                self._add_request(key, event["request"], event.get("loaderId"), event.get("type"))
            case "Network.webSocketCreated":
                self._add_request(key, {"method": "GET", "url": event["url"]}, None, "WebSocket")
            case "Network.responseReceived" | "Network.webSocketHandshakeResponseReceived":
                if entry := self._requests.get(key):
                    entry["status"] = event["response"]["status"]
            case "Runtime.consoleAPICalled" if event["type"] not in NOT_LINES:
                first = next(iter(event["args"]), {})
                text = str(first.get("value", first.get("description", "")))
                self.lines.append((self._page(), LEVELS.get(event["type"], "log"), text))
            case "Runtime.exceptionThrown":
                details = event["exceptionDetails"]
                text = details.get("exception", {}).get("description", details["text"])
                self.errors[details["exceptionId"]] = (self._page(), text)
            case "Runtime.exceptionRevoked":
                self.errors.pop(event["exceptionId"], None)
            case "Page.frameNavigated" if "parentId" not in event["frame"]:
                frame = event["frame"]
                if frame["url"].startswith("http"):
                    self._frame = frame["id"]
                    self._loaders.append(frame["loaderId"])
                    self._navigate(frame["url"] + frame.get("urlFragment", ""), is_new=True)
            case "Page.navigatedWithinDocument" if event["frameId"] == self._frame:
                self._navigate(event["url"])
            case _:
                pass

    def _add_request(self, key: str, sent: Json, loader: str | None, sort: str | None) -> None:
        if key in self._requests:  # it was redirected: the capture, too, has it once, with the first address
            self._requests[key].update(status=None)
            return
        page = self._page(loader)
        if sort == "Document" and loader == key and loader not in self._loaders:
            page = len(self._loaders)  # the request for the next page
        entry = {"method": sent["method"], "url": sent["url"], "status": None}
        self._requests[key] = {**entry, "page": page}

    def _navigate(self, address: str, *, is_new: bool = False) -> None:
        if is_new or address != self._address:
            self.navigations.append((self._page(), address))
        self._address = address
