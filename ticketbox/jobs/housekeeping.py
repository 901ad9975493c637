"""Housekeeping: store last uses; end stale work; delete old answers, expired secrets and unused blobs."""

import asyncio
import logging

import msgspec

from ticketbox.jobs.clock_watch import ClockWatch
from ticketbox.jobs.periodic import wait_for_stop
from ticketbox.operations.core.services import Services
from ticketbox.store.accounts import credentials, devices, provider_requests, security_events
from ticketbox.store.accounts.oauth import authorizations as oauth_authorizations
from ticketbox.store.accounts.oauth import clients as oauth_clients
from ticketbox.store.accounts.oauth import grants as oauth_grants
from ticketbox.store.captures import captures
from ticketbox.store.core import blobs, idempotency
from ticketbox.store.events import email_outbox, notifications, webhook_outbox, webhooks
from ticketbox.store.file.database import Write
from ticketbox.store.git import git_deliveries, git_hooks, git_links
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
    progress, watch = SweepProgress(), ClockWatch(services.database.clock)
    while not stopping.is_set():
        await wait_for_stop(stopping, INTERVAL_SECONDS)
        try:
            progress = await run_round(services, progress, drop_captures_after, deletes_by_age=watch.is_trusted())
            await services.database.shrink_log()
        except Exception:
            log.exception("housekeeping failed; it will be retried in a minute")


async def run_round(
    services: Services,
    progress: SweepProgress,
    drop_captures_after: int | None = None,
    *,
    deletes_by_age: bool = True,
) -> SweepProgress:
    """Run one round; return the progress. Without `deletes_by_age`, because the clock is wrong, nothing old is lost."""
    last_used = list(services.credential_last_used.items())
    services.credential_last_used.clear()

    def clean_up(tx: Write) -> SweepProgress:
        credentials.record_use(tx, last_used)
        end_stale_sessions(tx)
        unused = blobs.delete_unused(tx, progress.blobs)
        if not deletes_by_age:
            return SweepProgress(unused, progress.captures, progress.sessions)
        idempotency.delete_expired_answers(tx)
        oauth_grants.delete_expired_secrets(tx)
        oauth_authorizations.delete_expired_requests(tx)
        oauth_clients.delete_unused_clients(tx)
        webhook_outbox.delete_old_deliveries(tx)
        webhooks.delete_old_secrets(tx)
        git_hooks.delete_old_secrets(tx)
        git_deliveries.delete_old_deliveries(tx)
        git_links.delete_old_checks(tx)
        notifications.delete_old_notifications(tx)
        email_outbox.expire_mail(tx)
        security_events.delete_old_security_events(tx)
        devices.delete_old_devices(tx)
        provider_requests.delete_expired_provider_requests(tx)
        seen = 0
        if drop_captures_after is not None:
            seen = captures.delete_captures_of_archived(tx, tx.now - drop_captures_after * 1000, progress.captures)
        return SweepProgress(unused, seen, credentials.forget_ended_sessions(tx, progress.sessions))

    return await services.database.write(clean_up)
