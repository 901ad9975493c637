"""REST under `/api/v1`, at the paths of the registry. `dispatch` makes all decisions.

Path, query and body become one map of arguments; extra, repeated and duplicate ones are refused, and the whole map is
converted and validated in one step against the operation's arguments.
"""

import re
import types
import typing
from collections.abc import Awaitable, Callable, Set
from datetime import datetime
from typing import Any

import msgspec

from ticketbox.domain.captures.images.media_types import format_content_disposition
from ticketbox.domain.core.access import scopes
from ticketbox.domain.core.problems import InvalidField, InvalidRequest, MethodNotAllowed, Problem, UnsupportedMediaType
from ticketbox.edge.asgi import (
    ASGIApp,
    Receive,
    Scope,
    Send,
    get_header,
    group_headers,
    has_body,
    list_header_values,
    parse_query,
    read_body,
)
from ticketbox.edge.compression import allow_compression
from ticketbox.edge.responses import Answer, build_json_answer, build_session_cookies
from ticketbox.edge.site import Site
from ticketbox.http.header_arguments import HEADER_ARGUMENTS, list_header_arguments, read_version
from ticketbox.http.ranges import parse_range
from ticketbox.http.routing import Paths
from ticketbox.http.sse import EventStream
from ticketbox.http.uploads import read_upload
from ticketbox.operations.core.content import Content, WithSession
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.faults import MAX_MEMBERS
from ticketbox.operations.core.registry import MAX_PUBLIC_JSON, Body, Operation, Registry
from ticketbox.operations.core.schemas import list_answer_types
from ticketbox.operations.core.services import Services

PREFIX = "/api/v1"
BODY_SECONDS = 30.0

_BODY = msgspec.json.Decoder(typing.Annotated[dict[str, Any], msgspec.Meta(max_length=MAX_MEMBERS)])
_ARGUMENT_KEYS = frozenset(argument.key for argument in HEADER_ARGUMENTS.values())

Endpoint = Callable[[Scope, Receive], Awaitable[Answer | EventStream]]


class Api:
    """The REST API as an ASGI application; paths that aren't in the registry go to the fallback application.

    It runs in front of the framework, whose routing costs as much as a look-up in the file
    (docs/decisions/0002-rest-in-front-of-the-framework.md).
    """

    def __init__(self, registry: Registry, dispatcher: Dispatcher, site: Site, fallback: ASGIApp) -> None:
        self._fallback = fallback
        self._paths: Paths[Endpoint] = Paths()
        for line, operation in registry.list_routes():
            endpoint = _build_endpoint(operation, dispatcher, site)
            self._paths.add(line.method, PREFIX + line.path, endpoint)
            if line.method == "GET":  # the answer leaves its body out
                self._paths.add("HEAD", PREFIX + line.path, endpoint)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request (ASGI 3)."""
        methods, scope["path_params"] = self._paths.find(scope["path"])
        if not methods:
            await self._fallback(scope, receive, send)
            return
        endpoint = methods.get(scope["method"])
        if endpoint is None:
            valid = sorted({*methods, "OPTIONS"})
            if scope["method"] != "OPTIONS":
                raise MethodNotAllowed(valid)
            answer = Answer(204, b"", "", [(b"allow", ", ".join(valid).encode())])
        else:
            answer = await endpoint(scope, receive)
        await answer(scope, receive, send)


def _build_endpoint(operation: Operation, dispatcher: Dispatcher, site: Site) -> Endpoint:
    decode = _build_decoder(operation, dispatcher.services)
    lax = operation.body is Body.NONE
    # Answers that any token can read contain no secrets: a secret is shown once, to the person who created it.
    contains_no_secret = operation.scope is scopes.Scope.READ and not operation.writes

    async def handle(scope: Scope, receive: Receive) -> Answer | EventStream:
        context: RequestContext = scope["context"]
        if contains_no_secret:
            allow_compression(scope)
        if operation.body is Body.MULTIPART:
            actor = await dispatcher.admit(operation, context)
            await dispatcher.guard(operation, scope["path_params"], context)
            async with dispatcher.services.uploads.hold((actor.user, actor.credential or context.network)):
                return await run(scope, receive)
        await dispatcher.guard(operation, scope["path_params"], context)
        return await run(scope, receive)

    async def run(scope: Scope, receive: Receive) -> Answer | EventStream:
        context: RequestContext = scope["context"]
        try:
            arguments = await decode(scope, receive)
        except Problem:
            await dispatcher.admit(operation, context)
            raise
        if operation.live:
            return EventStream(dispatcher.follow(operation, arguments, context, lax=lax))
        result = await dispatcher.dispatch(operation, arguments, context, lax=lax)
        answer = _build_answer(operation, result, scope, site)
        if context.replayed:
            answer.headers.append((b"idempotency-replayed", b"true"))
        return answer

    return handle


def _build_decoder(operation: Operation, services: Services) -> Callable[[Scope, Receive], Awaitable[dict[str, Any]]]:
    """Return a function that reads a request into the operation's map of arguments."""
    fields = {field.encode_name: field.type for field in msgspec.structs.fields(operation.arguments)}
    lists = {name for name, kind in fields.items() if _is_list(kind)}
    accepted = list_header_arguments(operation).keys()
    in_path = {name for route in operation.routes for name in route.parameters}
    nullable = {
        name for name, kind in fields.items() if _accepts_type(kind, types.NoneType) and not _accepts_type(kind, str)
    }
    times = {name for name, kind in fields.items() if _accepts_type(kind, datetime)}

    async def decode(scope: Scope, receive: Receive) -> dict[str, Any]:
        arguments: dict[str, Any] = dict(scope["path_params"])
        if operation.body is Body.NONE:
            await _refuse_body(scope, receive)
            sent: dict[str, Any] = dict(parse_query(scope))
            for name in lists & sent.keys():
                sent[name] = [part for part in sent[name].split(",") if part]
            # msgspec would convert the text "null" to None, and a number to a time.
            for name in nullable & sent.keys():
                if str(sent[name]).lower() == "null":
                    raise InvalidField(name, "leave it out to have none")
            for name in times & sent.keys():
                if not re.match("[0-9]{4}-", sent[name]):
                    raise InvalidField(name, "send a time as RFC 3339, such as 2026-11-21T09:30:00Z")
        else:
            _refuse_query(scope)
            if operation.body is Body.JSON:
                sent = await _read_json_body(operation, scope, receive)
            else:
                sent = await read_upload(operation, scope, receive, services)
        if unknown := sent.keys() & (in_path | accepted):
            raise InvalidField(min(unknown), "unknown field")
        arguments.update(sent)
        _read_headers(scope, accepted, arguments)
        return arguments

    return decode


def _is_list(kind: Any) -> bool:
    if typing.get_origin(kind) is typing.Annotated:
        kind = typing.get_args(kind)[0]
    return typing.get_origin(kind) is list or any(_is_list(part) for part in typing.get_args(kind))


def _accepts_type(kind: Any, wanted: type) -> bool:
    return kind is wanted or any(_accepts_type(part, wanted) for part in typing.get_args(kind))


async def _refuse_body(scope: Scope, receive: Receive) -> None:
    if has_body(scope):
        raise InvalidRequest("this operation doesn't accept a body")


def _refuse_query(scope: Scope) -> None:
    for name in parse_query(scope):
        raise InvalidField(name, "this operation doesn't accept query parameters")


async def _read_json_body(operation: Operation, scope: Scope, receive: Receive) -> dict[str, Any]:
    context: RequestContext = scope["context"]
    most = operation.max_body if context.secret_hash else min(operation.max_body, MAX_PUBLIC_JSON)
    body = await read_body(scope, receive, most, BODY_SECONDS)
    if not body:
        return {}
    kind = (get_header(scope, b"content-type") or "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise UnsupportedMediaType("send the body as application/json", valid=["application/json"])
    try:
        return _BODY.decode(body)
    except msgspec.ValidationError as error:
        raise InvalidRequest(f"the body must be a JSON object of up to {MAX_MEMBERS:,} members: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"the body is no JSON: {error}") from None
    except RecursionError:
        raise InvalidRequest("the body's JSON is nested too deeply") from None


def _read_headers(scope: Scope, accepted: Set[str], arguments: dict[str, Any]) -> None:
    """Read the headers that are arguments. A header that the operation would ignore is refused."""
    if _ARGUMENT_KEYS.isdisjoint(group_headers(scope)):
        return
    for name, argument in HEADER_ARGUMENTS.items():
        values = list_header_values(scope, argument.key)
        if not values:
            continue
        label = argument.name
        if name not in accepted or len(values) > 1:
            raise InvalidField(
                label, "duplicate header" if name in accepted else "this operation doesn't accept this header"
            )
        text = values[0].strip()
        if name != "expected_version":
            arguments[name] = text
        elif text != "*":
            arguments[name] = read_version(text)


def _build_answer(operation: Operation, result: Any, scope: Scope, site: Site) -> Answer:
    if isinstance(result, Content):
        return _build_content_answer(result, scope)
    if isinstance(result, WithSession):
        session = typing.cast(WithSession[Any], result)
        answer = _build_answer(operation, session.answer, scope, site)
        answer.headers += build_session_cookies(session, site)
        return answer
    if result is None:
        is_empty = list_answer_types(operation) == [types.NoneType]
        return Answer(204, b"", "") if is_empty else Answer(200, b"null", "application/json")
    status = 201 if operation.creates and not getattr(result, "repeated", False) else 200
    answer = build_json_answer(result, status)
    # a dict is the stored answer of another version
    version = (
        typing.cast(dict[str, Any], result).get("version")
        if isinstance(result, dict)
        else getattr(result, "version", None)
    )
    if version is not None:
        answer.headers.append((b"etag", b'"%d"' % version))
    return answer


def _build_content_answer(content: Content, scope: Scope) -> Answer:
    headers = [
        (b"content-disposition", format_content_disposition(content.name, content.inline).encode("latin-1")),
        (b"content-security-policy", b"default-src 'none'; sandbox; frame-ancestors 'none'"),
    ]
    if content.next_cursor is not None:
        headers.append((b"x-next-cursor", content.next_cursor.encode()))
    if content.immutable:
        headers.append((b"cache-control", b"private, max-age=31536000, immutable"))
    if content.etag is not None:
        headers += [(b"etag", b'"%s"' % content.etag.encode()), (b"cache-control", b"private, no-cache")]
        if get_header(scope, b"if-none-match") == f'"{content.etag}"':
            return Answer(304, b"", "", headers)
        headers.append((b"accept-ranges", b"bytes"))
        length = len(content.data)
        part = parse_range(get_header(scope, b"range"), length) if scope["method"] == "GET" else None
        if part is not None and get_header(scope, b"if-range") in {None, f'"{content.etag}"'}:
            first, end = part
            headers.append((b"content-range", f"bytes {first}-{end - 1}/{length}".encode()))
            return Answer(206, content.data[first:end], content.media_type, headers)
    return Answer(200, content.data, content.media_type, headers)
