"""A client that creates captures all the time, and what the server has acknowledged."""

import contextlib
import threading
from collections.abc import Generator

import httpx

from tests.support.seed import Seed, capture_parts
from tests.support.server import Box, ok


class Writer(threading.Thread):
    """Creates captures until it is stopped; `created` has the ids of those that were acknowledged."""

    def __init__(self, client: httpx.Client, project: str, first: int) -> None:
        super().__init__()
        self.created: list[str] = []
        self._client, self._project, self._number = client, project, first
        self._stopping = threading.Event()

    def run(self) -> None:
        while not self._stopping.is_set():
            try:
                answer = self._client.post("/captures", files=capture_parts(self._project, self._number))
            except httpx.TransportError:  # the server was killed
                return
            self.created.append(ok(answer)["capture_id"])
            self._number += 1

    def stop(self) -> None:
        self._stopping.set()
        self.join()


@contextlib.contextmanager
def write(box: Box, seed: Seed, first: int) -> Generator[Writer]:
    """Create captures, numbered from `first`, until the block ends."""
    with box.client(seed.token) as client:
        writer = Writer(client, seed.project, first)
        writer.start()
        try:
            yield writer
        finally:
            writer.stop()
