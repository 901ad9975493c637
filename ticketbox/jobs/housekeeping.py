"""What has to be done now and then: last uses written down, old answers, dead secrets and unused blobs removed."""

import asyncio
import logging

import msgspec

from ticketbox.jobs.periodic import stopped_within
from ticketbox.operations.core.services import Services
from ticketbox.store.accounts import credentials, oauth_grants
from ticketbox.store.captures import captures
from ticketbox.store.core import blobs, idempotency
from ticketbox.store.events import email_outbox, notifications, webhook_deliveries, webhooks
from ticketbox.store.file.database import Write

log = logging.getLogger("ticketbox.jobs")

INTERVAL_SECONDS = 60.0


class Swept(msgspec.Struct, frozen=True):
    """How far the rounds so far have looked, by keys."""

    blobs: int = 0
    captures: int = 0


async def run(services: Services, stopping: asyncio.Event, drop_captures_after: int | None = None) -> None:
    """Keep house every minute until the server stops, and once more then.

    Captures of tickets that were archived `drop_captures_after` seconds ago are removed; None keeps them.
    """
    swept = Swept()
    while not stopping.is_set():
        await stopped_within(stopping, INTERVAL_SECONDS)
        try:
            swept = await keep(services, swept, drop_captures_after)
        except Exception:
            log.exception("housekeeping failed; it will be tried again in a minute")


async def keep(services: Services, swept: Swept, drop_captures_after: int | None = None) -> Swept:
    """One round; returns how far it came."""
    used = list(services.used.items())
    services.used.clear()

    def tidy(tx: Write) -> Swept:
        credentials.record_use(tx, used)
        idempotency.delete_expired_answers(tx)
        oauth_grants.delete_expired(tx)
        webhook_deliveries.delete_old_deliveries(tx)
        webhooks.delete_old_secrets(tx)
        notifications.delete_old_notifications(tx)
        email_outbox.expire_mail(tx)
        seen = 0
        if drop_captures_after is not None:
            seen = captures.delete_captures_of_archived(tx, tx.now - drop_captures_after * 1000, swept.captures)
        return Swept(blobs.delete_unused(tx, swept.blobs), seen)

    return await services.database.write(tidy)
