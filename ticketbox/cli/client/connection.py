"""Calls of the REST API of any server, as the registry describes them (docs/use/command-line.md)."""

import os
import re
import time
from enum import IntEnum
from typing import Any, NoReturn, Self, cast
from urllib.parse import quote

import httpx2
import msgspec

from ticketbox.cli.client.sign_in.credentials import Resource, find_default_server
from ticketbox.cli.client.sign_in.oauth import get_access_token
from ticketbox.cli.client.terminal import escape_line
from ticketbox.cli.core.output import exit_with_error
from ticketbox.domain.core.network.server_url import parse_server_url
from ticketbox.http.header_arguments import list_header_arguments
from ticketbox.operations.catalogue import load_registry
from ticketbox.operations.core.registry import Body, Operation

DEFAULT_URL = "http://localhost:8420"
PREFIX = "/api/v1"
TIMEOUT_SECONDS = 60.0
RETRIES = 3
LONGEST_RETRY = 15  # seconds


class ExitStatus(IntEnum):
    """The exit statuses of commands that call a server; click exits with 2 for wrong usage."""

    FAILED = 1
    NOTHING = 3
    UNAUTHORIZED = 4
    UNREACHABLE = 5
    CONFLICT = 6


_STATUSES = {401: ExitStatus.UNAUTHORIZED, 409: ExitStatus.CONFLICT, 503: ExitStatus.UNREACHABLE}


UploadedFile = tuple[str, bytes, str]  # name, content, media type


class Server:
    """A server's REST API, called with one token; closes its connections at the end of a `with` block."""

    def __init__(self, url: str, token: str, read_seconds: float = TIMEOUT_SECONDS) -> None:
        self.url = url
        self._read_seconds = read_seconds  # how long a call without a body may take
        self._http = httpx2.Client(
            headers={"Authorization": f"Bearer {token}", "User-Agent": "ticketbox-cli"}, timeout=TIMEOUT_SECONDS
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def call(self, name: str, arguments: dict[str, Any]) -> httpx2.Response:
        """Call an operation and return its response. Exits with a message if it is refused or doesn't arrive."""
        response = self.send(name, arguments)
        if not response.is_success:
            exit_with_problem(self.url, response)
        return response

    def send(
        self, name: str, arguments: dict[str, Any], files: dict[str, UploadedFile] | None = None
    ) -> httpx2.Response:
        """Call an operation, with files if it accepts them, and return its response, also if it is refused."""
        return self._send_patiently(self._build_request(load_registry()[name], arguments, files))

    def _send_patiently(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request, and wait and repeat it if the budget is used up."""
        response = self._send(request)
        for _ in range(RETRIES):
            wait = _read_retry_after(response)
            if response.status_code != 429 or wait > LONGEST_RETRY:
                break
            time.sleep(wait)  # a call that is refused with 429 did nothing, so every call can be repeated
            response = self._send(request)
        return response

    def _send(self, request: httpx2.Request) -> httpx2.Response:
        try:
            return self._http.send(request)
        except httpx2.TransportError as error:
            exit_with_error(
                f"can't reach {self.url} ({type(error).__name__}); start the server, or set TICKETBOX_URL",
                ExitStatus.UNREACHABLE,
            )

    def _build_request(
        self, operation: Operation, arguments: dict[str, Any], files: dict[str, UploadedFile] | None = None
    ) -> httpx2.Request:
        given = dict(arguments)
        route = next(each for each in operation.routes if given.keys() >= set(each.parameters))
        parameters = {name: self._shorten_address(str(given.pop(name))) for name in route.parameters}
        path = route.path.format_map({name: quote(value, safe="") for name, value in parameters.items()})
        headers: dict[str, str] = {}
        for name, header in list_header_arguments(operation).items():
            if name not in given:
                continue
            value = given.pop(name)
            headers[header.name] = f'"{value}"' if name == "expected_version" else str(value)
        address = f"{self.url}{PREFIX}{path}"
        waits = float(given.get("wait_seconds", 0))
        timeout = TIMEOUT_SECONDS + waits
        if operation.body is Body.NONE:
            timeout = self._read_seconds + waits
            query = {name: _format_query_value(value) for name, value in given.items()}
            return self._http.build_request(route.method, address, params=query, headers=headers, timeout=timeout)
        if files is not None:
            return self._http.build_request(
                route.method, address, data=given, files=files, headers=headers, timeout=timeout
            )
        return self._http.build_request(route.method, address, json=given, headers=headers, timeout=timeout)

    def _shorten_address(self, value: str) -> str:
        """Return the last part of a ticket's web address on this server; a path can't contain slashes."""
        if match := re.fullmatch(r"(https?://\S+)/(?:t|tickets)/([^/?#\s]+)\S*", value.strip()):
            if match[1].lower() != self.url.lower():
                exit_with_error(f"{escape_line(value)} isn't on {self.url}; set TICKETBOX_URL to its server")
            return match[2]
        return value


def connect(url: str | None) -> Server:
    """Return a server with the token from the environment, or else from `ticketbox login`."""
    address = find_server_url(url)
    token = find_token(address)
    if not token:
        exit_with_error(
            f"not signed in to {address}; run `ticketbox login`, or set SERVICE_API_TOKEN to an API token",
            ExitStatus.UNAUTHORIZED,
        )
    if not re.fullmatch(r"[\x21-\x7e]+", token):
        exit_with_error("SERVICE_API_TOKEN isn't a token", ExitStatus.UNAUTHORIZED)
    return Server(address, token)


def find_token(url: str) -> str | None:
    """Return the token for a server, from the environment or from `ticketbox login`; "" or None without one."""
    return os.environ.get("SERVICE_API_TOKEN", "").strip() or get_access_token(url, Resource.API)


def find_server_url(url: str | None) -> str:
    """Return the server that a command calls: the given one, that of the last sign-in, or the local one.

    Exits with a message for anything that isn't an http or https address.
    """
    try:
        return parse_server_url(url or find_default_server() or DEFAULT_URL)
    except ValueError as error:
        exit_with_error(escape_line(str(error)))


def decode_body(response: httpx2.Response) -> Any:
    """Decode the JSON of a successful response; None for an empty one."""
    return msgspec.json.decode(response.content) if response.content else None


def _format_query_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(str, cast(list[Any], value))) if isinstance(value, list) else str(value)


def _read_retry_after(response: httpx2.Response) -> int:
    text = response.headers.get("retry-after", "")
    return int(text) if text.isdecimal() else 1


def exit_with_problem(url: str, response: httpx2.Response) -> NoReturn:
    status = _STATUSES.get(response.status_code, ExitStatus.FAILED)
    try:
        problem = msgspec.json.decode(response.content, type=dict[str, Any])
        message = str(problem["detail"])
    except (msgspec.DecodeError, KeyError):
        exit_with_error(f"{url} answered {response.status_code}; is it a ticketbox server?", status)
    lines = [message]
    for each in problem.get("errors", []):
        if isinstance(each, dict) and len(problem["errors"]) > 1:
            error = cast(dict[str, Any], each)
            lines.append(f"  {error.get('field')}: {error.get('message')}")
    exit_with_error("\n".join(escape_line(line) if line == message else line for line in lines), status)
