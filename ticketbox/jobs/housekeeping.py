"""Housekeeping: store last uses; end stale work; delete old answers, expired secrets and unused blobs."""

import asyncio
import logging

import msgspec

from ticketbox.jobs.clock_watch import TRUSTED_AFTER, ClockWatch
from ticketbox.jobs.periodic import wait_for_stop
from ticketbox.operations.core.services import Services
from ticketbox.store.accounts import credentials, devices, provider_requests, security_events
from ticketbox.store.accounts.oauth import authorizations as oauth_authorizations
from ticketbox.store.accounts.oauth import clients as oauth_clients
from ticketbox.store.accounts.oauth import grants as oauth_grants
from ticketbox.store.captures import captures
from ticketbox.store.core import blobs, idempotency
from ticketbox.store.events import email_outbox, events, notifications, webhook_outbox, webhooks
from ticketbox.store.file.database import Write
from ticketbox.store.git import git_deliveries, git_hooks, git_links
from ticketbox.store.reports import report_keys
from ticketbox.store.work.sessions import end_stale_sessions

log = logging.getLogger("ticketbox.jobs")

INTERVAL_SECONDS = 60.0


class SweepProgress(msgspec.Struct, frozen=True):
    """The keys up to which blobs, captures and sessions have been checked."""

    blobs: int = 0
    captures: int = 0
    sessions: int = 0


async def run(
    services: Services,
    stopping: asyncio.Event,
    drop_captures_after: int | None = None,
    *,
    trust_clock: bool = False,
) -> None:
    """Run housekeeping every minute and once more when the server stops.

    Captures of tickets that were archived `drop_captures_after` seconds ago are deleted; None keeps them. With
    `trust_clock` the clock may be far ahead of the newest change in the file.
    """
    clock = services.database.clock
    progress, watch = SweepProgress(), ClockWatch(clock, None if trust_clock else await _find_newest_time(services))
    services.deletes_by_age = watch.is_trusted()
    while True:
        ends = await wait_for_stop(stopping, INTERVAL_SECONDS)
        services.deletes_by_age = watch.is_trusted()
        try:
            progress = await run_round(services, progress, drop_captures_after, deletes_by_age=services.deletes_by_age)
            await services.database.sweep_folder()
            await services.database.shrink_log()
        except Exception:
            log.exception("housekeeping failed; it will be retried in a minute")
        if ends:
            return


async def _find_newest_time(services: Services) -> int | None:
    """Find the newest change that is old enough to compare the clock with; 0, which no clock fits, if reading fails."""
    most = services.database.clock.now() - TRUSTED_AFTER
    try:
        return await services.database.read(lambda tx: events.find_newest_time(tx, most))
    except Exception:
        log.exception("the clock couldn't be compared with the newest change in the file")
        return 0


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
        report_keys.delete_old_keys(tx)
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
