"""Apply the deliveries of repositories that wait (docs/use/git.md)."""

import asyncio
import logging

from ticketbox.jobs.periodic import IDLE_SECONDS, Waker, run_rounds
from ticketbox.operations.core.services import Services
from ticketbox.operations.git.linking import apply_delivery
from ticketbox.store.file.database import Write
from ticketbox.store.git import git_deliveries

log = logging.getLogger("ticketbox.jobs")


async def run(services: Services, stopping: asyncio.Event) -> None:
    """Apply deliveries until the server stops. Those that the stop interrupts are applied after the next start."""
    waker = Waker()
    services.listeners.add_callback(waker.wake)

    async def start() -> float:
        if await services.database.read(git_deliveries.has_waiting):
            await services.database.write(apply_waiting)
            waker.wake()  # there may be more than fits in one round
        return IDLE_SECONDS

    await run_rounds(start, waker, stopping, "linking of git deliveries")


def apply_waiting(tx: Write) -> None:
    """Apply the deliveries whose turn it is. One that fails is logged and dropped, and doesn't affect the others."""
    for delivery in git_deliveries.list_waiting(tx):
        try:
            tx.run_step(lambda each=delivery: apply_delivery(tx, each))
        except Exception:
            log.exception("a delivery to the git hook %s couldn't be applied", delivery.hook_id)
        git_deliveries.close_delivery(tx, delivery.key)
