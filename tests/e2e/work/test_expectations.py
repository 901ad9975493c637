"""A bug that throws nothing, from red to green: a person says what is wrong, and `ticketbox verify` proves the fix."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from click.testing import Result

from tests.e2e.support.browser import list_sandbox_options
from tests.support.cli import run
from tests.support.operation_cases import WRITING, build_parts, capture_arguments
from tests.support.server import World, ok

AT = 1_795_253_399_000
PAGE = """<!doctype html><title>{title}</title>
<style>#go {{ width: {width}px; overflow: hidden; white-space: nowrap }} #menu {{ position: fixed; left: {left}px }}
  #badge, #name {{ position: absolute; top: 200px; width: 50px; left: 0 }} #badge {{ left: {badge}px }}</style>
<button id="add">Add</button><div id="cart"></div><script>
document.querySelector('#add').onclick = () => {{
  setTimeout(() => {{
    document.querySelector('#cart').innerHTML = `{cart}`;
    history.pushState(null, '', '{path}');
  }}, 300);
}};
</script>"""
CART = """{total}<p id="sum">80.00&nbsp;€</p><input id="amount" value="{amount}"><ul>{rows}</ul>
<img id="logo" alt="{alt}">
<button id="pay" {pay}>Pay</button><p id="old" {old}>Old</p><button id="go">Continue to payment</button>
<nav id="menu">Menu</nav><b id="badge">New</b><b id="name">Lamp</b>"""
WRONG = {
    "title": "undefined", "width": 60, "left": -90, "badge": 10, "path": "/cart", "total": "40.00 €", "amount": "1",
    "rows": "<li>1", "alt": "", "pay": "disabled", "old": "",
}  # fmt: skip
RIGHT = {
    "title": "Cart", "width": 300, "left": 5, "badge": 400, "path": "/done", "total": "80.00 €", "amount": "2",
    "rows": "<li>1<li>2", "alt": "Acme", "pay": "", "old": "hidden",
}  # fmt: skip
WORDS = "“Total” should be “80.00 €”; it was “40.00 €”"


def point(selector: str, is_: str, **fields: Any) -> dict[str, Any]:
    return {"is": is_, "target": {"selectors": [selector]}, "at": AT, **fields}


TOTAL = {"is": "text", "target": {"name": "Total", "test_id": "total", "selectors": ["[data-testid=total]"]}, "at": AT,
         "seen": "40.00 €", "right": "80.00 €"}  # fmt: skip
EXPECTATIONS = [
    TOTAL,
    point("[data-testid=total]", "same_as", other={"selectors": ["#sum"]}, seen="40.00 €"),
    point("#amount", "value", seen="1", right="2"),
    point("li", "count", seen="1", right="2"),
    point("#logo", "attribute", name="alt", seen=""),
    point("#pay", "enabled"),
    point("#old", "absent"),
    point("#go", "fits"),
    point("#menu", "inside"),
    point("#badge", "apart", other={"selectors": ["#name"]}),
    {"is": "url", "seen": "/cart", "right": "/done", "at": AT},
    {"is": "title", "seen": "undefined", "at": AT},
]


@contextmanager
def serve(**texts: Any) -> Iterator[str]:
    """The page, wrong or right."""
    given = {**RIGHT, **texts}
    total = f'<p data-testid="total">{given["total"]}</p>' if given["total"] else ""
    page = PAGE.format(**given, cart=CART.format(**{**given, "total": total})).encode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_: Any, **__: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.long
def test_what_throws_nothing_is_reproduced_then_gone(
    world: World, shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    click = {"seq": 1, "ts": AT - 1_000, "kind": "click", "target": {"selectors": ["#add"]}}
    sent = capture_arguments(world.project, page={"url": "https://shop.example/cart", "title": "undefined"})
    sent |= dict.fromkeys(("console", "network", "errors"), b"[]") | {"actions": json.dumps([click]).encode()}
    made = ok(world.owner.web.post("/captures", files=build_parts(sent)))
    for each in EXPECTATIONS:
        ok(world.owner.web.post(f"/captures/{made['capture_id']}/expectations", json=each))
    token = world.owner.token(*WRITING)

    def verify(commit: str, **texts: Any) -> Result:
        with serve(**texts) as base:
            return run(
                "verify", made["ticket_id"], "--base-url", base, "--commit", commit * 40, "--rounds", "1", "--json",
                *list_sandbox_options(), TICKETBOX_URL=world.box.url, SERVICE_API_TOKEN=token, TICKETBOX_BROWSER=shell,
            )  # fmt: skip

    def judge(commit: str, **texts: Any) -> tuple[str, str | None]:
        result = verify(commit, **texts)
        assert result.stdout, result.stderr
        outcome = json.loads(result.stdout)
        return outcome["verdict"], outcome["reason"]

    assert judge("b")[0] == "unproven"
    assert judge("a", **WRONG) == ("reproduced", None)
    assert judge("b", **{**RIGHT, "old": ""})[0] == "reproduced"
    assert judge("b", total="50.00 €") == (
        "different_error",
        "“Total” should be “80.00 €”; it was “40.00 €”: it is “50.00 €”",
    )
    assert judge("b", total="")[0] == "not_reached"
    fixed = verify("b")
    assert (fixed.exit_code, json.loads(fixed.stdout)["verdict"]) == (0, "gone"), fixed.stdout + fixed.stderr
    newest = ok(world.api.get(f"/tickets/{made['ticket_id']}/verifications"))["items"][0]
    assert newest["proven"]
    assert newest["expectations"][0]["words"] == WORDS
