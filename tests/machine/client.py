"""The same call over REST and over MCP, and what its answer must hold."""

import contextlib
import json
import secrets
import sqlite3
import time
from collections.abc import Iterable
from typing import Any, NamedTuple

import httpx

from tests.machine.model import Row
from tests.support.mcp_client import ACCEPT, NEWEST
from tests.support.operation_cases import build_request, draw_address
from tests.support.server import Box, run_beside
from ticketbox.domain.accounts.secrets import generate_secret, hash_secret
from ticketbox.operations.catalogue import load_registry
from ticketbox.operations.core.registry import Body, Operation
from ticketbox.store.file.database import Write
from ticketbox.store.work.sessions import end_stale_sessions

OPERATIONS = {each.name: each for each in load_registry() if each.routes}
USER = "INSERT INTO user (public_id, email, name, created_at) VALUES (?, ?, ?, ?)"
SESSION = """
INSERT INTO credential (public_id, kind, user_id, label, secret_hash, shown, scopes, created_at,
  confirmed_at, expires_at)
SELECT ?, 'session', id, 'session', ?, 'tok_', '', ?, ?, ? FROM user WHERE public_id = ?
"""


RUN_OUT = """
UPDATE work_session SET expires_at = started_at
WHERE ended_at IS NULL AND ticket_id = (SELECT id FROM ticket WHERE public_id = ?)
"""
CROWD = """
UPDATE ticket SET position = n.place
FROM (SELECT t.id, row_number() OVER (ORDER BY t.position, t.id) AS place
      FROM ticket t JOIN board_column c ON c.id = t.column_id WHERE c.public_id = ?) n
WHERE ticket.id = n.id
"""


def arrive(box: Box, names: Iterable[str]) -> dict[str, Row]:
    """New accounts, each with a session as signing in makes it, without its slow hash: a run needs new ones."""
    now = int(time.time() * 1000)
    result: dict[str, Row] = {}
    connection = sqlite3.connect(box.db, timeout=30)
    with connection:
        for name in names:
            user, secret = f"usr_{secrets.token_hex(6)}", generate_secret()
            connection.execute(USER, (user, f"{user}@example.org", name, now))
            session = f"ses_{secrets.token_hex(6)}"
            connection.execute(SESSION, (session, hash_secret(secret), now, now, now + 86_400_000, user))
            result[user] = {"name": name, "secret": secret}
    connection.close()
    return result


class Answer(NamedTuple):
    """What came back: the status and code of a refusal, or the body. `cookie` is a session that was begun."""

    refusal: tuple[int, str] | None
    body: Any
    cookie: str | None = None


class Wire:
    """Sends calls to a server."""

    def __init__(self, box: Box) -> None:
        self.box = box
        self.client = box.client()
        self.calls = 0

    def run_out(self, ticket: str) -> None:
        """Let a lease expire and the housekeeping see it, without waiting for either."""

        def expire(tx: Write) -> None:
            tx.execute(RUN_OUT, (ticket,))
            end_stale_sessions(tx)

        run_beside(self.box.db, expire)

    def crowd(self, column: str) -> None:
        """Take the room between a column's tickets, as many moves do; their order stays."""
        self._beside(CROWD, column)

    def _beside(self, statement: str, key: str) -> None:
        with contextlib.closing(sqlite3.connect(self.box.db, timeout=30)) as connection, connection:
            connection.execute(statement, (key,))

    def send(self, who: Row, request: httpx.Request) -> httpx.Response:
        self.calls += 1
        carried = f"{self.box.cookie}={who['secret']}" if who["kind"] == "session" else f"Bearer {who['secret']}"
        request.headers["Cookie" if who["kind"] == "session" else "Authorization"] = carried
        request.headers["X-Forwarded-For"] = draw_address()
        answer = self.client.send(request)
        self.client.cookies.clear()
        assert answer.status_code < 500, f"{request.method} {request.url}: {answer.status_code} {answer.text}"
        return answer

    def rest(self, who: Row, operation: Operation, arguments: Row) -> Answer:
        """Call over REST."""
        given = dict(arguments)
        version, lease = given.pop("expected_version", None), None
        if operation.body is Body.NONE:
            lease = given.pop("lease", None)
        fits = [each for each in operation.routes if set(each.parameters) <= given.keys()]
        request = build_request(self.client, operation, given, fits[0])
        if version is not None:
            request.headers["If-Match"] = f'"{version}"'
        if lease is not None:
            request.headers["Lease"] = lease
        answer = self.send(who, request)
        kind = answer.headers.get("content-type", "")
        body = answer.json() if "json" in kind else None
        if answer.is_success:
            return Answer(None, body, answer.cookies.get(self.box.cookie))
        assert kind == "application/problem+json"
        assert body is not None
        return Answer((answer.status_code, body["code"]), body)

    def mcp(self, who: Row, operation: Operation, arguments: Row, *, newest: bool) -> Answer:
        """Call over MCP, at one of its generations."""
        assert operation.tool is not None
        name = operation.tool.name or operation.name
        params: Row = {"name": name, "arguments": arguments}
        headers = dict(ACCEPT)
        if newest:
            about = {
                "io.modelcontextprotocol/protocolVersion": NEWEST,
                "io.modelcontextprotocol/clientCapabilities": {},
            }
            params["_meta"] = about
            headers |= {"Mcp-Protocol-Version": NEWEST, "Mcp-Method": "tools/call", "Mcp-Name": name}
        message = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
        request = self.client.build_request("POST", f"{self.box.url}/mcp", json=message, headers=headers)
        answer = self.send(who, request)
        body = answer.json()
        if "error" in body:
            return Answer((answer.status_code, body["error"]["data"]["code"]), body["error"]["data"])
        result = body["result"]
        text = result["content"][0]["text"]
        content = result.get("structuredContent") or json.loads(text)  # a result with a picture has only the text
        if result.get("isError"):
            return Answer((content["status"], content["code"]), content)
        assert json.loads(text) == content
        return Answer(None, None if content.get("claimed") is False else content)  # REST has null if no ticket is ready


def without_nulls(node: Any) -> Any:
    """As MCP shows it."""
    if isinstance(node, dict):
        return {key: without_nulls(value) for key, value in node.items() if value is not None}
    return [without_nulls(each) for each in node] if isinstance(node, list) else node


def differs(expected: Any, actual: Any, at: str = "") -> str | None:
    """Where an answer lacks what it must hold. A dictionary for a list: its items by their ids, in any order."""
    if isinstance(expected, dict) and isinstance(actual, list):
        result = {each["id"]: each for each in actual}
        if expected.keys() != result.keys() or len(result) < len(actual):
            return f"{at}: {sorted(expected)} expected, not {sorted(result)}"
        return differs(expected, result, at)
    if isinstance(expected, dict) and isinstance(actual, dict):
        parts = (differs(value, actual.get(key), f"{at}.{key}") for key, value in expected.items())
        return next((part for part in parts if part), None)
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        parts = (
            differs(one, other, f"{at}[{place}]")
            for place, (one, other) in enumerate(zip(expected, actual, strict=True))
        )
        return next((part for part in parts if part), None)
    if isinstance(expected, set | frozenset):
        return None if isinstance(actual, list) and sorted(expected) == sorted(actual) else f"{at}: {expected} {actual}"
    return None if expected == actual else f"{at}: {expected!r} expected, not {actual!r}"
