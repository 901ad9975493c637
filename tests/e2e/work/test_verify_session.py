"""`ticketbox verify` with what the page had stored, and with a session of the person's."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from tests.e2e.support.browser import list_sandbox_options
from tests.e2e.work.test_verify_elsewhere import MESSAGE, ORIGIN, serve
from tests.support.cli import run
from tests.support.operation_cases import WRITING, build_parts, capture_arguments
from tests.support.server import World, ok

pytestmark = pytest.mark.long

# throws if somebody is signed in
PAGE = f"""<!doctype html><title>Orders</title><h1>Orders</h1><script>
const claims = JSON.parse(atob((localStorage.getItem('token') ?? '.bnVsbA.').split('.')[1]));
const isValid = claims && claims.exp * 1000 > Date.now() && claims.role === 'admin';
const isIn = isValid && sessionStorage.getItem('step') === '3';
if (isIn || document.cookie.includes('sid=')) throw new TypeError('{MESSAGE}');
</script>"""
CLAIMS = "eyJzdWIiOiJhZGFAc2hvcC5leGFtcGxlIiwicm9sZSI6ImFkbWluIiwiZXhwIjoxNzk1NzgyNjAwfQ"  # of an admin, expired
TOKEN = f"eyJhbGciOiJIUzI1NiJ9.{CLAIMS}.c2lnbmF0dXJl"


class Orders:
    """The ticket of a page that failed for a signed-in person."""

    def __init__(self, world: World, shell: str, folder: Path) -> None:
        self._world, self._shell, self._folder = world, shell, folder
        self._token = world.owner.token(*WRITING)

    def report(self, policy: str, start: dict[str, Any]) -> str:
        """Send the capture, and return its ticket. `start`: what the page had stored."""
        world = self._world
        ok(world.owner.web.patch(f"/projects/{world.project}", json={"capture_policy": {"storage": policy}}))
        given = capture_arguments(
            world.project,
            page={"url": f"{ORIGIN}/orders", "title": "Orders"},
            environment={"storage": {"local": list(start["local"]), "start": [start]}},
        )
        error = {"seq": 9, "ts": 1_100, "kind": "error", "name": "TypeError", "message": MESSAGE}
        streams = {"console": [], "network": [], "errors": [error],
                   "actions": [{"seq": 1, "kind": "navigate", "url": f"{ORIGIN}/orders", "ts": 1_000}]}  # fmt: skip
        parts = {name: json.dumps(each).encode() for name, each in streams.items()}
        return ok(world.api.post("/captures", files=build_parts({**given, **parts})))["ticket_id"]

    def verify(self, ticket: str, *options: str) -> Result:
        """Run the command against the page."""
        with serve(*[{"/orders": PAGE}] * 2) as base:  # a setup may open it first
            return run(
                "verify", ticket, "--base-url", base, "--rounds", "1", "--commit", "a" * 40, "--json", *options,
                *list_sandbox_options(), SERVICE_API_TOKEN=self._token, TICKETBOX_BROWSER=self._shell,
                TICKETBOX_URL=self._world.box.url, SETUP_VALUE="7",
            )  # fmt: skip

    def write(self, name: str, content: str | dict[str, Any]) -> str:
        """Write a file, and return its path."""
        file = self._folder / name
        file.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
        return str(file)

    def load(self, ticket: str) -> Any:
        """Load the ticket."""
        return ok(self._world.api.get(f"/tickets/{ticket}"))

    def count_posted(self, ticket: str) -> int:
        """Count the ticket's verifications."""
        return len(ok(self._world.api.get(f"/tickets/{ticket}/verifications"))["items"])


@pytest.fixture
def orders(world: World, shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Orders:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    return Orders(world, shell, tmp_path)


START = {"local": {"token": TOKEN, "email": "ada@shop.example"}, "session": {"step": "3"}, "cookies": ["sid"]}


def test_stored_values_are_seeded_as_stand_ins(orders: Orders) -> None:
    ticket = orders.report("shape", START)
    result = orders.verify(ticket, "--expect", "reproduced")
    assert result.exit_code == 0, result.stderr
    record = json.dumps(orders.load(ticket))
    assert "ada@shop.example" not in record
    assert TOKEN not in record


def test_run_says_what_it_lacks_and_a_session_of_the_person_serves_it(orders: Orders) -> None:
    ticket = orders.report("names", START)
    lacking = orders.verify(ticket)
    outcome = json.loads(lacking.stdout)
    assert (outcome["verdict"], lacking.exit_code) == ("not_reached", 13)
    assert "“token” in local storage" in outcome["reason"]
    assert "capture_policy.storage" in lacking.stderr

    setup = orders.write(
        "setup.mjs",
        """export default async ({ page, context, baseURL }) => {
          await page.goto(`${baseURL}/orders`);
          await context.addCookies([{ name: 'sid', value: process.env.SETUP_VALUE, url: baseURL }]);
        };""",
    )
    state = orders.write(
        "state.json",
        {"cookies": [{"name": "sid", "value": "7", "domain": "127.0.0.1", "path": "/", "expires": -1,
                      "httpOnly": False, "secure": False, "sameSite": "Lax"}], "origins": []},
    )  # fmt: skip
    for options in (("--setup", setup), ("--storage-state", state)):
        result = orders.verify(ticket, "--expect", "reproduced", *options)
        assert result.exit_code == 0, result.stderr


@pytest.mark.parametrize(
    ("option", "name", "content", "status", "message"),
    [
        ("--storage-state", "state.json", {"cookies": [{"name": "a", "value": "b", "domain": "other.example"}]}, 2,
         "state.json is of other.example, and has nothing of http://127.0.0.1"),
        ("--storage-state", "state.json", '{"cookies": [{"na', 2, "isn't a storage state of Playwright"),
        ("--storage-state", "state.json", {"cookies": []}, 2, "state.json is empty"),
        ("--setup", "setup.py", "print()", 2, "--setup needs a script for Node"),
        ("--setup", "setup.mjs", "export default async () => { throw new Error('no such person') };", 1,
         "The setup script failed: no such person"),
        ("--setup", "setup.mjs", "export const setup = 1;", 1, "no default export that is a function"),
        ("--setup", "setup.mjs", "export default (", 1, "The setup script failed"),
    ],
)  # fmt: skip
def test_wrong_session_is_refused_and_nothing_is_posted(
    orders: Orders, option: str, name: str, content: str | dict[str, Any], status: int, message: str
) -> None:
    ticket = orders.report("names", START)
    result = orders.verify(ticket, option, orders.write(name, content))
    assert result.exit_code == status, result.stderr
    assert message in result.stderr.replace("\n", " ")
    assert orders.count_posted(ticket) == 0
