"""What a file of another tool says about a page, as the parts of a capture."""

import re
from collections import deque
from collections.abc import Sequence
from typing import Any

import msgspec

from ticketbox.domain.captures.actions import ActionEntry
from ticketbox.domain.captures.capture import (
    ConsoleEntry,
    ErrorEntry,
    Frame,
    HealthReason,
    HealthStatus,
    NetworkEntry,
    Stream,
    StreamHealth,
)
from ticketbox.domain.captures.environment import Environment
from ticketbox.domain.captures.error_text import format_error
from ticketbox.domain.captures.fields import LINE, TEXT, URL
from ticketbox.domain.captures.streams import MAX_BODY, MAX_ENTRIES

MIB = 1 << 20
MAX_STREAM = 16 * MIB  # bytes of one stream

_LENGTHS = ((10, "1–10"), (50, "11–50"), (200, "51–200"))
_STACK_LINE = re.compile(r"^\s*at (?:(.{1,200}?) \()?(\S{1,2000}?):([0-9]{1,9}):([0-9]{1,9})\)?\s*$")
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_PLACEHOLDER = re.compile("%([sdifoOc%])")
_HEADER_NAME, _HEADER_VALUE, _HEADERS = 256, 16_384, 200


class ImportProblem(Exception):
    """A file that can't be imported; the message says why, and what to do about it."""


class UnreadableEntry(ImportProblem):
    """One entry of a file can't be read."""


class Entries:
    """The newest entries of one stream, within its sizes, counted when older ones are left out."""

    def __init__(self) -> None:
        self.kept = deque[Any]()
        self.seen = 0
        self._sizes = deque[int]()
        self._bytes = 0

    def add(self, entry: Any) -> None:
        """Keep an entry."""
        size = len(msgspec.json.encode(entry)) + 1
        self.seen += 1
        self.kept.append(entry)
        self._sizes.append(size)
        self._bytes += size
        while len(self.kept) > MAX_ENTRIES or self._bytes > MAX_STREAM:
            self.kept.popleft()
            self._bytes -= self._sizes.popleft()


class Recording:
    """What was read from a file. Streams that the file can't have are not in `entries`."""

    def __init__(self, *streams: Stream) -> None:
        self.entries = {stream: Entries() for stream in streams}
        self.page_url = ""
        self.page_title = ""
        self.title = ""
        self.captured_at: float = 0
        self.environment = Environment()
        self.screenshot: bytes | None = None
        self.trace: bytes | None = None  # that the server reads

    def add(self, entry: ConsoleEntry | NetworkEntry | ErrorEntry | ActionEntry) -> None:
        """Keep an entry in its stream."""
        self.captured_at = max(self.captured_at, entry.ts)
        self.entries.setdefault(_STREAM_OF[type(entry)], Entries()).add(entry)

    def encode_streams(self) -> tuple[dict[str, bytes], dict[str, StreamHealth]]:
        """Return the streams as JSON with their health, entries in the order of time."""
        sorted_entries = {
            stream: sorted(entries.kept, key=lambda entry: entry.ts) for stream, entries in self.entries.items()
        }
        everything = sorted((entry for each in sorted_entries.values() for entry in each), key=lambda entry: entry.ts)
        for seq, entry in enumerate(everything):
            if isinstance(entry, NetworkEntry):
                entry.id = f"r{seq}"
            else:
                entry.seq = seq
        parts: dict[str, bytes] = {}
        health = {stream.value: StreamHealth(HealthStatus.DISABLED) for stream in Stream}
        for stream, entries in sorted_entries.items():
            parts[stream.value] = msgspec.json.encode(entries)
            dropped = self.entries[stream].seen - len(entries)
            health[stream.value] = (
                StreamHealth(HealthStatus.PARTIAL, HealthReason.LIMIT, len(entries), dropped)
                if dropped
                else StreamHealth(HealthStatus.OK, None, len(entries))
            )
        return parts, health

    def find_title(self) -> str:
        """Return what the file says best about the bug: its first error, else its own title, else nothing."""
        errors = self.entries.get(Stream.ERRORS)
        if errors is not None and errors.kept:
            first: ErrorEntry = errors.kept[0]
            return format_error(first).partition("\n")[0]
        return self.title


_STREAM_OF = {
    ConsoleEntry: Stream.CONSOLE,
    NetworkEntry: Stream.NETWORK,
    ErrorEntry: Stream.ERRORS,
    ActionEntry: Stream.ACTIONS,
}


def classify_value(value: str) -> str:
    """Return the class of a typed text's length, as the extension records it; the value itself is never kept."""
    if not value:
        return "empty"
    return "text " + next((name for most, name in _LENGTHS if len(value) <= most), "200+")


def clip_text(text: str, limit: int = TEXT) -> str:
    """Return a text without the colours of a terminal, cut to a length that a capture accepts."""
    return _ANSI.sub("", text[: 2 * limit])[:limit]


def format_arguments(texts: Sequence[str]) -> list[str]:
    """Put the arguments of a console call into the placeholders of its first, as a console does."""
    if len(texts) < 2:
        return list(texts)
    rest = iter(texts[1:])

    def fill(match: re.Match[str]) -> str:
        if match[1] == "%":
            return "%"
        value = next(rest, None)
        if value is None:
            return match[0]
        return "" if match[1] == "c" else value

    return [_PLACEHOLDER.sub(fill, texts[0]), *rest]


def clip_url(url: str) -> str:
    """Return an address that a capture accepts."""
    return url[:URL]


def read_headers(pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return headers, several of one name joined with commas."""
    headers: dict[str, str] = {}
    for name, value in pairs:
        if not name or name.startswith(":"):
            continue
        key = name[:_HEADER_NAME]
        if key not in headers and len(headers) == _HEADERS:
            break
        headers[key] = (f"{headers[key]}, {value}" if key in headers else value)[:_HEADER_VALUE]
    return headers


def is_text(media_type: str) -> bool:
    """Whether a body of a media type can be read by people."""
    kind = media_type.partition(";")[0].strip().lower()
    return kind.startswith("text/") or kind.endswith(("json", "xml", "javascript", "x-www-form-urlencoded", "graphql"))


def clip_body(body: str) -> tuple[str, bool]:
    """Return the part of a body that a capture keeps, and whether something was cut."""
    return body[:MAX_BODY], len(body) > MAX_BODY


def read_frames(stack: str) -> list[Frame]:
    """Read the lines of a stack as Chromium writes it."""
    frames: list[Frame] = []
    for line in stack[:TEXT].split("\n")[:200]:
        if match := _STACK_LINE.match(line):
            function, url, row, column = match.groups()
            frames.append(Frame(url, function and function[:LINE], int(row), int(column)))
    return frames


def describe_browser(user_agent: str) -> str | None:
    """Return the name and version of the browser that sent a user agent."""
    for name, pattern in _BROWSERS:
        if match := re.search(pattern, user_agent[:1_000]):
            return f"{name} {match[1]}"
    return None


_BROWSERS = (
    ("Edge", r"\bEdg/([0-9]+\.[0-9]+)"),
    ("Chrome", r"Chrome/([0-9]+\.[0-9]+)"),
    ("Firefox", r"\bFirefox/([0-9]+\.[0-9]+)"),
    ("Safari", r"\bVersion/([0-9]+\.[0-9]+).* Safari/"),
)
