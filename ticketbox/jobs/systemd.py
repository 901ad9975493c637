"""systemd notifications: ready, stopping, watchdog (sd_notify(3); docs/operate/install.md, "As a service")."""

import asyncio
import contextlib
import logging
import os
import socket

from ticketbox.domain.core.problems import Problem
from ticketbox.jobs.periodic import wait_for_stop
from ticketbox.operations.core.services import Services

log = logging.getLogger("ticketbox.jobs")


def notify(*states: str) -> None:
    """Send states, such as `READY=1`, to systemd, if there is one."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    target = f"\0{address[1:]}" if address.startswith("@") else address
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as connection:
            connection.sendto("\n".join(states).encode(), target)
    except OSError as error:
        log.warning("can't send %s to systemd at %s: %s", states[0], address, error.strerror)


async def run(services: Services, stopping: asyncio.Event) -> None:
    """Notify the watchdog three times per interval while the event loop and the writer respond.

    A writer that refuses, because the disk is full or the file is locked, still counts as responding.
    """
    interval = _read_watchdog_interval()
    if interval is None:
        return
    while not stopping.is_set():
        with contextlib.suppress(Problem):
            await services.database.check_writes()
        notify("WATCHDOG=1")
        await wait_for_stop(stopping, interval / 3)


def _read_watchdog_interval() -> float | None:
    """Return the seconds after which systemd restarts a silent process; None without a watchdog.

    The single-file executable runs as two processes: systemd names the parent, and this one is its child.
    """
    watched = os.environ.get("WATCHDOG_PID", str(os.getpid()))
    if watched not in {str(os.getpid()), str(os.getppid())}:
        return None
    microseconds = os.environ.get("WATCHDOG_USEC", "")
    return int(microseconds) / 1_000_000 if microseconds.isdecimal() and int(microseconds) else None
