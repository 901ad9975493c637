"""Rebuild the excerpts of captures that an earlier version stored, so that reads only decode them."""

import asyncio
import logging
import time
from functools import partial
from typing import TypeVar

from ticketbox.domain.captures.actions import ActionEntry
from ticketbox.domain.captures.capture import ConsoleEntry, Entry, ErrorEntry, NetworkEntry, Stream
from ticketbox.domain.captures.intake.entry_sequence import EntrySequence
from ticketbox.domain.captures.intake.new_capture import pack_excerpt
from ticketbox.jobs.periodic import IDLE_SECONDS, Waker, run_rounds, wait_for_stop
from ticketbox.operations.core.services import Services
from ticketbox.store.captures import excerpts
from ticketbox.store.captures.excerpts import OutdatedExcerpt
from ticketbox.store.core import blobs
from ticketbox.store.core.blobs import PackedContent

E = TypeVar("E", bound=Entry)

log = logging.getLogger("ticketbox.jobs")


async def run(services: Services, stopping: asyncio.Event) -> None:
    """Rebuild outdated excerpts, one after the other, until the server stops."""

    async def start() -> float:
        while not stopping.is_set():
            started = time.monotonic()
            if not await rebuild_next_excerpt(services):
                break
            await wait_for_stop(stopping, time.monotonic() - started)  # leave half of the time to others
        return IDLE_SECONDS

    await run_rounds(start, Waker(), stopping, "rebuilding excerpts")


async def rebuild_next_excerpt(services: Services) -> bool:
    """Rebuild the newest outdated excerpt; return whether there was one."""
    outdated = await services.database.read(excerpts.load_outdated_excerpt)
    if outdated is None:
        return False
    packed = await asyncio.to_thread(_rebuild_excerpt, outdated)
    await services.database.write(partial(excerpts.replace_excerpt, outdated=outdated, packed=packed))
    return True


def _rebuild_excerpt(outdated: OutdatedExcerpt) -> PackedContent | None:
    """Build an excerpt again; None, with a note in the log, if the capture's streams are damaged."""
    try:
        return pack_excerpt(
            _read_stream(outdated, Stream.CONSOLE, ConsoleEntry),
            _read_stream(outdated, Stream.NETWORK, NetworkEntry),
            _read_stream(outdated, Stream.ERRORS, ErrorEntry),
            _read_stream(outdated, Stream.ACTIONS, ActionEntry),
            outdated.id,
        )
    except Exception:
        log.exception("the excerpt of %s can't be rebuilt", outdated.id)
        return None


def _read_stream(outdated: OutdatedExcerpt, stream: Stream, kind: type[E]) -> EntrySequence[E]:
    packed = outdated.contents.get(stream)
    return EntrySequence(kind) if packed is None else EntrySequence(kind, blobs.unpack_content(*packed))
