"""MCP messages as they arrive over HTTP: read, checked, and passed on to the SDK in the form that it expects.

The SDK refuses a wrong message in words for its own developers, reads some as notifications, and each generation has
its own manners. What clients get wrong is refused here, with one sentence and the problem document in `data`.
"""

import re
import typing
from typing import Any

import msgspec

from ticketbox.domain.core.problems import InvalidRequest, NotAcceptable, Problem, UnsupportedMediaType
from ticketbox.edge.asgi import Message, Receive, Scope, Send, get_header
from ticketbox.edge.responses import Answer

JSON = "application/json"
PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS, UNSUPPORTED_VERSION, REFUSED = -32700, -32600, -32602, -32022, -32001
_VERSION = b"mcp-protocol-version"
_VERSION_IN_BODY = "io.modelcontextprotocol/protocolVersion"
_JSON_RANGES = {JSON, "application/*", "*/*"}
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_FORWARDED = {b"accept": b"application/json, text/event-stream", b"content-type": JSON.encode()}

Json = dict[str, Any]


class MessageError(Exception):
    """A message that isn't one of the protocol. `rpc_code` is the error's code in JSON-RPC."""

    def __init__(self, rpc_code: int, problem: Problem, status: int | None = None) -> None:
        super().__init__(problem.detail)
        self.rpc_code = rpc_code
        self.problem = problem
        self.status = status or problem.status


def decode_message(body: bytes) -> Any:
    """Decode the JSON of a message. Raises MessageError.

    The SDK's parsers also accept NaN, UTF-16 and lone surrogates; a call in such a body would skip the checks of the
    caller. A byte order mark is ignored (RFC 8259, 8.1).
    """
    try:
        return msgspec.json.decode(strip_mark(body))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        problem = InvalidRequest("the body isn't JSON in UTF-8 (RFC 8259)")
        raise MessageError(PARSE_ERROR, problem) from None


def strip_mark(body: bytes) -> bytes:
    """Return a body without a byte order mark."""
    return body.removeprefix(_BYTE_ORDER_MARK)


def get_id(message: Any) -> int | str | None:
    """Return the id of a request; None if it has none, or one that JSON-RPC doesn't allow here."""
    value = typing.cast(Json, message).get("id") if isinstance(message, dict) else None
    return value if isinstance(value, int | str) and not isinstance(value, bool) else None


def check_message(scope: Scope, message: Any) -> None:
    """Check the headers and the envelope of a message; the SDK must have been loaded. Raises MessageError."""
    _check_types(scope)
    _check_envelope(message)
    params: Json = message.get("params") or {}
    _check_version(scope, message.get("method"), params)
    if message.get("method") == "tools/call" and not isinstance(params.get("arguments") or {}, dict):
        # A model can get this wrong. At the older generation, some clients end their session at a status of 400.
        problem = InvalidRequest("`arguments` must be an object, not text or a list")
        raise MessageError(INVALID_PARAMS, problem, None if _is_newest(scope) else 200)


def _check_types(scope: Scope) -> None:
    content_type = get_header(scope, b"content-type") or ""
    if content_type.partition(";")[0].strip().lower() != JSON:
        raise MessageError(INVALID_REQUEST, UnsupportedMediaType(f"`Content-Type` must be {JSON}", valid=[JSON]))
    accepted = get_header(scope, b"accept")  # without one, everything is accepted (RFC 9110, 12.5.1)
    if accepted is not None and accepted.strip() and not _accepts_json(accepted):
        raise MessageError(INVALID_REQUEST, NotAcceptable(f"`Accept` must include {JSON}", valid=[JSON]))


def _accepts_json(header: str) -> bool:
    for part in header.lower().split(","):
        name, *parameters = [each.strip() for each in part.split(";")]
        if name in _JSON_RANGES and not any(re.fullmatch(r"q\s*=\s*0(\.0*)?", each) for each in parameters):
            return True
    return False


def _check_envelope(message: Any) -> None:
    if isinstance(message, list):
        raise _build_envelope_error("batches aren't supported; send one message in each request")
    if not isinstance(message, dict):
        raise _build_envelope_error("the body must be one JSON-RPC message, an object")
    envelope = typing.cast(Json, message)
    if envelope.get("jsonrpc") != "2.0":
        raise _build_envelope_error('`jsonrpc` must be "2.0"')
    if "id" in envelope and get_id(envelope) is None:
        raise _build_envelope_error("`id` must be text or a whole number; a notification has none")
    if not isinstance(envelope.get("method"), str) and not envelope.keys() & {"result", "error"}:
        raise _build_envelope_error("`method` must be text")
    if not isinstance(envelope.get("params") or {}, dict):
        raise _build_envelope_error("`params` must be an object")


def _build_envelope_error(detail: str) -> MessageError:
    return MessageError(INVALID_REQUEST, InvalidRequest(detail))


def _check_version(scope: Scope, method: Any, params: Json) -> None:
    """Refuse an unknown revision, but for `initialize`, which negotiates it.

    A message that names another one than its header is left to the SDK, which says that. `supported` has the revisions
    of `server/discover`, as the conformance suite requires; the sentence names those of `initialize` as well.
    """
    from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

    version = (get_header(scope, _VERSION) or "").strip()
    accepted = [*reversed(MODERN_PROTOCOL_VERSIONS), *reversed(HANDSHAKE_PROTOCOL_VERSIONS)]
    if not version or method == "initialize" or version in accepted:
        return
    about: Any = params.get("_meta")
    if not isinstance(about, dict) or typing.cast(Json, about).get(_VERSION_IN_BODY, version) == version:
        detail = f"`Mcp-Protocol-Version` must be one of {', '.join(accepted)}"
        problem = InvalidRequest(detail, supported=list(reversed(MODERN_PROTOCOL_VERSIONS)), requested=version)
        raise MessageError(UNSUPPORTED_VERSION, problem)


def _is_newest(scope: Scope) -> bool:
    from mcp_types.version import MODERN_PROTOCOL_VERSIONS

    return (get_header(scope, _VERSION) or "").strip() in MODERN_PROTOCOL_VERSIONS


def build_error_answer(message: Any, rpc_code: int, problem: Problem, status: int) -> Answer:
    """Build a JSON-RPC error with a problem document."""
    error = {"code": rpc_code, "message": problem.detail, "data": problem.build_body()}
    document = {"jsonrpc": "2.0", "id": get_id(message), "error": error}
    return Answer(status, msgspec.json.encode(document), JSON)


def forward_scope(scope: Scope, message: Json) -> Scope:
    """Return a checked request as the SDK expects it.

    Its headers have no white space around their values, which httptools keeps, and the types that were checked. An
    unknown revision that `initialize` is sent with would be refused, instead of negotiated.
    """
    from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

    headers = [(name, value.strip()) for name, value in scope["headers"] if name not in _FORWARDED]
    if message.get("method") == "initialize":
        known = {version.encode() for version in (*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS)}
        headers = [(name, value) for name, value in headers if name != _VERSION or value in known]
    return {**scope, "headers": [*headers, *_FORWARDED.items()]}


def replay_body(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that first returns the body that was already read."""
    sent = False

    async def receive_again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again


def describe_errors(send: Send) -> Send:
    """Return a `send` that adds the problem document to the SDK's errors with an HTTP status."""
    start: Message = {}

    async def send_described(message: Message) -> None:
        nonlocal start
        if message["type"] == "http.response.start" and message["status"] >= 400:
            start = message
            return
        if start:
            body = _describe_error(message.get("body", b""), start["status"])
            headers = [(name, value) for name, value in start["headers"] if name != b"content-length"]
            await send({**start, "headers": [*headers, (b"content-length", b"%d" % len(body))]})
            start, message = {}, {**message, "body": body}
        await send(message)

    return send_described


def _describe_error(body: bytes, status: int) -> bytes:
    document: Json = msgspec.json.decode(body)
    error: Json | None = document.get("error")
    if error is None or isinstance(error.get("data"), dict):
        return body
    error["data"] = {**InvalidRequest(str(error["message"])).build_body(), "status": status}
    return msgspec.json.encode(document)
