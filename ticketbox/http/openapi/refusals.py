"""Which problems a REST route can answer: what its operation declares, and what follows from the way there."""

from collections.abc import Iterator
from itertools import groupby

from ticketbox.domain.core.problems import (
    PROBLEMS,
    Conflict,
    Forbidden,
    InsufficientScope,
    InvalidRequest,
    MisdirectedRequest,
    NotFound,
    PayloadTooLarge,
    Problem,
    RateLimited,
    RequestTimeout,
    StorageFull,
    Unauthorized,
    Unavailable,
    UnsupportedMediaType,
    VersionConflict,
)
from ticketbox.domain.core.scopes import Access, Scope
from ticketbox.operations.core.registry import Body, Operation, Registry, Route
from ticketbox.operations.core.schemas import Json

_ALWAYS = {InvalidRequest, MisdirectedRequest, RateLimited, Problem, Unauthorized, Unavailable}


def refusals(route: Route, operation: Operation) -> list[type[Problem]]:
    """The problems that a route can answer, by their statuses; `Problem` itself is what went wrong in the server.

    A credential that isn't one is refused where none is needed, too; so is another site's write with a cookie.
    """
    possible = _ALWAYS | set(operation.refuses)
    if isinstance(operation.scope, Scope):
        possible.add(InsufficientScope)
    if operation.scope is Access.SESSION or route.method != "GET":
        possible.add(Forbidden)
    if route.parameters:
        possible.add(NotFound)
    if operation.accepts_expected_version:
        possible.add(VersionConflict)
    if operation.accepts_idempotency_key:
        possible.add(Conflict)
    if operation.body is not Body.NONE:
        possible |= {PayloadTooLarge, RequestTimeout, UnsupportedMediaType}
    if operation.writes:
        possible.add(StorageFull)
    return sorted(possible, key=lambda each: (each.status, [*PROBLEMS, Problem].index(each)))


def by_status(route: Route, operation: Operation) -> Iterator[tuple[int, str]]:
    """Yield the statuses of a route's refusals, each with its name in `answers`."""
    for status, refused in groupby(refusals(route, operation), key=lambda each: each.status):
        yield status, "-or-".join(each.code for each in refused)


def answers(registry: Registry, problem: Json) -> Json:
    """Build the shared OpenAPI responses for refusals, by the codes that they can contain.

    `problem` is the schema of every problem document.
    """
    names = {name for route, operation in registry.routes() for _, name in by_status(route, operation)}
    return {name: _answer(name.split("-or-"), problem) for name in sorted(names)}


def _answer(codes: list[str], problem: Json) -> Json:
    schema = {"allOf": [problem, {"properties": {"code": {"enum": codes}}}]}
    words = ", ".join(f"`{code}`" for code in codes)
    return {"description": words, "content": {"application/problem+json": {"schema": schema}}}
