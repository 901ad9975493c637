"""A page with a bug, the same page without it, and a capture of the bug. Its API doesn't exist here."""

import contextlib
import itertools
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.operation_cases import Arguments, capture_arguments

ORIGIN = "https://shop.example"
MESSAGE = "Cannot read properties of null (reading 'amount')"
_PAGE = """<!doctype html><title>Cart</title><h1>Cart</h1><p id="total"></p>
<form><label>Code <input name="code"></label><button>Apply gift card</button></form>
<script>
const api = 'https://api.shop.example';
const show = (cart) => document.querySelector('#total').textContent = cart.total;
fetch(api + '/cart/1729').then((answer) => answer.json()).then(show);
document.querySelector('form').addEventListener('submit', async (event) => {
  event.preventDefault();
  const code = document.querySelector('input').value;
  const answer = await fetch(api + '/gift-cards', { method: 'POST', body: JSON.stringify({ code, cart: 1729 }) });
  const { card } = await answer.json();
  show({ total: READ });
  history.pushState(null, '', '/cart/done');
});
</script>"""
_START = 1_795_253_390_000


@contextlib.contextmanager
def serve_shop(*, fixed: bool | tuple[bool, ...]) -> Iterator[str]:
    """Serve the page; yield its address. Of several kinds, each load gets the next."""
    kinds = itertools.cycle(fixed if isinstance(fixed, tuple) else (fixed,))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = self.path.startswith("/cart")
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(_build_page(fixed=next(kinds)) if found else b"nothing")

        def log_message(self, *_: Any, **__: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _build_page(*, fixed: bool) -> bytes:
    return _PAGE.replace("READ", "card?.amount ?? 'no such card'" if fixed else "card.amount").encode()


def build_capture(project: str, **envelope: Any) -> Arguments:
    """The parts of a capture of the bug."""
    field = {"role": "textbox", "name": "Code", "selectors": ['role=textbox[name="Code"]', "input"]}
    button = {
        "role": "button",
        "name": "Apply gift card",
        "selectors": ['role=button[name="Apply gift card"]', "button"],
    }
    actions = [
        {"kind": "navigate", "url": f"{ORIGIN}/cart?id=1729"},
        {"kind": "input", "target": field, "value_kind": "text 1–10"},
        {"kind": "click", "target": button},
        {"kind": "submit", "target": {"selectors": ["form"]}},
        {"kind": "scroll"},
    ]
    calls = [
        ("GET", "/cart/1729", None, {"total": "12.50"}, 200),
        ("POST", "/gift-cards", {"code": "SPRING", "cart": 1729}, {"card": None}, 2_100),
    ]
    network = [
        {
            "id": f"r{at}", "ts": _START + at, "method": method, "url": f"https://api.shop.example{path}",
            "type": "fetch", "status": 200, "duration_ms": 50, "request": {"body": sent and json.dumps(sent)},
            "response": {"body": json.dumps(answer), "mime": "application/json"},
        }
        for method, path, sent, answer, at in calls
    ]  # fmt: skip
    times = [0, 1_000, 2_000, 2_001, 9_000]
    listed = [{"seq": n, "ts": _START + at, **each} for n, (at, each) in enumerate(zip(times, actions, strict=True))]
    error = {"seq": 9, "ts": _START + 2_160, "kind": "unhandledrejection", "name": "TypeError", "message": MESSAGE}
    return {
        **capture_arguments(
            project,
            title="TypeError after clicking “Apply gift card”",
            page={"url": f"{ORIGIN}/cart?id=1729", "title": "Cart"},
            **envelope,
        ),
        "console": b"[]",
        "network": json.dumps(network).encode(),
        "errors": json.dumps([error]).encode(),
        "actions": json.dumps(listed).encode(),
    }
