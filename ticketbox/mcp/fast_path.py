"""A fast path for `tools/call` and `tools/list`, at both protocol generations.

The SDK's public functions check the message; a message that fails a check, and every other method, goes through the
SDK's server. The answer has the same bytes on both paths (tests/mcp/test_fast_path.py). The fast path
saves the SDK's objects for the request, the connection and the result, which take as long as the call
(docs/decisions/0011-a-fast-path-for-mcp-calls.md).
"""

import json
import re
from typing import Any, cast

import msgspec
import pydantic_core
from mcp.server.lowlevel import Server
from mcp.shared.inbound import InboundModernRoute, classify_inbound_request
from mcp_types import DEFAULT_NEGOTIATED_VERSION, INTERNAL_ERROR, SERVER_INFO_META_KEY, JSONRPCRequest
from mcp_types.methods import serialize_server_result, validate_client_request
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import ValidationError

from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Scope as Granted
from ticketbox.domain.core.problems import InsufficientScope, Problem, RateLimited, Unauthorized
from ticketbox.edge.asgi import Scope
from ticketbox.edge.responses import Answer
from ticketbox.mcp import tools
from ticketbox.mcp.handlers import BROKEN, Handlers, ToolResult, build_refusal_result, log
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.registry import Registry

NEWEST = "2026-07-28"
OLDER = frozenset(HANDSHAKE_PROTOCOL_VERSIONS)
HEADERS = frozenset({b"accept", b"content-type", b"mcp-protocol-version", b"mcp-method", b"mcp-name"})
LARGEST_ID = 2**53
MAX_VALID, MAX_VALID_BYTES = 1_000, 2_000
# 1e16 is 1e+16, and 0.00001 is 1e-05; or nearly so. A pattern for each sign before a number: `re` finds a literal
# several times as fast as one of several characters.
_ODD_FLOATS = [re.compile(rf"{sign}[-0-9](?:[0-9.]*[eE]|0?\.0000)") for sign in (":", ",", r"\[")]
_OLDER_FORM = b'{"content":[{"text":%s,"type":"text"}],"isError":false,"structuredContent":%s}'
_NEWEST_FORM = (
    b'{"content":[{"text":%s,"type":"text"}],"isError":false,"resultType":"complete","structuredContent":%s,"_meta":%s}'
)
_ENCODER = json.JSONEncoder(separators=(",", ":"))
_MEMBERS = {"jsonrpc", "id", "method", "params"}
_PARAMETERS = {"name", "arguments", "_meta"}

# A message without its id and arguments, and its headers.
_Described = tuple[bytes | tuple[bytes, bytes], ...]


class FastRequest(msgspec.Struct, frozen=True):
    """A checked message: `tools/call` with the tool's name and arguments, or `tools/list`, of `every` tool or the set.

    `version` is the protocol's revision, whose generation decides the form of the answer.
    """

    id: int | str
    method: str
    version: str
    name: str = ""
    arguments: dict[str, Any] = {}
    every: bool = False


class FastPath:
    """Reads and answers the messages that don't need the SDK's server."""

    def __init__(self, registry: Registry, dispatcher: Dispatcher, handlers: Handlers, server: Server[Any]) -> None:
        self._registry = registry
        self._dispatcher = dispatcher
        self._handlers = handlers
        self._meta = {SERVER_INFO_META_KEY: server.server_info_stamp}
        self._encoded_meta = _encode(self._meta, NEWEST)
        self._valid: dict[_Described, str] = {}
        self._lists: dict[tuple[frozenset[Granted], str, bool], bytes] = {}

    def read(self, scope: Scope, message: dict[str, Any]) -> FastRequest | None:
        """Check a message; None means that the SDK must answer it."""
        method, identity = message.get("method"), message.get("id")
        if method not in ("tools/call", "tools/list") or not _is_portable(identity):
            return None
        version = self._find_version(message, [each for each in scope["headers"] if each[0] in HEADERS])
        if version is None:
            return None
        request_id = cast(int | str, identity)
        if method == "tools/list":
            return FastRequest(request_id, method, version, every=tools.wants_every_tool(scope))
        params = message["params"]
        if params["name"] not in tools.get_tool_cards(self._registry):
            return None
        return FastRequest(request_id, method, version, params["name"], params.get("arguments") or {})

    def _find_version(self, message: dict[str, Any], headers: list[tuple[bytes, bytes]]) -> str | None:
        """Return the revision of a message that the SDK accepts; None if it must answer.

        A client's calls of a tool differ in their id and arguments only, in which the SDK accepts every id that
        `read` lets through and every object. So the result of its checks is kept for the rest of a valid message.
        """
        rest = _describe_message(message, headers)
        if rest is not None and rest in self._valid:
            return self._valid[rest]
        version = _check_message(message, {name.decode(): value.decode("latin-1").strip() for name, value in headers})
        if version is None or len({name for name, _ in headers}) < len(headers):
            return None  # the SDK decides what a duplicate header means
        if rest is not None:
            if len(self._valid) >= MAX_VALID:
                self._valid.clear()
            self._valid[rest] = version
        return version

    async def answer(self, request: FastRequest, context: RequestContext) -> Answer:
        """Answer a checked message. Raises Unauthorized, InsufficientScope and RateLimited."""
        if request.method == "tools/list":
            actor = await self._dispatcher.admit(self._registry["get_me"], context)
            return _build_answer(request, "result", self._encode_tool_list(actor, request.version, every=request.every))
        card = tools.get_tool_cards(self._registry)[request.name]
        try:
            result = await self._handlers.call_tool(card, request.arguments, context)
        except (Unauthorized, InsufficientScope, RateLimited):
            raise
        except Problem as problem:
            context.refusal = problem.code
            result = build_refusal_result(problem)
        except Exception:
            log.exception("an MCP call failed")
            error = {"code": INTERNAL_ERROR, "message": BROKEN}
            return _build_answer(request, "error", _encode(error, request.version))
        return _build_answer(request, "result", self._encode_call_result(result, request.version))

    def _encode_tool_list(self, actor: Actor, version: str, *, every: bool) -> bytes:
        """Encode the result of `tools/list`, once for each set of scopes and of tools, and each revision."""
        known = self._lists.get((actor.scopes, version, every))
        if known is None:
            tool_list = self._handlers.build_tool_list(actor, every=every)
            listed = tool_list.model_dump(by_alias=True, mode="json", exclude_none=True)
            result = serialize_server_result("tools/list", version, listed)
            if version == NEWEST:
                result["_meta"] = self._meta
            known = self._lists[actor.scopes, version, every] = _encode(result, version)
        return known

    def _encode_call_result(self, result: ToolResult, version: str) -> bytes:
        """Encode the result of `tools/call`. The text of a success is its object as JSON, and is encoded only once."""
        has_object = bool(result.structured) and not result.is_error and not result.images
        if has_object and is_portable_json(result.text, version):
            text, structured = msgspec.json.encode(result.text), result.text.encode()
            if version == NEWEST:
                return _NEWEST_FORM % (text, structured, self._encoded_meta)
            return _OLDER_FORM % (text, structured)
        content: list[dict[str, Any]] = [{"text": result.text, "type": "text"}]
        for image in result.images:
            content.append({"data": tools.encode_image(image), "mimeType": image.media_type, "type": "image"})
            if (texts := tools.encode_annotation_texts(image)) is not None:
                content.append({"text": texts, "type": "text"})
        document: dict[str, Any] = {"content": content, "isError": result.is_error}
        if version == NEWEST:
            document["resultType"] = "complete"
        if result.structured is not None:
            document["structuredContent"] = result.structured
        if version == NEWEST:
            document["_meta"] = self._meta
        return _encode(document, version)


def _is_portable(identity: object) -> bool:
    """Whether every JSON parser reads an id as the same value."""
    return type(identity) is str or (type(identity) is int and abs(identity) < LARGEST_ID)


def is_portable_json(text: str, version: str) -> bool:
    """Whether the SDK would write the JSON of msgspec, which differs in some floats and in escaped characters."""
    if version == NEWEST and not (text.isascii() and "\x7f" not in text):
        return False
    return not any(pattern.search(text) for pattern in _ODD_FLOATS)


def _is_plain(message: dict[str, Any]) -> bool:
    """Whether a message of the older generation has no member that only the SDK knows."""
    params = message.get("params", {})
    return message.keys() <= _MEMBERS and isinstance(params, dict) and params.keys() <= _PARAMETERS


def _check_message(message: dict[str, Any], headers: dict[str, str]) -> str | None:
    """Check a message and its headers as the SDK does; return its revision, or None if the SDK must answer it."""
    if headers.get("content-type") != "application/json" or "application/json" not in {
        each.strip() for each in headers.get("accept", "").split(",")
    }:
        return None
    version = headers.get("mcp-protocol-version", DEFAULT_NEGOTIATED_VERSION)
    if version != NEWEST and not (version in OLDER and _is_plain(message)):
        return None
    try:
        JSONRPCRequest.model_validate(message)
        if version == NEWEST and not isinstance(classify_inbound_request(message, headers=headers), InboundModernRoute):
            return None
        validate_client_request(message["method"], version, message.get("params"))
    except ValidationError:
        return None
    return version


def _describe_message(message: dict[str, Any], headers: list[tuple[bytes, bytes]]) -> _Described | None:
    """Describe a call without its id and arguments, and its headers; None for a long or an unusual message."""
    params = message.get("params")
    if type(params) is not dict or not _is_plain(message):
        return None
    fields = cast(dict[str, Any], params)
    if type(fields.get("arguments", {})) is not dict:
        return None
    others = [(name, value) for name, value in fields.items() if name != "arguments"]
    described = msgspec.json.encode([message.get("jsonrpc"), message["method"], others])
    if len(described) + sum([len(value) for _, value in headers]) > MAX_VALID_BYTES:
        return None
    return described, *headers


def _build_answer(request: FastRequest, kind: str, content: bytes) -> Answer:
    """Build the response with a result or an internal error; the SDK sends both with the status 200."""
    identity = b"%d" % request.id if isinstance(request.id, int) else _encode(request.id, request.version)
    body = b'{"jsonrpc":"2.0","id":%s,"%s":%s}' % (identity, kind.encode(), content)
    return Answer(200, body, "application/json")


def _encode(value: object, version: str) -> bytes:
    """Encode JSON as the SDK does at a revision: with pydantic, or with non-ASCII characters escaped."""
    if version == NEWEST:
        return _ENCODER.encode(value).encode()
    return pydantic_core.to_json(value)
