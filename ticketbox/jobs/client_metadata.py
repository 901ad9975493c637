"""Find out whether this server can fetch apps' metadata documents (docs/operate/configuration.md)."""

import asyncio

from ticketbox.domain.accounts.client_metadata import ClientMetadataMode
from ticketbox.jobs.periodic import wait_for_stop
from ticketbox.operations.accounts.oauth.clients import can_fetch_documents
from ticketbox.operations.core.services import Services

FIRST_SECONDS = 3.0  # the HTTP client is imported after the start
RETRY_SECONDS = 300.0
CHECK_SECONDS = 3600.0


async def run(services: Services, stopping: asyncio.Event) -> None:
    """Fetch a common client's document after the start, then every hour, and every five minutes while it fails."""
    state = services.client_metadata
    if state.mode is not ClientMetadataMode.AUTO:
        return
    seconds = FIRST_SECONDS
    while not await wait_for_stop(stopping, seconds):
        attempt = asyncio.ensure_future(can_fetch_documents(services))
        stop = asyncio.ensure_future(stopping.wait())
        await asyncio.wait({attempt, stop}, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        if not attempt.done():
            attempt.cancel()
            return
        state.is_reachable = attempt.result()
        seconds = CHECK_SECONDS if state.is_reachable else RETRY_SECONDS
