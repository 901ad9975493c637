"""Log lines as text or JSON, never with a secret in them (docs/operating.md, "Logs")."""

import logging
import re
import sys
import time
from functools import lru_cache

import msgspec

_SECRET = re.compile(r"tok_[0-9A-Za-z]{6,}")


def configure(form: str) -> None:
    """Send every log line to standard error, as `text` or `json`."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines(as_json=form == "json"))
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    # No line shows its place in the code, thread or process, and finding them out costs more than the line
    # itself (Logging HOWTO, "Optimization").
    logging._srcfile = None  # type: ignore[attr-defined]
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)


class _Lines(logging.Formatter):
    def __init__(self, *, as_json: bool) -> None:
        super().__init__()
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, object] = getattr(record, "fields", {})
        moment = f"{_second(int(record.created))}.{int(record.msecs):03d}Z"
        message = record.getMessage()
        if record.exc_info:
            message += "\n" + self.formatException(record.exc_info)
        if self._as_json:
            line = {
                "at": moment,
                "level": record.levelname.lower(),
                "logger": record.name,
                "message": message,
            }
            text = msgspec.json.encode({**line, **fields}).decode()
        else:
            told = " ".join(f"{name}={value}" for name, value in fields.items() if value != "")
            text = " ".join(part for part in (moment, record.levelname.lower(), message, told) if part)
        return _SECRET.sub("tok_…", text) if "tok_" in text else text


@lru_cache(maxsize=1)
def _second(epoch: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(epoch))
