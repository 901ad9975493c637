"""The lines of a trace, with the fields that captures need; everything else in them is skipped."""

import msgspec


class TraceSize(msgspec.Struct):
    """A width and a height."""

    width: float = 0
    height: float = 0


class TraceOptions(msgspec.Struct):
    """The options of a browser context."""

    viewport: TraceSize | None = None


class PageError(msgspec.Struct):
    """An error of a page."""

    message: str = ""
    name: str = ""
    stack: str = ""


class TraceError(msgspec.Struct):
    """An error, as events wrap it."""

    error: PageError | None = None


class TraceParams(msgspec.Struct):
    """The arguments of a call, or of an event."""

    url: str = ""
    selector: str = ""
    value: str = ""
    text: str = ""
    key: str = ""
    error: TraceError | None = None


class TracePlace(msgspec.Struct, rename="camel"):
    """Where a line of the console comes from; lines and columns count from 0."""

    url: str = ""
    line_number: int = 0
    column_number: int = 0


class TraceArgument(msgspec.Struct):
    """An argument of a call of the console."""

    preview: str = ""


class TraceAttachment(msgspec.Struct, rename={"type": "contentType", "digest": "sha1"}):
    """A file that a test attached."""

    type: str = ""
    file: str = ""
    digest: str = ""


class TraceEvent(
    msgspec.Struct,
    rename={
        "wall_time": "wallTime", "monotonic_time": "monotonicTime", "playwright_version": "playwrightVersion",
        "start_time": "startTime", "message_type": "messageType", "digest": "sha1", "class_name": "class",
    },
):  # fmt: skip
    """A line. Which fields it has depends on its type and on the version of the format."""

    type: str
    version: int = 0
    playwright_version: str = ""
    wall_time: float = 0
    monotonic_time: float = 0
    platform: str = ""
    title: str = ""
    options: TraceOptions = msgspec.field(default_factory=TraceOptions)
    time: float = 0
    start_time: float = 0
    timestamp: float = 0
    class_name: str = ""
    method: str = ""
    params: TraceParams = msgspec.field(default_factory=TraceParams)
    message_type: str = ""
    message: str = ""
    text: str = ""
    args: list[TraceArgument] = msgspec.field(default_factory=list[TraceArgument])
    location: TracePlace | None = None
    file: str = ""
    digest: str = ""
    attachments: list[TraceAttachment] = msgspec.field(default_factory=list[TraceAttachment])
    snapshot: msgspec.Raw = msgspec.field(default_factory=msgspec.Raw)
