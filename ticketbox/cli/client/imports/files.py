"""Reading a file of another tool, whichever it is, as the parts of a capture. A trace is read by the server."""

import re
import time
import uuid
from pathlib import Path
from typing import Any

import msgspec

from ticketbox.cli.client.imports.report import Report, read_report
from ticketbox.domain.captures.capture import Page, Stream
from ticketbox.domain.captures.fields import LINE
from ticketbox.domain.captures.imports.har import read_har
from ticketbox.domain.captures.imports.recording import MIB, ImportProblem, Recording, clip_text

MAX_JSON = 50 * MIB
MAX_TRACE = 30 * MIB  # an upload has up to 32 MiB
MAX_TITLE = 300
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_KINDS = "trace.zip of Playwright, HAR, report of the browser extension"


class _Kind(msgspec.Struct):
    log: msgspec.Raw = msgspec.field(default_factory=msgspec.Raw)
    ticketbox_report: msgspec.Raw = msgspec.field(default_factory=msgspec.Raw)


def read_file(path: Path) -> Recording | Report:
    """Read a trace, a HAR file or a report. Raises ImportProblem, with the reason, for everything else."""
    try:
        with path.open("rb") as file:
            start = file.read(4)
        size = path.stat().st_size
        if start == b"PK\x03\x04":
            if size > MAX_TRACE:
                raise ImportProblem(
                    f"the trace has {size / MIB:.1f} MB; at most {MAX_TRACE // MIB} MB can be imported: "
                    "record a shorter part, or without screenshots"
                )
            return wrap_trace(path.read_bytes())
        if size > MAX_JSON:
            raise ImportProblem(
                f"the file has {size // MIB} MB; at most {MAX_JSON // MIB} MB of JSON can be imported: "
                "record fewer requests, or save it without contents"
            )
        data = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    except OSError as error:
        raise ImportProblem(error.strerror or "the file can't be read") from None
    try:
        kind = msgspec.json.decode(data, type=_Kind)
    except (msgspec.DecodeError, RecursionError):
        if b'"context-options"' in data[:1_000]:
            raise ImportProblem(
                "the file is a part of a trace; compress its folder as a zip file, and import that"
            ) from None
        raise ImportProblem(f"the file is none of: {_KINDS}") from None
    if kind.ticketbox_report:
        return read_report(data)
    if kind.log:
        return read_har(data)
    raise ImportProblem(f"the file is none of: {_KINDS}")


def wrap_trace(data: bytes) -> Recording:
    """Return a recording that the server completes from a trace."""
    recording = Recording(Stream.CONSOLE, Stream.ERRORS)
    recording.trace, recording.page_url, recording.captured_at = data, "about:blank", time.time() * 1_000
    return recording


def build_parts(recording: Recording | Report, envelope: dict[str, Any]) -> dict[str, tuple[str, bytes, str]]:
    """Build the parts of a capture. `envelope` says where it goes, and overrides what was read."""
    if isinstance(recording, Report):
        described = recording.build_envelope(envelope)
        streams = {stream.value: bytes(entries) for stream, entries in recording.streams.items()}
        return _build_files(described, streams, screenshot=recording.screenshot, replay=recording.replay)
    streams, health = recording.encode_streams()
    capture: dict[str, Any] = {
        "id": str(uuid.uuid4()),
        "page": Page(recording.page_url, clip_text(recording.page_title, LINE)),
        "captured_at": recording.captured_at,
        "health": health,
        "environment": recording.environment,
        **envelope,
    }
    if "ticket_id" not in capture:
        title: str = capture.get("title") or recording.find_title()
        line = " ".join(_CONTROL.sub(" ", title).split())[:MAX_TITLE]
        if line:
            capture["title"] = line
    return _build_files(capture, streams, screenshot=recording.screenshot, trace=recording.trace)


def _build_files(
    capture: dict[str, Any], streams: dict[str, bytes], **files: bytes | None
) -> dict[str, tuple[str, bytes, str]]:
    parts = {name: (name, data, "application/json") for name, data in streams.items()}
    parts["capture"] = ("capture", msgspec.json.encode(capture), "application/json")
    binary = "application/octet-stream"
    return parts | {name: (name, data, binary) for name, data in files.items() if data is not None}
