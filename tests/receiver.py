"""A real receiver of webhooks: it keeps what it gets, and answers as it is told."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from standardwebhooks import Webhook

Answering = Callable[["Got"], int]


class Got(NamedTuple):
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def event(self) -> dict[str, Any]:
        """The event in a standard body."""
        return json.loads(self.body)["data"]

    def verified(self, secret: str) -> Any:
        """The body, if the published verifier takes its signature; it raises otherwise."""
        return Webhook(secret).verify(self.body, self.headers)


class Receiver(ThreadingHTTPServer):
    """`got` holds every request in the order of arrival; `answer` decides each status, 204 by default."""

    daemon_threads = True

    def __init__(self) -> None:
        self.got: list[Got] = []
        self.answer: Answering = lambda _: 204
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_port}/hook"

    def of(self, ticket: str) -> list[str]:
        """The types of the events of a ticket, as they came."""
        return [each.event["type"] for each in list(self.got) if each.event["ticket_id"] == ticket]

    def types(self) -> list[str]:
        """The types of everything that came."""
        return [each.event["type"] for each in list(self.got)]


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, Receiver)
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length)
        if len(body) < length:  # whoever sent it was killed
            return
        got = Got(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
        self.server.got.append(got)
        status = self.server.answer(got)
        self.send_response(status)
        if 300 <= status < 400:
            self.send_header("Location", f"{self.server.url}/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object, **__: object) -> None:
        """Say nothing."""


@contextmanager
def receiving() -> Iterator[Receiver]:
    """A receiver for a while."""
    server = Receiver()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
