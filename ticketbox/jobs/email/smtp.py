"""The way to the operator's mail server (RFC 5321), its TLS checked as a browser checks it."""

import asyncio
import functools
import ssl
from email.message import EmailMessage
from typing import Self

import aiosmtplib
import httpcore2

from ticketbox.domain.events.mail_server import MailServer, Security

ANSWER_SECONDS = 10.0
_MOST_WORDS = 200


class Unsent(Exception):
    """A mail didn't go; the text says why. `lasting`: it never will."""

    def __init__(self, words: str, *, lasting: bool = False) -> None:
        super().__init__(words)
        self.lasting = lasting


class Unreachable(Unsent):
    """The mail server takes nothing at all for now."""


class Connection:
    """One connection to the mail server, made when the first mail goes, and again after it broke."""

    def __init__(self, relay: MailServer, own_name: str) -> None:
        self._relay = relay
        self._own_name = own_name
        self._client: aiosmtplib.SMTP | None = None

    async def open(self) -> None:
        """Connect and sign in. Raises Unreachable."""
        relay = self._relay
        client = aiosmtplib.SMTP(
            hostname=relay.host,
            port=relay.port,
            username=relay.user,
            password=relay.password,
            local_hostname=self._own_name,
            timeout=ANSWER_SECONDS,
            use_tls=relay.security is Security.TLS,
            start_tls=relay.security is Security.STARTTLS,
            tls_context=await asyncio.to_thread(_trusted) if relay.security is not Security.NONE else None,
        )
        try:
            await client.connect()
        except aiosmtplib.SMTPAuthenticationError as error:
            raise Unreachable(f"the mail server refuses the user and password ({self._answer(error)})") from None
        except aiosmtplib.SMTPResponseException as error:
            raise Unreachable(f"the mail server refuses the connection ({self._answer(error)})") from None
        except (ssl.SSLError, aiosmtplib.SMTPException, OSError) as error:
            raise Unreachable(f"the mail server can't be used: {self._words(_cause(error))}") from None
        self._client = client

    async def send(self, message: EmailMessage, address: str) -> None:
        """Hand one mail over. Raises Unreachable, and Unsent when it isn't taken."""
        if self._client is None or not self._client.is_connected:
            await self.open()
        assert self._client is not None
        try:
            await self._client.send_message(message, sender=self._relay.address, recipients=[address])
        except aiosmtplib.SMTPRecipientsRefused as error:
            refused = error.recipients[0]
            raise Unsent(f"the address is refused ({self._answer(refused)})", lasting=refused.code >= 500) from None
        except aiosmtplib.SMTPDataError as error:
            raise Unsent(f"the mail is refused ({self._answer(error)})", lasting=error.code >= 500) from None
        except (aiosmtplib.SMTPNotSupported, ValueError):
            raise Unsent("the mail server takes no address like this one", lasting=True) from None
        except aiosmtplib.SMTPSenderRefused as error:
            raise Unreachable(f"the mail server refuses the sender ({self._answer(error)})") from None
        except (aiosmtplib.SMTPException, OSError) as error:
            raise Unsent(f"the connection broke: {self._words(_cause(error))}") from None

    async def close(self) -> None:
        """Take leave."""
        if self._client is not None and self._client.is_connected:
            try:
                await self._client.quit(timeout=1)
            except (aiosmtplib.SMTPException, OSError):
                self._client.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _answer(self, error: aiosmtplib.SMTPResponseException) -> str:
        return self._words(f"{error.code} {error.message}")

    def _words(self, text: str) -> str:
        """One line, and without the password, should the server repeat it."""
        if self._relay.password:
            text = text.replace(self._relay.password, "…")
        return " ".join(text.split())[:_MOST_WORDS]


@functools.cache
def _trusted() -> ssl.SSLContext:
    """Whom the machine trusts; reading that takes a moment."""
    return httpcore2.default_ssl_context()


def _cause(error: BaseException) -> str:
    """The library's words, or those of what is behind them."""
    return str(error) or type(error).__name__
