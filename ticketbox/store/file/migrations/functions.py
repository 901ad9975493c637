"""The SQL functions that migrations 0005, 0008, 0014, 0045 and 0051 call, frozen as they were when each was released.

History must not change: this module imports nothing of ticketbox, and a later change to search or to fingerprints
gets a migration and functions of its own. It reads stored streams, which are JSON arrays of entries.
"""

import hashlib
import json
import re
import sqlite3
import sys
import time
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlsplit

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

REPORT_SECONDS = 2.0

Entry = dict[str, Any]
Fingerprint = tuple[str, int, str]

_MAX_WORDS = 8_000
_MAX_ERRORS = 20
_FRAMES = 3
_MESSAGE = 300
_LABEL = 200
_ID = (
    r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
    r"|(?=[0-9a-zA-Z_\-]*[0-9])(?=[0-9a-zA-Z_\-]*[a-zA-Z])[0-9a-zA-Z_\-]{16,}"
)
_ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z0-9+.\-]*://[^\s'\"<>)\]]+")
_HEX = "(?=[0-9a-fA-F]*[0-9])[0-9a-fA-F]{7,}"
_VARIABLE = re.compile(rf"\b(?:{_ID}|0[xX][0-9a-fA-F]+|{_HEX})\b|[0-9]+(?:[.,][0-9]+)*")
_SEGMENT = re.compile(rf"[0-9]+|{_ID}|{_HEX}|[a-z]{{1,5}}[-_][0-9a-z]*[0-9][0-9a-z]*")
_BUILD = re.compile(r"(?<=[.\-_])(?=[0-9a-zA-Z_\-]*[0-9])[0-9a-zA-Z_]{6,}(?=\.)")


def register_functions(connection: sqlite3.Connection, report: Callable[[str], None]) -> None:
    """Register the functions that migrations use on a connection.

    `error_words(encoding, data)`, `console_words(encoding, data)` and `error_prints(encoding, data)` read a stored
    stream; a damaged one counts as empty. `page_prints(url)` reads an address. Fingerprints are JSON.
    `project_key(company, name)` returns a key for the next project of a company that no earlier call returned.
    `title_key(title)` returns what lists sort titles by, and `nfc(text)` a text in Normalization Form C.
    `step(what, key)` is always true, and reports every few seconds how many rows are done.
    """
    connection.create_function("error_words", 2, _error_words, deterministic=True)
    connection.create_function("console_words", 2, _console_words, deterministic=True)
    connection.create_function("error_prints", 2, _error_prints, deterministic=True)
    connection.create_function("page_prints", 1, _page_prints, deterministic=True)
    connection.create_function("project_key", 2, _KeyChooser().choose)
    connection.create_function("title_key", 1, _title_key, deterministic=True)
    connection.create_function("nfc", 1, _normalize_form, deterministic=True)
    connection.create_function("step", 2, _ProgressReporter(report).count)


def _normalize_form(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _title_key(title: str) -> str:
    letters = (char for char in unicodedata.normalize("NFKD", title) if not unicodedata.combining(char))
    return " ".join("".join(letters).casefold().split())[:80]


def _read_stream(encoding: str, data: bytes) -> list[Entry]:
    try:
        return json.loads(zstd.decompress(data) if encoding == "zstd" else data)
    except (zstd.ZstdError, ValueError, RecursionError):
        return []


def _error_words(encoding: str, data: bytes) -> str:
    return _unique_lines(_error_text(entry) for entry in _read_stream(encoding, data))


def _console_words(encoding: str, data: bytes) -> str:
    entries = _read_stream(encoding, data)
    return _unique_lines(" ".join(entry["args"]) for entry in entries if entry["level"] == "error")


def _unique_lines(texts: Iterable[str]) -> str:
    lines: dict[str, None] = {}
    room = _MAX_WORDS
    for text in texts:
        line = " ".join(text[:room].split())
        if line and line not in lines:
            lines[line] = None
            room -= len(line) + 1
        if room <= 0:
            break
    return "\n".join(lines)[:_MAX_WORDS]


def _error_prints(encoding: str, data: bytes) -> str:
    prints: dict[tuple[str, int], Fingerprint] = {}
    for entry in _read_stream(encoding, data):
        text = _error_text(entry)
        line = text.strip().partition("\n")[0].strip()
        if not _normalize(line):
            continue
        label = line[:_LABEL]
        frames = [_location(frame["url"], frame.get("function")) for frame in entry.get("frames", [])[:_FRAMES]] or [
            _location(entry.get("source") or "", None)
        ]
        if any(frames):
            value = _hash(_normalize(text), *frames)
            prints.setdefault(("same_error", value), ("same_error", value, label))
        value = _hash(_normalize(line))
        prints.setdefault(("same_message", value), ("same_message", value, label))
        if len(prints) >= 2 * _MAX_ERRORS:
            break
    return json.dumps(list(prints.values()))


def _page_prints(url: str | None) -> str:
    try:
        parts = urlsplit(url or "")
        host = parts.netloc.rpartition("@")[2].lower()
    except ValueError:
        return "[]"
    if not host:
        return "[]"
    path = parts.path + ("#" + parts.fragment.partition("?")[0] if parts.fragment.startswith(("/", "!/")) else "")
    pattern = "/".join("*" if _SEGMENT.fullmatch(segment) else segment for segment in path.rstrip("/").split("/"))
    label = (host + pattern)[:_MESSAGE]
    return json.dumps([("same_page", _hash(label), label[:_LABEL])])


def _error_text(entry: Entry) -> str:
    name, message = entry.get("name", ""), entry["message"]
    return message if message.startswith(name) else f"{name}: {message}"


def _normalize(text: str) -> str:
    text = text.removeprefix("Uncaught ").removeprefix("(in promise) ")
    text = _VARIABLE.sub("#", _ADDRESS.sub("@", text[: 4 * _MESSAGE]))
    return " ".join(text.split())[:_MESSAGE]


def _location(url: str, function: str | None) -> str:
    path = url.partition("?")[0].partition("#")[0]
    name = re.sub(r"(?::[0-9]+)+$", "", path.rpartition("/")[2][-_LABEL:])
    location = f"{function or ''}@{_BUILD.sub('*', name)}"
    return "" if location == "@" else location


def _hash(*texts: str) -> int:
    return int.from_bytes(hashlib.sha256("\0".join(texts).encode()).digest()[:7])


class _KeyChooser:
    def __init__(self) -> None:
        self._taken: set[tuple[int, str]] = set()

    def choose(self, company: int, name: str) -> str:
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().upper()
        letters = "".join(char for char in plain if char.isalnum())
        if len(letters) < 2:
            letters = "PRJ"
        number, key = 1, letters[:3]
        while (company, key) in self._taken:
            number += 1
            key = (
                letters[: number + 2]
                if number < 4 and len(letters) > number + 1
                else (letters[: min(3, 5 - len(str(number)))] + str(number))
            )
        self._taken.add((company, key))
        return key


class _ProgressReporter:
    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._what = ""
        self._count = 0
        self._reported = time.monotonic()

    def count(self, what: str, _: int) -> int:
        if what != self._what:
            self._what, self._count = what, 0
        self._count += 1
        if self._count % 1000 == 0 and time.monotonic() > self._reported + REPORT_SECONDS:
            self._reported = time.monotonic()
            self._report(f"{what}: {self._count:,} done")
        return 1
