"""Send notifications by email through the operator's email server (docs/use/notifications.md, "Email")."""

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from ticketbox.domain.core.network.host_names import encode_address
from ticketbox.domain.events.email_server import EmailServer
from ticketbox.jobs.periodic import IDLE_SECONDS, Waker, get_seconds_until, run_rounds
from ticketbox.operations.core.services import Services
from ticketbox.store.events import email_outbox
from ticketbox.store.events.email_outbox import MessageToSend
from ticketbox.store.file.database import Write

if TYPE_CHECKING:
    from ticketbox.jobs.email.smtp import SendError, SMTPConnection

log = logging.getLogger("ticketbox.jobs")

ROUND_LIMIT = 100
STOP_SECONDS = 2.0


async def run(services: Services, relay: EmailServer | None, stopping: asyncio.Event) -> None:
    """Send emails until the server stops; does nothing without an email server. An interrupted email is sent again."""
    if relay is None:
        return
    sender = EmailSender(services, relay)
    services.listeners.add_callback(sender.waker.wake)
    try:
        await run_rounds(sender.start, sender.waker, stopping, "sending emails")
    finally:
        await sender.close()


class EmailSender:
    """Sends the due emails one after the other."""

    def __init__(self, services: Services, relay: EmailServer) -> None:
        self._services = services
        self._relay = relay
        self._round: asyncio.Task[None] | None = None
        self.waker = Waker()

    async def start(self) -> float:
        """Start sending the due emails; return the seconds until the next one is due."""
        if self._round is not None:
            if not self._round.done():
                return IDLE_SECONDS  # its end wakes the loop
            ended, self._round = self._round, None
            ended.result()
        database = self._services.database
        due = await database.read(lambda tx: email_outbox.list_due(tx, ROUND_LIMIT))
        if due:
            self._round = asyncio.create_task(self._send(due))
            self._round.add_done_callback(lambda _: self.waker.wake())
            return IDLE_SECONDS
        return get_seconds_until(await database.read(email_outbox.find_next_due), database.clock.now())

    async def wait_until_idle(self) -> None:
        """Wait for the running round."""
        if self._round is not None:
            await self._round

    async def close(self) -> None:
        """Wait up to STOP_SECONDS for the running round, then cancel it."""
        if self._round is not None:
            await asyncio.wait([self._round], timeout=STOP_SECONDS)
            self._round.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await self._round

    async def _send(self, due: list[int]) -> None:
        from ticketbox.jobs.email.smtp import SendError, ServerUnreachable, SMTPConnection

        database = self._services.database
        own_name = urlsplit(self._services.public_url).hostname or "localhost"
        async with SMTPConnection(self._relay, own_name) as connection:
            for index, key in enumerate(due):
                email = await database.write(lambda tx, key=key: email_outbox.begin_attempt(tx, key))
                if email is None:
                    continue
                try:
                    await self._send_email(connection, email)
                except ServerUnreachable as unreachable:
                    return await self._record_failure(key, unreachable, due[index + 1 :])
                except SendError as error:
                    await self._record_failure(key, error)
                else:
                    self._services.email_outcomes["sent"] += 1
                    await database.write(
                        lambda tx, key=key, last=email.last: email_outbox.record_success(tx, key, last)
                    )
        return None

    async def _send_email(self, connection: "SMTPConnection", email: MessageToSend) -> None:
        from ticketbox.jobs.email.message import compose_message
        from ticketbox.jobs.email.smtp import SendError

        try:
            email = msgspec.structs.replace(email, address=encode_address(email.address))
        except ValueError:
            raise SendError("the address has other characters than ASCII before the @", lasting=True) from None
        try:
            message = compose_message(
                email, self._relay, self._services.public_url, self._services.database.clock.now()
            )
        except Exception:  # the library raises many kinds of errors for a bad address
            log.exception("an email couldn't be composed")
            raise SendError("the email couldn't be composed for this address", lasting=True) from None
        await connection.send(message, email.address)

    async def _record_failure(self, key: int, error: "SendError", others: Sequence[int] = ()) -> None:
        """Record a failed attempt, also for `others`, which an unreachable server would refuse too."""

        def record_failures(tx: Write) -> Counter[bool]:
            tried = [key, *(other for other in others if email_outbox.begin_attempt(tx, other) is not None)]
            return Counter(email_outbox.record_failure(tx, each, str(error), lasting=error.lasting) for each in tried)

        again = await self._services.database.write(record_failures)
        self._services.email_outcomes["failed"] += again.total()
        self._services.email_outcomes["given_up"] += again[False]
        if again[True]:
            log.warning("sending failed, %d emails will be retried: %s", again[True], error)
        if again[False]:
            log.error("sending failed, %d emails were abandoned: %s", again[False], error)
