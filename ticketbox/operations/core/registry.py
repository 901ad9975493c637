"""The registry of operations. Routes, tools, OpenAPI, documentation and tests are derived from it.

An operation is declared once, by a decorator of its handler. The scope is a required argument, so no operation is
accessible by accident.
"""

import inspect
import re
import typing
from collections.abc import Awaitable, Callable, Iterator
from enum import Enum
from typing import Any

import msgspec

from ticketbox.domain.core.access.scopes import Access, Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import Problem
from ticketbox.operations.core.meter import Meter
from ticketbox.store.file.database import Write

Handler = Callable[..., Any]
ToolSet = typing.Literal["core", "evidence", "triage", "admin"]

# The bytes of a body, if its operation declares no other limit.
MAX_JSON = 4 * 1024 * 1024
MAX_PUBLIC_JSON = 64 * 1024  # without a credential
MAX_UPLOAD = 32 * 1024 * 1024


class Tool(msgspec.Struct, frozen=True):
    """How an operation is listed as an MCP tool.

    `when` is a sentence for agents that says when to use the tool; `example` contains arguments; `defaults` are
    arguments that a tool call leaves out and a REST call doesn't have. `unlisted` arguments are accepted but not in the
    tool's schema: a program adds them, or few agents need them. Clients list the set `core` unless they ask for others.
    """

    title: str
    when: str
    example: dict[str, Any]
    name: str | None = None
    destructive: bool = False
    idempotent: bool = False
    defaults: dict[str, Any] = {}
    tool_set: ToolSet = "evidence"
    unlisted: tuple[str, ...] = ()


class Route(msgspec.Struct, frozen=True):
    """A REST route under `/api/v1`: `POST /tickets/{ticket_id}/move`."""

    method: str
    path: str

    @property
    def parameters(self) -> tuple[str, ...]:
        """The parameters in the path, in order."""
        return tuple(re.findall(r"{(\w+)}", self.path))


class Body(Enum):
    """The format of a REST request's body."""

    NONE = "none"
    JSON = "json"
    MULTIPART = "multipart"


class Operation(msgspec.Struct, frozen=True):
    """A declared operation. `module` declares it; `group` is the room of that module."""

    name: str
    module: str
    group: str
    scope: Scope | Access
    budget: Budget
    routes: tuple[Route, ...]
    tool: Tool | None
    arguments: type[msgspec.Struct]
    result: Any
    handler: Handler
    prepare: Callable[..., Awaitable[Any]] | None
    finish: Callable[..., Awaitable[Any]] | None
    writes: bool
    metered: bool
    inline: bool
    creates: bool
    secret: bool
    live: bool
    waits: bool
    without_factor: bool
    body: Body
    guard: Callable[..., Awaitable[None]] | None
    max_body: int
    media: tuple[str, ...]
    refuses: tuple[type[Problem], ...]
    summary: str
    description: str
    examples: dict[str, Any]

    @property
    def accepts_idempotency_key(self) -> bool:
        """Whether the operation accepts an Idempotency-Key."""
        return "idempotency_key" in self.arguments.__struct_fields__

    @property
    def accepts_cursor(self) -> bool:
        """Whether the operation returns a list in pages."""
        return "cursor" in self.arguments.__struct_fields__

    @property
    def accepts_expected_version(self) -> bool:
        """Whether the operation accepts If-Match (in MCP: expected_version)."""
        return "expected_version" in self.arguments.__struct_fields__


_operations: dict[str, Operation] = {}


def operation(
    name: str,
    *,
    scope: Scope | Access,
    budget: Budget,
    rest: str | tuple[str, ...] = (),
    tool: Tool | None = None,
    prepare: Callable[..., Awaitable[Any]] | None = None,
    finish: Callable[..., Awaitable[Any]] | None = None,
    inline: bool = False,
    creates: bool = False,
    secret: bool = False,
    live: bool = False,
    waits: bool = False,
    without_factor: bool = False,
    body: Body | None = None,
    guard: Callable[..., Awaitable[None]] | None = None,
    max_body: int | None = None,
    media: tuple[str, ...] = (),
    refuses: tuple[type[Problem], ...] = (),
    example: dict[str, Any] | None = None,
) -> Callable[[Handler], Handler]:
    """Declare an operation above its handler `(tx, actor, args[, prepared][, meter]) -> result`.

    `prepare` runs before the transaction and may be slow (hash, decode, inspect a file); `finish` runs after it and
    converts the handler's result to the answer (draw, scale). An `inline` read, a few indexed look-ups, runs on the
    event loop's thread: only what is called most, because it costs a third less there (store/file/readers.py). The
    answer of a `secret` operation isn't stored for its Idempotency-Key; the handler handles repeated calls itself. A
    `live` operation streams its answer in batches. An operation that `waits` has the argument `wait_seconds`, and its
    handler raises NothingYet if it must run again after the next event (waiting.py). `without_factor` is for what
    people need to set up a second factor that their company requires. `media` lists the media types of an answer that
    isn't JSON. `guard` refuses a request by its path before its body is read, and `max_body` limits the body's bytes.
    `refuses` lists the problems beyond those that follow from the declaration (http/openapi/refusals.py).
    Raises TypeError or ValueError at import if the declaration is invalid.
    """

    def declare(handler: Handler) -> Handler:
        hints = typing.get_type_hints(handler, include_extras=True)
        parameters = list(inspect.signature(handler).parameters)
        arguments = hints[parameters[2]]
        routes = tuple(Route(*line.split(" ", 1)) for line in ([rest] if isinstance(rest, str) else rest))
        doc = inspect.getdoc(handler) or ""
        summary, _, description = doc.partition("\n")
        if not isinstance(scope, Scope | Access):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"operation {name} requires a scope")
        if name in _operations:
            raise ValueError(f"operation {name} is declared twice")
        if not summary:
            raise ValueError(f"operation {name} has no description")
        if not arguments.__struct_config__.forbid_unknown_fields:
            raise TypeError(f"operation {name}: {arguments.__name__} must forbid unknown fields")
        if waits and "wait_seconds" not in arguments.__struct_fields__:
            raise TypeError(f"operation {name}: {arguments.__name__} must have wait_seconds")
        for route in routes:
            if unknown := set(route.parameters) - set(arguments.__struct_fields__):
                raise TypeError(f"operation {name}: {route.path} has parameters that aren't arguments: {unknown}")
        if body is None:
            has_body = any(route.method in {"POST", "PUT", "PATCH"} for route in routes)
            kind = Body.JSON if has_body else Body.NONE
        else:
            kind = body
        _operations[name] = Operation(
            name=name,
            module=handler.__module__,
            group=handler.__module__.removeprefix("ticketbox.operations.").split(".")[0],
            scope=scope,
            budget=budget,
            routes=routes,
            tool=tool,
            arguments=arguments,
            result=hints["return"],
            handler=handler,
            prepare=prepare,
            finish=finish,
            writes=hints[parameters[0]] is Write,
            metered=hints[parameters[-1]] is Meter,
            inline=inline,
            creates=creates,
            secret=secret,
            live=live,
            waits=waits,
            without_factor=without_factor,
            body=kind,
            guard=guard,
            max_body=_limit_body(kind, scope) if max_body is None else max_body,
            media=media,
            refuses=refuses,
            summary=summary.rstrip("."),
            description=" ".join(description.split()),
            examples=example or (tool.example if tool else {}),
        )
        return handler

    return declare


def _limit_body(kind: Body, scope: Scope | Access) -> int:
    if kind is Body.MULTIPART:
        return MAX_UPLOAD
    return MAX_PUBLIC_JSON if scope is Access.PUBLIC else MAX_JSON


class Registry:
    """All declared operations, by module and in the order of their declarations."""

    def __init__(self, operations: dict[str, Operation]) -> None:
        self._operations = operations

    def __iter__(self) -> Iterator[Operation]:
        return iter(self._operations.values())

    def __getitem__(self, name: str) -> Operation:
        return self._operations[name]

    def __len__(self) -> int:
        return len(self._operations)

    def list_routes(self) -> Iterator[tuple[Route, Operation]]:
        """Yield each REST route with its operation."""
        for declared in self:
            for route in declared.routes:
                yield route, declared


def list_operations() -> Iterator[Operation]:
    """Yield the operations of all modules imported so far, in the order of the imports."""
    return iter(_operations.values())
