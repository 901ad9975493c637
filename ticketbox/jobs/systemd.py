"""Notifications to systemd: ready, stopping, alive (sd_notify(3); docs/operate/install.md, "As a service")."""

import asyncio
import contextlib
import logging
import os
import socket

from ticketbox.domain.core.problems import Problem
from ticketbox.jobs.periodic import stopped_within
from ticketbox.operations.core.services import Services

log = logging.getLogger("ticketbox.jobs")


def tell(*states: str) -> None:
    """Send states, such as `READY=1`, to whoever started this process and wants to hear them."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    place = f"\0{address[1:]}" if address.startswith("@") else address
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as way:
            way.sendto("\n".join(states).encode(), place)
    except OSError as error:
        log.warning("the supervisor at %s can't be told %s: %s", address, states[0], error.strerror)


async def run(services: Services, stopping: asyncio.Event) -> None:
    """Tell the watchdog three times in its interval that the event loop runs and the writer takes work.

    A writer that refuses, on a full disk or beside another command, is alive.
    """
    interval = _interval()
    if interval is None:
        return
    while not stopping.is_set():
        with contextlib.suppress(Problem):
            await services.database.pulse()
        tell("WATCHDOG=1")
        await stopped_within(stopping, interval / 3)


def _interval() -> float | None:
    """Seconds until the supervisor takes this process for dead; None when it doesn't watch it.

    The executable is two processes: the one that systemd names and its child, which is this one.
    """
    watched = os.environ.get("WATCHDOG_PID", str(os.getpid()))
    if watched not in {str(os.getpid()), str(os.getppid())}:
        return None
    microseconds = os.environ.get("WATCHDOG_USEC", "")
    return int(microseconds) / 1_000_000 if microseconds.isdecimal() and int(microseconds) else None
