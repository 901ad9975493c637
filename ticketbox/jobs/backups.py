"""Scheduled backups: create them while the server runs, delete the oldest (docs/operate/backups.md)."""

import asyncio
import calendar
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
    """The file, the folder for backups, the seconds between backups (None: never) and how many to keep.

    `elsewhere` says that the operator named the folder, which is then expected on another disk.
    """

    db: Path
    folder: Path
    every: int | None
    keep: int
    elsewhere: bool = False


async def run(plan: BackupPlan, services: Services, stopping: asyncio.Event) -> None:
    """Create backups until the server stops; a running one is then canceled and deleted.

    The name of the newest backup decides when the next one is due, so restarts don't change the schedule.
    """
    if plan.every is None:
        return
    services.last_backup = find_last_backup(plan, time.time())
    services.backup_failures = 0
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
            services.backup_failures += 1
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
    if plan.elsewhere and plan.folder.stat().st_dev == plan.db.stat().st_dev:
        log.warning(
            "the folder %s is on the same disk as %s; if another disk belongs there, mount it: "
            "a backup on the same disk is lost with it",
            plan.folder,
            plan.db,
        )
    _delete_oldest(plan, Path(copy.file))
    return copy


def _delete_oldest(plan: BackupPlan, newest: Path) -> None:
    """Delete the oldest backups beyond `plan.keep`, up to the `newest`, which was just created.

    Later names are of a clock that was ahead. They are older than the newest backup, whatever their names say, so they
    aren't counted, and not deleted either, because the clock could be wrong now.
    """
    existing = list_backups(plan)
    if ahead := [each.name for each in existing if each.name > newest.name]:
        log.warning(
            "backups with names in the future aren't counted and never deleted: %d, up to %s; "
            "delete them if the clock was ahead when they were created",
            len(ahead),
            ahead[-1],
        )
    for old in [each for each in existing if each.name <= newest.name][: -plan.keep]:
        delete_backup(old)


def list_backups(plan: BackupPlan) -> list[Path]:
    """Return the backups in the folder, oldest first; ignore other files."""
    pattern = re.compile(rf"{re.escape(plan.db.stem)}-\d{{8}}T\d{{6}}Z\.db")
    return sorted(path for path in plan.folder.glob("*.db") if pattern.fullmatch(path.name))


def find_last_backup(plan: BackupPlan, now: float) -> float | None:
    """Return the time in the name of the newest backup; ignore names in the future, which say nothing about its age."""
    latest: float | None = None
    for each in list_backups(plan):
        try:
            made = calendar.timegm(time.strptime(each.stem.removeprefix(f"{plan.db.stem}-"), NAME_FORMAT))
        except ValueError:  # such as month 13
            continue
        if made <= now:
            latest = made
    return latest


def get_seconds_until_due(plan: BackupPlan, now: float) -> float:
    """Return the seconds until the next backup is due; 0 if overdue, or if there is none yet."""
    assert plan.every is not None
    last = find_last_backup(plan, now)
    return 0 if last is None else max(last + plan.every - now, 0)
