"""The composition root: opens the file, creates the services and jobs, and closes everything in order."""

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncGenerator, Generator
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from ticketbox.domain.accounts.client_metadata import ClientMetadata
from ticketbox.domain.accounts.identity_provider import Provider
from ticketbox.domain.core.clock import Clock
from ticketbox.domain.core.fairness.limits import RateLimiter
from ticketbox.domain.core.memory import return_large_blocks
from ticketbox.domain.core.problems import Problem
from ticketbox.edge.asgi import ASGIApp, Scope
from ticketbox.edge.edge import Edge
from ticketbox.edge.responses import Answer
from ticketbox.edge.site import Site
from ticketbox.http.agents.files import render_skills
from ticketbox.http.metrics import Metrics
from ticketbox.http.oauth import endpoints
from ticketbox.http.pages.refusal import build_refusal_page
from ticketbox.http.routes import build_routes
from ticketbox.jobs import (
    backups,
    client_metadata,
    command_log,
    git,
    housekeeping,
    search_merge,
    source_maps,
    systemd,
    webhooks,
)
from ticketbox.jobs.backups import BackupPlan
from ticketbox.jobs.email import delivery
from ticketbox.mcp.endpoint import Endpoint
from ticketbox.operations.catalogue import load_registry
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.live.listeners import Listeners
from ticketbox.operations.core.services import Fetch, FetchedResponse, Services
from ticketbox.settings import Settings
from ticketbox.store.file.database import Database
from ticketbox.store.file.folder.location import open_folder
from ticketbox.store.file.guard import FileGuard, FileInUse
from ticketbox.store.file.migrate import UnusableFile, prepare_file

log = logging.getLogger("ticketbox")


class Appliance:
    """Ticketbox without the HTTP server: the open file, its services and the application."""

    def __init__(self, settings: Settings, services: Services) -> None:
        self.settings = settings
        self.services = services
        self.dispatcher = Dispatcher(services)
        self.site = Site(
            public_url=settings.public_url,
            hosts=settings.hosts,
            any_address=settings.any_address,
            secure=settings.secure,
            proxies=settings.trusted_proxies,
            by_socket=settings.unix_socket is not None,
        )
        self.metrics = Metrics(services)
        self.mcp = Endpoint(load_registry(), self.dispatcher, self.site, render_skills(settings.public_url))

    def build_application(self) -> ASGIApp:
        """Return the application to serve: the edge around the routes."""
        routes = build_routes(load_registry(), self.dispatcher, self.site, self.mcp.handle_request, self.metrics)
        return Edge(routes, self.site, self.services.limiter, self.metrics.observe, self._build_refusal)

    def _build_refusal(self, scope: Scope, problem: Problem) -> Answer | None:
        return (
            self.mcp.build_refusal(scope, problem)
            or endpoints.build_refusal(scope, problem)
            or build_refusal_page(scope, problem)
        )


@contextlib.asynccontextmanager
async def open_appliance(settings: Settings) -> AsyncGenerator[Appliance]:
    """Lock, migrate and open the file, run the jobs meanwhile, and close everything in order.

    Raises UnusableFile for a file that can't be served, or that another server has open.
    """
    return_large_blocks()
    with lock_file(settings.db) as guard:
        prepare_file(settings.db, log.info)
        guard.lock()
        folder = open_folder(settings.db, settings.assets_dir)
        clock = Clock()
        listeners = Listeners(settings.max_event_streams)
        database = await Database.open(
            settings.db,
            clock,
            checkpoints=not settings.leave_checkpoints,
            publish=listeners.publish,
            public_url=settings.public_url,
            guard=guard,
            folder=folder,
            wait_seconds=settings.max_queue_seconds,
        )
        services = Services(
            database,
            RateLimiter(clock.monotonic),
            settings.public_url,
            _create_fetch(settings),
            listeners,
            allow_private=settings.allow_private_addresses,
            sends_email=settings.relay is not None,
            client_metadata=ClientMetadata(settings.client_metadata),
            provider=None if settings.provider is None else Provider(settings.provider),
            max_uploads=settings.max_uploads,
            min_upload_rate=settings.min_upload_rate,
            max_capture_seconds=settings.max_capture_seconds,
            max_queue_seconds=settings.max_queue_seconds,
            ceilings=settings.ceilings,
            session_idle_seconds=settings.session_idle_seconds,
        )
        stopping = asyncio.Event()
        appliance = Appliance(settings, services)
        running = [
            asyncio.create_task(
                housekeeping.run(services, stopping, settings.drop_captures_after, trust_clock=settings.trust_clock)
            ),
            asyncio.create_task(command_log.run(services, stopping)),
            asyncio.create_task(search_merge.run(services, stopping)),
            asyncio.create_task(backups.run(_plan_backups(settings), services, stopping)),
            asyncio.create_task(webhooks.run(services, stopping, settings.max_deliveries)),
            asyncio.create_task(git.run(services, stopping)),
            asyncio.create_task(delivery.run(services, settings.relay, stopping)),
            asyncio.create_task(source_maps.run(services, stopping)),
            asyncio.create_task(systemd.run(services, stopping)),
            asyncio.create_task(client_metadata.run(services, stopping)),
            asyncio.create_task(appliance.mcp.run(stopping)),
        ]
        try:
            yield appliance
        finally:
            stopping.set()
            await asyncio.gather(*running)
            services.close()
            if guard.has_damaged_log():
                log.error("the write-ahead log is damaged, so it isn't copied into the file; run ticketbox check")
                os._exit(1)  # as if the process were killed: the next start reads what is intact
            await database.close()
            if folder is not None:
                folder.close()


def _plan_backups(settings: Settings) -> BackupPlan:
    """Return when and where backups are created."""
    named = settings.backup_dir
    folder = named or settings.db.absolute().with_name("backups")
    return BackupPlan(settings.db, folder, settings.backup_every, settings.backup_keep, elsewhere=named is not None)


def _create_fetch(settings: Settings) -> Fetch:
    """Return the function that sends requests to other servers; it imports the HTTP client when first called."""

    async def fetch(url: str, **options: Any) -> FetchedResponse:
        from ticketbox.edge.outbound import Fetcher

        return await Fetcher(allow_private=settings.allow_private_addresses)(url, **options)

    return fetch


@contextlib.contextmanager
def lock_file(db: Path) -> Generator[FileGuard]:
    """Lock the file against a second server, by its name and the file itself. Raises UnusableFile if it is locked."""
    path = db.resolve().with_name(db.resolve().name + ".lock")
    guard = FileGuard(db)
    lock = FileLock(path, timeout=0, mode=0o600)
    try:
        db.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
        guard.lock()
    except FileInUse:
        lock.release()
        raise UnusableFile(f"{db}: another ticketbox server is using this file") from None
    except Timeout:
        why = "another ticketbox server is using this file" if path.exists() else "can't create the lock file"
        raise UnusableFile(f"{db}: {why}") from None
    except OSError as error:
        raise UnusableFile(f"{db}: can't create the lock file: {error.strerror}") from error
    try:
        yield guard
    finally:
        guard.close()
        lock.release()
