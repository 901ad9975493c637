"""The connection to the operator's email server (RFC 5321), with TLS certificates checked."""

import asyncio
import functools
import ssl
from email.message import EmailMessage
from typing import Self

import aiosmtplib
import httpcore2

from ticketbox.domain.events.email_server import EmailServer, Security

ANSWER_SECONDS = 10.0
_MAX_TEXT = 200


class SendError(Exception):
    """An email wasn't sent; the text says why. With `lasting`, a retry won't help."""

    def __init__(self, reason: str, *, lasting: bool = False) -> None:
        super().__init__(reason)
        self.lasting = lasting


class ServerUnreachable(SendError):
    """The email server accepts no emails at the moment."""


class SMTPConnection:
    """A connection to the email server, opened for the first email and again after it broke."""

    def __init__(self, relay: EmailServer, own_name: str) -> None:
        self._relay = relay
        self._own_name = own_name
        self._client: aiosmtplib.SMTP | None = None

    async def open(self) -> None:
        """Connect and sign in. Raises ServerUnreachable."""
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
            tls_context=await asyncio.to_thread(_load_tls_context) if relay.security is not Security.NONE else None,
        )
        try:
            await client.connect()
        except aiosmtplib.SMTPAuthenticationError as error:
            raise ServerUnreachable(
                f"the email server refuses the user name and password ({self._format_reply(error)})"
            ) from None
        except aiosmtplib.SMTPResponseException as error:
            raise ServerUnreachable(f"the email server refuses the connection ({self._format_reply(error)})") from None
        except (ssl.SSLError, aiosmtplib.SMTPException, OSError) as error:
            raise ServerUnreachable(
                f"can't connect to the email server: {self._format_text(_describe_cause(error))}"
            ) from None
        self._client = client

    async def send(self, message: EmailMessage, address: str) -> None:
        """Send one email. Raises ServerUnreachable, and SendError when the server refuses the email."""
        if self._client is None or not self._client.is_connected:
            await self.open()
        assert self._client is not None
        try:
            await self._client.send_message(message, sender=self._relay.address, recipients=[address])
        except aiosmtplib.SMTPRecipientsRefused as error:
            refused = error.recipients[0]
            raise SendError(
                f"the email server refuses the address ({self._format_reply(refused)})", lasting=refused.code >= 500
            ) from None
        except aiosmtplib.SMTPDataError as error:
            raise SendError(
                f"the email server refuses the email ({self._format_reply(error)})", lasting=error.code >= 500
            ) from None
        except (aiosmtplib.SMTPNotSupported, ValueError):
            raise SendError("the email server doesn't support this kind of address", lasting=True) from None
        except aiosmtplib.SMTPSenderRefused as error:
            raise ServerUnreachable(f"the email server refuses the sender ({self._format_reply(error)})") from None
        except (aiosmtplib.SMTPException, OSError) as error:
            raise SendError(f"the connection broke: {self._format_text(_describe_cause(error))}") from None

    async def close(self) -> None:
        """End the session and close the connection."""
        if self._client is not None and self._client.is_connected:
            try:
                await self._client.quit(timeout=1)
            except (aiosmtplib.SMTPException, OSError):
                self._client.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _format_reply(self, error: aiosmtplib.SMTPResponseException) -> str:
        return self._format_text(f"{error.code} {error.message}")

    def _format_text(self, text: str) -> str:
        """Return the text on one line, without the password, should the server repeat it."""
        if self._relay.password:
            text = text.replace(self._relay.password, "…")
        return " ".join(text.split())[:_MAX_TEXT]


@functools.cache
def _load_tls_context() -> ssl.SSLContext:
    """Load the system's trusted certificates, which takes a moment."""
    return httpcore2.default_ssl_context()


def _describe_cause(error: BaseException) -> str:
    """Return the error's text, or its class name without one."""
    return str(error) or type(error).__name__
