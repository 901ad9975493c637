"""Reading a file of another tool, whichever it is, and sending it as a capture."""

import uuid
from pathlib import Path
from typing import Any

import msgspec

from ticketbox.cli.client.imports.har import read_har
from ticketbox.cli.client.imports.recorder_file import read_recorder_file
from ticketbox.cli.client.imports.recording import MIB, ImportProblem, Recording, clip_text
from ticketbox.cli.client.imports.trace import read_trace
from ticketbox.domain.captures.capture import Page
from ticketbox.domain.captures.fields import LINE

MAX_JSON = 50 * MIB
MAX_TITLE = 300


class _Kind(msgspec.Struct):
    log: msgspec.Raw = msgspec.field(default_factory=msgspec.Raw)
    steps: msgspec.Raw = msgspec.field(default_factory=msgspec.Raw)


def read_file(path: Path) -> Recording:
    """Read a trace, a HAR file or a recording. Raises ImportProblem, with the reason, for everything else."""
    try:
        with path.open("rb") as file:
            start = file.read(4)
        if start == b"PK\x03\x04":
            return read_trace(path)
        size = path.stat().st_size
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
        raise ImportProblem("the file is none of: trace.zip of Playwright, HAR, JSON of Chrome's recorder") from None
    if kind.log:
        return read_har(data)
    if kind.steps:
        return read_recorder_file(data)
    raise ImportProblem("the file is none of: trace.zip of Playwright, HAR, JSON of Chrome's recorder")


def build_parts(recording: Recording, envelope: dict[str, Any]) -> dict[str, tuple[str, bytes, str]]:
    """Build the parts of a capture. `envelope` says where it goes, and overrides what was read."""
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
        line = " ".join(title.split())[:MAX_TITLE]
        if line:
            capture["title"] = line
    parts = {name: (name, data, "application/json") for name, data in streams.items()}
    parts["capture"] = ("capture", msgspec.json.encode(capture), "application/json")
    if recording.screenshot is not None:
        parts["screenshot"] = ("screenshot", recording.screenshot, "application/octet-stream")
    return parts
