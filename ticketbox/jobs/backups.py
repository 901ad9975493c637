"""Backups while the server runs, made when they are due, and the oldest removed (docs/operate/backups.md)."""

import asyncio
import calendar
import contextlib
import logging
import re
import time
from pathlib import Path

import msgspec

from ticketbox.jobs.periodic import stopped_within
from ticketbox.operations.core.services import Services
from ticketbox.store.file.backup import NAME_FORMAT, Cancelled, FinishedCopy, back_up, make_backup_name
from ticketbox.store.file.migrate import UnusableFile

log = logging.getLogger("ticketbox.jobs")

RETRY_SECONDS = 600
STALE_SECONDS = 86_400


class Plan(msgspec.Struct, frozen=True):
    """Which file is copied into which folder, every how many seconds (None: never), and how many are kept."""

    db: Path
    folder: Path
    every: int | None
    keep: int


async def run(plan: Plan, services: Services, stopping: asyncio.Event) -> None:
    """Make backups until the server stops; one that runs then is called off and leaves nothing.

    The newest backup's own name tells when the next is due, so a restart neither forgets one nor adds one.
    """
    if plan.every is None:
        return
    wait = due_in(plan, time.time())
    while not await stopped_within(stopping, wait):
        try:
            made = await asyncio.to_thread(make, plan, stopping)
            log.info("a backup: %s, %d bytes in %.1f s", made.file, made.bytes, made.seconds)
            services.last_backup = time.time()
            wait = plan.every
        except Cancelled:
            return
        except (UnusableFile, OSError) as error:
            log.error("the backup failed, and none was removed: %s", error)
            wait = min(plan.every, RETRY_SECONDS)


def make(plan: Plan, stopping: asyncio.Event) -> FinishedCopy:
    """Make one backup, then remove those beyond the number to keep. Raises UnusableFile and Halted."""
    for left in plan.folder.glob(f"{plan.db.stem}-*.db.part"):  # by a command that was killed
        if left.stat().st_mtime < time.time() - STALE_SECONDS:
            left.unlink()
    made = back_up(plan.db, plan.folder / make_backup_name(plan.db), halted=stopping.is_set)
    for old in kept(plan)[: -plan.keep]:
        old.unlink()
    return made


def kept(plan: Plan) -> list[Path]:
    """The backups that are there, oldest first. Other files in the folder are none of ours."""
    form = re.compile(rf"{re.escape(plan.db.stem)}-\d{{8}}T\d{{6}}Z\.db")
    return sorted(path for path in plan.folder.glob("*.db") if form.fullmatch(path.name))


def due_in(plan: Plan, now: float) -> float:
    """Seconds until the next backup is due; 0 when one is overdue. A clock that was ahead delays none."""
    assert plan.every is not None
    there = kept(plan)
    if not there:
        return 0
    stamp = there[-1].stem.removeprefix(f"{plan.db.stem}-")
    with contextlib.suppress(ValueError):
        return min(max(calendar.timegm(time.strptime(stamp, NAME_FORMAT)) + plan.every - now, 0), plan.every)
    return 0
