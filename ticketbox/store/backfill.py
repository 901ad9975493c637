"""What migrations call from SQL: reading packed streams, and telling how far they are."""

import sqlite3
import time
from collections.abc import Callable

import msgspec

from ticketbox.domain import streams
from ticketbox.domain.capture import Stream
from ticketbox.domain.fingerprints import error_prints, page_print
from ticketbox.domain.problems import Problem
from ticketbox.domain.words import console_words, error_words
from ticketbox.store import blobs

TELL_SECONDS = 2.0


def provide(connection: sqlite3.Connection, say: Callable[[str], None]) -> None:
    """Give a connection the functions that migrations use.

    `error_words(encoding, data)`, `console_words(encoding, data)` and `error_prints(encoding, data)` read a stream; one
    that is damaged has none. `page_prints(url)` reads an address. Prints are JSON.
    `step(what, key)` is always true, and now and then says how many rows there were.
    """
    connection.create_function("error_words", 2, _error_words, deterministic=True)
    connection.create_function("console_words", 2, _console_words, deterministic=True)
    connection.create_function("error_prints", 2, _error_prints, deterministic=True)
    connection.create_function("page_prints", 1, _page_prints, deterministic=True)
    connection.create_function("step", 2, _Steps(say).take)


def _error_words(encoding: str, data: bytes) -> str:
    try:
        return error_words(streams.decode(Stream.ERRORS, blobs.unpack(encoding, data)))
    except (Problem, blobs.Damaged):
        return ""


def _console_words(encoding: str, data: bytes) -> str:
    try:
        return console_words(streams.decode(Stream.CONSOLE, blobs.unpack(encoding, data)))
    except (Problem, blobs.Damaged):
        return ""


def _error_prints(encoding: str, data: bytes) -> str:
    try:
        found = error_prints(streams.decode(Stream.ERRORS, blobs.unpack(encoding, data)))
    except (Problem, blobs.Damaged):
        found = []
    return msgspec.json.encode(found).decode()


def _page_prints(url: str | None) -> str:
    found = page_print(url or "")
    return msgspec.json.encode([] if found is None else [found]).decode()


class _Steps:
    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._what = ""
        self._count = 0
        self._told = time.monotonic()

    def take(self, what: str, _: int) -> int:
        if what != self._what:
            self._what, self._count = what, 0
        self._count += 1
        if self._count % 1000 == 0 and time.monotonic() > self._told + TELL_SECONDS:
            self._told = time.monotonic()
            self._say(f"{what}: {self._count:,} done")
        return 1
