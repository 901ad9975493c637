"""`ticketbox login`: the sign-in in a browser, and where its tokens are kept."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from click.testing import Result
from mcp.client import Client

from tests.support.cli import run
from tests.support.mcp_client import talk_over_stdio
from tests.support.oauth_app import browser_of, handle_in
from tests.support.server import Person, World, ok
from ticketbox.cli.client.sign_in.credentials import Grant, Resource, load_grant, save_grant


class MemoryKeyring(ModuleType):
    """The functions of the package `keyring` that are used. The real keyrings belong to a desktop session."""

    def __init__(self) -> None:
        super().__init__("keyring")
        self.passwords: dict[tuple[str, str], str] = {}
        self.locked = False

    def set_password(self, service: str, username: str, password: str) -> None:
        """Keep a password."""
        if self.locked:
            raise RuntimeError("the keyring is locked")
        self.passwords[service, username] = password

    def get_password(self, service: str, username: str) -> str | None:
        """Return a password."""
        return self.passwords.get((service, username))

    def delete_password(self, service: str, username: str) -> None:
        """Forget a password."""
        del self.passwords[service, username]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration folder without a sign-in, and no keyring."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("SERVICE_API_TOKEN", raising=False)
    monkeypatch.setitem(sys.modules, "keyring", None)
    return tmp_path


def call(world: World, *arguments: str) -> Result:
    """Run a command that uses the sign-in."""
    return run(*arguments, TICKETBOX_URL=world.box.url, SERVICE_API_TOKEN="")


def credentials(home: Path) -> Any:
    """The file, decoded."""
    return json.loads((home / "ticketbox" / "credentials.json").read_text())


@contextmanager
def start_login(world: World, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `ticketbox login` until it waits for the browser; the process, and the address that it shows."""
    command = [sys.executable, "-m", "ticketbox", "login", "--no-open", "--url", world.box.url, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        address = next(line.strip() for line in process.stderr if "/oauth/authorize?" in line)
        try:
            yield process, address
        finally:
            if process.poll() is None:
                process.terminate()


def answer(person: Person, address: str, *scopes: str, decision: str = "approve") -> str:
    """Answer the consent page as a person; the address that the browser goes to."""
    browser = browser_of(person)
    form = {"handle": handle_in(browser.get(address)), "decision": decision, "company": ""}
    redirect = browser.post("/oauth/authorize", data={**form, "scope": list(scopes)})
    assert redirect.status_code == 303, redirect.text
    return redirect.headers["location"]


def log_in(world: World, *arguments: str, scopes: tuple[str, ...] = ("read", "tickets:write")) -> None:
    """Sign in to the end."""
    with start_login(world, *arguments) as (process, address):
        page = httpx.get(answer(world.owner, address, *scopes), timeout=60)
        assert (page.status_code, "Signed in" in page.text) == (200, True)
        printed, errors = process.communicate(timeout=120)
    assert (process.returncode, errors.strip()) == (0, "")
    assert printed.startswith(f"Signed in to {world.box.url}")


def test_sign_in_in_the_browser_replaces_the_token(world: World, home: Path) -> None:
    assert call(world, "ticket", "list").exit_code == 4
    log_in(world)
    made = json.loads(call(world, "ticket", "create", "A", "--project", world.project, "--json").stdout)
    assert made["created"]["user"]["name"] == world.owner.name
    assert made["created"]["token_label"].startswith("ticketbox command line on ")
    assigned = ok(world.owner.web.get("/connected-apps"))["items"]
    assert [each["scopes"] for each in assigned] == [["read", "tickets:write"]]


def test_tokens_are_in_a_file_that_only_its_owner_can_read(world: World, home: Path) -> None:
    log_in(world)
    path = home / "ticketbox" / "credentials.json"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert list(credentials(home)["servers"]) == [world.box.url]


def test_sign_in_makes_its_server_the_default(world: World, home: Path) -> None:
    log_in(world)
    ticket = world.ticket()
    assert json.loads(run("ticket", "show", ticket["id"], "--json", SERVICE_API_TOKEN="").stdout)["id"] == ticket["id"]


def test_token_in_the_environment_takes_precedence(world: World, home: Path) -> None:
    log_in(world)
    wrong = run("ticket", "list", TICKETBOX_URL=world.box.url, SERVICE_API_TOKEN="tok_" + "0" * 36)
    assert wrong.exit_code == 4


def test_expired_token_is_refreshed_once_and_kept(world: World, home: Path) -> None:
    log_in(world)
    path = home / "ticketbox" / "credentials.json"
    before = credentials(home)
    before["servers"][world.box.url]["api"]["grant"]["expires_at"] = time.time() + 30
    path.write_text(json.dumps(before))
    assert call(world, "ticket", "list", "--project", world.project).exit_code == 0
    after = credentials(home)["servers"][world.box.url]["api"]["grant"]
    old = before["servers"][world.box.url]["api"]["grant"]
    assert after["refresh_token"] != old["refresh_token"]
    assert after["access_token"] != old["access_token"]
    assert after["expires_at"] > time.time() + 3000
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.long
def test_ended_sign_in_says_what_to_do(world: World, home: Path) -> None:
    log_in(world)
    (app,) = ok(world.owner.web.get("/connected-apps"))["items"]
    ok(world.owner.web.delete(f"/connected-apps/{app['id']}"))
    refused = call(world, "ticket", "list")
    assert (refused.exit_code, refused.stdout) == (4, "")
    path = home / "ticketbox" / "credentials.json"
    path.write_text(re.sub(r'"expires_at":[\d.]+', '"expires_at":0', path.read_text()))
    refused = call(world, "ticket", "list")
    assert (refused.exit_code, refused.stderr) == (4, "ticketbox: the sign-in has ended; run `ticketbox login`\n")


@pytest.mark.long
def test_logout_revokes_the_sign_in_and_removes_it(world: World, home: Path) -> None:
    log_in(world)
    log_in(world, "--mcp")
    assert set(credentials(home)["servers"][world.box.url]) == {"api", "mcp"}
    assert call(world, "logout").stdout == f"Signed out of {world.box.url}\n"
    assert ok(world.owner.web.get("/connected-apps"))["items"] == []
    assert credentials(home) == {"default": None, "servers": {}}
    assert call(world, "logout").exit_code == 1


@pytest.mark.long
def test_refused_sign_in_keeps_nothing(world: World, home: Path) -> None:
    with start_login(world) as (process, address):
        page = httpx.get(answer(world.owner, address, decision="deny"), timeout=60)
        assert "Not signed in" in page.text
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "the sign-in was refused" in errors
    assert not (home / "ticketbox" / "credentials.json").exists()


@pytest.mark.long
def test_answer_with_another_state_or_path_is_ignored(world: World, home: Path) -> None:
    with start_login(world, "--scope", "read") as (process, address):
        asked = dict(parse_qsl(urlsplit(address).query))
        assert asked["scope"] == "read"
        assert asked["code_challenge_method"] == "S256"
        callback = asked["redirect_uri"]
        assert callback.startswith("http://127.0.0.1:")
        for wrong in (f"{callback}?code=x&state=y", f"{callback}?code=x", callback.replace("callback", "favicon.ico")):
            assert httpx.get(wrong, timeout=60).status_code == 404
        real = answer(world.owner, address, "read")
        assert httpx.get(real.replace("iss=http", "iss=https"), timeout=60).status_code == 200
        _, errors = process.communicate(timeout=120)
    assert (process.returncode, "another server" in errors) == (1, True)


def test_no_secret_is_printed(world: World, home: Path) -> None:
    with start_login(world) as (process, address):
        httpx.get(answer(world.owner, address, "read"), timeout=60)
        printed, errors = process.communicate(timeout=120)
    grant = credentials(home)["servers"][world.box.url]["api"]["grant"]
    for secret in (grant["access_token"], grant["refresh_token"]):
        assert secret not in printed + errors + address


def test_server_with_another_address_is_refused(world: World, home: Path) -> None:
    other = world.box.url.replace("localhost", "127.0.0.1")
    refused = run("login", "--no-open", "--url", other)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert f"calls itself {world.box.url}" in refused.stderr
    assert run("login", "--no-open", "--url", "http://localhost:1").exit_code == 5


@pytest.mark.long
def test_keyring_holds_the_tokens_if_there_is_one(world: World, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log_in(world)
    grant = Grant(**credentials(home)["servers"][world.box.url]["api"]["grant"])
    memory = MemoryKeyring()
    monkeypatch.setitem(sys.modules, "keyring", memory)
    save_grant(world.box.url, Resource.API, grant)
    assert credentials(home)["servers"][world.box.url]["api"] == {"grant": None}
    assert [*memory.passwords] == [("ticketbox", f"{world.box.url}/api")]
    assert call(world, "ticket", "list", "--project", world.project).exit_code == 0
    assert call(world, "logout").exit_code == 0
    assert memory.passwords == {}
    assert call(world, "ticket", "list").exit_code == 4


def test_file_holds_the_tokens_if_the_keyring_is_locked(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = MemoryKeyring()
    memory.locked = True
    monkeypatch.setitem(sys.modules, "keyring", memory)
    grant = Grant("app_x", "access", "refresh", 0.0)
    save_grant("https://tickets.example.org", Resource.API, grant)
    assert load_grant("https://tickets.example.org", Resource.API) == grant


def test_damaged_file_is_named(world: World, home: Path) -> None:
    (home / "ticketbox").mkdir()
    (home / "ticketbox" / "credentials.json").write_text("{")
    refused = call(world, "ticket", "list")
    assert (refused.exit_code, "credentials.json" in refused.stderr) == (1, True)


@pytest.mark.long
def test_local_mcp_server_uses_its_own_sign_in(world: World, home: Path) -> None:
    environment = {"TICKETBOX_URL": world.box.url, "XDG_CONFIG_HOME": str(home)}

    async def count(client: Client) -> int:
        return len((await client.list_tools()).tools)

    log_in(world)
    assert talk_over_stdio("legacy", environment, home / "log", count) == 0
    assert "run `ticketbox login --mcp`" in (home / "log").read_text()

    log_in(world, "--mcp", scopes=("read",))
    path = home / "ticketbox" / "credentials.json"
    expired = credentials(home)
    expired["servers"][world.box.url]["mcp"]["grant"]["expires_at"] = 0
    path.write_text(json.dumps(expired))

    async def work(client: Client) -> str:
        assert "get_ticket" in {tool.name for tool in (await client.list_tools()).tools}
        found = await client.call_tool("whoami", {})
        assert found.structured_content is not None
        for app in ok(world.owner.web.get("/connected-apps"))["items"]:
            ok(world.owner.web.delete(f"/connected-apps/{app['id']}"))
        assert (await client.call_tool("whoami", {})).is_error
        return found.structured_content["user"]["id"]

    assert talk_over_stdio("legacy", environment, home / "log2", work) == world.owner.id
    assert credentials(home)["servers"][world.box.url]["mcp"]["grant"]["expires_at"] > time.time()
