"""Requests of the local server to the hosted endpoint: one HTTP request for each message, and no session.

The SDK's HTTP client ends its session when a request fails, so it isn't used here. A failed request is repeated where
that can't execute a call twice. Sources: MCP 2026-07-28, "Transports", for the headers and the request's `_meta`.
"""

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any, cast

import httpx2
import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import NAME_BEARING_METHODS, encode_header_value

from ticketbox import __version__
from ticketbox.domain.core.network.server_url import parse_server_url
from ticketbox.domain.core.problems import Problem, Unavailable

PROTOCOL = "2026-07-28"
DEFAULT_URL = "http://localhost:8420"
CONNECT_SECONDS = 4.0
ANSWER_SECONDS = 65.0  # a call can wait 50 s for an event
CHECK_SECONDS = 5.0  # for a name that doesn't resolve, or a host that doesn't answer
RESTART_SECONDS = 4.0  # how long a call waits for a server that is starting again
BUDGET_SECONDS = 20.0  # how long a call waits for its budget, all repetitions together
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 1.0

LoadToken = Callable[[], str | None]

_META = {
    types.PROTOCOL_VERSION_META_KEY: PROTOCOL,
    types.CLIENT_CAPABILITIES_META_KEY: {},
    types.CLIENT_INFO_META_KEY: {"name": "ticketbox mcp", "version": __version__},
}


class Refusal(Problem):
    """A refusal of the hosted server, with the members of its problem document."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        super().__init__(str(document["detail"]))
        self._document = dict(document)

    def build_body(self) -> dict[str, Any]:
        """Return the document as it was received."""
        return self._document


class _SignIn(httpx2.Auth):
    """Adds the access token of a sign-in to each request."""

    def __init__(self, load_token: LoadToken) -> None:
        self._load_token = load_token

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Send a request with the token; without one, if the sign-in has ended."""
        if token := await asyncio.to_thread(self._load_token):
            request.headers["Authorization"] = f"Bearer {token}"
        yield request


class HostedServer:
    """The hosted endpoint."""

    def __init__(self, url: str, token: str, load_token: LoadToken | None = None, tools: str = "core") -> None:
        """Read the address and the token; a wrong one is the problem that every call returns.

        `tools` are the sets to list. `load_token` replaces the token for a person who signed in: it is called for each
        request, outside the event loop, because it may refresh the token.
        """
        self._setting_problem = ""
        self._signed_in = load_token is not None
        try:
            self.url = parse_server_url(url)
        except ValueError as error:
            self.url = url
            self._setting_problem = f"TICKETBOX_URL: {error}"
        if load_token is not None:
            token = ""
        elif not token:
            self._setting_problem = (
                "SERVICE_API_TOKEN isn't set; add an API token to the environment in the client's settings, or run "
                "`ticketbox login --mcp`"
            )
        elif not re.fullmatch(r"[\x21-\x7e]+", token):
            self._setting_problem, token = "SERVICE_API_TOKEN isn't a token", ""
        self._http = httpx2.AsyncClient(
            headers={"Ticketbox-Tools": tools, **({"Authorization": f"Bearer {token}"} if token else {})},
            timeout=httpx2.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS),
            auth=None if load_token is None else _SignIn(load_token),
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def find_problem(self) -> str:
        """Return why the server can't be used; empty if it can."""
        if self._setting_problem:
            return self._setting_problem
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                # The token of a sign-in for MCP is valid only there.
                answer = await (
                    self._post("prompts/list", {}) if self._signed_in else self._http.get(f"{self.url}/api/v1/me")
                )
        except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError) as error:
            return self._describe_absence(error)
        if answer.status_code == 200 and _decode_object(answer) is not None:
            return ""
        if answer.status_code == 401 and self._signed_in:
            return f"the sign-in to {self.url} has ended; run `ticketbox login --mcp`"
        if answer.status_code == 401:
            return f"{self.url} answers 401 to this token; create a new token and restart this client"
        document = _decode_object(answer)
        if document is not None and "detail" in document:
            return f"{self.url} answers {answer.status_code}: {document['detail']}"
        return self._describe_stranger(answer.status_code)

    async def request(self, method: str, params: dict[str, Any], *, repeatable: bool) -> dict[str, Any]:
        """Send a request and return its result.

        A request that was never sent, or was over the budget, is repeated for some seconds; one that may have been
        executed only if it is `repeatable`. Raises Problem, and MCPError for errors of the protocol.
        """
        if self._setting_problem:
            raise Unavailable(self._setting_problem)
        loop = asyncio.get_running_loop()
        pause = _FIRST_PAUSE
        restarted_by = budget_by = 0.0
        while True:
            try:
                answer = await self._post(method, params)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                problem: Problem = Unavailable(self._describe_absence(error))
            except (httpx2.HTTPError, httpx2.InvalidURL) as error:
                problem = self._describe_break(error, repeatable=repeatable)
                if not repeatable or isinstance(error, httpx2.TimeoutException):
                    raise problem from None
            else:
                if answer.status_code == 429 and (wait := _read_retry_after(answer)) is not None:
                    budget_by = budget_by or loop.time() + BUDGET_SECONDS
                    if loop.time() + wait > budget_by:
                        return self._read(answer)
                    await asyncio.sleep(wait)
                    continue
                if answer.status_code not in {502, 503, 504} or not repeatable:
                    return self._read(answer)
                problem = self._read_problem(answer) or Unavailable(self._describe_stranger(answer.status_code))
            restarted_by = restarted_by or loop.time() + RESTART_SECONDS
            if loop.time() + pause > restarted_by:
                raise problem
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    async def _post(self, method: str, params: dict[str, Any]) -> httpx2.Response:
        headers = {
            "Accept": "application/json, text/event-stream",
            "Mcp-Protocol-Version": PROTOCOL,
            "Mcp-Method": method,
        }
        if (key := NAME_BEARING_METHODS.get(method)) is not None:
            headers["Mcp-Name"] = encode_header_value(str(params[key]))
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": _META}}
        return await self._http.post(f"{self.url}/mcp", json=message, headers=headers)

    def _read(self, answer: httpx2.Response) -> dict[str, Any]:
        """Return the result in an answer. Raises Problem and MCPError."""
        if (problem := self._read_problem(answer)) is not None:
            raise problem
        message = _decode_object(answer) or {}
        error = message.get("error")
        if isinstance(error, dict):
            found = types.ErrorData.model_validate(error)
            raise MCPError(found.code, found.message, found.data)
        if not isinstance(message.get("result"), dict):
            raise Unavailable(self._describe_stranger(answer.status_code))
        return message["result"]

    def _read_problem(self, answer: httpx2.Response) -> Problem | None:
        """Return the problem in an answer: the document itself, or the data of a JSON-RPC error with its status."""
        document = _decode_object(answer)
        if answer.is_success or document is None:
            return None
        if answer.status_code in {404, 405} and "jsonrpc" not in document:
            return Unavailable(self._describe_stranger(answer.status_code))
        error = document.get("error")
        if isinstance(error, dict):
            document = cast(dict[str, Any], error).get("data")
        if isinstance(document, dict) and {"code", "detail"} <= document.keys():
            return Refusal(cast(dict[str, Any], document))
        return None

    def _describe_absence(self, error: Exception) -> str:
        return f"{self.url} can't be reached ({type(error).__name__}); start it, or set TICKETBOX_URL"

    def _describe_break(self, error: Exception, *, repeatable: bool) -> Problem:
        text = f"{self.url} didn't answer ({type(error).__name__})"
        if not repeatable:
            text += "; the call may have been executed: look before you repeat it"
        return Unavailable(text)

    def _describe_stranger(self, status: int) -> str:
        return f"{self.url} answers {status}, but not as ticketbox does; set TICKETBOX_URL to the server's address"


def _decode_object(answer: httpx2.Response) -> dict[str, Any] | None:
    with contextlib.suppress(ValueError):
        found = json.loads(answer.content)
        if isinstance(found, dict):
            return cast(dict[str, Any], found)
    return None


def _read_retry_after(answer: httpx2.Response) -> int | None:
    """Return the seconds in Retry-After; None if it is missing or a date (RFC 9110, 10.2.3)."""
    value = answer.headers.get("retry-after", "")
    return int(value) if value.isascii() and value.isdigit() else None
