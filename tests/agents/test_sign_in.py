"""Real coding agents that sign in by OAuth, at a server that can't fetch from the internet."""

import contextlib
import os
import pty
import re
import subprocess
import termios
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.agents.coding_agents import PROMPT, ClaudeCode, Codex, Environment
from tests.agents.mock_model import Call, MockModel, Script
from tests.support.oauth_app import browser_of, handle_in
from tests.support.server import Box, World, ok, run_server

SCOPES = ["read", "tickets:write"]
SECONDS = 180
COLUMNS = 4_000  # an address is in one line

pytestmark = pytest.mark.long


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Box]:
    """A server that trusts nobody's certificate, so the documents that describe these agents are out of its reach."""
    nobody = tmp_path / "nobody.pem"
    nobody.touch()
    with contextlib.ExitStack() as stack:
        with monkeypatch.context() as patch:
            patch.setenv("SSL_CERT_FILE", str(nobody))
            running = stack.enter_context(run_server(tmp_path, "--trusted-proxy", "127.0.0.1/32"))
        yield running


def approve(world: World, address: str) -> None:
    """Do what a person does in the browser that the agent opens, up to the page of the agent at its end."""
    browser = browser_of(world.owner)
    form = {"handle": handle_in(browser.get(address)), "decision": "approve", "company": "", "scope": SCOPES}
    answer = browser.post("/oauth/authorize", data=form)
    assert answer.status_code == 303, answer.text
    assert httpx.get(answer.headers["location"], follow_redirects=True, timeout=60).is_success


def sign_in(world: World, command: list[str], environment: Environment, home: Path) -> None:
    """Let an agent sign in at a terminal: it prints the address that it would open in a browser, and waits."""
    terminal, end = pty.openpty()
    termios.tcsetwinsize(end, (50, COLUMNS))
    process = subprocess.Popen(
        command, cwd=home, env=environment, stdin=end, stdout=end, stderr=end, start_new_session=True
    )
    os.close(end)
    watchdog = threading.Timer(SECONDS, process.kill)
    watchdog.start()
    printed, approved = "", False
    try:
        for part in read_terminal(terminal):
            printed += part
            found = re.search(rf"{re.escape(world.box.url)}/oauth/authorize\?[\w.%&=+-]+(?=[^\w.%&=+-])", printed)
            if found and not approved:
                approved = True
                approve(world, found[0])
        assert process.wait(SECONDS) == 0, printed
    finally:
        watchdog.cancel()
        process.kill()
        os.close(terminal)


def read_terminal(terminal: int) -> Iterator[str]:
    """Yield what a program prints until it ends, which is an error of its terminal."""
    with contextlib.suppress(OSError):
        while part := os.read(terminal, 65_536):
            yield part.decode()


def test_claude_code_signs_in_and_works(box: Box, tmp_path: Path) -> None:
    world, agent = World(box), ClaudeCode()
    home = tmp_path / "home"
    home.mkdir()
    with MockModel() as model:
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "TERM": "dumb", **agent.build_environment(model)}
        program = str(agent.program)
        add = [program, "mcp", "add", "--scope", "user", "--transport", "http", "ticketbox", f"{box.url}/mcp"]
        subprocess.run(add, cwd=home, env=environment, check=True, capture_output=True, timeout=SECONDS)
        sign_in(world, [program, "mcp", "login", "ticketbox"], environment, home)
        check = [program, "mcp", "list"]
        listed = subprocess.run(
            check, cwd=home, env=environment, check=True, capture_output=True, text=True, timeout=SECONDS
        )
        assert "Connected" in listed.stdout, listed
        work = [program, "--print", PROMPT, "--allowedTools", "mcp__ticketbox"]
        assert_works(world, model, work, environment, home)


def test_codex_signs_in_and_works(box: Box, tmp_path: Path) -> None:
    world, agent = World(box), Codex()
    home = tmp_path / "home"
    home.mkdir()
    with MockModel() as model:
        work, settings = agent.prepare_sign_in(f"{box.url}/mcp", model, home)
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "TERM": "dumb", **settings}
        sign_in(world, [work[0], "mcp", "login", "ticketbox"], environment, home)
        assert_works(world, model, work, environment, home)


def assert_works(world: World, model: MockModel, command: list[str], environment: Environment, home: Path) -> None:
    """The agent reads a ticket for its model with what it got when it signed in."""
    ticket = world.ticket("Cart")["id"]

    def script() -> Script:
        read = yield Call("get_ticket", {"ticket_id": ticket})
        assert read.json()["title"] == "Cart"
        comment = yield Call("add_comment", {"ticket_id": ticket, "body": "Seen."})
        assert "Seen." in comment.text
        return "Read it."

    model.follow(script)
    done = subprocess.run(
        command, cwd=home, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS,
        check=False,
    )  # fmt: skip
    if model.failure is not None:
        raise AssertionError(f"{model.failure!r}; {done.stdout}{done.stderr}") from model.failure
    assert model.is_done, f"{done.stdout}{done.stderr}"
    (comment,) = ok(world.api.get(f"/tickets/{ticket}/comments"))["items"]
    assert comment["by"]["via"] == "mcp"
