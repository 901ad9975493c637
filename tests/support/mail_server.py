"""A real mail server that stores what it accepts, and rejects what tests want rejected."""

import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, Envelope, LoginPassword

USER, PASSWORD = "robot", "s3cret p@ss/w:rd"
Answering = Callable[[str], str | None]


class MailServer:
    """`got` holds every email in the order of arrival; `refuse` returns the error for an address, or None."""

    def __init__(self) -> None:
        self.got: list[EmailMessage] = []
        self.refuse: Answering = lambda _: None
        self.refuse_data: str | None = None
        self.connections = 0
        self.port = 0

    @property
    def host(self) -> str:
        """Where it listens."""
        return f"localhost:{self.port}"

    def to(self, address: str) -> list[EmailMessage]:
        """The emails to an address."""
        return [each for each in list(self.got) if address in str(each["To"])]

    async def handle_EHLO(
        self, _server: Any, session: Any, _envelope: Envelope, hostname: str, answers: list[str]
    ) -> Any:
        """Count connections."""
        session.host_name = hostname
        self.connections += 1
        return answers

    async def handle_RCPT(self, _server: Any, _session: Any, envelope: Envelope, address: str, _options: Any) -> str:
        """Accept or reject an address."""
        if answer := self.refuse(address):
            return answer
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Envelope) -> str:
        """Store an email."""
        if self.refuse_data:
            return self.refuse_data
        assert isinstance(envelope.content, bytes)
        message: Any = message_from_bytes(envelope.content, policy=policy.default)
        message["X-Envelope-To"] = ",".join(envelope.rcpt_tos)
        self.got.append(message)
        return "250 OK"


@contextmanager
def run_mail_server(port: int = 0, **options: Any) -> Iterator[MailServer]:
    """Run a mail server; `options` are aiosmtpd's."""
    box = MailServer()
    controller = _Controller(box, hostname="127.0.0.1", port=port, ready_timeout=60, **options)
    controller.start()
    assert controller.server is not None
    box.port = controller.server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]
    try:
        yield box
    finally:
        controller.stop()


class _Controller(Controller):
    """Uses any free port."""

    def _trigger_server(self) -> None:
        assert self.server is not None
        self.port = self.server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]
        super()._trigger_server()


def authenticate(_server: Any, _session: Any, _envelope: Any, _mechanism: str, given: Any) -> AuthResult:
    """Accept the right user and password."""
    assert isinstance(given, LoginPassword)
    return AuthResult(success=given == LoginPassword(USER.encode(), PASSWORD.encode()), handled=False)


def create_certificate(folder: Path) -> tuple[ssl.SSLContext, Path]:
    """A TLS context with a self-signed certificate, and the file that makes a client trust it."""
    key, cert = folder / "key.pem", folder / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    return context, cert
