"""Calls of a forge's REST API: with a token, or through its own command, which is signed in."""

import json
import subprocess
from typing import Any, Protocol

import httpx2
import msgspec

TIMEOUT_SECONDS = 30


class ForgeError(Exception):
    """A forge refused a call, or didn't answer."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class Transport(Protocol):
    """Calls an API, and returns what it answers. Raises ForgeError."""

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Call a path of the API."""
        ...

    def upload(self, path: str, name: str, content: bytes) -> Any:
        """Upload a file to a path of the API."""
        ...


class RestTransport:
    """An API at an address."""

    def __init__(self, api: str, headers: dict[str, str]) -> None:
        self._api = api.rstrip("/")
        self._headers = {"User-Agent": "ticketbox-cli", "Accept": "application/json", **headers}

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Send a request. Raises ForgeError."""
        return self._send(method, path, json=body)

    def upload(self, path: str, name: str, content: bytes) -> Any:
        """Send a file. Raises ForgeError."""
        return self._send("POST", path, files={"file": (name, content)})

    def _send(self, method: str, path: str, **body: Any) -> Any:
        try:
            response = httpx2.request(
                method, f"{self._api}/{path}", headers=self._headers, timeout=TIMEOUT_SECONDS, **body
            )
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise ForgeError(f"{self._api} doesn't answer ({type(error).__name__})") from None
        if not response.is_success:
            raise ForgeError(f"{method} {path} was answered with {response.status_code}", response.status_code)
        return _decode(response.content)


class CommandTransport:
    """`gh api` or `glab api`."""

    def __init__(self, program: str) -> None:
        self._program = program

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Run the command. Raises ForgeError."""
        command = [self._program, "api", "--method", method, path]
        if body is not None:
            command += ["--header", "Content-Type: application/json", "--input", "-"]
        return _decode(run_program(command, json.dumps(body) if body is not None else ""))

    def upload(self, path: str, name: str, content: bytes) -> Any:
        """Raise ForgeError: not every version of the commands uploads files."""
        raise ForgeError(f"{self._program} uploads no files; set a token instead")


def run_program(command: list[str], given: str = "") -> bytes:
    """Return what a command prints. Raises ForgeError."""
    try:
        done = subprocess.run(  # noqa: S603 (gh or glab)
            command, input=given.encode(), capture_output=True, timeout=TIMEOUT_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ForgeError(f"{command[0]} doesn't run ({type(error).__name__})") from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise ForgeError(f"{command[0]}: {said[-1] if said else f'exit status {done.returncode}'}")
    return done.stdout


def _decode(content: bytes) -> Any:
    try:
        return msgspec.json.decode(content) if content.strip() else None
    except msgspec.DecodeError:
        raise ForgeError("the answer isn't JSON; is the address that of the API?") from None
