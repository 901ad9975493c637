"""The one list of operations. Routes, tools, OpenAPI, documentation and tests derive from it.

An operation is declared once, above its handler. A declaration without a scope can't be written
(it is a required argument), so nothing is reachable by accident.
"""

import inspect
import re
import typing
from collections.abc import Awaitable, Callable, Iterator
from enum import Enum
from typing import Any

import msgspec

from ticketbox.domain.core.limits import Budget
from ticketbox.domain.core.problems import Problem
from ticketbox.domain.core.scopes import Access, Scope
from ticketbox.operations.core.meter import Meter
from ticketbox.store.file.database import Write

Handler = Callable[..., Any]


class Tool(msgspec.Struct, frozen=True):
    """How an operation stands among the MCP tools.

    `when` is the sentence that tells an agent when to use it; `example` holds arguments.
    """

    title: str
    when: str
    example: dict[str, Any]
    name: str | None = None
    destructive: bool = False
    idempotent: bool = False


class Route(msgspec.Struct, frozen=True):
    """A REST route under `/api/v1`: `POST /tickets/{ticket_id}/move`."""

    method: str
    path: str

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names in the path, in order."""
        return tuple(re.findall(r"{(\w+)}", self.path))


class Body(Enum):
    """How a REST request carries its input beyond the address."""

    NONE = "none"
    JSON = "json"
    MULTIPART = "multipart"


class Operation(msgspec.Struct, frozen=True):
    """A declared operation. `module` is where it is declared, `group` the room of that module."""

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
    brief: Callable[[Any], bool]
    creates: bool
    live: bool
    body: Body
    media: tuple[str, ...]
    refuses: tuple[type[Problem], ...]
    summary: str
    description: str
    examples: dict[str, Any]

    @property
    def accepts_idempotency_key(self) -> bool:
        """Whether an Idempotency-Key makes a repeat return the first answer."""
        return "idempotency_key" in self.arguments.__struct_fields__

    @property
    def accepts_expected_version(self) -> bool:
        """Whether If-Match (in MCP: expected_version) guards the write."""
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
    brief: bool | Callable[[Any], bool] = False,
    creates: bool = False,
    live: bool = False,
    body: Body | None = None,
    media: tuple[str, ...] = (),
    refuses: tuple[type[Problem], ...] = (),
    example: dict[str, Any] | None = None,
) -> Callable[[Handler], Handler]:
    """Declare an operation above its handler `(tx, actor, args[, prepared][, meter]) -> result`.

    `prepare` runs before the transaction and may wait (hash, decode, sniff); `finish` runs after it
    and turns the handler's result into the answer (draw, scale). `brief` says, for all arguments or by them,
    that a read is a few indexed look-ups and little else, which saves it the way to a thread. The answer of a
    `live` one goes on, batch after batch. `media` names the types of an answer that isn't JSON. `refuses` names the
    problems of its own, beyond those that follow from the rest (http/openapi/refusals.py).
    Raises TypeError or ValueError at import for a declaration that can't hold.
    """

    def declare(handler: Handler) -> Handler:
        hints = typing.get_type_hints(handler, include_extras=True)
        parameters = list(inspect.signature(handler).parameters)
        arguments = hints[parameters[2]]
        routes = tuple(Route(*line.split(" ", 1)) for line in ([rest] if isinstance(rest, str) else rest))
        doc = inspect.getdoc(handler) or ""
        summary, _, description = doc.partition("\n")
        if not isinstance(scope, Scope | Access):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"operation {name} needs a scope")
        if name in _operations:
            raise ValueError(f"operation {name} is declared twice")
        if not summary:
            raise ValueError(f"operation {name} has no description")
        if not arguments.__struct_config__.forbid_unknown_fields:
            raise TypeError(f"operation {name}: {arguments.__name__} must forbid unknown fields")
        for route in routes:
            if strangers := set(route.parameters) - set(arguments.__struct_fields__):
                raise TypeError(f"operation {name}: {route.path} names {strangers}, which the arguments lack")
        if body is None:
            has_body = any(route.method in {"POST", "PUT", "PATCH"} for route in routes)
            kind = Body.JSON if has_body else Body.NONE
        else:
            kind = body
        _operations[name] = Operation(
            name=name,
            module=handler.__module__,
            group=handler.__module__.split(".")[-2],
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
            brief=brief if callable(brief) else _always if brief else _never,
            creates=creates,
            live=live,
            body=kind,
            media=media,
            refuses=refuses,
            summary=summary.rstrip("."),
            description=" ".join(description.split()),
            examples=example or (tool.example if tool else {}),
        )
        return handler

    return declare


def _always(_: Any) -> bool:
    return True


def _never(_: Any) -> bool:
    return False


class Registry:
    """All declared operations: module by module, each in the order of its declarations."""

    def __init__(self, operations: dict[str, Operation]) -> None:
        self._operations = operations

    def __iter__(self) -> Iterator[Operation]:
        return iter(self._operations.values())

    def __getitem__(self, name: str) -> Operation:
        return self._operations[name]

    def __len__(self) -> int:
        return len(self._operations)

    def routes(self) -> Iterator[tuple[Route, Operation]]:
        """Every REST route with its operation."""
        for declared in self:
            for route in declared.routes:
                yield route, declared


def declared_operations() -> Iterator[Operation]:
    """Every operation whose module has been imported, in the order of the imports."""
    return iter(_operations.values())
