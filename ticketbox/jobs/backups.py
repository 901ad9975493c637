"""Scheduled backups: create them while the server runs, delete the oldest (docs/operate/backups.md)."""

import asyncio
import calendar
import contextlib
import logging
import re
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from ticketbox.domain.core.problems import Problem
from ticketbox.jobs.periodic import wait_for_stop
from ticketbox.operations.core.services import Services
from ticketbox.store.file.backup import (
    NAME_FORMAT,
    FinishedCopy,
    OperationCancelled,
    back_up,
    build_backup_name,
    delete_backup,
)
from ticketbox.store.file.migrate import UnusableFile

log = logging.getLogger("ticketbox.jobs")

RETRY_SECONDS = 600
STALE_SECONDS = 86_400


class BackupPlan(msgspec.Struct, frozen=True):
    """The file, the folder for backups, the seconds between backups (None: never) and how many to keep."""

    db: Path
    folder: Path
    every: int | None
    keep: int


async def run(plan: BackupPlan, services: Services, stopping: asyncio.Event) -> None:
    """Create backups until the server stops; a running one is then canceled and deleted.

    The name of the newest backup decides when the next one is due, so restarts don't change the schedule.
    """
    if plan.every is None:
        return
    wait = get_seconds_until_due(plan, time.time())
    while not await wait_for_stop(stopping, wait):
        try:
            copy = await asyncio.to_thread(create_backup, plan, stopping, services.database.refuse_damage)
            log.info("created backup %s, %d bytes in %.1f s", copy.file, copy.bytes, copy.seconds)
            services.last_backup = time.time()
            wait = plan.every
        except OperationCancelled:
            return
        except (Problem, UnusableFile, OSError) as error:
            why = error.detail if isinstance(error, Problem) else error
            log.error("the backup failed, and no old one was deleted: %s", why)
            wait = min(plan.every, RETRY_SECONDS)


def create_backup(
    plan: BackupPlan, stopping: asyncio.Event, refuse_damage: Callable[[], None] = lambda: None
) -> FinishedCopy:
    """Create a backup, then delete the oldest beyond `plan.keep`.

    Raises UnusableFile and OperationCancelled, and what `refuse_damage` raises for the server's own file.
    """
    for left in plan.folder.glob(f"{plan.db.stem}-*.db.part"):  # left by a killed process
        if left.stat().st_mtime < time.time() - STALE_SECONDS:
            if not left.with_suffix("").exists():
                delete_backup(left.with_suffix(""))  # its assets
            left.unlink()
    copy = back_up(plan.db, plan.folder / build_backup_name(plan.db), refuse_damage, is_cancelled=stopping.is_set)
    for old in list_backups(plan)[: -plan.keep]:
        delete_backup(old)
    return copy


def list_backups(plan: BackupPlan) -> list[Path]:
    """Return the backups in the folder, oldest first; ignore other files."""
    pattern = re.compile(rf"{re.escape(plan.db.stem)}-\d{{8}}T\d{{6}}Z\.db")
    return sorted(path for path in plan.folder.glob("*.db") if pattern.fullmatch(path.name))


def get_seconds_until_due(plan: BackupPlan, now: float) -> float:
    """Return the seconds until the next backup is due, 0 if overdue; at most `plan.every`, should the clock jump."""
    assert plan.every is not None
    existing = list_backups(plan)
    if not existing:
        return 0
    stamp = existing[-1].stem.removeprefix(f"{plan.db.stem}-")
    with contextlib.suppress(ValueError):
        return min(max(calendar.timegm(time.strptime(stamp, NAME_FORMAT)) + plan.every - now, 0), plan.every)
    return 0
