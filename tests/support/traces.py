"""Traces as Playwright writes them."""

import io
import json
import zipfile
from typing import Any

from tests.support.pictures import png

PAGE = "https://shop.example/cart"
CONTEXT = {
    "version": 10, "type": "context-options", "origin": "library", "browserName": "chromium", "platform": "linux",
    "playwrightVersion": "1.65.1", "wallTime": 1_795_253_390_000, "monotonicTime": 1_000,
    "title": "cart.spec.ts › pays", "options": {"viewport": {"width": 1280, "height": 720}},
}  # fmt: skip
EVENTS: list[dict[str, Any]] = [
    {"type": "before", "startTime": 1_010, "class": "Frame", "method": "goto", "params": {"url": PAGE}},
    {"type": "before", "startTime": 1_020, "class": "Frame", "method": "fill",
     "params": {"selector": 'internal:label="Code"i', "value": "hunter2-secret"}},
    {"type": "before", "startTime": 1_030, "class": "Frame", "method": "press",
     "params": {"selector": "input >> nth=0", "key": "Control+a"}},
    {"type": "before", "startTime": 1_040, "class": "Frame", "method": "click",
     "params": {"selector": 'internal:role=button[name="Pay"i]'}},
    {"type": "before", "startTime": 1_045, "class": "Frame", "method": "expect", "params": {}},
    {"type": "console", "messageType": "warning", "text": "slow 3", "args": [{"preview": "slow"}, {"preview": "3"}],
     "location": {"url": PAGE, "lineNumber": 0, "columnNumber": 9}, "time": 1_050},
    {"type": "event", "time": 1_060, "class": "BrowserContext", "method": "pageError", "params": {"error": {"error": {
        "name": "TypeError", "message": "cart is null",
        "stack": f"TypeError: cart is null\n    at pay ({PAGE}/app.js:3:7)"}}}},
    {"type": "screencast-frame", "file": "screencast/1.jpeg", "timestamp": 1_055},
    {"type": "screencast-frame", "file": "screencast/2.png", "timestamp": 1_065},
]  # fmt: skip
REQUEST = {
    "type": "resource-snapshot",
    "snapshot": {
        "startedDateTime": "2026-11-21T09:29:50.045Z", "time": 12.5, "_resourceType": "fetch",
        "request": {"method": "POST", "url": "https://shop.example/api/pay", "headers": [
            {"name": "User-Agent", "value": "Mozilla/5.0 HeadlessChrome/156.0.0.0 Safari/537.36"},
            {"name": "Authorization", "value": "Bearer sk_live_abcdefghijklmnop123456"}]},
        "response": {"status": 500, "statusText": "Internal Server Error", "headers": [],
                     "content": {"size": 16, "mimeType": "application/json", "_file": "resources/a.json"}},
    },
}  # fmt: skip


def build_trace(
    events: list[Any] = EVENTS, context: Any = CONTEXT, extra: str | None = None, network: str = json.dumps(REQUEST)
) -> bytes:
    """Build a trace of one browser context."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("trace.trace", "\n".join(json.dumps(each) for each in [context, *events]))
        made.writestr("trace.network", network)
        made.writestr("resources/a.json", '{"error": "boom"}')
        made.writestr("screencast/1.jpeg", b"\xff\xd8")
        made.writestr("screencast/2.png", png())
        if extra is not None:
            made.writestr(extra, "{}")
    return buffer.getvalue()
