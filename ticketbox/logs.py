"""Log lines as text or JSON, with secrets removed (docs/operate/monitoring.md, "Logs")."""

import asyncio
import contextlib
import logging
import re
import sys
import time
from functools import lru_cache

import msgspec

from ticketbox.domain.core.unsafe_characters import escape_unsafe, escape_unsafe_json

# A lease is longer than the words `lease_expired` and `lease_minutes`.
_PLAIN = re.compile(r"[!#-~]+")
_SECRET = re.compile(r"(tok|mbx|githook|gitkey|rcpt|pub(?=_[0-9A-Za-z]{36})|lease(?=_[0-9A-Za-z]{10}))_[0-9A-Za-z]{6,}")
_MARKS = ("tok_", "mbx_", "lease_", "githook_", "gitkey_", "rcpt_", "pub_")


def configure(form: str) -> None:
    """Send every log line to standard error, as `text` or `json`."""
    global _lines  # noqa: PLW0603 (a process has one log)
    _lines = _Lines(as_json=form == "json")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_lines)
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    # No line shows its thread or process, so none is looked up (Logging HOWTO, "Optimization").
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)


def write_info(logger: str, message: str, fields: dict[str, object]) -> None:
    """Write a line at level `info`, once `configure` has been called.

    For the access log: a record of `logging`, and its handlers, take more than twice as long. The lines of one
    iteration of the event loop are formatted and written together, which takes less time for each.
    """
    if _lines is None:
        return
    if not _waiting:
        asyncio.get_running_loop().call_soon(_write, _lines)
    _waiting.append((time.time(), logger, message, fields))


def format_announcement(message: str) -> str:
    """Return a line for standard output in the format of the log, with its secrets: the set-up address is one."""
    assert _lines is not None
    return _lines.line(time.time(), "info", "ticketbox", message, {})


def _write(lines: "_Lines") -> None:
    """Write the waiting lines in one system call."""
    taken = _waiting.copy()
    _waiting.clear()
    text = "".join([lines.line(at, "info", logger, message, fields) + "\n" for at, logger, message, fields in taken])
    with contextlib.suppress(OSError, ValueError):  # a log that can't be written must not stop a request
        sys.stderr.write(_hide_secrets(text))


class _Lines(logging.Formatter):
    def __init__(self, *, as_json: bool) -> None:
        super().__init__()
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        message = record.getMessage()
        if record.exc_info:
            message += "\n" + self.formatException(record.exc_info)
        if not self._as_json:  # only the first line of an entry begins at the margin
            message = message.replace("\n", "\n    ")
        fields: dict[str, object] = getattr(record, "fields", {})
        return _hide_secrets(self.line(record.created, record.levelname.lower(), record.name, message, fields))

    def line(self, at: float, level: str, logger: str, message: str, fields: dict[str, object]) -> str:
        second = int(at)
        moment = f"{_format_second(second)}.{int((at - second) * 1000):03d}Z"
        if self._as_json:
            line = {"at": moment, "level": level, "logger": logger, "message": message, **fields}
            return escape_unsafe_json(msgspec.json.encode(line).decode())
        pairs = "".join([f" {name}={_quote(value)}" for name, value in fields.items() if value != ""])
        return f"{moment} {level} {escape_unsafe(message)}{pairs}"


def _hide_secrets(text: str) -> str:
    may_hold_secret = any([mark in text for mark in _MARKS])  # noqa: C419 (faster than a generator)
    return _SECRET.sub(r"\1_…", text) if may_hold_secret else text


def _quote(value: object) -> object:
    """Return a value as a JSON string, unless it is one plain word, so that it can't look like another field."""
    if not isinstance(value, str) or _PLAIN.fullmatch(value):
        return value
    return escape_unsafe_json(msgspec.json.encode(value.encode(errors="replace").decode()).decode())


_lines: _Lines | None = None
_waiting: list[tuple[float, str, str, dict[str, object]]] = []


@lru_cache(maxsize=1)
def _format_second(epoch: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(epoch))
