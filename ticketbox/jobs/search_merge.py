"""Merge segments of the search index while the server runs (docs/use/search.md, "How it works")."""

import asyncio
import logging
import time
from functools import partial

from ticketbox.jobs.periodic import wait_for_stop
from ticketbox.operations.core.services import Services
from ticketbox.store.tickets.search import search_segments

log = logging.getLogger("ticketbox.jobs")

INTERVAL_SECONDS = 60.0
MAX_SEGMENTS = 4  # more are merged
STEP_PAGES = 64  # other writes wait a few milliseconds
STEP_PAUSE = 4  # pause after each step, as a multiple of its duration
FULL_MERGE_PAUSE = 1_000  # pause after a full merge, which rewrites the index, as a multiple of its duration
ERASURE_PAUSE = 20  # pause after deleted words were erased, as a multiple of the time it took


async def run(services: Services, stopping: asyncio.Event) -> None:
    """Merge small segments every minute if there are many, and all of them now and then.

    The longer a full merge took, the later the next one. Words of a deleted ticket or capture stay in the file until
    all segments are merged, so that happens within a minute, and after a start, when it isn't known; on a large file,
    where it takes long, later.
    """
    next_full_merge, next_erasure, handled = 0.0, 0.0, -1
    while not await wait_for_stop(stopping, INTERVAL_SECONDS):
        try:
            deletions = services.database.word_deletions
            if deletions != handled and time.monotonic() >= next_erasure:
                worked = await erase_deleted_words(services, stopping)
                handled, next_erasure = deletions, time.monotonic() + ERASURE_PAUSE * worked
                next_full_merge = time.monotonic() + FULL_MERGE_PAUSE * worked
            full = time.monotonic() >= next_full_merge
            worked = await merge_segments(services, stopping, full=full)
            if full:
                next_full_merge = time.monotonic() + FULL_MERGE_PAUSE * worked
        except Exception:
            log.exception("merging the search index failed; it will be retried in a minute")


async def erase_deleted_words(services: Services, stopping: asyncio.Event) -> float:
    """Merge all segments into one, which no longer has the words that were deleted, and empty the log.

    Return the seconds of work.
    """
    worked = await merge_segments(services, stopping, full=True, most=1)
    await services.database.truncate_log()
    return worked


async def merge_segments(services: Services, stopping: asyncio.Event, *, full: bool, most: int = MAX_SEGMENTS) -> float:
    """Merge segments if there are more than `most`, with `full` into one, in steps between which others can write.

    Return the seconds of work, without pauses.
    """
    if await services.database.read(search_segments.count_segments) <= most:
        return 0.0
    worked, more, begin = 0.0, True, full
    while more and not stopping.is_set():
        started = time.monotonic()
        more = await services.database.write(partial(search_segments.merge_segments, pages=STEP_PAGES, begin=begin))
        took = time.monotonic() - started
        worked, begin = worked + took, False
        await wait_for_stop(stopping, STEP_PAUSE * took)
    return worked
