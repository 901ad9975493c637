"""A wall clock that jumps: budgets don't notice, and what was revoked stays revoked."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.support.seed import EMAIL, Seed
from ticketbox.domain.accounts import secrets
from ticketbox.domain.core.clock import DAY, Clock
from ticketbox.domain.core.fairness.limits import RateLimiter
from ticketbox.domain.core.problems import NotFound, RateLimited, Unauthorized
from ticketbox.operations.catalogue import load_registry
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.services import Services
from ticketbox.store.file.database import Database


class Hands:
    """The two clocks' hands."""

    wall = 1_795_253_400_000
    steady = 1_000.0


async def open_dispatcher(db: Path, hands: Hands) -> tuple[Database, Dispatcher]:
    """The file with a clock that the test turns."""
    clock = Clock(now=lambda: hands.wall, monotonic=lambda: hands.steady)
    database = await Database.open(db, clock)
    return database, Dispatcher(Services(database, RateLimiter(clock.monotonic), ""))


@pytest.mark.parametrize("jump", [DAY, -DAY, 400 * DAY, -400 * DAY])
def test_clock_jump_neither_adds_nor_removes_budget(seed: Seed, tmp_path: Path, jump: int) -> None:
    async def draw() -> None:
        hands = Hands()
        database, dispatcher = await open_dispatcher(seed.copy(tmp_path), hands)

        async def comment() -> None:
            call = RequestContext(secret_hash=secrets.hash_secret(seed.token))
            await dispatcher.dispatch(load_registry()["add_comment"], {"ticket_id": ticket.id, "body": "x"}, call)

        await database.write(lambda tx: tx.execute("UPDATE company SET writes_per_minute = 5"))
        call = RequestContext(secret_hash=secrets.hash_secret(seed.token))
        given = {"project_id": seed.project, "title": "T"}
        ticket = await dispatcher.dispatch(load_registry()["create_ticket"], given, call)
        for _ in range(4):
            await comment()
        with pytest.raises(RateLimited) as before:
            await comment()
        hands.wall += jump
        with pytest.raises(RateLimited) as after:
            await comment()
        assert after.value.retry_after == before.value.retry_after == 12
        hands.steady += 12
        await comment()
        with pytest.raises(RateLimited):
            await comment()
        dispatcher.services.close()
        await database.close()

    asyncio.run(draw())


@pytest.mark.parametrize("jump", [DAY, -DAY, -400 * DAY])
def test_revoked_token_stays_revoked(seed: Seed, tmp_path: Path, jump: int) -> None:
    async def revive() -> None:
        hands = Hands()
        database, dispatcher = await open_dispatcher(seed.copy(tmp_path), hands)

        async def ask(name: str, given: dict[str, Any], **call: Any) -> Any:
            return await dispatcher.dispatch(load_registry()[name], given, RequestContext(**call))

        wanted = {"user": EMAIL, "label": "short", "scopes": ["read"], "expires_days": 30}
        token = await ask("issue_token", wanted, operator=True)
        hashed = secrets.hash_secret(token.secret)
        await ask("get_me", {}, secret_hash=hashed)
        await ask("revoke_issued_token", {"token_id": token.id}, operator=True)
        session = await ask("create_session", {"email": EMAIL, "password": "correct horse battery"}, address="a")
        cookie = {"secret_hash": secrets.hash_secret(session.secret), "cookie": True}
        invited = await ask("create_invitation", {"company_id": seed.company, "role": "viewer"}, **cookie)
        (offer,) = (await ask("list_invitations", {"company_id": seed.company}, **cookie)).items
        await ask("delete_invitation", {"invitation_id": offer.id}, **cookie)
        await ask("delete_session", {}, **cookie)
        hands.wall += jump
        for call in ({"secret_hash": hashed}, cookie):
            with pytest.raises(Unauthorized):
                await ask("get_me", {}, **call)
        with pytest.raises(NotFound):
            await ask("get_invitation", {"secret": invited.secret}, address="b")
        dispatcher.services.close()
        await database.close()

    asyncio.run(revive())


def test_token_expires_by_the_wall_clock(seed: Seed, tmp_path: Path) -> None:
    async def expire() -> None:
        hands = Hands()
        database, dispatcher = await open_dispatcher(seed.copy(tmp_path), hands)
        wanted = {"user": EMAIL, "label": "short", "scopes": ["read"], "expires_days": 1}
        token = await dispatcher.dispatch(load_registry()["issue_token"], wanted, RequestContext(operator=True))
        hands.wall += DAY - 1
        await dispatcher.dispatch(
            load_registry()["get_me"], {}, RequestContext(secret_hash=secrets.hash_secret(token.secret))
        )
        hands.wall += 1
        with pytest.raises(Unauthorized):
            await dispatcher.dispatch(
                load_registry()["get_me"], {}, RequestContext(secret_hash=secrets.hash_secret(token.secret))
            )
        dispatcher.services.close()
        await database.close()

    asyncio.run(expire())
