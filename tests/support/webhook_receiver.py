"""A real receiver of webhooks: it stores requests, and returns the statuses that tests set."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from standardwebhooks import Webhook

Answering = Callable[["ReceivedRequest"], int]


class ReceivedRequest(NamedTuple):
    """A received request."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def event(self) -> dict[str, Any]:
        """The event in a standard body."""
        return json.loads(self.body)["data"]

    def verify(self, secret: str) -> Any:
        """The body, if the published verifier accepts its signature; it raises otherwise."""
        return Webhook(secret).verify(self.body, self.headers)


class Receiver(ThreadingHTTPServer):
    """`got` holds every request in the order of arrival; `answer` decides each status, 204 by default."""

    daemon_threads = True

    def __init__(self) -> None:
        self.got: list[ReceivedRequest] = []
        self.answer: Answering = lambda _: 204
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_port}/hook"

    def of(self, ticket: str) -> list[str]:
        """The types of a ticket's events, in order of arrival."""
        return [each.event["type"] for each in list(self.got) if each.event["ticket_id"] == ticket]

    def types(self) -> list[str]:
        """The types of all events, in order of arrival."""
        return [each.event["type"] for each in list(self.got)]


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, Receiver)
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length)
        if len(body) < length:  # the sender was killed
            return
        got = ReceivedRequest(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
        self.server.got.append(got)
        status = self.server.answer(got)
        self.send_response(status)
        if 300 <= status < 400:
            self.send_header("Location", f"{self.server.url}/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object, **__: object) -> None:
        """Log nothing."""


@contextmanager
def run_receiver() -> Iterator[Receiver]:
    """Run a receiver."""
    server = Receiver()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
