"""The short way for what agents do most: tools/call and tools/list at the newest generation.

The SDK's own functions check the message; what they don't pass at once, and everything else, goes the SDK's way.
What this answers is the same byte for byte, but for the exponents of very large and very small figures
(tests/mcp/test_shortcut.py). It leaves out the SDK's objects between the message and the handler, and between the
handler and the answer, which took longer than the call itself.
"""

import codecs
import functools
import struct
from typing import Any, cast

import msgspec
from mcp.server.lowlevel import Server
from mcp.shared.inbound import ERROR_CODE_HTTP_STATUS, InboundModernRoute, classify_inbound_request
from mcp_types import INTERNAL_ERROR, JSONRPCRequest
from mcp_types.methods import validate_client_request
from pydantic import ValidationError

from ticketbox.domain.core.problems import InsufficientScope, Problem, RateLimited, Unauthorized
from ticketbox.domain.core.scopes import Scope as Granted
from ticketbox.edge.asgi import Message, Scope, Send
from ticketbox.edge.responses import Answer
from ticketbox.mcp import tools
from ticketbox.mcp.handlers import BROKEN, Handlers, Told, log, refused
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.registry import Registry

GENERATION = "2026-07-28"
SERVER_INFO = "io.modelcontextprotocol/serverInfo"
HEADERS = {each.encode(): each for each in ("accept", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name")}
LARGEST_ID = 2**53


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """Letters that ASCII doesn't have, as JSON escapes them (RFC 8259, 7)."""
    assert isinstance(error, UnicodeEncodeError)
    return _units(error.object[error.start : error.end]), error.end


@functools.lru_cache(1_000)
def _units(letters: str) -> str:
    return "".join(f"\\u{unit:04x}" for (unit,) in struct.iter_unpack(">H", letters.encode("utf-16-be")))


codecs.register_error("ticketbox.json", _escaped)


class Ask(msgspec.Struct, frozen=True):
    """A message that may go the short way."""

    id: int | str
    method: str
    name: str
    arguments: dict[str, Any]


class Shortcut:
    """Answers what it can. Lists are learnt from what the SDK answers, one for each set of scopes."""

    def __init__(self, registry: Registry, dispatcher: Dispatcher, handlers: Handlers, server: Server[Any]) -> None:
        self._registry = registry
        self._dispatcher = dispatcher
        self._handlers = handlers
        self._meta = {SERVER_INFO: server.server_info_stamp}
        self._lists: dict[frozenset[Granted], bytes] = {}

    def read(self, scope: Scope, message: dict[str, Any]) -> Ask | None:
        """The message, if the SDK would hand it to a handler as it is; None otherwise."""
        method, identity = message.get("method"), message.get("id")
        if method not in ("tools/call", "tools/list") or not _is_plain(identity):
            return None
        headers: dict[str, str] = {}
        for name, value in scope["headers"]:
            if name in HEADERS:
                key = HEADERS[name]
                if key in headers:
                    return None  # which of two the SDK would believe is the SDK's to say
                headers[key] = value.decode("latin-1").strip()
        if (
            headers.get("mcp-protocol-version") != GENERATION
            or headers.get("content-type") != "application/json"
            or "application/json" not in {each.strip() for each in headers.get("accept", "").split(",")}
        ):
            return None
        try:
            JSONRPCRequest.model_validate(message)
            if not isinstance(classify_inbound_request(message, headers=headers), InboundModernRoute):
                return None
            validate_client_request(method, GENERATION, message["params"])
        except ValidationError:
            return None
        params = message["params"]
        if method == "tools/list":
            return Ask(cast(int | str, identity), method, "", {})
        if params["name"] not in tools.cards(self._registry):
            return None
        return Ask(cast(int | str, identity), method, params["name"], params.get("arguments") or {})

    async def answer(self, asked: Ask, call: RequestContext) -> Answer | None:
        """The answer, or None for a list that the SDK hasn't answered yet.

        Raises Unauthorized, InsufficientScope and RateLimited.
        """
        if asked.method == "tools/call":
            return await self._call(asked, call)
        actor = await self._dispatcher.admit(self._registry["get_me"], call)
        known = self._lists.get(actor.scopes)
        return None if known is None else Answer(200, _before(asked) + known, "application/json")

    async def _call(self, asked: Ask, call: RequestContext) -> Answer:
        try:
            told = await self._handlers.carry_out(tools.cards(self._registry)[asked.name], asked.arguments, call)
        except (Unauthorized, InsufficientScope, RateLimited):
            raise
        except Problem as problem:
            call.refusal = problem.code
            told = refused(problem)
        except Exception:
            log.exception("an MCP call failed")
            error = {"code": INTERNAL_ERROR, "message": BROKEN}
            return _answer({"jsonrpc": "2.0", "id": asked.id, "error": error}, ERROR_CODE_HTTP_STATUS[INTERNAL_ERROR])
        return _answer({"jsonrpc": "2.0", "id": asked.id, "result": self._result(told)})

    def learning(self, asked: Ask, call: RequestContext, send: Send) -> Send:
        """Pass the SDK's answer on, and keep it but for the message's id."""
        assert call.actor is not None
        scopes, before = call.actor.scopes, _before(asked)

        async def listen(message: Message) -> None:
            body: bytes = message.get("body", b"")
            if body.startswith(before) and not message.get("more_body", False):
                self._lists[scopes] = body[len(before) :]
            await send(message)

        return listen

    def _result(self, told: Told) -> dict[str, Any]:
        content: list[dict[str, Any]] = [{"text": told.text, "type": "text"}]
        content += [
            {"data": tools.encoded(picture), "mimeType": picture.media_type, "type": "image"}
            for picture in told.pictures
        ]
        return {
            "content": content,
            "isError": told.is_error,
            "resultType": "complete",
            "structuredContent": told.structured if told.is_error else msgspec.Raw(told.text.encode()),
            "_meta": self._meta,
        }


def _is_plain(identity: object) -> bool:
    """Whether every JSON reader takes an id for the same thing."""
    return type(identity) is str or (type(identity) is int and abs(identity) < LARGEST_ID)


def _before(asked: Ask) -> bytes:
    return b'{"jsonrpc":"2.0","id":%s,"result":' % _encode(asked.id)


def _answer(document: dict[str, Any], status: int = 200) -> Answer:
    return Answer(status, _encode(document), "application/json")


def _encode(value: object) -> bytes:
    """JSON as the SDK's writer gives it, with all but ASCII escaped; that one takes two to six times as long."""
    data = msgspec.json.encode(value)
    if b"\x7f" in data:
        data = data.replace(b"\x7f", b"\\u007f")
    return data if data.isascii() else data.decode().encode("ascii", "ticketbox.json")
