"""`ticketbox verify` never says "gone" of a page that it didn't see, nor before the moment of the failure."""

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests.e2e.support.browser import list_sandbox_options
from tests.support.cli import run
from tests.support.operation_cases import WRITING, build_parts, capture_arguments
from tests.support.server import World, ok

pytestmark = pytest.mark.long

Pages = dict[str, str]
Verify = Callable[..., list[str]]

ORIGIN = "https://shop.example"
MESSAGE = "the list is not iterable"
CALL = "fetch('/api/orders').catch(() => {});"
THROW = f"throw new TypeError('{MESSAGE}');"
HANDLED = "window.onerror = () => true;"
LOGIN = "<!doctype html><title>Sign in</title><h1>Sign in</h1>"
START = "<!doctype html><title>Shop</title><a href='/orders'>Orders</a>"


def write_order(quantity: str) -> str:
    """A script that orders something."""
    return f"fetch('/api/orders', {{ method: 'POST', body: JSON.stringify({{ quantity: {quantity} }}) }});"


def write_orders(script: str) -> str:
    """The page with the orders."""
    return f"<!doctype html><title>Orders</title><h1>Orders</h1><script>{script}</script>"


def write_printed(reason: str) -> str:
    """A script that prints an object."""
    return f"console.error('Order %d failed', 8, {{ code: 42, reason: '{reason}' }});"


def write_checkbox(script: str) -> str:
    """The page with a checkbox that only its label shows; checking it runs a script."""
    return write_orders(CALL) + (
        "<input type=checkbox id=express style='position: absolute; opacity: 0; pointer-events: none'>"
        f"<label for=express>Express</label><script>express.onchange = () => {{ {script} }}</script>"
    )


@contextlib.contextmanager
def serve(*rounds: Pages) -> Iterator[str]:
    """Serve pages by path; one that begins with `/` is a redirect, and `*` is any other path. Yield the address.

    Each page that is opened by its address begins the next round.
    """
    following = iter(rounds)

    class Handler(BaseHTTPRequestHandler):
        pages: ClassVar[Pages] = {}

        def do_GET(self) -> None:
            if self.headers["Sec-Fetch-Site"] == "none" and self.path in ("/", "/orders"):
                Handler.pages = next(following)
            page = self.pages.get(self.path, self.pages.get("*", ""))
            self.send_response(302 if page.startswith("/") else 200 if page else 404)
            self.send_header("Location", page) if page.startswith("/") else None
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page.encode())

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


@pytest.fixture
def verify(world: World, shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Verify:
    """Capture the error of a page, and verify it with other pages, each in a round; return the verdicts."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    token = world.owner.token(*WRITING)

    def capture(name: str) -> str:
        link = {"role": "link", "name": "Orders", "selectors": ['role=link[name="Orders"]', "a"]}
        opened = [{"kind": "navigate", "url": f"{ORIGIN}/orders", "ts": 1_000}]
        clicked = [
            {"kind": "navigate", "url": f"{ORIGIN}/", "ts": 500},
            {"kind": "click", "target": link, "ts": 900},
            *opened,
        ]
        field = {"role": "checkbox", "name": "Express", "selectors": ["#express"]}
        checked = [*opened, {"kind": "click", "target": field, "ts": 1_080}]
        actions = {"click": clicked, "label": checked}.get(name, opened)
        is_sent = name.startswith("sent")
        if is_sent:
            policy = {"bodies": "on" if name == "sent" else "off"}
            ok(world.owner.web.patch(f"/projects/{world.project}", json={"capture_policy": policy}))
        sent = {"method": "POST", "status": 422, "request": {"body": '{"quantity":"two"}'}}
        call = {"id": "r1", "ts": 1_050, "method": "GET", "url": f"{ORIGIN}/api/orders", "type": "fetch",
                "status": 200, "duration_ms": 10, "response": {"body": "[]"}, **(sent if is_sent else {})}  # fmt: skip
        error = {"seq": 9, "ts": 6_000 if name == "late" else 1_100, "kind": "error", "name": "TypeError",
                 "message": MESSAGE}  # fmt: skip
        printed = [{"seq": 9, "ts": 1_100, "level": "error", "args": ["Order 7 failed", '{code: 42, reason: "stock"}']}]
        given = {
            **capture_arguments(world.project, page={"url": f"{ORIGIN}/orders", "title": "Orders"}),
            "console": json.dumps(printed if name == "printed" else []).encode(),
            "network": json.dumps([call]).encode(),
            "errors": json.dumps([] if is_sent or name == "printed" else [error]).encode(),
            "actions": json.dumps([{"seq": n, **each} for n, each in enumerate(actions)]).encode(),
        }
        return ok(world.api.post("/captures", files=build_parts(given)))["ticket_id"]

    def verify(name: str, *rounds: Pages) -> list[str]:
        with serve(*rounds) as base:
            done = run(
                "verify", capture(name), *list_sandbox_options(), "--base-url", base, "--commit", "a" * 40,
                "--rounds", str(len(rounds)), "--no-post", "--json",
                TICKETBOX_URL=world.box.url, SERVICE_API_TOKEN=token, TICKETBOX_BROWSER=shell,
            )  # fmt: skip
        return json.loads(done.stdout)["rounds"]

    return verify


BUG, FIX = {"/orders": write_orders(CALL + THROW)}, {"/orders": write_orders(CALL)}
REDIRECT = {"/orders": "/login", "/login": LOGIN}
WRONG_REQUEST, RIGHT_REQUEST = ({"/orders": write_orders(write_order(quantity))} for quantity in ("'two'", "2"))


@pytest.mark.parametrize(
    ("name", "rounds"),
    [
        (
            "load",
            {
                "bug": (BUG, "reproduced"),
                "fix": (FIX, "gone"),
                "redirect to sign-in": (REDIRECT, "not_reached"),
                "another site": ({"*": "<!doctype html><title>Welcome</title>"}, "not_reached"),
                "script leaves the page": (
                    {"/orders": write_orders(CALL + "setTimeout(() => { location = '/login' }, 300)"), "/login": LOGIN},
                    "not_reached",
                ),
            },
        ),
        (
            "click",
            {
                "bug": ({"/": START, **BUG}, "reproduced"),
                "fix": ({"/": START, **FIX}, "gone"),
                "click leads to sign-in": ({"/": START, **REDIRECT}, "not_reached"),
            },
        ),
        (
            "late",
            {
                "bug": ({"/orders": write_orders(CALL + f"setTimeout(() => {{ {THROW} }}, 4_500)")}, "reproduced"),
                "fix": (FIX, "gone"),
            },
        ),
        (
            "label",
            {
                "bug": ({"/orders": write_checkbox(THROW)}, "reproduced"),
                "error that the page handles": ({"/orders": write_checkbox(HANDLED + THROW)}, "reproduced"),
                "fix": ({"/orders": write_checkbox("")}, "gone"),
            },
        ),
        (
            "printed",
            {
                "bug": ({"/orders": write_orders(CALL + write_printed("stock"))}, "reproduced"),
                "another reason": ({"/orders": write_orders(CALL + write_printed("cart"))}, "gone"),
                "no call": ({"/orders": write_orders("")}, "not_reached"),
            },
        ),
        ("sent", {"wrong request": (WRONG_REQUEST, "reproduced"), "right request": (RIGHT_REQUEST, "gone")}),
        (
            "sent without body",
            {
                "any request": (WRONG_REQUEST, "not_reached"),
                "right request, unknown body": (RIGHT_REQUEST, "not_reached"),
                "no request": ({"/orders": write_orders("")}, "not_reached"),
            },
        ),
    ],
    ids=["load", "click", "late", "label", "printed", "sent", "sent without body"],
)
def test_only_a_page_that_was_reached_is_without_the_bug(
    verify: Verify, name: str, rounds: dict[str, tuple[Pages, str]]
) -> None:
    verdicts = verify(name, *(pages for pages, _ in rounds.values()))
    assert dict(zip(rounds, verdicts, strict=True)) == {each: verdict for each, (_, verdict) in rounds.items()}
