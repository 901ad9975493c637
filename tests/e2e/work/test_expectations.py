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
    const now = new Date();
    const day = [now.toISOString().slice(0, 10), Date().slice(11, 15), new Date(Date.now()).getMonth()];
    document.querySelector('#day').textContent = [...day, new Date(0) - 0, now instanceof Date].join(' ') + '{later}';
    {help}
  }}, 300);
}};
</script>"""
CART = """{total}<p id="sum">80.00&nbsp;€</p><input id="amount" value="{amount}"><ul>{rows}</ul>
<img id="logo" alt="{alt}">
<button id="pay" {pay}>Pay</button><p id="old" {old}>Old</p><button id="go">Continue to payment</button>
<p id="day"></p><nav id="menu">Menu</nav><b id="badge">New</b><b id="name">Lamp</b>"""
WRONG = {
    "title": "undefined", "width": 60, "left": -90, "badge": 10, "path": "/cart", "total": "40.00 €", "amount": "1",
    "rows": "<li>1", "alt": "", "pay": "disabled", "old": "", "later": " later", "help": "",
}  # fmt: skip
RIGHT = {
    "title": "Cart", "width": 300, "left": 5, "badge": 400, "path": "/done", "total": "80.00 €", "amount": "2",
    "rows": "<li>1<li>2", "alt": "Acme", "pay": "", "old": "hidden", "later": "",
    "help": """document.body.insertAdjacentHTML('beforeend', '<a href="/help">Help</a>');""",
}  # fmt: skip
DAY = "2026-11-21 2026 10 0 true"
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
    # the page reads the time of the capture
    point("#day", "text", seen=f"{DAY} later", right=DAY),
    point("#old", "absent"),
    {"is": "visible", "target": {"role": "link", "name": "Help"}, "other": {"selectors": ["#go"]}, "at": AT},
    point("#go", "fits"),
    point("#menu", "inside"),
    point("#badge", "apart", other={"selectors": ["#name"]}),
    {"is": "url", "seen": "/cart", "right": "/done", "at": AT},
    {"is": "title", "seen": "undefined", "at": AT},
]


PROFILE = """<!doctype html><title>Profile</title><button>Load</button><p id="name"></p><script>
document.querySelector('button').onclick = async () => {
  document.querySelector('#name').textContent = (await (await fetch('/api/profile')).json()).name;
};
</script>"""


@contextmanager
def serve_pages(pages: dict[str, tuple[str, bytes]]) -> Iterator[str]:
    """Serve pages by their paths, with their media types; a page for the path that isn't among them is `*`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            kind, data = pages.get(self.path) or pages.get("*") or ("", b"")
            self.send_response(200 if kind else 404)
            self.send_header("Content-Type", kind or "text/plain")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any, **__: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def serve(**texts: Any) -> Iterator[str]:
    """The page, wrong or right."""
    given = {**RIGHT, **texts}
    total = f'<p data-testid="total">{given["total"]}</p>' if given["total"] else ""
    page = PAGE.format(**given, cart=CART.format(**{**given, "total": total})).encode()
    with serve_pages({"*": ("text/html; charset=utf-8", page)}) as base:
        yield base


def run_verify(world: World, shell: str, token: str, made: dict[str, Any], base: str, commit: str) -> Result:
    return run(
        "verify", made["ticket_id"], "--base-url", base, "--commit", commit * 40, "--rounds", "1", "--json",
        *list_sandbox_options(), TICKETBOX_URL=world.box.url, SERVICE_API_TOKEN=token, TICKETBOX_BROWSER=shell,
    )  # fmt: skip


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
            return run_verify(world, shell, token, made, base, commit)

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


@pytest.mark.long
def test_wrong_text_of_an_answer_is_asked_of_the_server(
    world: World, shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    ok(world.owner.web.patch(f"/projects/{world.project}", json={"capture_policy": {"bodies": "on"}}))
    click = {"seq": 1, "ts": AT - 1_000, "kind": "click", "target": {"role": "button", "name": "Load"}}
    body = {"body": '{"name": "Jon Smth", "age": 40}', "bytes": 31, "headers": {"content-type": "application/json"}}
    call = {
        "id": "r1", "ts": AT - 900, "duration_ms": 5, "method": "GET", "url": "https://shop.example/api/profile",
        "status": 200, "type": "fetch", "response": body,
    }  # fmt: skip
    sent = capture_arguments(world.project, page={"url": "https://shop.example/profile", "title": "Profile"})
    sent |= {"console": b"[]", "errors": b"[]", "network": json.dumps([call]).encode()}
    sent |= {"actions": json.dumps([click]).encode()}
    made = ok(world.owner.web.post("/captures", files=build_parts(sent)))
    said = point("#name", "text", seen="Jon Smth", right="Jon Smith")
    ok(world.owner.web.post(f"/captures/{made['capture_id']}/expectations", json=said))
    token = world.owner.token(*WRITING)

    def judge(commit: str, name: str | None, shows: str = PROFILE) -> tuple[str, str | None]:
        pages = {"*": ("text/html; charset=utf-8", shows.encode())}
        if name is not None:
            pages["/api/profile"] = ("application/json", json.dumps({"name": name}).encode())
        with serve_pages(pages) as base:
            result = run_verify(world, shell, token, made, base, commit)
        assert result.stdout, result.stderr
        outcome = json.loads(result.stdout)
        return outcome["verdict"], outcome["reason"]

    assert judge("a", None) == ("not_reached", "the failure is an answer of the server; start it at the base URL")
    assert judge("a", "Jon Smth") == ("reproduced", None)
    assert judge("b", "Jon Smith")[0] == "gone"
    assert judge("b", "Jo")[0] == "different_error"
    # a page that corrects what the server says is a fix, too
    assert judge("b", None, PROFILE.replace(".name;", ".name.replace('Smth', 'Smith');"))[0] == "gone"
