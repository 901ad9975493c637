"""Deliveries over a day, on a clock that the tests set: waits, giving up, order, and a crash."""

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.support.server import eventually
from tests.support.webhook_receiver import Receiver, run_receiver
from ticketbox.domain.core.clock import DAY, HOUR, Clock
from ticketbox.domain.core.fairness.limits import RateLimiter
from ticketbox.domain.events.records import DeliveryState, WebhookFormat
from ticketbox.domain.events.retry_schedule import compute_next_attempt
from ticketbox.edge.outbound import Fetcher
from ticketbox.jobs.webhooks import Deliverer
from ticketbox.operations.core.services import Services
from ticketbox.store.events import events, webhook_deliveries, webhook_outbox, webhooks
from ticketbox.store.file.database import Database, Read, Write
from ticketbox.store.file.migrate import prepare_file

SECRET = b"k" * 32


class Bench:
    """A file with a company and a webhook, a real receiver, and a clock that stands still until it is turned."""

    now = 1_795_253_400_000

    def __init__(self, database: Database, receiver: Receiver) -> None:
        self.database = database
        self.receiver = receiver
        self.services = Services(
            database, RateLimiter(lambda: 0.0), "http://localhost", Fetcher(allow_private=True), allow_private=True
        )
        self.deliverer = Deliverer(self.services)
        self.webhook = 0

    async def set_up(self) -> None:
        """Plant the rows that deliveries hang on."""

        def plant(tx: Write) -> int:
            tx.execute(
                "INSERT INTO user (public_id, email, name, password_hash, created_at) VALUES ('u', 'e', 'Ann', '', 0)"
            )
            tx.execute("INSERT INTO byline (user_id, via) VALUES (1, 'web')")
            tx.execute("INSERT INTO company (public_id, name, created_at, created_by) VALUES ('co', 'C', 0, 1)")
            new = webhooks.NewWebhookRow(1, "Hook", self.receiver.url, WebhookFormat.STANDARD, None, SECRET, 1)
            return webhooks.insert_webhook(tx, new)[0]

        self.webhook = await self.database.write(plant)

    async def happen(self, type_: str = "company.changed") -> None:
        """Record an event about the company."""
        await self.database.write(lambda tx: events.record_event(tx, type_, 1, 1))

    async def round(self) -> None:
        """Deliver whatever is due, and what becomes due by that."""
        while True:
            count = len(self.receiver.got)
            await self.deliverer.start()
            await self.deliverer.wait_until_idle()
            if len(self.receiver.got) == count:
                return

    async def log(self) -> list[tuple[DeliveryState, int]]:
        """State and number of attempts of each delivery, oldest first."""
        deliveries = await self.database.read(
            lambda tx: webhook_deliveries.list_deliveries(tx, self.webhook, 2**62, 100)
        )
        return [(each.state, each.attempts) for _, each in reversed(deliveries)]

    async def next_due(self) -> int | None:
        """When there is something to do again."""
        return await self.database.read(webhook_outbox.find_next_due)

    async def read_state(self) -> tuple[bool, str | None]:
        """Whether the webhook is enabled, and why not."""
        webhook = await self.database.read(lambda tx: webhooks.load_webhook(tx, self.webhook))
        return webhook.enabled, webhook.disabled_reason


@asynccontextmanager
async def open_bench(path: Path) -> AsyncIterator[Bench]:
    """A bench on a new file."""
    prepare_file(path)
    clock = Clock(now=lambda: Bench.now)
    with run_receiver() as receiver:
        database = await Database.open(path, clock)
        bench = Bench(database, receiver)
        try:
            await bench.set_up()
            yield bench
        finally:
            bench.services.close()
            await database.close()


@pytest.fixture(autouse=True)
def _still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Bench, "now", 1_795_253_400_000)


def on_a_bench(path: Path, test: Callable[[Bench], Awaitable[None]]) -> None:
    """Run a test on a new bench."""

    async def run() -> None:
        async with open_bench(path / "bench.db") as bench:
            await test(bench)

    asyncio.run(run())


def test_waits_double_up_to_six_hours_and_end_within_a_day() -> None:
    begun = now = 1_000_000
    waits: list[int] = []
    while (at := compute_next_attempt(len(waits) + 1, begun, now)) is not None:
        waits.append(at - now)
        now = at
    assert waits[:4] == [10_000, 20_000, 40_000, 80_000]
    assert waits[-1] == 6 * HOUR
    assert len(waits) == 14
    assert DAY - 6 * HOUR < now - begun <= DAY


def test_slow_receivers_of_a_company_leave_room_for_a_younger_one(tmp_path: Path) -> None:
    """20 webhooks, as many as a company can have, whose receivers don't answer."""

    async def test(bench: Bench) -> None:
        release = threading.Event()
        receiver, url = bench.receiver, bench.receiver.url
        receiver.answer = lambda got: 204 if got.path == "/hook/quick" or release.wait(30) else 500

        def plant(tx: Write) -> None:
            tx.execute("UPDATE webhook SET url = ?", (f"{url}/slow",))
            tx.execute("INSERT INTO company (public_id, name, created_at, created_by) VALUES ('co2', 'D', 0, 1)")
            for company, name in (*[(1, "slow")] * 19, (2, "quick")):
                new = webhooks.NewWebhookRow(company, "Hook", f"{url}/{name}", WebhookFormat.STANDARD, None, SECRET, 1)
                webhooks.insert_webhook(tx, new)
            for company in (1, 2):
                events.record_event(tx, "company.changed", 1, company)

        await bench.database.write(plant)
        await bench.deliverer.start()
        await asyncio.to_thread(eventually, lambda: len(receiver.got) == 6)
        first = Counter(got.path for got in receiver.got)
        release.set()
        assert first == {"/hook/slow": 5, "/hook/quick": 1}
        waits = {queue: counts for queue, counts, _ in bench.services.queue_times.list_waits()}
        assert waits["deliveries"][-1] == ("+Inf", 6)
        await bench.deliverer.wait_until_idle()
        await bench.round()
        assert Counter(got.path for got in receiver.got) == {"/hook/slow": 20, "/hook/quick": 1}

    on_a_bench(tmp_path, test)


def test_webhook_gets_four_deliveries_at_a_time_and_none_that_is_no_longer_due(tmp_path: Path) -> None:
    async def test(bench: Bench) -> None:
        release = threading.Event()
        bench.receiver.answer = lambda _: 204 if release.wait(30) else 500
        for _ in range(7):
            await bench.happen()
        await bench.database.write(webhook_outbox.create_deliveries)
        await bench.database.write(lambda tx: tx.execute("UPDATE delivery SET lane = id, due_at = 0"))
        await bench.deliverer.start()
        await asyncio.to_thread(eventually, lambda: len(bench.receiver.got) == 4)
        await bench.database.write(lambda tx: tx.execute("UPDATE delivery SET due_at = 1 WHERE id <= 2"))
        await bench.deliverer.start()  # finds two others, which wait for their turn
        await bench.database.write(lambda tx: webhooks.disable_webhook(tx, bench.webhook, "test"))
        release.set()
        await bench.deliverer.wait_until_idle()
        assert len(bench.receiver.got) == 4

    on_a_bench(tmp_path, test)


def test_receiver_that_fails_for_a_day_is_disabled_and_can_be_replayed(
    tmp_path: Path,
) -> None:
    async def test(bench: Bench) -> None:
        bench.receiver.answer = lambda _: 500
        await bench.happen("company.changed")
        await bench.happen("project.created")
        begun = Bench.now
        attempts = 0
        while (due := await bench.next_due()) is not None or not attempts:
            Bench.now = max(Bench.now, due or 0)
            await bench.round()
            attempts += 1
            assert set(bench.receiver.types()) == {"company.changed"}  # the next waits for its turn
        assert attempts == 15
        assert Bench.now - begun <= DAY
        enabled, reason = await bench.read_state()
        assert not enabled
        assert reason is not None
        assert "nothing got through since 2026-11-21T09:30:00.000Z; last: the receiver returned 500" in reason
        assert await bench.log() == [(DeliveryState.DEAD, 15), (DeliveryState.DEAD, 0)]
        bench.receiver.answer = lambda _: 200
        await bench.database.write(lambda tx: webhooks.enable_webhook(tx, bench.webhook))
        (first, _), *_ = reversed(
            await bench.database.read(lambda tx: webhook_deliveries.list_deliveries(tx, bench.webhook, 2**62, 9))
        )

        def again(tx: Write) -> None:
            public_id = tx.fetch_value("SELECT public_id FROM delivery WHERE id = ?", (first,))
            kept = webhook_deliveries.find_delivery(tx, public_id)
            assert kept is not None
            webhook_deliveries.replay_delivery(tx, kept)

        await bench.database.write(again)
        count = len(bench.receiver.got)
        await bench.round()
        assert bench.receiver.types()[count:] == ["company.changed"]
        ids = {got.headers["webhook-id"] for got in bench.receiver.got}
        assert len(ids) == 1
        assert (await bench.log())[-1] == (DeliveryState.DELIVERED, 1)

    on_a_bench(tmp_path, test)


def test_event_that_fails_for_a_day_is_given_up_without_disabling(tmp_path: Path) -> None:
    async def test(bench: Bench) -> None:
        bench.receiver.answer = lambda got: 400 if got.event["type"] == "company.changed" else 200
        await bench.happen("company.changed")
        await bench.happen("project.created")
        other = await bench.database.write(
            lambda tx: tx.insert(
                "INSERT INTO event (type, company_id, byline_id, data, at) VALUES ('column.created', 1, 1, '{}', 0)"
            )
        )
        await bench.round()
        await bench.database.write(
            lambda tx: tx.execute("UPDATE delivery SET lane = 7, due_at = 0 WHERE event_id = ?", (other,))
        )
        while (due := await bench.next_due()) is not None:
            Bench.now = max(Bench.now, due)
            await bench.round()
        assert (await bench.read_state())[0]
        states = [state for state, _ in await bench.log()]
        assert states == [DeliveryState.DEAD, DeliveryState.DELIVERED, DeliveryState.DELIVERED]
        assert bench.receiver.types()[-1] == "project.created"  # it had waited for the one before

    on_a_bench(tmp_path, test)


def test_many_events_are_delivered_in_order(tmp_path: Path) -> None:
    async def test(bench: Bench) -> None:
        def many(tx: Write) -> None:
            for number in range(1_200):
                events.record_event(tx, "company.changed", 1, 1, number=number)

        await bench.database.write(many)
        for _ in range(3):
            await bench.deliverer.start()
            await bench.deliverer.wait_until_idle()
        backlog = await bench.database.read(webhook_outbox.load_backlog)
        assert backlog.pending == 1_200 - 3
        assert backlog.oldest == Bench.now
        for _ in range(20):
            await bench.deliverer.start()
            await bench.deliverer.wait_until_idle()
        result = [got.event["data"]["number"] for got in bench.receiver.got]
        assert result == list(range(23))

    on_a_bench(tmp_path, test)


def test_log_is_deleted_after_thirty_days_but_not_what_waits(tmp_path: Path) -> None:
    async def test(bench: Bench) -> None:
        await bench.happen()
        await bench.round()
        bench.receiver.answer = lambda _: 500
        await bench.happen()
        await bench.round()
        assert len(await bench.log()) == 2
        Bench.now += 31 * DAY
        await bench.database.write(webhook_outbox.delete_old_deliveries)
        assert [state for state, _ in await bench.log()] == [DeliveryState.PENDING]

    on_a_bench(tmp_path, test)


def test_result_after_the_webhook_is_deleted_changes_nothing(tmp_path: Path) -> None:
    async def test(bench: Bench) -> None:
        release = threading.Event()
        bench.receiver.answer = lambda _: 204 if release.wait(30) else 500
        await bench.happen()
        await bench.deliverer.start()
        await asyncio.to_thread(eventually, lambda: len(bench.receiver.got) == 1)
        await bench.database.write(lambda tx: webhooks.delete_webhook(tx, bench.webhook))
        release.set()
        await bench.deliverer.wait_until_idle()

        def count(tx: Read) -> int:
            return tx.fetch_value("SELECT count(*) FROM delivery")

        assert await bench.database.read(count) == 0

    on_a_bench(tmp_path, test)
