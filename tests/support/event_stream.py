"""A listener to the event stream: a published SSE client on a thread, and what it received so far."""

import contextlib
import socket
import threading
from typing import Any, Self

import httpx
from httpx_sse import ServerSentEvent, connect_sse

from tests.support.operation_cases import update_row
from tests.support.server import World, eventually, expect_error


class EventStream:
    """An open stream. `with` closes it; `heard` holds the events, `marks` the ids that came without one.

    `viewed` holds the tickets that have other viewers.
    """

    def __init__(self, client: httpx.Client, **headers: str) -> None:
        self._client = client
        self._headers = headers
        self.heard: list[dict[str, Any]] = []
        self.marks: list[str] = []
        self.resets = 0
        self.viewed: list[str] = []
        self.ended = threading.Event()
        self._started = threading.Event()
        self._response: httpx.Response | None = None

    def open(self, **query: str) -> Self:
        """Connect; returns when the server has answered and said where it begins."""
        self._thread = threading.Thread(target=self._run, args=(query,), daemon=True)
        self._thread.start()
        assert self._started.wait(30)
        assert self._response is not None
        return self

    def _run(self, query: dict[str, str]) -> None:
        try:
            with connect_sse(
                self._client, "GET", "/events/stream", params=query, headers=self._headers, timeout=60
            ) as source:
                self._response = source.response
                if source.response.status_code != 200:
                    source.response.read()
                    return
                for each in source.iter_sse():
                    self._take(each)
        except (httpx.TransportError, httpx.StreamError):
            pass
        finally:
            self._started.set()
            self.ended.set()

    def _take(self, each: ServerSentEvent) -> None:
        if each.event == "reset":
            self.resets += 1
        elif each.event == "presence":
            self.viewed.append(each.json()["ticket_id"])
        elif each.data:
            event = each.json()
            assert each.id == event["id"]
            self.heard.append(event)
            self._started.set()
        elif each.id:
            self.marks.append(each.id)
            self._started.set()

    @property
    def response(self) -> httpx.Response:
        """The answer's head."""
        assert self._response is not None
        return self._response

    def types(self) -> list[str]:
        """The types of what was heard."""
        return [event["type"] for event in self.heard]

    def hears(self, *types: str, seconds: float = 30.0) -> None:
        """Wait until just these were heard, in this order."""
        eventually(lambda: len(self.heard) >= len(types), seconds)
        assert self.types() == list(types)

    def ends(self, seconds: float = 15.0) -> None:
        """Wait until the server ended it."""
        assert self.ended.wait(seconds), "the stream is still open"

    def close(self) -> None:
        """Go away."""
        if self._response is not None:
            with contextlib.suppress(OSError):  # it has ended
                self._response.extensions["network_stream"].get_extra_info("socket").shutdown(socket.SHUT_RDWR)
        self._thread.join(10)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_stream(client: httpx.Client, headers: dict[str, str] | None = None, **query: str) -> EventStream:
    """Open a stream that must be accepted."""
    listening = EventStream(client, **(headers or {})).open(**query)
    assert listening.response.status_code == 200, listening.response.text
    return listening


def insert_event(world: World) -> None:
    """Write an event of the company beside the server, as a command does."""
    update_row(
        world.box.db,
        "INSERT INTO event (type, company_id, byline_id, data, at)"
        " SELECT 'project.created', company_id, byline_id, '{}', at FROM event WHERE company_id = "
        "(SELECT id FROM company WHERE public_id = ?) LIMIT 1",
        world.company,
    )


def expect_stream_error(
    client: httpx.Client, status: int, code: str, headers: dict[str, str] | None = None, **query: str
) -> dict[str, Any]:
    """The problem that a stream is rejected with."""
    with client.stream("GET", "/events/stream", params=query, headers=headers) as answer:
        assert answer.status_code != 200, "the stream was opened"
        answer.read()
        return expect_error(answer, status, code)
