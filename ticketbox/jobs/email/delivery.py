"""Mailing people what concerns them, through the operator's mail server (docs/use/notifications.md, "E-mail")."""

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ticketbox.domain.events.mail_server import MailServer
from ticketbox.jobs.periodic import IDLE_SECONDS, Waker, go_round, until
from ticketbox.operations.core.services import Services
from ticketbox.store.events import email_outbox
from ticketbox.store.events.email_outbox import MessageToSend
from ticketbox.store.file.database import Write

if TYPE_CHECKING:
    from ticketbox.jobs.email.smtp import Connection, Unsent

log = logging.getLogger("ticketbox.jobs")

MOST_A_ROUND = 100
STOP_SECONDS = 2.0


async def run(services: Services, relay: MailServer | None, stopping: asyncio.Event) -> None:
    """Mail until the server stops; without a mail server, nothing. What is on its way at the stop goes again."""
    if relay is None:
        return
    mailer = Mailer(services, relay)
    services.listeners.tell(mailer.waker.wake)
    try:
        await go_round(mailer.start, mailer.waker, stopping, "mailing")
    finally:
        await mailer.close()


class Mailer:
    """The mails that are on their way, one after the other."""

    def __init__(self, services: Services, relay: MailServer) -> None:
        self._services = services
        self._relay = relay
        self._round: asyncio.Task[None] | None = None
        self.waker = Waker()

    async def start(self) -> float:
        """Start to send what is due; returns the seconds until there is more to do."""
        if self._round is not None:
            if not self._round.done():
                return IDLE_SECONDS  # its end wakes
            ended, self._round = self._round, None
            ended.result()
        database = self._services.database
        due = await database.read(lambda tx: email_outbox.list_due(tx, MOST_A_ROUND), brief=True)
        if due:
            self._round = asyncio.create_task(self._send(due))
            self._round.add_done_callback(lambda _: self.waker.wake())
            return IDLE_SECONDS
        return until(await database.read(email_outbox.find_next_due, brief=True), database.clock.now())

    async def settled(self) -> None:
        """Wait for what is on its way."""
        if self._round is not None:
            await self._round

    async def close(self) -> None:
        """Give what is on its way a moment, then let go of it."""
        if self._round is not None:
            await asyncio.wait([self._round], timeout=STOP_SECONDS)
            self._round.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await self._round

    async def _send(self, due: list[int]) -> None:
        from ticketbox.jobs.email.smtp import Connection, Unreachable, Unsent

        database = self._services.database
        own_name = urlsplit(self._services.public_url).hostname or "localhost"
        async with Connection(self._relay, own_name) as connection:
            for place, key in enumerate(due):
                letter = await database.write(lambda tx, key=key: email_outbox.begin_attempt(tx, key))
                if letter is None:
                    continue
                try:
                    await self._post(connection, letter)
                except Unreachable as unreachable:
                    return await self._failed(key, unreachable, due[place + 1 :])
                except Unsent as unsent:
                    await self._failed(key, unsent)
                else:
                    self._services.mailed["sent"] += 1
                    await database.write(
                        lambda tx, key=key, last=letter.last: email_outbox.record_success(tx, key, last)
                    )
        return None

    async def _post(self, connection: "Connection", letter: MessageToSend) -> None:
        from ticketbox.jobs.email.message import compose
        from ticketbox.jobs.email.smtp import Unsent

        try:
            message = compose(letter, self._relay, self._services.public_url, self._services.database.clock.now())
        except Exception:  # the library raises many kinds for an address that isn't one
            log.exception("a mail couldn't be written")
            raise Unsent("a mail couldn't be written to this address", lasting=True) from None
        await connection.send(message, letter.address)

    async def _failed(self, key: int, unsent: "Unsent", others: Sequence[int] = ()) -> None:
        """An attempt failed, and so it counts for `others` that the mail server wouldn't take either."""

        def note(tx: Write) -> Counter[bool]:
            tried = [key, *(other for other in others if email_outbox.begin_attempt(tx, other) is not None)]
            return Counter(email_outbox.record_failure(tx, each, str(unsent), lasting=unsent.lasting) for each in tried)

        again = await self._services.database.write(note)
        self._services.mailed["failed"] += again.total()
        self._services.mailed["given_up"] += again[False]
        if again[True]:
            log.warning("mail doesn't go, %d to be tried again: %s", again[True], unsent)
        if again[False]:
            log.error("mail doesn't go, %d given up: %s", again[False], unsent)
