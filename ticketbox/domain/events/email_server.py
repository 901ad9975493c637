"""The mail server of `--smtp-url` and `--smtp-from` (docs/operate/configuration.md, "Email")."""

from email.errors import MessageError
from email.headerregistry import Address
from email.policy import SMTP
from enum import StrEnum
from typing import Any
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

import msgspec

from ticketbox.domain.core.problems import InvalidField

PORTS = {"smtp": 587, "smtps": 465}
LOCAL = {"localhost", "127.0.0.1", "::1"}
_URL_HINT = "write it as smtp://user:password@host:587, or smtps://, with special characters percent-encoded"


class Security(StrEnum):
    """How the connection is encrypted: from the start, by STARTTLS, or not at all."""

    TLS = "tls"
    STARTTLS = "starttls"
    NONE = "none"


class EmailServer(msgspec.Struct, frozen=True):
    """A mail server and the sender of the mails."""

    host: str
    port: int
    security: Security
    user: str | None
    password: str | None
    name: str
    address: str

    def __repr__(self) -> str:
        return f"EmailServer({self.host}:{self.port})"  # a traceback or a log line may show it


def parse_email_server(url: str, sender: str) -> EmailServer:
    """Parse both settings. Raises InvalidRequest, whose detail never contains what may be a password.

    smtp:// requires STARTTLS; `?starttls=never` is for a server in a trusted network, and the default on this
    machine.
    """
    try:
        parts = urlsplit(url.strip())
        port = parts.port or PORTS.get(parts.scheme, 25)
        options = parse_qs(parts.query, strict_parsing=True) if parts.query else {}
    except ValueError:
        raise InvalidField("smtp-url", _URL_HINT) from None
    host = parts.hostname or ""
    if parts.scheme not in PORTS or not host or not host.isascii() or parts.path not in {"", "/"} or parts.fragment:
        raise InvalidField("smtp-url", _URL_HINT)
    if (parts.username is None) != (parts.password is None):
        raise InvalidField("smtp-url", "a user and a password go together")
    mailbox = _parse_sender(sender)
    return EmailServer(
        host=host,
        port=port,
        security=_choose_security(parts, host, options),
        user=None if parts.username is None else unquote(parts.username),
        password=None if parts.password is None else unquote(parts.password),
        name=mailbox.display_name,
        address=mailbox.addr_spec,
    )


def _choose_security(parts: SplitResult, host: str, options: dict[str, list[str]]) -> Security:
    if parts.scheme == "smtps" and not options:
        return Security.TLS
    wanted = options.pop("starttls", ["never" if host in LOCAL else "always"])
    if parts.scheme == "smtps" or options or wanted not in (["always"], ["never"]):
        raise InvalidField(
            "smtp-url", "after the ?, smtp:// accepts starttls=always or starttls=never, and smtps:// nothing"
        )
    if wanted == ["always"]:
        return Security.STARTTLS
    if parts.password is not None and host not in LOCAL:
        raise InvalidField("smtp-url", "a password isn't sent unencrypted; leave starttls=never out")
    return Security.NONE


def _parse_sender(sender: str) -> Address:
    """Parse the one address of a From header."""
    try:
        header: Any = SMTP.header_factory("From", sender.strip())
        (mailbox,) = header.addresses
        if header.defects or not mailbox.domain or not mailbox.addr_spec.isascii():
            raise ValueError
    except (ValueError, MessageError, IndexError):
        raise InvalidField("smtp-from", "must be one address, such as ticketbox <tickets@example.org>") from None
    return mailbox
