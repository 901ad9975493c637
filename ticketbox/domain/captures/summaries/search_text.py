"""The searchable text of a capture: messages of its errors and of the errors in its console."""

from collections.abc import Iterable

from ticketbox.domain.captures.capture import ConsoleEntry, ErrorEntry, Level
from ticketbox.domain.captures.error_text import format_error

MAX_CHARACTERS = 8_000


def collect_error_words(entries: Iterable[ErrorEntry]) -> str:
    """Collect the names and messages of errors, each once, one per line; at most 8,000 characters."""
    return _join_lines(map(format_error, entries))


def collect_console_words(entries: Iterable[ConsoleEntry]) -> str:
    """Collect the texts of the console's errors, each once, one per line; at most 8,000 characters."""
    return _join_lines(" ".join(entry.args) for entry in entries if entry.level is Level.ERROR)


def _join_lines(texts: Iterable[str]) -> str:
    lines: dict[str, None] = {}
    room = MAX_CHARACTERS
    for text in texts:
        line = " ".join(text[:room].split())
        if line and line not in lines:
            lines[line] = None
            room -= len(line) + 1
        if room <= 0:
            break
    return "\n".join(lines)[:MAX_CHARACTERS]
