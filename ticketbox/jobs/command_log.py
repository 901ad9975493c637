"""Log lines for what commands on the server's machine did to accounts and tokens, in the server's own log.

Commands change the file beside the server and have no log (docs/operate/monitoring.md, "Security events").
"""

import asyncio
import logging

from ticketbox.domain.core.access.policy import Via
from ticketbox.jobs.periodic import wait_for_stop
from ticketbox.operations.accounts.security_events import log_security_event
from ticketbox.operations.core.services import Services
from ticketbox.store.accounts import security_events

log = logging.getLogger("ticketbox.jobs")

INTERVAL_SECONDS = 10.0


async def run(services: Services, stopping: asyncio.Event) -> None:
    """Log what commands do from now on, within seconds."""
    newest = await services.database.read(security_events.find_newest_key)
    while not stopping.is_set():
        await wait_for_stop(stopping, INTERVAL_SECONDS)
        try:
            newest = await log_commands(services, newest)
        except Exception:
            log.exception("logging what commands did failed; it will be retried")


async def log_commands(services: Services, after: int) -> int:
    """Log the security events of commands after a key; return the key of the last one."""
    events = await services.database.read(lambda tx: security_events.list_command_events(tx, after))
    for event in events:
        log_security_event(event.action, event.outcome, "", event.user_id, Via.CLI, event.data)
    return events[-1].key if events else after
