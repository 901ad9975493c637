"""Merging the index of words while the server runs, as far as it pays (docs/use/search.md, "How it works")."""

import asyncio
import logging
import time
from functools import partial

from ticketbox.jobs.periodic import stopped_within
from ticketbox.operations.core.services import Services
from ticketbox.store.tickets import search_segments

log = logging.getLogger("ticketbox.jobs")

LOOK_SECONDS = 60.0
FEW = 4  # segments that are left as they are
STEP_PAGES = 64  # some milliseconds for those who wait to write
PAUSES = 4  # after each step, times as long as it took
RESTS = 1_000  # after a merge of all, which writes the whole index anew, times as long as it took


async def run(services: Services, stopping: asyncio.Event) -> None:
    """Look every minute whether there are many segments, and merge the small ones; now and then merge all.

    After a merge of all the next one comes the later, the longer it took.
    """
    rests_until = 0.0
    while not await stopped_within(stopping, LOOK_SECONDS):
        try:
            whole = time.monotonic() >= rests_until
            worked = await merge(services, stopping, whole=whole)
            if whole:
                rests_until = time.monotonic() + RESTS * worked
        except Exception:
            log.exception("merging the index of words failed; it will be tried again in a minute")


async def merge(services: Services, stopping: asyncio.Event, *, whole: bool) -> float:
    """Make few segments of many, one of all if the `whole` is wanted, in steps between which others write.

    Returns the seconds that it worked.
    """
    if await services.database.read(search_segments.count_segments) <= FEW:
        return 0.0
    worked, more, begin = 0.0, True, whole
    while more and not stopping.is_set():
        started = time.monotonic()
        more = await services.database.write(partial(search_segments.merge_segments, pages=STEP_PAGES, begin=begin))
        took = time.monotonic() - started
        worked, begin = worked + took, False
        await stopped_within(stopping, PAUSES * took)
    return worked
