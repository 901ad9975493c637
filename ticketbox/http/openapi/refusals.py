"""The problems of each REST route: those that its operation declares, and those that follow from the declaration."""

from collections.abc import Iterator
from itertools import groupby

from ticketbox.domain.core.access.scopes import Access, Scope
from ticketbox.domain.core.problems import (
    PROBLEMS,
    Conflict,
    Forbidden,
    InsufficientScope,
    InvalidRequest,
    MisdirectedRequest,
    NotFound,
    PayloadTooLarge,
    PreconditionFailed,
    Problem,
    RateLimited,
    RequestTimeout,
    StorageFull,
    Unauthorized,
    Unavailable,
    UnsupportedMediaType,
    VersionConflict,
)
from ticketbox.operations.core.registry import Body, Operation, Registry, Route
from ticketbox.operations.core.schemas import Json

_ALWAYS = {InvalidRequest, MisdirectedRequest, RateLimited, Problem, Unauthorized, Unavailable}


def list_refusals(route: Route, operation: Operation) -> list[type[Problem]]:
    """List the problems that a route can return, sorted by status; `Problem` itself is an internal error.

    Routes without a required credential also refuse an invalid one, and a write with a cookie from another site.
    """
    possible = _ALWAYS | set(operation.refuses)
    if isinstance(operation.scope, Scope):
        possible.add(InsufficientScope)
    if operation.scope is Access.SESSION or route.method != "GET":
        possible.add(Forbidden)
    if route.parameters:
        possible.add(NotFound)
    if operation.accepts_expected_version:
        possible |= {VersionConflict, PreconditionFailed}
    if operation.accepts_idempotency_key:
        possible.add(Conflict)
    if operation.body is not Body.NONE:
        possible |= {PayloadTooLarge, RequestTimeout, UnsupportedMediaType}
    if operation.writes:
        possible.add(StorageFull)
    return sorted(possible, key=lambda each: (each.status, [*PROBLEMS, Problem].index(each)))


def group_by_status(route: Route, operation: Operation) -> Iterator[tuple[int, str]]:
    """Yield the statuses of a route's refusals, each with the name of its response in `build_answers`."""
    for status, refused in groupby(list_refusals(route, operation), key=lambda each: each.status):
        yield status, "-or-".join(each.code for each in refused)


def build_answers(registry: Registry, problem: Json) -> Json:
    """Build the shared OpenAPI responses for refusals, by the codes that they can contain.

    `problem` is the schema of every problem document.
    """
    names = {name for route, operation in registry.list_routes() for _, name in group_by_status(route, operation)}
    return {name: _build_answer(name.split("-or-"), problem) for name in sorted(names)}


def _build_answer(codes: list[str], problem: Json) -> Json:
    schema = {"allOf": [problem, {"properties": {"code": {"enum": codes}}}]}
    words = ", ".join(f"`{code}`" for code in codes)
    return {"description": words, "content": {"application/problem+json": {"schema": schema}}}
