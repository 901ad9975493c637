"""A real `ticketbox serve` process, and the people and tokens that tests act as."""

import atexit
import contextlib
import functools
import itertools
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self, TypeVar

import httpx
import msgspec
import psutil

from tests.support.openapi import check_error
from ticketbox.domain.accounts import passwords
from ticketbox.domain.core.access.policy import ANONYMOUS
from ticketbox.domain.core.clock import Clock
from ticketbox.edge.site import name_session_cookie
from ticketbox.operations.accounts.issued_tokens import IssueToken, issue_token
from ticketbox.operations.accounts.sessions import start_session
from ticketbox.store.accounts import users
from ticketbox.store.file.connection import connect
from ticketbox.store.file.database import Origin, Write

T = TypeVar("T")

PASSWORD = "correct horse battery"
FIRST_PORT, PORTS_OF_WORKER = 20_000, 1_000


def ticketbox(*arguments: str, db: Path, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command as a person does in a terminal, and wait for its end."""
    return subprocess.run(
        [sys.executable, "-m", "ticketbox", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "TICKETBOX_DB": str(db), **environment},
        check=False,
    )


class Box:
    """A server on a free port. `url` has no trailing slash; `api` is `{url}/api/v1`."""

    def __init__(self, db: Path, *arguments: str, log: Path | None = None) -> None:
        self.db = db
        self.log = log or db.with_name(db.name + ".log")
        self.arguments = arguments
        self._clients: list[httpx.Client] = []
        self._lasting: list[httpx.Client] = []
        self.start()

    def start(self) -> None:
        """Start the process and wait until it answers."""
        self._stderr = self.log.open("a")
        self.process = subprocess.Popen(
            self.command(),
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        assert self.process.stdout is not None
        self.said: list[str] = []
        for line in self.process.stdout:
            self.said.append(line)
            if match := re.search(r" at (https?://[^\s\"]+)", line):
                self.url = match[1]
                break
        else:
            raise AssertionError(f"the server didn't start: {self.log.read_text()}")
        self.api = f"{self.url}/api/v1"

    @property
    def cookie(self) -> str:
        """The name of the session's cookie."""
        return name_session_cookie(self.url)

    def command(self) -> list[str]:
        """The command that starts the server."""
        flags = ["--db", str(self.db), "--port", "0", "--no-open", "--client-metadata", "off"]  # arguments come last
        return [sys.executable, "-m", "ticketbox", "serve", *flags, *self.arguments]

    def setup_address(self) -> str:
        """The one-time address that a server on a new file prints."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(line)
            if match := re.search(r"https?://\S+/setup/\S+", line):
                return match[0]
        raise AssertionError("no set-up address was printed")

    def stop(self, signal_: signal.Signals = signal.SIGTERM) -> int:
        """Stop the process and return its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal_)
        status = self.process.wait(60)
        self.process.stdout.close()  # type: ignore[union-attr]
        self._stderr.close()
        return status

    @property
    def processor_s(self) -> float:
        """The processor seconds that the process has taken."""
        times = psutil.Process(self.process.pid).cpu_times()
        return times.user + times.system

    def log_size(self) -> int:
        """How many bytes the log has, as a mark for `log_after`."""
        return self.log.stat().st_size

    def log_after(self, mark: int) -> str:
        """What was logged after a mark: the rest of a log that several tests share."""
        return self.log.read_bytes()[mark:].decode()

    def client(self, token: str | None = None, **headers: str) -> httpx.Client:
        """A client of the API with its own address, and with a token if one is given."""
        sent = {"X-Forwarded-For": _address(), **headers}
        if token is not None:
            sent["Authorization"] = f"Bearer {token}"
        hooks = {"response": [check_error]}
        client = httpx.Client(
            base_url=self.api, headers=sent, timeout=60, verify=False, event_hooks=hooks
        )  # plain http
        self._clients.append(client)
        return client

    def keep_clients(self) -> None:
        """Keep the clients so far until the server stops, for what lasts longer than a test."""
        self._lasting += self._clients
        self._clients.clear()

    def close_clients(self) -> None:
        """Close every client that isn't kept."""
        while self._clients:
            self._clients.pop().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.keep_clients()
        for client in self._lasting:
            client.close()
        self.stop()


_ports = itertools.count(secrets.randbelow(PORTS_OF_WORKER))


def find_free_port() -> int:
    """A port that nobody listens on, for a server that starts later, or again at the same address.

    The system takes the ports of connections, and those of servers that ask for any, from 32,768 on (Linux). So nobody
    else takes this one meanwhile. Each worker has separate ports.
    """
    first = FIRST_PORT + PORTS_OF_WORKER * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:])
    for _ in range(PORTS_OF_WORKER):
        port = first + next(_ports) % PORTS_OF_WORKER
        with socket.socket() as tried, contextlib.suppress(OSError):
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")


def _address() -> str:
    return ".".join(str(10 + secrets.randbelow(200)) for _ in range(4))


@functools.cache
def _hash() -> str:
    return passwords.hash_password(PASSWORD)


def run_beside(db: Path, work: Callable[[Write], T]) -> T:
    """Run a unit of work on the file beside the server, as commands do."""
    with contextlib.closing(connect(db, writes=True, wait=30)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        result = work(Write(connection, Clock().now()))
        connection.execute("COMMIT")
        return result


class Person:
    """An account with a signed-in session.

    Nearly every test needs one, and hashing and checking its password would take most of that time. So all
    share one hash, and their sessions are created beside the server. test_sessions tests signing in.
    """

    def __init__(self, box: Box, name: str) -> None:
        self.box = box
        self.name = name
        self.email = f"{name.lower()}-{secrets.token_hex(6)}@example.org"
        self.web = box.client()
        self.id, session = run_beside(box.db, self._join)
        self._sign_in(session)

    def begin_session(self) -> None:
        """Start a new session, as after signing in again."""
        self._sign_in(run_beside(self.box.db, self._start))

    def _join(self, tx: Write) -> tuple[str, Any]:
        return users.insert_account(tx, self.email, self.name, _hash()).user.id, self._start(tx)

    def _start(self, tx: Write) -> Any:
        account = users.find_account_by_email(tx, self.email)
        assert account is not None
        tx.origin = Origin(self.web.headers["X-Forwarded-For"], "the tests")
        return start_session(tx, account)

    def _sign_in(self, session: Any) -> None:
        host = self.web.base_url.host
        self.web.cookies.set(self.box.cookie, session.secret, host if "." in host else f"{host}.local")

    def token(self, *scopes: str, label: str = "a token", **restriction: Any) -> str:
        """The secret of a new API token."""
        given = {"user": self.id, "label": label, "scopes": list(scopes), **restriction}
        asked = msgspec.convert(given, IssueToken)
        return run_beside(self.box.db, lambda tx: issue_token(tx, ANONYMOUS, asked)).secret

    def find_token(self, label: str) -> str:
        """The public id of the token with this label."""
        (found,) = [each["id"] for each in ok(self.web.get("/tokens"))["items"] if each["label"] == label]
        return found

    @property
    def session(self) -> str:
        """The secret in the session's cookie."""
        return self.web.cookies[self.box.cookie]

    def client(self, *scopes: str, **restriction: Any) -> httpx.Client:
        """A client with a new API token."""
        return self.box.client(self.token(*scopes, **restriction))


class World:
    """A separate company for one test: an owner, a project with its three columns, and a client with all scopes."""

    def __init__(self, box: Box, name: str = "Ann") -> None:
        self.box = box
        self.owner = Person(box, name)
        self.company = ok(self.owner.web.post("/companies", json={"name": f"{name}'s company"}))["id"]
        self.project = self.new_project("First project")
        self.columns = self.columns_of(self.project)
        self.api = self.owner.client("tickets:write", "tickets:assign")

    def new_project(self, name: str, **more: Any) -> str:
        """Another project of the company."""
        return ok(self.owner.web.post(f"/companies/{self.company}/projects", json={"name": name, **more}))["id"]

    def columns_of(self, project: str) -> list[str]:
        """The ids of a project's columns, from the left."""
        return [each["id"] for each in ok(self.owner.web.get(f"/projects/{project}/columns"))["items"]]

    def ticket(self, title: str = "A ticket", **more: Any) -> dict[str, Any]:
        """Create a ticket in the first project, unless another is given."""
        given = {"title": title, **({} if "column_id" in more else {"project_id": self.project}), **more}
        return ok(self.api.post("/tickets", json=given))

    def join(self, name: str, role: str = "member", project_ids: list[str] | None = None) -> Person:
        """A new person who accepts an invitation to the company."""
        person = Person(self.box, name)
        given = {"role": role, "project_ids": project_ids}
        secret = ok(self.owner.web.post(f"/companies/{self.company}/invitations", json=given))["secret"]
        ok(person.web.post(f"/invitations/accept/{secret}", json={}))
        return person


def ok(answer: httpx.Response) -> Any:
    """The body of a response that must be a success."""
    assert answer.is_success, f"{answer.request.method} {answer.request.url}: {answer.status_code} {answer.text}"
    return answer.json() if answer.content else None


def expect_error(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The problem document of a response that must be this error."""
    assert answer.status_code == status, (
        f"{answer.request.method} {answer.request.url}: {answer.status_code} {answer.text}"
    )
    problem = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert problem["code"] == code, problem
    assert problem["status"] == status
    return problem


@contextlib.contextmanager
def run_server(folder: Path, *arguments: str, init: bool = True) -> Iterator[Box]:
    """A separate server, on a new file that is set up unless `init` is False."""
    db = folder / "ticketbox.db"
    if init and not db.exists():
        copy_initialized_file(folder)
    with Box(db, *arguments) as box:
        yield box


def copy_initialized_file(folder: Path) -> Path:
    """Copy a file as `ticketbox init` creates it into a folder."""
    return Path(shutil.copy(_create_initialized_file(), folder / "ticketbox.db"))


@functools.cache
def _create_initialized_file() -> Path:
    """A file as `ticketbox init` creates it, created once for each worker."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    db = Path(folder.name, "set-up.db")
    done = ticketbox(
        "init", "--email", "root@example.org", "--name", "Root", "--company", "Root", "--project", "Root",
        "--password-stdin", db=db, stdin=PASSWORD,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not db.with_name("set-up.db-wal").exists()
    return db


def eventually(check: Any, seconds: float = 30.0, describe: Any = None) -> Any:
    """Call until the result is true, and return it; after some seconds, fail with what `describe` returns."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if result := check():
            return result
        time.sleep(0.02)
    raise AssertionError(f"the condition wasn't true in time{'' if describe is None else f': {describe()}'}")


def count_waiting(box: Box) -> int:
    """How many calls wait on a server, by its metrics."""
    text = httpx.get(f"{box.url}/metrics", timeout=60).text
    (figure,) = re.findall(r"^ticketbox_waiting_calls (\d+)", text, re.MULTILINE)
    return int(figure)


@contextlib.contextmanager
def act_when_a_call_waits(box: Box, act: Callable[[], object]) -> Iterator[None]:
    """Do something in a thread as soon as a call waits, on a server on which no other call waits."""
    eventually(lambda: count_waiting(box) == 0)  # those of earlier tests have ended

    def work() -> None:
        eventually(lambda: count_waiting(box) == 1)
        act()

    with ThreadPoolExecutor(1) as threads:
        acting = threads.submit(work)
        yield
        acting.result()
