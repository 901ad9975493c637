"""Resolve the stacks of captures with the source maps of their projects (docs/use/source-maps.md)."""

import asyncio
import logging

from ticketbox.domain.core.problems import PayloadTooLarge
from ticketbox.jobs.periodic import Waker, get_seconds_until, run_rounds
from ticketbox.operations.captures.processing.stack_resolution import (
    Resolution,
    ResolvedStreams,
    StoredStreams,
    list_stored_scripts,
    resolve_stacks,
)
from ticketbox.operations.core.services import Services
from ticketbox.store.captures import source_maps
from ticketbox.store.captures.source_maps import QueuedCapture
from ticketbox.store.file.database import Write
from ticketbox.store.tickets.search import similar

log = logging.getLogger("ticketbox.jobs")

MAX_MAPS = 20  # of one capture
MAX_MAP_BYTES = 64 * 1024 * 1024  # of all of them


async def run(services: Services, stopping: asyncio.Event) -> None:
    """Resolve the queued captures, one after the other, until the server stops."""
    waker = Waker()
    services.listeners.add_callback(waker.wake)

    async def start() -> float:
        database = services.database
        while not stopping.is_set():
            due = await database.read(source_maps.find_next_due)
            if due is None or due > database.clock.now():
                return get_seconds_until(due, database.clock.now())
            await resolve_next_capture(services)
        return 0.0

    await run_rounds(start, waker, stopping, "resolving stacks")


async def resolve_next_capture(services: Services) -> None:
    """Resolve the capture that has been due for longest. It takes turns with the captures that are sent."""
    database = services.database
    queued = await database.read(lambda tx: source_maps.load_due_capture(tx, database.clock.now()))
    if queued is None:
        return
    try:
        resolved = await _resolve(services, queued)
    except PayloadTooLarge as error:
        log.warning("the stacks of %s aren't resolved: %s", queued.id, error.detail)
        resolved = None

    def finish(tx: Write) -> None:
        if resolved is not None and source_maps.replace_streams(
            tx, queued, resolved.console, resolved.errors, resolved.excerpt
        ):
            similar.insert_fingerprints(tx, queued.ticket, resolved.fingerprints)
        source_maps.finish_capture(tx, queued.key)

    await database.write(finish)


async def _resolve(services: Services, queued: QueuedCapture) -> ResolvedStreams | None:
    """Resolve the stacks in the worker process. Raises Unavailable and PayloadTooLarge."""
    fair_share = (queued.company, "source maps")
    stored = StoredStreams(queued.id, queued.extra_redactions, queued.contents)
    scripts = await services.captures.run(fair_share, list_stored_scripts, stored, payers=())
    maps = await services.database.read(
        lambda tx: source_maps.find_map_contents(tx, queued.project, queued.release, scripts, MAX_MAPS, MAX_MAP_BYTES)
    )
    if not maps:
        return None
    call = services.captures.process.call
    seconds = services.max_capture_seconds
    resolution: Resolution = await services.captures.run(
        fair_share, call, seconds, resolve_stacks, stored, maps, payers=()
    )
    for note in resolution.notes:
        log.warning("%s", note)
    return resolution.streams
