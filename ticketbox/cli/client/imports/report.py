"""Reading reports that the browser extension downloaded (docs/use/extension.md, "If the server can't be reached")."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from ticketbox.domain.captures.capture import Stream
from ticketbox.domain.captures.imports.recording import ImportProblem

Json = dict[str, Any]

_TARGET = ("project_id", "ticket_id")
_NEW_TICKET = ("title", "description", "priority")


class Report(msgspec.Struct):
    """A report as the extension would send it. Bytes are in base64; `capture` is checked by the server."""

    ticketbox_report: Literal[1]
    capture: Json
    streams: dict[Stream, msgspec.Raw]
    screenshot: bytes | None = None
    replay: bytes | None = None
    annotations: Annotated[list[Json], Meta(max_length=500)] = []
    assignee: str | None = None
    comment: str | None = None

    @property
    def is_of_ticket(self) -> bool:
        """Whether the report was written for a ticket that exists."""
        return self.capture.get("ticket_id") is not None

    def build_envelope(self, envelope: Json) -> Json:
        """Return what describes the capture. `envelope` says where it goes instead of where the report says."""
        capture = dict(self.capture)
        if any(name in envelope for name in _TARGET):
            for name in _TARGET:
                capture.pop(name, None)
        if "ticket_id" in envelope:
            for name in _NEW_TICKET:
                capture.pop(name, None)
        return capture | envelope


def read_report(data: bytes) -> Report:
    """Read a report. Raises ImportProblem."""
    try:
        return msgspec.json.decode(data, type=Report)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ImportProblem(f"the report is damaged, or of a newer version: {error}") from None
