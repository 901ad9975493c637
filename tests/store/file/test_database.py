"""Transactions: units are atomic and grouped, and events are published after the commit."""

import asyncio
import contextlib
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import aiosqlite
import pytest

from ticketbox.domain.core.clock import Clock
from ticketbox.domain.core.problems import NotFound, StorageFull, Unavailable
from ticketbox.store.file import database, readers
from ticketbox.store.file.connection import connect
from ticketbox.store.file.database import CommittedEvent, Database, Read, Write
from ticketbox.store.file.migrate import prepare_file

ADD = "INSERT INTO note (id, text) VALUES (?, ?)"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A migrated file with an additional table."""
    file = tmp_path / "ticketbox.db"
    prepare_file(file)
    with contextlib.closing(connect(file, writes=True)) as connection:
        connection.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT")
    return file


@contextlib.asynccontextmanager
async def open_database(path: Path, **more: Any) -> AsyncIterator[Database]:
    """The open file, closed again."""
    opened = await Database.open(path, Clock(), **more)
    try:
        yield opened
    finally:
        await opened.close()


def adding(key: int, text: str = "kept") -> Callable[[Write], int]:
    """A unit that adds a note."""
    return lambda tx: tx.insert(ADD, (key, text))


def read_notes(path: Path) -> list[int]:
    """The notes in the file, as another process sees them."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return [key for (key,) in connection.execute("SELECT id FROM note ORDER BY id")]


def event(key: int) -> CommittedEvent:
    """Something to publish."""
    return CommittedEvent(key, "test", None, None, None, None)


class Stop(Exception):
    """What a unit raises."""


def test_shared_connection_can_lose_an_acknowledged_insert(path: Path) -> None:
    """Why units run whole: with plain aiosqlite one task's rollback takes another's insert with it."""

    async def interleave() -> bool:
        async with aiosqlite.connect(path, isolation_level=None) as shared:
            begun, inserted = asyncio.Event(), asyncio.Event()

            async def fails() -> None:
                await shared.execute("BEGIN IMMEDIATE")
                begun.set()
                await inserted.wait()
                await shared.execute("ROLLBACK")

            async def succeeds() -> bool:
                await begun.wait()
                await shared.execute(ADD, (1, "acknowledged"))
                inserted.set()
                return True

            _, acknowledged = await asyncio.gather(fails(), succeeds())
            return acknowledged

    assert asyncio.run(interleave()) is True
    assert read_notes(path) == []


def test_failed_units_leave_nothing_and_affect_no_others(path: Path) -> None:
    async def interleave() -> list[Any]:
        async with open_database(path) as db:

            def half(key: int) -> Callable[[Write], None]:
                def unit(tx: Write) -> None:
                    tx.insert(ADD, (key, "half"))
                    tx.insert(ADD, (key + 1000, "half"))
                    raise Stop

                return unit

            units = [db.write(adding(key) if key % 2 else half(key)) for key in range(200)]
            return await asyncio.gather(*units, return_exceptions=True)

    outcomes = asyncio.run(interleave())
    assert [key for key, outcome in enumerate(outcomes) if isinstance(outcome, Stop)] == list(range(0, 200, 2))
    assert read_notes(path) == list(range(1, 200, 2))


def test_unit_that_breaks_a_constraint_leaves_its_group_intact(path: Path) -> None:
    async def interleave() -> list[Any]:
        async with open_database(path) as db:
            units = [db.write(adding(key)) for key in (1, 2, 2, 3)]
            return await asyncio.gather(*units, return_exceptions=True)

    outcomes = asyncio.run(interleave())
    assert [type(outcome) for outcome in outcomes] == [int, int, sqlite3.IntegrityError, int]
    assert read_notes(path) == [1, 2, 3]


def test_waiting_units_are_committed_together_and_answered_after_the_commit(path: Path) -> None:
    commits: list[str] = []

    async def group() -> int:
        async with open_database(path) as db:
            assert db._writer is not None
            await db._writer.run(
                lambda raw: raw.set_trace_callback(lambda sql: commits.append(sql) if sql == "COMMIT" else None)
            )
            gate = threading.Event()
            first = asyncio.create_task(db.write(lambda tx: gate.wait(60)))
            while db.backlog or db._drain_task is None:
                await asyncio.sleep(0)
            rest = [asyncio.create_task(db.write(adding(key))) for key in range(300)]
            async with asyncio.timeout(60):
                while db.backlog < len(rest):
                    await asyncio.sleep(0)
            backlog = db.backlog
            assert not any(task.done() for task in rest)
            gate.set()
            await asyncio.gather(first, *rest)
            return backlog

    assert asyncio.run(group()) == 300
    assert len(commits) == 1 + -(-300 // database.MAX_UNITS)
    assert read_notes(path) == list(range(300))


def test_answered_row_is_visible_to_other_processes(path: Path) -> None:
    async def look() -> None:
        async with open_database(path) as db:
            for key in range(20):
                await db.write(adding(key))
                assert key in read_notes(path)

    asyncio.run(look())


@pytest.mark.parametrize("during", [0, 1, 20])
def test_cancelled_caller_leaves_its_unit_complete_or_undone(path: Path, during: int) -> None:
    running, cancelled = threading.Event(), threading.Event()

    def pair(key: int) -> Callable[[Write], None]:
        def unit(tx: Write) -> None:
            tx.insert(ADD, (key, "first"))
            if key == during:
                running.set()
                cancelled.wait(60)
            tx.insert(ADD, (key + 1000, "second"))

        return unit

    async def cancel() -> int:
        async with open_database(path) as db:
            tasks = [asyncio.create_task(db.write(pair(key))) for key in range(40)]
            await asyncio.to_thread(running.wait, 60)
            for task in tasks[::2]:
                task.cancel()
            cancelled.set()
            outcomes = await asyncio.gather(*tasks, return_exceptions=True)
            await db.write(adding(9999))
            return sum(isinstance(outcome, asyncio.CancelledError) for outcome in outcomes)

    assert asyncio.run(cancel()) > 0
    notes = set(read_notes(path)) - {9999}
    assert {key for key in notes if key < 1000} == {key - 1000 for key in notes if key >= 1000}
    assert set(range(1, 40, 2)) <= notes


def test_unit_cancelled_while_waiting_is_not_started(path: Path) -> None:
    async def cancel() -> None:
        async with open_database(path) as db:
            gate = threading.Event()
            first = asyncio.create_task(db.write(lambda tx: gate.wait(60)))
            while db.backlog or db._drain_task is None:
                await asyncio.sleep(0)
            waiting = asyncio.create_task(db.write(adding(1)))
            await asyncio.sleep(0)
            waiting.cancel()
            gate.set()
            await first
            with pytest.raises(asyncio.CancelledError):
                await waiting

    asyncio.run(cancel())
    assert read_notes(path) == []


def test_events_are_published_after_the_commit_and_only_if_committed(path: Path) -> None:
    published: list[tuple[int, bool]] = []

    def publish(events: list[CommittedEvent]) -> None:
        published.extend((each.id, each.id in read_notes(path)) for each in events)

    def telling(key: int, *, fails: bool = False) -> Callable[[Write], None]:
        def unit(tx: Write) -> None:
            tx.insert(ADD, (key, "published"))
            tx.events.append(event(key))
            if fails:
                raise Stop

        return unit

    def in_steps(tx: Write) -> None:
        tx.run_step(lambda: telling(10)(tx))
        with pytest.raises(Stop):
            tx.run_step(lambda: telling(11, fails=True)(tx))
        tx.run_step(lambda: telling(12)(tx))

    async def tell() -> list[Any]:
        async with open_database(path, publish=publish) as db:
            units = [telling(1), telling(2, fails=True), in_steps, telling(3)]
            return await asyncio.gather(*map(db.write, units), return_exceptions=True)

    outcomes = asyncio.run(tell())
    assert [isinstance(outcome, Stop) for outcome in outcomes] == [False, True, False, False]
    assert published == [(1, True), (10, True), (12, True), (3, True)]
    assert read_notes(path) == [1, 3, 10, 12]


def test_failing_listener_does_not_affect_the_answer(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def unit(tx: Write) -> str:
        tx.insert(ADD, (1, "published"))
        tx.events.append(event(1))
        return "done"

    def publish(events: list[CommittedEvent]) -> None:
        raise Stop("the listener")

    async def tell() -> str:
        async with open_database(path, publish=publish) as db:
            return await asyncio.wait_for(db.write(unit), 60)

    assert asyncio.run(tell()) == "done"
    assert "the listener" in caplog.text


def test_failed_step_is_rolled_back_alone(path: Path) -> None:
    def unit(tx: Write) -> list[str]:
        tx.insert(ADD, (1, "before"))
        said: list[str] = []
        for key in (2, 3, 4):
            try:
                tx.run_step(lambda key=key: part(tx, key))
            except NotFound:
                said.append(f"{key} is refused")
        tx.insert(ADD, (5, "after"))
        return said

    def part(tx: Write, key: int) -> None:
        tx.insert(ADD, (key, "in a step"))
        if key == 3:
            raise NotFound("note")

    async def steps() -> list[str]:
        async with open_database(path) as db:
            return await db.write(unit)

    assert asyncio.run(steps()) == ["3 is refused"]
    assert read_notes(path) == [1, 2, 4, 5]


def test_slow_read_is_interrupted_and_the_reader_is_free_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "READ_SECONDS", 0.2)
    endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

    async def wait() -> float:
        async with open_database(path, readers=1) as db:
            started = time.monotonic()
            with pytest.raises(Unavailable, match="took too long"):
                await db.read(lambda tx: tx.fetch_value(endless))
            took = time.monotonic() - started
            assert await db.read(lambda tx: tx.fetch_value("SELECT 1")) == 1
            return took

    assert asyncio.run(wait()) < 60


def test_readers_cannot_write_and_see_one_snapshot(path: Path) -> None:
    async def look() -> None:
        async with open_database(path, readers=1) as db:
            with pytest.raises(sqlite3.OperationalError, match="readonly"):
                await db.read(lambda tx: tx.connection.execute(ADD, (1, "no")))
            between = threading.Event()
            seen = threading.Event()

            def twice(tx: Read) -> tuple[int, int]:
                first = tx.fetch_value("SELECT count(*) FROM note")
                seen.set()
                between.wait(60)
                return first, tx.fetch_value("SELECT count(*) FROM note")

            reading = asyncio.create_task(db.read(twice))
            await asyncio.to_thread(seen.wait, 60)
            await db.write(adding(1))
            between.set()
            assert await reading == (0, 0)
            assert await db.read(lambda tx: tx.fetch_value("SELECT count(*) FROM note")) == 1

    asyncio.run(look())


@pytest.mark.parametrize("inline", [True, False])
def test_interrupted_read_leaves_no_transaction_open(path: Path, monkeypatch: pytest.MonkeyPatch, inline: bool) -> None:
    """The limit may run out in COMMIT as well; with a check after each step it surely does."""
    for name, value in {
        "SHORT_PROGRESS_STEPS": 1,
        "INLINE_CHECKS": 40,
        "PROGRESS_STEPS": 1,
        "READ_SECONDS": 0.1,
    }.items():
        monkeypatch.setattr(readers, name, value)
    endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

    async def look() -> None:
        async with open_database(path) as db:
            for _ in range(4):  # each of the readers at least once
                with pytest.raises(Unavailable):
                    await db.read(lambda tx: tx.fetch_value(endless), inline=inline)
            assert await db.read(lambda tx: tx.fetch_value("SELECT 1"), inline=inline) == 1

    asyncio.run(look())


def test_one_credential_leaves_a_reader_to_the_others(path: Path) -> None:
    async def look() -> None:
        async with open_database(path) as db:
            released = threading.Event()
            slow = [asyncio.create_task(db.read(lambda _: released.wait(30), fair_share=(1, 1))) for _ in range(10)]
            await asyncio.sleep(0)
            assert await db.read(lambda tx: tx.fetch_value("SELECT 1"), fair_share=(2, 2)) == 1
            assert not any(task.done() for task in slow)
            assert db.queue.waiting == 10 - (readers.READERS - 1)
            released.set()
            await asyncio.gather(*slow)
            queues = {name: buckets[-1][1] for name, buckets, _ in db.queue_times.list_waits()}
            assert queues == {"readers": 11}
            await db.write(adding(1))
            assert "writer" in {name for name, *_ in db.queue_times.list_waits()}

    asyncio.run(look())


def work_slowly(tx: Read) -> int:
    """A unit that finds out that it is slow; the thread that it runs on."""
    tx.require_thread()
    return threading.get_ident()


def test_slow_inline_read_is_repeated_where_it_blocks_nobody(path: Path) -> None:
    threads: list[int] = []
    longer = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) SELECT count(*) FROM n"

    def count(tx: Read) -> int:
        threads.append(threading.get_ident())
        return tx.fetch_value(longer)

    async def look() -> None:
        async with open_database(path) as db:
            assert await db.read(lambda tx: threading.get_ident(), inline=True) == threading.get_ident()
            assert await db.read(count, inline=True) == 300_000
            with pytest.raises(sqlite3.OperationalError, match="readonly"):
                await db.read(lambda tx: tx.connection.execute(ADD, (1, "no")), inline=True)
            await db.write(adding(2))
            assert await db.read(lambda tx: tx.fetch_value("SELECT id FROM note"), inline=True) == 2
            assert await db.read(work_slowly, inline=True) != threading.get_ident()
            assert await db.write(work_slowly) != threading.get_ident()

    asyncio.run(look())
    assert len(threads) == 2
    assert threads[0] == threading.get_ident() != threads[1]


def test_readers_do_not_wait_for_the_writer(path: Path) -> None:
    async def look() -> None:
        async with open_database(path) as db:
            gate = threading.Event()
            writing = asyncio.create_task(db.write(lambda tx: gate.wait(60)))
            result = [db.read(lambda tx: tx.fetch_value("SELECT count(*) FROM note")) for _ in range(10)]
            assert await asyncio.wait_for(asyncio.gather(*result), 30) == [0] * 10
            assert not writing.done()
            gate.set()
            await writing

    asyncio.run(look())


def test_lock_of_another_process_is_unavailable_until_released(path: Path) -> None:
    async def wait() -> None:
        async with open_database(path) as db:
            assert db._writer is not None
            await db._writer.run(lambda raw: raw.execute("PRAGMA busy_timeout = 100").fetchone())
            with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                with pytest.raises(Unavailable, match="busy"):
                    await db.write(adding(1))
                assert await db.read(lambda tx: tx.fetch_value("SELECT count(*) FROM note")) == 0
                other.execute("ROLLBACK")
            await db.write(adding(2))

    asyncio.run(wait())
    assert read_notes(path) == [2]


def test_full_database_is_storage_full_until_there_is_space(path: Path) -> None:
    async def fill() -> None:
        async with open_database(path) as db:
            assert db._writer is not None
            pages = await db._writer.run(lambda raw: raw.execute("PRAGMA page_count").fetchone()[0])
            await db._writer.run(lambda raw: raw.execute(f"PRAGMA max_page_count = {pages}"))
            big = "x" * 1_000_000
            group = [db.write(adding(1)), db.write(adding(2, big)), db.write(adding(3))]
            outcomes = await asyncio.gather(*group, return_exceptions=True)
            assert isinstance(outcomes[1], StorageFull)
            whole = {key for key, outcome in zip((1, 2, 3), outcomes, strict=True) if outcome == key}
            assert set(await db.read(lambda tx: [row[0] for row in tx.fetch_all("SELECT id FROM note")])) == whole
            await db._writer.run(lambda raw: raw.execute("PRAGMA max_page_count = 1000000"))
            await db.write(adding(4, big))

    asyncio.run(fill())
    assert 4 in read_notes(path)
    assert 2 not in read_notes(path)


def test_close_completes_waiting_units(path: Path) -> None:
    async def leave() -> list[Any]:
        db = await Database.open(path, Clock())
        tasks = [asyncio.create_task(db.write(adding(key))) for key in range(500)]
        await asyncio.sleep(0)
        await db.close()
        return await asyncio.gather(*tasks, return_exceptions=True)

    assert asyncio.run(leave()) == list(range(500))
    assert read_notes(path) == list(range(500))
    assert not path.with_name(path.name + "-wal").exists()


def test_destroyed_bytes_leave_the_log_soon_after_the_last_reader(path: Path) -> None:
    def destroy(tx: Write) -> None:
        tx.destroys = True
        tx.execute("INSERT INTO note (text) VALUES ('pixels')")

    async def write() -> None:
        log = path.with_name(path.name + "-wal")
        async with open_database(path, checkpoints=True) as db:
            with contextlib.closing(sqlite3.connect(path)) as reader:
                await db.write(adding(1))
                reader.execute("BEGIN")
                reader.execute("SELECT count(*) FROM note").fetchone()
                await db.write(destroy)
                assert log.stat().st_size > 0
                reader.execute("COMMIT")
                async with asyncio.timeout(40):  # no write follows, and housekeeping runs each minute
                    while log.stat().st_size:
                        await asyncio.sleep(0.05)

    asyncio.run(write())


def test_only_the_writer_of_the_server_checkpoints(path: Path) -> None:
    async def write(**more: Any) -> tuple[int, int]:
        async with open_database(path, **more) as db:
            log = path.with_name(path.name + "-wal")
            before = path.stat().st_size
            for _ in range(8):
                await db.write(lambda tx: tx.execute("INSERT INTO note (text) VALUES (?)", ("x" * 2_000_000,)))
            assert db._writer is not None
            steps = await db._writer.run(lambda raw: raw.execute("PRAGMA wal_autocheckpoint").fetchone()[0])
            assert log.stat().st_size > 0
            return steps, path.stat().st_size - before

    server = sqlite3.connect(path)  # another open connection: the last one to close would checkpoint
    with contextlib.closing(server):
        server.execute("SELECT count(*) FROM note").fetchone()
        beside = asyncio.run(write(checkpoints=False))
        assert beside == (0, 0)
        steps, grown = asyncio.run(write(checkpoints=True))
        assert steps > 0
        assert grown > 8_000_000


def test_every_connection_has_foreign_keys_and_full_durability(path: Path) -> None:
    for writes in (True, False):
        with contextlib.closing(connect(path, writes=writes)) as connection:
            settings = ("foreign_keys", "synchronous", "journal_mode", "query_only", "page_size")
            values = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in settings]
            assert values == [1, 2, "wal", 0 if writes else 1, 8192]
