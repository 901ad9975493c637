"""Housekeeping: store last uses; end stale work; delete old answers, expired secrets and unused blobs."""

import asyncio
import logging

import msgspec

from ticketbox.jobs.periodic import wait_for_stop
from ticketbox.operations.core.services import Services
from ticketbox.store.accounts import credentials, oauth_authorizations, oauth_clients, oauth_grants
from ticketbox.store.captures import captures
from ticketbox.store.core import blobs, idempotency
from ticketbox.store.events import email_outbox, notifications, webhook_outbox, webhooks
from ticketbox.store.file.database import Write
from ticketbox.store.work.sessions import end_stale_sessions

log = logging.getLogger("ticketbox.jobs")

INTERVAL_SECONDS = 60.0


class SweepProgress(msgspec.Struct, frozen=True):
    """The keys up to which blobs, captures and sessions have been checked."""

    blobs: int = 0
    captures: int = 0
    sessions: int = 0


async def run(services: Services, stopping: asyncio.Event, drop_captures_after: int | None = None) -> None:
    """Run housekeeping every minute and once more when the server stops.

    Captures of tickets that were archived `drop_captures_after` seconds ago are deleted; None keeps them.
    """
    progress = SweepProgress()
    while not stopping.is_set():
        await wait_for_stop(stopping, INTERVAL_SECONDS)
        try:
            progress = await run_round(services, progress, drop_captures_after)
            await services.database.shrink_log()
        except Exception:
            log.exception("housekeeping failed; it will be retried in a minute")


async def run_round(
    services: Services, progress: SweepProgress, drop_captures_after: int | None = None
) -> SweepProgress:
    """Run one round; return the progress."""
    last_used = list(services.credential_last_used.items())
    services.credential_last_used.clear()

    def clean_up(tx: Write) -> SweepProgress:
        credentials.record_use(tx, last_used)
        end_stale_sessions(tx)
        idempotency.delete_expired_answers(tx)
        oauth_grants.delete_expired_secrets(tx)
        oauth_authorizations.delete_expired_requests(tx)
        oauth_clients.delete_unused_clients(tx)
        webhook_outbox.delete_old_deliveries(tx)
        webhooks.delete_old_secrets(tx)
        notifications.delete_old_notifications(tx)
        email_outbox.expire_mail(tx)
        seen = 0
        if drop_captures_after is not None:
            seen = captures.delete_captures_of_archived(tx, tx.now - drop_captures_after * 1000, progress.captures)
        sessions = credentials.forget_ended_sessions(tx, progress.sessions)
        return SweepProgress(blobs.delete_unused(tx, progress.blobs), seen, sessions)

    return await services.database.write(clean_up)
