"""Read OAuth requests and run their operations."""

import typing
from collections.abc import Awaitable, Callable
from typing import Any

from litestar import Request

from ticketbox.domain.core.access.policy import Via
from ticketbox.edge.asgi import Receive, Scope
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.registry import Operation, Registry

RequestParts = tuple[Scope, Receive, RequestContext]
RunOperation = Callable[[str, dict[str, Any], RequestContext], Awaitable[Any]]


def build_runner(registry: Registry, dispatcher: Dispatcher) -> RunOperation:
    """Return a function that runs an operation by its name."""

    async def run_operation(name: str, arguments: dict[str, Any], context: RequestContext) -> Any:
        context.via = Via.WEB
        return await dispatcher.dispatch(registry[name], arguments, context)

    return run_operation


def get_parts(request: Request[Any, Any, Any]) -> RequestParts:
    """Return the ASGI parts of a request, and its context."""
    scope = typing.cast(Scope, request.scope)
    return scope, typing.cast(Receive, request.receive), scope["context"]


def select_known_fields(fields: dict[str, Any], operation: Operation) -> dict[str, Any]:
    """Return the fields that an operation accepts; a client may send others (RFC 6749, 3.1 and 3.2)."""
    return {name: fields[name] for name in operation.arguments.__struct_fields__ if name in fields}
