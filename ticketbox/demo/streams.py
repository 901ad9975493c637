"""What a browser would have recorded: short ways to write console lines, requests and errors down.

`ago` is seconds before the capture.
"""

import hashlib
from typing import Any

SHOP, OFFICE = "https://shop.lumenandoak.example", "https://office.lumenandoak.example"

Entry = dict[str, Any]


def log(ago: float, level: str, *args: str, source: str | None = None, repeat: int = 1) -> Entry:
    """A console line."""
    return {"ago": ago, "level": level, "args": list(args), "source": source, "repeat": repeat}


def request(
    ago: float,
    method: str,
    url: str,
    status: int | None,
    ms: float | None,
    *,
    kind: str = "fetch",
    mime: str = "application/json",
    size: int = 900,
    sent: str | None = None,
    got: str | None = None,
    error: str | None = None,
) -> Entry:
    """A request and its response; `sent` and `got` are their bodies."""
    headers = {} if status is None else {"content-type": mime, "server": "lo-edge", "x-trace": _short(url, ago)}
    asked = {"accept": "*/*"} if kind != "fetch" else {"accept": "application/json", "authorization": "Bearer "}
    return {
        "ago": ago,
        "method": method,
        "url": url,
        "status": status,
        "status_text": "",
        "type": kind,
        "duration_ms": ms,
        "request": {"headers": asked, "body": sent, "bytes": len(sent or "")},
        "response": {"headers": headers, "body": got, "bytes": len(got) if got else size, "mime": mime}
        if status is not None
        else {},
        "error": error,
    }


def failure(
    ago: float, name: str, message: str, *frames: str, kind: str = "error", count: int = 1, source: str | None = None
) -> Entry:
    """An error that the page didn't handle. A frame is `function file:line:column`, innermost first."""
    parts = [_frame(text) for text in frames]
    lines = [f"    at {part['function']} ({part['url']}:{part['line']}:{part['column']})" for part in parts]
    return {
        "ago": ago,
        "kind": kind,
        "name": name,
        "message": message,
        "stack": "\n".join([f"{name}: {message}", *lines]) if lines else None,
        "frames": parts,
        "source": source,
        "fingerprint": _short(name + message, 0),
        "count": count,
    }


def loading(host: str, page: str, ago: float) -> list[Entry]:
    """The requests that every page begins with."""
    script, style = f"{host}/assets/app-6f1c2d.js", f"{host}/assets/app-91be07.css"
    return [
        request(ago, "GET", host + page, 200, 84, kind="document", mime="text/html", size=5_120),
        request(ago - 0.1, "GET", script, 200, 41, kind="script", mime="text/javascript", size=184_320),
        request(ago - 0.1, "GET", style, 200, 22, kind="stylesheet", mime="text/css", size=21_404),
        request(ago - 0.3, "GET", f"{host}/api/me", 200, 35, got='{"name":"Mara","cart":3}'),
    ]


def _frame(text: str) -> Entry:
    function, _, place = text.partition(" ")
    url, line, column = place.rsplit(":", 2)
    return {"function": function, "url": url, "line": int(line), "column": int(column)}


def _short(text: str, ago: float) -> str:
    return hashlib.sha256(f"{text} {ago}".encode()).hexdigest()[:12]
