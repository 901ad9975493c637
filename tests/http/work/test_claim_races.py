"""Many callers with one token start work on one ticket at the same moment: exactly one of them gets the claim."""

import asyncio
import contextlib
import random
import secrets
import signal
import time
from pathlib import Path

import httpx
import pytest

from tests.support.long_runs import Record, choose_rounds
from tests.support.operation_cases import Stage, read_only
from tests.support.server import Box, ok, run_server

CALLERS = 64
ROUNDS = 10
LONG_ROUNDS = choose_rounds(30, 200)  # docs/develop/promises.md has the result of 1,000
KILL_EVERY = 10


class Race:
    """Callers that share a token, each with its own connection. A caller whose answer is lost repeats its call."""

    def __init__(self, box: Box, token: str) -> None:
        self.box = box
        self.token = token
        self.running = asyncio.Event()
        self.running.set()
        self.lost = 0
        self.fastest = float("inf")  # seconds of a round without a kill
        self.refusals: set[str] = set()
        self.clients = [httpx.AsyncClient(timeout=60) for _ in range(CALLERS)]

    async def start_work(self, client: httpx.AsyncClient, ticket: str) -> str | None:
        """Call until there is an answer; return the lease of a winner."""
        headers = {"Authorization": f"Bearer {self.token}", "Idempotency-Key": secrets.token_hex(16)}
        while True:
            await self.running.wait()
            try:
                answer = await client.post(f"{self.box.api}/tickets/{ticket}/work", json={}, headers=headers)
            except httpx.TransportError:
                self.lost += 1
                await asyncio.sleep(0.01)
                continue
            if answer.is_success:
                return answer.json()["lease"]
            problem = answer.json()
            if problem["code"] != "unavailable":  # the server is stopping
                self.refusals.add(problem["code"])
                return None

    async def run_round(self, ticket: str, *, kill: bool) -> list[str]:
        """Let all callers start work; return the leases that were given."""
        begun = time.perf_counter()
        calls = asyncio.gather(*(self.start_work(client, ticket) for client in self.clients))
        if kill:
            await asyncio.sleep(random.uniform(0, self.fastest / 2))  # some callers still wait then
            self.running.clear()
            await asyncio.to_thread(self.box.stop, signal.SIGKILL)
            await asyncio.to_thread(self.box.start)
            self.running.set()
        leases = [lease for lease in await calls if lease is not None]
        if not kill:
            self.fastest = min(self.fastest, time.perf_counter() - begun)
        return leases

    async def release(self, ticket: str, lease: str) -> httpx.Response:
        """Stop work with the winner's lease."""
        headers = {"Authorization": f"Bearer {self.token}", "Lease": lease}
        return await self.clients[0].delete(f"{self.box.api}/tickets/{ticket}/work", headers=headers)

    async def run(self, ticket: str, rounds: int, *, kills: bool = False) -> None:
        """Run rounds; each must have one winner, whose lease is valid."""
        try:
            for each in range(rounds):
                leases = await self.run_round(ticket, kill=kills and each % KILL_EVERY == KILL_EVERY - 1)
                assert len(leases) == 1, f"round {each}: {len(leases)} winners"
                released = await self.release(ticket, leases[0])
                assert released.is_success, f"round {each}: {released.text}"
                assert released.json()["claim"] is None
        finally:
            for client in self.clients:
                await client.aclose()


def count_sessions(box: Box, ticket: str) -> int:
    """The number of claims that a ticket had."""
    with contextlib.closing(read_only(box.db)) as connection:
        counted = connection.execute(
            "SELECT count(*) FROM work_session w JOIN ticket t ON t.id = w.ticket_id WHERE t.public_id = ?", (ticket,)
        )
        return counted.fetchone()[0]


@pytest.mark.long
def test_one_of_many_callers_with_one_token_gets_the_claim(stage: Stage) -> None:
    async def race() -> Race:
        found = Race(stage.box, stage.token)
        await found.run(ticket, ROUNDS)
        return found

    ticket = stage.ticket()["id"]
    assert asyncio.run(race()).refusals == {"already_claimed"}
    assert count_sessions(stage.box, ticket) == ROUNDS


@pytest.mark.long
def test_one_caller_gets_the_claim_also_when_the_server_is_killed(tmp_path: Path, record_property: Record) -> None:
    """An answer that a kill took away isn't lost: the same caller gets its lease by repeating the call."""

    async def race() -> Race:
        found = Race(box, stage.token)
        await found.run(ticket, LONG_ROUNDS, kills=True)
        return found

    with run_server(tmp_path) as box:
        stage = Stage(box)
        ticket = stage.ticket()["id"]
        found = asyncio.run(race())
        assert found.lost > 0
        assert count_sessions(box, ticket) == LONG_ROUNDS
        record_property("claim_rounds_with_one_winner", LONG_ROUNDS)
        with box.client(stage.token) as client:  # the server has another port since the last kill
            ok(client.get(f"/tickets/{ticket}"))
