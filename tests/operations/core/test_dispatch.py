"""Dispatch: who is admitted when, on a clock that the tests set, and what a call costs."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.support.server import PASSWORD
from ticketbox.domain.accounts.secrets import hash_secret
from ticketbox.domain.core.access.scopes import Access
from ticketbox.domain.core.clock import DAY, HOUR, Clock
from ticketbox.domain.core.fairness.limits import RateLimiter
from ticketbox.domain.core.problems import (
    InsufficientScope,
    InvalidRequest,
    NotFound,
    Problem,
    RateLimited,
    Unauthorized,
)
from ticketbox.operations.catalogue import load_registry
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.faults import describe_validation_error
from ticketbox.operations.core.registry import Operation
from ticketbox.operations.core.services import Services
from ticketbox.store.file.database import Database
from ticketbox.store.file.migrate import prepare_file

START = 1_800_000_000_000


class House:
    """The operations on a file that is set up, without a server, at a time of the test's choice."""

    dispatcher: Dispatcher

    def __init__(self, now: int) -> None:
        self.now = now
        self.ticking = 1_000.0
        self.project = self.column = ""

    async def shell(self, name: str, /, **arguments: Any) -> Any:
        """Call as the machine's shell does."""
        return await self.dispatcher.dispatch(load_registry()[name], arguments, RequestContext(operator=True))

    async def ask(self, secret: str, name: str, /, **arguments: Any) -> Any:
        """Call with a token."""
        return await self.dispatcher.dispatch(
            load_registry()[name], arguments, RequestContext(secret_hash=hash_secret(secret))
        )

    async def token(self, *scopes: str, **more: Any) -> str:
        """The secret of a new token of the owner's."""
        made = await self.shell("issue_token", user="root@example.org", label="x", scopes=list(scopes), **more)
        return made.secret


def on_a_file(test: Callable[[House], Awaitable[None]]) -> Callable[[Path], None]:
    """Run a test on a new file."""

    async def inside(folder: Path) -> None:
        async with house(folder) as here:
            await test(here)

    def run(tmp_path: Path) -> None:
        asyncio.run(inside(tmp_path))

    return run


@contextlib.asynccontextmanager
async def house(folder: Path) -> AsyncIterator[House]:
    """A file that is set up, open."""
    path = folder / "ticketbox.db"
    prepare_file(path)
    clock = Clock(now=lambda: made.now, monotonic=lambda: made.ticking)
    made = House(START)
    database = await Database.open(path, clock)
    services = Services(database, RateLimiter(clock.monotonic), "http://localhost")
    made.dispatcher = Dispatcher(services)
    try:
        given = {"email": "root@example.org", "name": "Root", "company": "Acme", "project": "Shop"}
        first = await made.shell("initialize", password=PASSWORD, **given)
        made.project, made.column = first.project_id, first.columns[0].id
        yield made
    finally:
        services.close()
        await database.close()


@on_a_file
async def test_token_is_valid_to_the_millisecond(here: House) -> None:
    secret = await here.token("read", expires_days=30)
    here.now = START + 30 * DAY - 1
    await here.ask(secret, "get_me")
    here.now += 1
    with pytest.raises(Unauthorized):
        await here.ask(secret, "get_me")


async def start_session(here: House) -> bytes:
    """The hash of the secret of a new session."""
    path = (await here.shell("create_sign_in_link", user="root@example.org")).path
    given = {"secret": path.rpartition("/")[2]}
    session = await here.dispatcher.dispatch(load_registry()["open_sign_in_link"], given, RequestContext())
    return hash_secret(session.secret)


@on_a_file
async def test_session_ends_without_use(here: House) -> None:
    session, token = await start_session(here), await here.token("read")

    async def use(name: str, secret: bytes) -> Any:
        return await here.dispatcher.dispatch(
            load_registry()[name], {}, RequestContext(secret_hash=secret, cookie=True)
        )

    here.now += 9 * HOUR
    await use("get_me", session)
    here.dispatcher.services.session_idle_ms = 8 * HOUR
    for _ in range(3):
        here.now += 8 * HOUR
        await use("get_me", session)
    here.now += 8 * HOUR + 1
    for _ in range(2):
        with pytest.raises(Unauthorized, match="the session has ended"):
            await use("get_me", session)
    await here.ask(token, "get_me")
    assert len((await use("list_sessions", await start_session(here))).items) == 1


@on_a_file
async def test_open_page_does_not_keep_a_session_alive(here: House) -> None:
    here.dispatcher.services.session_idle_ms = 8 * HOUR
    me, stream = load_registry()["get_me"], load_registry()["stream_events"]
    for operation, background in ((me, True), (stream, False)):
        session = await start_session(here)

        async def use(operation: Operation, *, background: bool = False, session: bytes = session) -> None:
            context = RequestContext(secret_hash=session, cookie=True, background=background)
            await here.dispatcher.dispatch(operation, {}, context)

        await use(me)
        here.now += 7 * HOUR
        await use(operation, background=background)
        here.now += HOUR + 1
        with pytest.raises(Unauthorized):
            await use(me)


@on_a_file
async def test_clock_set_back_revives_no_revoked_token(here: House) -> None:
    secret = await here.token("read")
    me = await here.ask(secret, "get_me")
    here.now += HOUR
    await here.shell("revoke_issued_token", token_id=me.token.id)
    for jump in (0, -HOUR, -400 * DAY, 400 * DAY):
        here.now = START + jump
        with pytest.raises(Unauthorized):
            await here.ask(secret, "get_me")


@on_a_file
async def test_wall_clock_jump_leaves_the_budget_unchanged(here: House) -> None:
    secret = await here.token("read")
    before = (await here.ask(secret, "get_me")).budgets
    for jump in (DAY, -DAY):
        here.now = START + jump
        after = (await here.ask(secret, "get_me")).budgets
        assert after.reads.remaining == before.reads.remaining - 1
        before = after
    here.ticking += 60
    assert (await here.ask(secret, "get_me")).budgets.reads.remaining == 599


@on_a_file
async def test_every_call_costs_one_whatever_its_result(here: House) -> None:
    """Bad input, a missing row, slow work before the transaction: one each, never two and never none."""
    secret = await here.token("tickets:write")

    async def cost(name: str, **arguments: Any) -> int:
        before = (await here.ask(secret, "get_me")).budgets.writes.remaining
        with contextlib.suppress(Problem):
            await here.ask(secret, name, **arguments)
        return before - (await here.ask(secret, "get_me")).budgets.writes.remaining

    assert await cost("create_ticket", title="x", project_id=here.project) == 1
    assert await cost("create_ticket", title="", project_id=here.project) == 1
    assert await cost("create_ticket", surprise=1) == 1
    assert await cost("update_ticket", ticket_id="t-00000000", title="x") == 1
    assert await cost("add_attachment", ticket_id="t-00000000", file={"name": "a", "data": b"x"}) == 1
    assert await cost("assign_ticket", ticket_id="t-00000000", user_id="me") == 0  # not within the scope
    assert await cost("list_tickets") == 0
    ids = [f"t-{number:08d}" for number in range(7)]
    assert await cost("bulk_move_tickets", ticket_ids=ids, column_id=here.column) == 7


@on_a_file
async def test_budget_is_reported_with_errors_too(here: House) -> None:
    secret = await here.token("tickets:write")
    operation = load_registry()["create_ticket"]
    for _ in range(60):
        with pytest.raises(InvalidRequest):
            await here.ask(secret, "create_ticket", title="")
    call = RequestContext(secret_hash=hash_secret(secret))
    with pytest.raises(RateLimited) as refused:
        await here.dispatcher.dispatch(operation, {"title": ""}, call)
    assert call.level is not None
    assert (call.level.limit, call.level.remaining, refused.value.retry_after) == (60, 0, 1)


SHELL_ONLY = [each.name for each in load_registry() if each.scope is Access.OPERATOR]


def test_command_line_operation_has_no_route_and_no_tool() -> None:
    assert "issue_token" in SHELL_ONLY
    for each in load_registry():
        if each.scope is Access.OPERATOR:
            assert (each.routes, each.tool) == ((), None), each.name


@on_a_file
async def test_only_the_command_line_calls_its_operations(here: House) -> None:
    """Even if a surface offered one by mistake: not with a token of every scope, and not without any."""
    secret = await here.token("tickets:write", "tickets:assign")
    for name in SHELL_ONLY:
        for call in (
            RequestContext(),
            RequestContext(secret_hash=hash_secret(secret)),
            RequestContext(secret_hash=hash_secret(secret), cookie=True),
        ):
            with pytest.raises((NotFound, Unauthorized, InvalidRequest)) as refused:
                await here.dispatcher.admit(load_registry()[name], call)
            assert not isinstance(refused.value, InvalidRequest)


@on_a_file
async def test_scope_is_checked_before_the_input(here: House) -> None:
    reader = await here.token("read")
    with pytest.raises(InsufficientScope):
        await here.ask(reader, "create_ticket", surprise=1)
    with pytest.raises(Unauthorized):
        await here.ask("tok_unknown", "create_ticket", surprise=1)


class Inner(msgspec.Struct, forbid_unknown_fields=True):
    """Something within."""

    count: int


class Outer(msgspec.Struct, forbid_unknown_fields=True):
    """Something with parts."""

    name: str
    parts: list[Inner] = []


@pytest.mark.parametrize(
    ("given", "field", "message"),
    [
        ({}, "name", "required field is missing"),
        ({"name": 1}, "name", "expected `str`, got `int`"),
        ({"name": "x", "other": 1}, "other", "unknown field"),
        ({"name": "x", "parts": [{"count": 1}, {"count": "x"}]}, "parts[1].count", "expected `int`, got `str`"),
        ({"name": "x", "parts": [{}]}, "parts[0].count", "required field is missing"),
        ({"name": "x", "parts": [{"count": 1, "z": 1}]}, "parts[0].z", "unknown field"),
    ],
)
def test_error_points_at_the_field(given: dict[str, Any], field: str, message: str) -> None:
    with pytest.raises(msgspec.ValidationError) as refused:
        msgspec.convert(given, Outer)
    (error,) = describe_validation_error(refused.value).extra["errors"]
    assert (error.field, error.message) == (field, message)
