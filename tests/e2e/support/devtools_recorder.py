"""Records a page through the DevTools protocol, in the format of a capture.

Unlike the extension, it redacts nothing, so the server has to remove everything that must not be stored.
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
_PATIENCE_SECONDS = 60
_PAGE_FACTS = """() => ({
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
    """A capture without a destination: the envelope's facts, three streams and a screenshot."""

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
    """Records one page."""

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
        """Start recording. Events from before that the browser replays are ignored."""
        session = await page.context.new_cdp_session(page)
        recorder = cls(page, session)
        for event, handle in {
            "Runtime.consoleAPICalled": recorder._handle_console,
            "Runtime.exceptionThrown": recorder._handle_exception,
            "Log.entryAdded": recorder._handle_log,
            "Network.requestWillBeSent": recorder._handle_request,
            "Network.requestWillBeSentExtraInfo": lambda event: recorder._handle_headers("request", event),
            "Network.responseReceived": recorder._handle_response,
            "Network.responseReceivedExtraInfo": lambda event: recorder._handle_headers("response", event),
            "Network.requestServedFromCache": recorder._handle_from_cache,
            "Network.loadingFinished": recorder._handle_finished,
            "Network.loadingFailed": recorder._handle_failed,
        }.items():
            session.on(event, recorder._track(handle))
        for domain in ("Network", "Runtime", "Log"):
            await session.send(f"{domain}.enable")
        return recorder

    def _track(self, handle: Any) -> Any:
        def handle_and_track(event: Json) -> None:
            self._last_event = time.monotonic()
            handle(event)

        return handle_and_track

    def _next(self) -> int:
        self._seq += 1
        return self._seq

    # --- console and errors

    def _handle_console(self, event: Json) -> None:
        if event["timestamp"] < self._started:
            return
        frames = _convert_frames(event.get("stackTrace"))
        entry = {
            "seq": self._next(),
            "ts": event["timestamp"],
            "level": _LEVELS.get(event["type"], "log"),
            "args": [_format_argument(argument) for argument in event["args"]],
            "stack": _format_stack(frames) or None,
            "source": _format_location(frames[0]) if frames else None,
            "repeat": 1,
            "truncated": False,
            "frame": None,
        }
        last = self.console[-1] if self.console else None
        if last and all(last[key] == entry[key] for key in ("level", "args", "source")):
            last["repeat"] += 1
        else:
            self.console.append(entry)

    def _handle_exception(self, event: Json) -> None:
        if event["timestamp"] < self._started:
            return
        details = event["exceptionDetails"]
        thrown = details.get("exception", {})
        frames = _convert_frames(details.get("stackTrace"))
        stack = thrown.get("description", details["text"])
        name, _, message = stack.partition("\n")[0].partition(": ")
        kind = "unhandledrejection" if "(in promise)" in details["text"] else "error"
        self._add_error(
            event["timestamp"], kind, name, message, stack, frames, _format_location(frames[0]) if frames else None
        )

    def _handle_log(self, event: Json) -> None:
        entry = event["entry"]
        if entry["timestamp"] < self._started:
            return
        request = self._by_id.get(entry.get("networkRequestId", ""))
        if entry["source"] == "security":
            self._add_error(entry["timestamp"], "csp", "", entry["text"], None, [], entry.get("url"))
        elif request is not None and request["type"] in ("image", "stylesheet", "script"):
            self._add_error(entry["timestamp"], "resource", "", entry["text"], None, [], entry.get("url"))

    def _add_error(
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

    def _handle_request(self, event: Json) -> None:
        key = event["requestId"]
        if redirect := event.get("redirectResponse"):
            self._set_response(self._by_id[key], redirect)
            self._end_request(self._by_id[key], event["timestamp"])
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

    def _handle_headers(self, part: str, event: Json) -> None:
        self._extra.setdefault(event["requestId"], []).append((part, event["headers"]))

    def _handle_response(self, event: Json) -> None:
        if entry := self._by_id.get(event["requestId"]):
            self._set_response(entry, event["response"])

    def _set_response(self, entry: Json, response: Json) -> None:
        entry["status"], entry["status_text"] = response["status"], response["statusText"]
        entry["response"]["headers"] = dict(response["headers"])
        entry["response"]["mime"] = response["mimeType"]
        entry["from_cache"] = entry["from_cache"] or response.get("fromDiskCache", False)

    def _handle_from_cache(self, event: Json) -> None:
        if entry := self._by_id.get(event["requestId"]):
            entry["from_cache"] = True

    def _handle_finished(self, event: Json) -> None:
        if entry := self._by_id.get(event["requestId"]):
            entry["response"]["bytes"] = int(event["encodedDataLength"])
            self._end_request(entry, event["timestamp"])

    def _handle_failed(self, event: Json) -> None:
        if entry := self._by_id.get(event["requestId"]):
            entry["error"] = event["errorText"] or event.get("blockedReason") or "canceled"
            self._end_request(entry, event["timestamp"])

    def _end_request(self, entry: Json, at: float) -> None:
        entry["duration_ms"] = (at - entry["_at"]) * 1000
        entry["_open"] = False

    async def _load_bodies(self) -> None:
        for entry in self._requests:
            if entry["status"] is None or 300 <= entry["status"] < 400:
                continue
            got = await self._session.send("Network.getResponseBody", {"requestId": entry["_id"]})
            if got["base64Encoded"]:
                entry["response"]["omitted_reason"] = "binary"
            else:
                entry["response"]["body"] = got["body"]

    def _network_entries(self) -> list[Json]:
        """The requests with the headers as they were sent, including cookies."""
        for key, result in self._extra.items():
            hops = [entry for entry in self._requests if entry["_id"] == key and not entry["from_cache"]]
            for part in ("request", "response"):
                headers = [each for name, each in result if name == part]
                for entry, real in zip(hops, headers, strict=False):
                    entry[part]["headers"] = dict(real)
        return [{name: value for name, value in entry.items() if name[0] != "_"} for entry in self._requests]

    # --- the recording

    async def settle(self) -> None:
        """Wait until no request is open and no event arrives for a moment."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < deadline:
            quiet = time.monotonic() - self._last_event > _QUIET_SECONDS
            if quiet and not any(entry["_open"] for entry in self._requests):
                return
            await asyncio.sleep(0.02)
        raise AssertionError("the page didn't become idle")

    async def recording(self, form: str = "png") -> Recording:
        """Everything recorded so far, with a screenshot."""
        await self.settle()
        await self._load_bodies()
        seen = await self._page.evaluate(_PAGE_FACTS)
        health = {"status": "ok", "reason": None, "dropped": 0}
        if not await self._page.evaluate(_INJECTION):
            health.update(status="blocked", reason="csp")
            self.console, self.errors, self._requests = [], [], []
        elif self._started - seen["loaded"] > 1000:
            health.update(status="partial", reason="late_start")
        network = self._network_entries()
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


def _format_argument(argument: Json) -> str:
    """A console argument as text."""
    if argument["type"] == "string":
        return argument["value"]
    if "unserializableValue" in argument:
        return argument["unserializableValue"]
    preview = argument.get("preview")
    if preview and argument.get("subtype") in (None, "array") and argument["type"] == "object":
        parts = [_format_property(each, named=argument.get("subtype") != "array") for each in preview["properties"]]
        return ("[{}]" if argument.get("subtype") == "array" else "{{{}}}").format(", ".join(parts))
    if "description" in argument:
        return argument["description"]
    return json.dumps(argument["value"]) if "value" in argument else argument["type"]


def _format_property(each: Json, *, named: bool) -> str:
    value = json.dumps(each["value"], ensure_ascii=False) if each["type"] == "string" else each.get("value", "")
    return f"{each['name']}: {value}" if named else value


def _convert_frames(trace: Json | None) -> list[Json]:
    return [
        {
            "url": each["url"],
            "function": each["functionName"] or None,
            "line": each["lineNumber"] + 1,
            "column": each["columnNumber"] + 1,
        }
        for each in (trace or {}).get("callFrames", ())
    ]


def _format_location(frame: Json) -> str:
    return f"{frame['url']}:{frame['line']}:{frame['column']}"


def _format_stack(frames: list[Json]) -> str:
    return "\n".join(f"    at {each['function'] or '(anonymous)'} ({_format_location(each)})" for each in frames)
