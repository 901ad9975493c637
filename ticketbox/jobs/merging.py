"""Merging the index of words while the server runs, as far as it pays (docs/search.md, "How it works")."""

import asyncio
import logging
import time
from functools import partial

from ticketbox.jobs.rounds import stopped_within
from ticketbox.operations.services import Services
from ticketbox.store import segments

log = logging.getLogger("ticketbox.jobs")

LOOK_SECONDS = 60.0
FEW = 4  # segments that are left as they are
STEP_PAGES = 64  # some milliseconds for those who wait to write
PAUSES = 4  # after each step, times as long as it took
RESTS = 1_000  # after a merge, which writes the whole index anew


async def run(services: Services, stopping: asyncio.Event) -> None:
    """Look every minute whether there are many segments, and merge them; then rest the longer, the longer it took."""
    rest = LOOK_SECONDS
    while not await stopped_within(stopping, rest):
        try:
            rest = max(LOOK_SECONDS, RESTS * await merge(services, stopping))
        except Exception:
            log.exception("merging the index of words failed; it will be tried again in a minute")
            rest = LOOK_SECONDS


async def merge(services: Services, stopping: asyncio.Event) -> float:
    """Make one segment of many, in steps between which others write; returns the seconds that it worked."""
    if await services.database.read(segments.count) <= FEW:
        return 0.0
    worked, more, begin = 0.0, True, True
    while more and not stopping.is_set():
        started = time.monotonic()
        more = await services.database.write(partial(segments.merge, pages=STEP_PAGES, begin=begin))
        took = time.monotonic() - started
        worked, begin = worked + took, False
        await stopped_within(stopping, PAUSES * took)
    return worked
