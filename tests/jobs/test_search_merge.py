"""The segments of the full-text index: many are merged while others write, few are left alone."""

import asyncio
import contextlib
import random
import secrets
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.store.tickets.test_search import HOUSE, TICKET, ask
from ticketbox.domain.core.fairness.limits import RateLimiter
from ticketbox.jobs import search_merge
from ticketbox.operations.core.services import Services
from ticketbox.store.file.connection import connect
from ticketbox.store.file.database import Database, Read, Write
from ticketbox.store.file.migrate import prepare_file
from ticketbox.store.tickets import tickets
from ticketbox.store.tickets.search import search, search_segments

WORDS = [f"word{number}" for number in range(5_000)]


@pytest.fixture(autouse=True)
def patient_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches that return everything on a busy machine too."""
    monkeypatch.setattr(search, "TIME_LIMIT_SECONDS", 60.0)


@asynccontextmanager
async def open_services(path: Path) -> AsyncIterator[Services]:
    """What the job works with, on a file with one project."""
    prepare_file(path)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(HOUSE)
    database = await Database.open(path)
    services = Services(database, RateLimiter(time.monotonic), "")
    try:
        yield services
    finally:
        services.close()
        await database.close()


async def add(services: Services, transactions: int, tickets: int = 1, words: int = 10) -> None:
    """Make tickets of chance words, so many in each transaction."""
    chance = random.Random(transactions)

    def some(tx: Write) -> None:
        first = tx.fetch_value("SELECT count(*) FROM ticket") + 1
        for number in range(first, first + tickets):
            text = " ".join(chance.choices(WORDS, k=words))
            tx.execute(TICKET, (number, f"t-{number:06}", number, f"Ticket {number}", text))

    for _ in range(transactions):
        await services.database.write(some)


def largest(tx: Read) -> int:
    """Which segment has the most pages."""
    return tx.fetch_value("SELECT segid FROM search_idx GROUP BY segid ORDER BY count(*) DESC LIMIT 1")


def run_searches(path: Path) -> list[tuple[list[int], bool]]:
    """What some searches find; fails where the index isn't what it was made of."""
    with contextlib.closing(connect(path, writes=True)) as connection:
        connection.execute("INSERT INTO search (search) VALUES ('integrity-check')")
        held = connection.execute("SELECT rowid, * FROM search ORDER BY rowid").fetchall()
        assert held == connection.execute("SELECT * FROM searchable ORDER BY id").fetchall()
        return [ask(connection, q, 1_000) for q in ("ticket", "word7", '"ticket 3"', "word7 word8", "wor*")]


def test_many_segments_become_one_and_searches_return_the_same(tmp_path: Path) -> None:
    async def work() -> None:
        async with open_services(tmp_path / "a.db") as services:
            await add(services, 7, tickets=20, words=200)
            assert await services.database.read(search_segments.count_segments) > search_merge.MAX_SEGMENTS
            before = run_searches(tmp_path / "a.db")
            assert any(result for result, _ in before)
            assert await search_merge.merge_segments(services, asyncio.Event(), full=True) > 0
            assert await services.database.read(search_segments.count_segments) == 1
            assert run_searches(tmp_path / "a.db") == before

    asyncio.run(work())


@pytest.mark.long
def test_small_segments_are_merged_without_the_large_one(tmp_path: Path) -> None:
    async def work() -> None:
        async with open_services(tmp_path / "a.db") as services:
            await add(services, 7, tickets=100, words=200)
            await search_merge.merge_segments(services, asyncio.Event(), full=True)
            await add(services, 10)
            before = run_searches(tmp_path / "a.db")
            many = await services.database.read(search_segments.count_segments)
            assert many > search_merge.MAX_SEGMENTS
            await search_merge.merge_segments(services, asyncio.Event(), full=False)
            assert 1 < await services.database.read(search_segments.count_segments) < many
            assert run_searches(tmp_path / "a.db") == before

    asyncio.run(work())


def test_few_segments_are_left_alone(tmp_path: Path) -> None:
    async def work() -> None:
        async with open_services(tmp_path / "a.db") as services:
            await add(services, 3)
            assert await services.database.read(search_segments.count_segments) == 3
            assert await search_merge.merge_segments(services, asyncio.Event(), full=True) == 0
            assert await services.database.read(search_segments.count_segments) == 3

    asyncio.run(work())


def test_writes_continue_between_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_merge, "STEP_PAGES", 1)
    pauses: list[float] = []

    async def work() -> None:
        async with open_services(tmp_path / "a.db") as services:
            await add(services, 6, tickets=100, words=100)

            async def write_during_pause(stopping: asyncio.Event, seconds: float) -> bool:
                pauses.append(seconds)
                async with asyncio.timeout(60):
                    await add(services, 1)
                return stopping.is_set()

            monkeypatch.setattr(search_merge, "wait_for_stop", write_during_pause)
            before = services.database.written
            worked = await search_merge.merge_segments(services, asyncio.Event(), full=True)
            assert len(pauses) > 20
            assert services.database.written - before == 2 * len(pauses)  # a step, then a write
            assert sum(pauses) == pytest.approx(search_merge.STEP_PAUSE * worked)
            assert await services.database.read(search_segments.count_segments) < 6 + len(pauses)
            results = run_searches(tmp_path / "a.db")
            assert len(results[0][0]) == 600 + len(pauses)

    asyncio.run(work())


@pytest.mark.long
def test_stop_ends_a_merge_between_steps_and_the_next_completes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_merge, "STEP_PAGES", 1)

    async def work() -> None:
        async with open_services(tmp_path / "a.db") as services:
            await add(services, 6, tickets=100, words=100)
            before, stopping = run_searches(tmp_path / "a.db"), asyncio.Event()
            running = asyncio.create_task(search_merge.merge_segments(services, stopping, full=True))
            async with asyncio.timeout(60):
                while services.database.commits < 6 + 3:
                    await asyncio.sleep(0)
            stopping.set()
            await asyncio.wait_for(running, 60)
            assert await services.database.read(search_segments.count_segments) > 1
            assert run_searches(tmp_path / "a.db") == before
            await search_merge.merge_segments(services, asyncio.Event(), full=True)
            assert await services.database.read(search_segments.count_segments) == 1
            assert run_searches(tmp_path / "a.db") == before

    asyncio.run(work())


@pytest.mark.long
def test_server_merges_pauses_and_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_merge, "INTERVAL_SECONDS", 0.01)

    async def work() -> None:
        async with open_services(tmp_path / "a.db") as services:
            await add(services, 7, tickets=100, words=200)
            stopping = asyncio.Event()
            running = asyncio.create_task(search_merge.run(services, stopping))
            try:
                async with asyncio.timeout(60):
                    while await services.database.read(search_segments.count_segments) > 1:
                        await asyncio.sleep(0.01)
                whole = await services.database.read(largest)
                await add(services, 14, tickets=20, words=200)
                await asyncio.sleep(0.3)  # it rests a thousand times as long as it worked, but for the small ones
                assert await services.database.read(largest) == whole
            finally:
                stopping.set()
                await asyncio.wait_for(running, 60)

    asyncio.run(work())


@pytest.mark.long
def test_words_of_a_deleted_ticket_leave_the_file(tmp_path: Path) -> None:
    """The index keeps the words of deleted rows until its segments are merged, few as they are."""
    path, word = tmp_path / "a.db", "qz" + secrets.token_hex(8)

    def has_word() -> bool:
        # the first letters of a word may be shared with the word before it in the index
        return any(word[3:].encode() in each.read_bytes() for each in tmp_path.iterdir())

    async def work() -> None:
        async with open_services(path) as services:
            await add(services, 1, tickets=50)
            await search_merge.merge_segments(services, asyncio.Event(), full=True, most=1)
            await services.database.write(lambda tx: tx.execute(TICKET, (99, "t-doomed", 99, "Doomed", word)))
            await services.database.write(lambda tx: tickets.delete_ticket(tx, 99, "t-doomed"))
            assert await services.database.read(search_segments.count_segments) <= search_merge.MAX_SEGMENTS
            assert has_word()
            monkeypatch_interval.setattr(search_merge, "INTERVAL_SECONDS", 0.01)
            stopping = asyncio.Event()
            job = asyncio.create_task(search_merge.run(services, stopping))
            async with asyncio.timeout(30):
                while has_word():
                    await asyncio.sleep(0.05)
            assert len(run_searches(path)) == 5
            stopping.set()
            await job

    with pytest.MonkeyPatch.context() as monkeypatch_interval:
        asyncio.run(work())
