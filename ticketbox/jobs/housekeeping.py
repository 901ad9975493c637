"""What has to be done now and then: last uses written down, old answers, dead secrets and unused blobs removed."""

import asyncio
import contextlib
import logging

from ticketbox.operations.services import Services
from ticketbox.store import blobs, credentials, grants, idempotency
from ticketbox.store.database import Write

log = logging.getLogger("ticketbox.jobs")

INTERVAL_SECONDS = 60.0


async def run(services: Services, stopping: asyncio.Event) -> None:
    """Keep house every minute until the server stops, and once more then."""
    swept = 0
    while not stopping.is_set():
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), INTERVAL_SECONDS)
        try:
            swept = await keep(services, swept)
        except Exception:
            log.exception("housekeeping failed; it will be tried again in a minute")


async def keep(services: Services, swept: int) -> int:
    """One round; returns how far the blobs are swept."""
    used = list(services.used.items())
    services.used.clear()

    def tidy(tx: Write) -> int:
        credentials.touch(tx, used)
        idempotency.forget_old(tx)
        grants.tidy(tx)
        return blobs.sweep(tx, swept)

    return await services.database.write(tidy)
