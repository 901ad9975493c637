"""Deliver events to webhooks: at least once, in order for each ticket, for a day (docs/use/webhooks.md)."""

import asyncio
import logging

from ticketbox.domain.core.fairness.fair_queue import FairQueue
from ticketbox.domain.events import webhook_payload, webhook_signature
from ticketbox.jobs.periodic import IDLE_SECONDS, RETRY_SECONDS, Waker, get_seconds_until, run_rounds
from ticketbox.operations.core.services import FetchError, Services
from ticketbox.settings import DEFAULT_DELIVERIES
from ticketbox.store.events import webhook_outbox
from ticketbox.store.events.webhook_outbox import MAX_PER_WEBHOOK, AttemptOutcome, Delivery, DueDelivery

log = logging.getLogger("ticketbox.jobs")

ANSWER_SECONDS = 10.0
STOP_SECONDS = 2.0


async def run(services: Services, stopping: asyncio.Event, max_deliveries: int) -> None:
    """Deliver until the server stops. Deliveries that the stop interrupts are repeated after the next start."""
    deliverer = Deliverer(services, max_deliveries)
    services.listeners.add_callback(deliverer.waker.wake)
    try:
        await run_rounds(deliverer.start, deliverer.waker, stopping, "webhook delivery")
    finally:
        await deliverer.close()


class Deliverer:
    """Sends deliveries, several concurrently: round robin by company, and by webhook in each company."""

    def __init__(self, services: Services, most: int = DEFAULT_DELIVERIES) -> None:
        self._services = services
        self._queue = FairQueue(
            "deliveries", most, services.queue_times, quotas=(max(1, most // 4), MAX_PER_WEBHOOK), wait_seconds=0
        )
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._stopping = False
        self.waker = Waker()

    async def start(self) -> float:
        """Start the due deliveries; return the seconds until the next one is due."""
        database = self._services.database
        if await database.read(webhook_outbox.has_new_events):
            await database.write(webhook_outbox.create_deliveries)
            self.waker.wake()  # there may be more than fits in one round
        for each in await database.read(webhook_outbox.list_due):
            if each.key not in self._tasks:
                self._tasks[each.key] = asyncio.create_task(self._deliver(each))
        following = await database.read(webhook_outbox.find_next_due)
        return IDLE_SECONDS if self._tasks else get_seconds_until(following, database.clock.now())  # tasks wake it

    async def wait_until_idle(self) -> None:
        """Wait for the started deliveries."""
        while self._tasks:
            await asyncio.gather(*self._tasks.values())

    async def close(self) -> None:
        """Wait up to STOP_SECONDS for the running deliveries, then cancel them."""
        self._stopping = True
        if self._tasks:
            _, late = await asyncio.wait(self._tasks.values(), timeout=STOP_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _deliver(self, due: DueDelivery) -> None:
        database = self._services.database
        waited = max(0, database.clock.now() - due.due_at) / 1000
        try:
            async with self._queue.hold((due.company, due.webhook), patient=True, waited=waited):
                await self._attempt(due.key)
        finally:
            del self._tasks[due.key]
            self.waker.wake()

    async def _attempt(self, key: int) -> None:
        """Send a delivery, unless it is no longer due or the server stops, and record the outcome."""
        database = self._services.database
        try:
            delivery = None if self._stopping else await database.read(lambda tx: webhook_outbox.load_due(tx, key))
            if delivery is not None:
                outcome = await self._send(delivery)
                await database.write(lambda tx: webhook_outbox.record_outcome(tx, key, outcome))
        except Exception:
            log.exception("the outcome of a delivery couldn't be stored; it will be repeated")
            await asyncio.sleep(RETRY_SECONDS)

    async def _send(self, delivery: Delivery) -> AttemptOutcome:
        clock = self._services.database.clock
        body = webhook_payload.build_body(
            delivery.format, delivery.event, delivery.ticket_key, delivery.title, self._services.public_url
        )
        headers = {
            "Content-Type": "application/json",
            **webhook_signature.build_signature_headers(delivery.secrets, delivery.event.id, clock.now() // 1000, body),
        }
        status, error = None, None
        started = clock.monotonic()
        try:
            answer = await self._services.fetch(
                delivery.url, method="POST", headers=headers, body=body, most=0, seconds=ANSWER_SECONDS, plain=True
            )
            status = answer.status
            if not 200 <= status < 300:
                error = f"the receiver returned {status}"
        except FetchError as unreachable:
            error = str(unreachable)
        return AttemptOutcome(status, error, round((clock.monotonic() - started) * 1000))
