"""What a browser really reports of a page, put into the shape of a capture.

It stands where the extension will stand, but takes everything from the debugging protocol and redacts
nothing: all that must not be stored is the server's to take out.
"""

import asyncio
import hashlib
import json
import time
from base64 import b64decode
from typing import Any, Self

import msgspec
from playwright.async_api import CDPSession, Page

Json = dict[str, Any]

_LEVELS = {"debug": "debug", "log": "log", "info": "info", "warning": "warn", "error": "error"}
_QUIET_SECONDS = 0.15
_PATIENCE_SECONDS = 15
_SURROUNDINGS = """() => ({
  page: {url: location.href, title: document.title, referrer: document.referrer || null},
  environment: {
    browser: navigator.userAgent, os: navigator.platform,
    viewport: {width: innerWidth, height: innerHeight}, screen: {width: screen.width, height: screen.height},
    dpr: devicePixelRatio, language: navigator.language,
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  },
  loaded: performance.timeOrigin,
})"""
_INJECTION = """() => {
  const script = document.createElement("script");
  script.textContent = "document.documentElement.dataset.injected = 'yes'";
  document.head.append(script);
  script.remove();
  return document.documentElement.dataset.injected === "yes";
}"""


class Recording(msgspec.Struct):
    """A capture without its addressee: the envelope's facts, three streams and a screenshot."""

    facts: Json
    console: list[Json]
    network: list[Json]
    errors: list[Json]
    screenshot: bytes

    @property
    def streams(self) -> dict[str, list[Json]]:
        """The streams by name."""
        return {"console": self.console, "network": self.network, "errors": self.errors}


class DevToolsRecorder:
    """Listens to a page from now on."""

    def __init__(self, page: Page, session: CDPSession) -> None:
        self._page = page
        self._session = session
        self._started = time.time() * 1000
        self._seq = 0
        self._last_event = time.monotonic()
        self.console: list[Json] = []
        self.errors: list[Json] = []
        self._requests: list[Json] = []
        self._by_id: dict[str, Json] = {}
        self._extra: dict[str, list[tuple[str, Json]]] = {}

    @classmethod
    async def attach(cls, page: Page) -> Self:
        """Begin to listen. What the browser still remembers from before is not taken."""
        session = await page.context.new_cdp_session(page)
        collector = cls(page, session)
        for event, take in {
            "Runtime.consoleAPICalled": collector._console,
            "Runtime.exceptionThrown": collector._exception,
            "Log.entryAdded": collector._log,
            "Network.requestWillBeSent": collector._request,
            "Network.requestWillBeSentExtraInfo": lambda event: collector._headers("request", event),
            "Network.responseReceived": collector._response,
            "Network.responseReceivedExtraInfo": lambda event: collector._headers("response", event),
            "Network.requestServedFromCache": collector._from_cache,
            "Network.loadingFinished": collector._finished,
            "Network.loadingFailed": collector._failed,
        }.items():
            session.on(event, collector._noting(take))
        for domain in ("Network", "Runtime", "Log"):
            await session.send(f"{domain}.enable")
        return collector

    def _noting(self, take: Any) -> Any:
        def noted(event: Json) -> None:
            self._last_event = time.monotonic()
            take(event)

        return noted

    def _next(self) -> int:
        self._seq += 1
        return self._seq

    # --- console and errors

    def _console(self, event: Json) -> None:
        if event["timestamp"] < self._started:
            return
        frames = _frames(event.get("stackTrace"))
        entry = {
            "seq": self._next(),
            "ts": event["timestamp"],
            "level": _LEVELS.get(event["type"], "log"),
            "args": [_as_text(argument) for argument in event["args"]],
            "stack": _stack(frames) or None,
            "source": _place(frames[0]) if frames else None,
            "repeat": 1,
            "truncated": False,
            "frame": None,
        }
        last = self.console[-1] if self.console else None
        if last and all(last[key] == entry[key] for key in ("level", "args", "source")):
            last["repeat"] += 1
        else:
            self.console.append(entry)

    def _exception(self, event: Json) -> None:
        if event["timestamp"] < self._started:
            return
        details = event["exceptionDetails"]
        thrown = details.get("exception", {})
        frames = _frames(details.get("stackTrace"))
        stack = thrown.get("description", details["text"])
        name, _, message = stack.partition("\n")[0].partition(": ")
        kind = "unhandledrejection" if "(in promise)" in details["text"] else "error"
        self._error(event["timestamp"], kind, name, message, stack, frames, _place(frames[0]) if frames else None)

    def _log(self, event: Json) -> None:
        entry = event["entry"]
        if entry["timestamp"] < self._started:
            return
        request = self._by_id.get(entry.get("networkRequestId", ""))
        if entry["source"] == "security":
            self._error(entry["timestamp"], "csp", "", entry["text"], None, [], entry.get("url"))
        elif request is not None and request["type"] in ("image", "stylesheet", "script"):
            self._error(entry["timestamp"], "resource", "", entry["text"], None, [], entry.get("url"))

    def _error(
        self, ts: float, kind: str, name: str, message: str, stack: str | None, frames: list[Json], source: str | None
    ) -> None:
        origin = json.dumps([kind, name, message, frames[:1]])
        fingerprint = hashlib.sha256(origin.encode()).hexdigest()[:16]
        for known in self.errors:
            if known["fingerprint"] == fingerprint:
                known["count"] += 1
                return
        self.errors.append(
            {
                "seq": self._next(),
                "ts": ts,
                "kind": kind,
                "name": name,
                "message": message,
                "stack": stack,
                "frames": frames,
                "source": source,
                "fingerprint": fingerprint,
                "count": 1,
                "frame": None,
            }
        )

    # --- network

    def _request(self, event: Json) -> None:
        key = event["requestId"]
        if redirect := event.get("redirectResponse"):
            self._answered(self._by_id[key], redirect)
            self._ended(self._by_id[key], event["timestamp"])
        sent = event["request"]
        hop = sum(each["_id"] == key for each in self._requests)
        body = sent.get("postData")
        entry = {
            "_id": key,
            "_at": event["timestamp"],
            "_open": True,
            "id": f"{key}.{hop}",
            "ts": event["wallTime"] * 1000,
            "method": sent["method"],
            "url": sent["url"] + sent.get("urlFragment", ""),
            "status": None,
            "status_text": "",
            "type": event.get("type", "other").lower(),
            "initiator": event["initiator"].get("url") or event.get("documentURL"),
            "duration_ms": None,
            "request": {
                "headers": dict(sent["headers"]),
                "body": body,
                "bytes": None if body is None else len(body.encode()),
                "omitted_reason": None,
            },
            "response": {"headers": {}, "body": None, "bytes": None, "mime": None, "omitted_reason": None},
            "error": None,
            "from_cache": False,
            "frame": None,
        }
        self._requests.append(entry)
        self._by_id[key] = entry

    def _headers(self, part: str, event: Json) -> None:
        self._extra.setdefault(event["requestId"], []).append((part, event["headers"]))

    def _response(self, event: Json) -> None:
        if entry := self._by_id.get(event["requestId"]):
            self._answered(entry, event["response"])

    def _answered(self, entry: Json, response: Json) -> None:
        entry["status"], entry["status_text"] = response["status"], response["statusText"]
        entry["response"]["headers"] = dict(response["headers"])
        entry["response"]["mime"] = response["mimeType"]
        entry["from_cache"] = entry["from_cache"] or response.get("fromDiskCache", False)

    def _from_cache(self, event: Json) -> None:
        if entry := self._by_id.get(event["requestId"]):
            entry["from_cache"] = True

    def _finished(self, event: Json) -> None:
        if entry := self._by_id.get(event["requestId"]):
            entry["response"]["bytes"] = int(event["encodedDataLength"])
            self._ended(entry, event["timestamp"])

    def _failed(self, event: Json) -> None:
        if entry := self._by_id.get(event["requestId"]):
            entry["error"] = event["errorText"] or event.get("blockedReason") or "canceled"
            self._ended(entry, event["timestamp"])

    def _ended(self, entry: Json, at: float) -> None:
        entry["duration_ms"] = (at - entry["_at"]) * 1000
        entry["_open"] = False

    async def _bodies(self) -> None:
        for entry in self._requests:
            if entry["status"] is None or 300 <= entry["status"] < 400:
                continue
            got = await self._session.send("Network.getResponseBody", {"requestId": entry["_id"]})
            if got["base64Encoded"]:
                entry["response"]["omitted_reason"] = "binary"
            else:
                entry["response"]["body"] = got["body"]

    def _network(self) -> list[Json]:
        """The requests with the headers that really went over the wire, cookies among them."""
        for key, found in self._extra.items():
            hops = [entry for entry in self._requests if entry["_id"] == key and not entry["from_cache"]]
            for part in ("request", "response"):
                headers = [each for name, each in found if name == part]
                for entry, real in zip(hops, headers, strict=False):
                    entry[part]["headers"] = dict(real)
        return [{name: value for name, value in entry.items() if name[0] != "_"} for entry in self._requests]

    # --- the whole

    async def settle(self) -> None:
        """Wait until no request is open and nothing was heard for a moment."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < deadline:
            quiet = time.monotonic() - self._last_event > _QUIET_SECONDS
            if quiet and not any(entry["_open"] for entry in self._requests):
                return
            await asyncio.sleep(0.02)
        raise AssertionError("the page didn't come to rest")

    async def recording(self, form: str = "png") -> Recording:
        """Everything up to now, with a screenshot."""
        await self.settle()
        await self._bodies()
        seen = await self._page.evaluate(_SURROUNDINGS)
        health = {"status": "ok", "reason": None, "dropped": 0}
        if not await self._page.evaluate(_INJECTION):
            health.update(status="blocked", reason="csp")
            self.console, self.errors, self._requests = [], [], []
        elif self._started - seen["loaded"] > 1000:
            health.update(status="partial", reason="late_start")
        network = self._network()
        size = seen["environment"]["viewport"]
        clip = {"x": 0, "y": 0, **size, "scale": seen["environment"]["dpr"]}
        shot = await self._session.send("Page.captureScreenshot", {"format": form, "clip": clip})
        return Recording(
            facts={
                "page": seen["page"],
                "environment": seen["environment"],
                "captured_at": time.time() * 1000,
                "health": {
                    "console": {**health, "captured": len(self.console)},
                    "network": {**health, "captured": len(network)},
                    "errors": {**health, "captured": len(self.errors)},
                    "history_started_at": max(self._started, seen["loaded"]),
                    "page_loaded_at": seen["loaded"],
                },
                "redaction": {"headers": 1, "query": 2, "keys": 3, "patterns": 4, "extra": 5},
            },
            console=self.console,
            network=network,
            errors=self.errors,
            screenshot=b64decode(shot["data"]),
        )


def _as_text(argument: Json) -> str:
    """A console argument as a person reads it."""
    if argument["type"] == "string":
        return argument["value"]
    if "unserializableValue" in argument:
        return argument["unserializableValue"]
    preview = argument.get("preview")
    if preview and argument.get("subtype") in (None, "array") and argument["type"] == "object":
        parts = [_property(each, named=argument.get("subtype") != "array") for each in preview["properties"]]
        return ("[{}]" if argument.get("subtype") == "array" else "{{{}}}").format(", ".join(parts))
    if "description" in argument:
        return argument["description"]
    return json.dumps(argument["value"]) if "value" in argument else argument["type"]


def _property(each: Json, *, named: bool) -> str:
    value = json.dumps(each["value"], ensure_ascii=False) if each["type"] == "string" else each.get("value", "")
    return f"{each['name']}: {value}" if named else value


def _frames(trace: Json | None) -> list[Json]:
    return [
        {
            "url": each["url"],
            "function": each["functionName"] or None,
            "line": each["lineNumber"] + 1,
            "column": each["columnNumber"] + 1,
        }
        for each in (trace or {}).get("callFrames", ())
    ]


def _place(frame: Json) -> str:
    return f"{frame['url']}:{frame['line']}:{frame['column']}"


def _stack(frames: list[Json]) -> str:
    return "\n".join(f"    at {each['function'] or '(anonymous)'} ({_place(each)})" for each in frames)
