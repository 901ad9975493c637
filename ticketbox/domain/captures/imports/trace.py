"""Reading traces of Playwright: `trace.zip` of its test runner or library (https://playwright.dev/docs/trace-viewer).

Formats 7 to 10 are read, those of Playwright 1.47 to 1.65: lines of JSON, one file for each browser context, another
for its requests, and one for the test. Values that a test typed are never kept, only the class of their length.
"""

from collections.abc import Callable

import msgspec

from ticketbox.domain.captures.capture import ConsoleEntry, ErrorEntry, ErrorKind, Level, Stream
from ticketbox.domain.captures.environment import Size
from ticketbox.domain.captures.fields import LINE, TEXT
from ticketbox.domain.captures.imports.archive import ZipArchive
from ticketbox.domain.captures.imports.har import HarEntry, build_request, find_browser
from ticketbox.domain.captures.imports.recording import (
    MIB,
    ImportProblem,
    Recording,
    UnreadableEntry,
    clip_text,
    clip_url,
    format_arguments,
    read_frames,
)
from ticketbox.domain.captures.imports.trace_actions import build_action
from ticketbox.domain.captures.imports.trace_events import PageError, TraceEvent
from ticketbox.domain.captures.streams import MAX_BODY

VERSIONS = range(7, 11)

_MAX_FAILURES = 20
_MAX_PICTURE = 10 * MIB
_LEVELS = {"debug": Level.DEBUG, "info": Level.INFO, "warning": Level.WARN, "error": Level.ERROR, "assert": Level.ERROR}
_decoder = msgspec.json.Decoder(TraceEvent)


def read_trace(data: bytes, check_time: Callable[[int], None] = lambda _: None) -> Recording:
    """Read a trace. Raises ImportProblem if it isn't one, or one of another version.

    `check_time` is called with the length of each part that is read, and raises when it has taken too long.
    """
    with ZipArchive(data, check_time) as archive:
        reader = _TraceReader(archive)
        for name in archive.names:
            if name.endswith(".trace"):
                reader.read_events(name)
        for name in archive.names:
            if name.endswith(".network"):
                reader.read_requests(name)
        return reader.finish()


class _TraceReader:
    """Collects what the files of a trace say; the newest picture and address win."""

    def __init__(self, archive: ZipArchive) -> None:
        self._archive = archive
        self._recording = Recording(*Stream)
        self._has_snapshots = False
        self._last_frame = (-1.0, "")
        self._last_address = (-1.0, "")
        self._attached = ""
        self._failures: list[str] = []
        self._contexts = 0

    def read_events(self, name: str) -> None:
        """Read the events of a browser context or of the test."""
        context: TraceEvent | None = None
        for line in self._archive.read_lines(name):
            event = _decode_event(line)
            if context is None:
                context = _require_context(event, name)
                self._describe_context(context)
            elif event is not None:
                self._add_event(event, context.wall_time - context.monotonic_time)

    def read_requests(self, name: str) -> None:
        """Read the requests of a browser context."""
        for line in self._archive.read_lines(name):
            event = _decode_event(line)
            if event is None or event.type != "resource-snapshot" or not event.snapshot:
                continue
            try:
                entry = msgspec.json.decode(event.snapshot, type=HarEntry)
                request = build_request(entry, lambda file: self._archive.read(file, 4 * MAX_BODY + 4))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, UnreadableEntry):
                continue  # one request less, not a trace less
            self._recording.add(request)
            if entry.type == "document" and not self._last_address[1]:
                self._recording.page_url = entry.request.url
            if self._recording.environment.browser is None:
                self._recording.environment.browser = find_browser(entry)

    def finish(self) -> Recording:
        """Return the recording, with the newest picture and address. Raises ImportProblem."""
        recording = self._recording
        if not self._contexts:
            raise ImportProblem("the zip file has no trace in it")
        if not self._has_snapshots and not recording.entries[Stream.NETWORK].seen:
            del recording.entries[Stream.NETWORK]  # without snapshots, Playwright records no requests
        recording.page_url = self._last_address[1] or recording.page_url or "about:blank"
        for failure in self._failures[:_MAX_FAILURES]:  # they end the test, and the trace doesn't say when
            name, message = _split_name(failure)
            recording.add(ErrorEntry(0, recording.captured_at, ErrorKind.ERROR, message, name))
        for name in (self._attached, self._last_frame[1]):
            picture = self._archive.read(name, _MAX_PICTURE + 1) if name else None
            if picture and len(picture) <= _MAX_PICTURE:
                recording.screenshot = picture
                break
        return recording

    def _describe_context(self, context: TraceEvent) -> None:
        recording = self._recording
        self._contexts += 1
        recording.captured_at = max(recording.captured_at, context.wall_time)
        recording.title = recording.title or clip_text(context.title, LINE)
        recording.environment.os = recording.environment.os or context.platform[:LINE] or None
        size = context.options.viewport
        if size is not None and 0 < size.width <= 1_000_000 and 0 < size.height <= 1_000_000:
            recording.environment.viewport = Size(int(size.width), int(size.height))

    def _add_event(self, event: TraceEvent, offset: float) -> None:
        moment = max(0.0, offset + (event.time or event.start_time or event.timestamp))
        match event.type:
            case "before":
                action = build_action(event, moment)
                if action is not None:
                    self._recording.add(action)
                    self._note_address(moment, action.url)
            case "console" if event.args or not event.text.startswith("[DOM] "):  # Chromium's own remarks
                self._recording.add(_build_console_entry(event, moment))
            case "stdout" | "stderr" if event.text.strip():
                level = Level.ERROR if event.type == "stderr" else Level.LOG
                text = clip_text(event.text.rstrip("\n"))
                self._recording.add(ConsoleEntry(0, moment, level, [text], source=event.type))
            case "event" if event.method == "pageError":
                self._recording.add(_build_page_error(event, moment))
            case "error":
                self._failures.append(clip_text(event.message))
            case "screencast-frame":
                name = event.file or (f"resources/{event.digest}" if event.digest else "")
                self._last_frame = max(self._last_frame, (moment, name))
            case "frame-snapshot":
                self._read_snapshot(event)
            case "after":
                pictures = [each for each in event.attachments if each.type in {"image/png", "image/jpeg"}]
                for each in pictures:
                    self._attached = each.file or f"resources/{each.digest}"
            case _:
                pass

    def _read_snapshot(self, event: TraceEvent) -> None:
        """Note the address of the page in a snapshot of its document."""
        self._has_snapshots = True
        try:
            snapshot = msgspec.json.decode(event.snapshot, type=_Snapshot) if event.snapshot else _Snapshot()
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return
        if snapshot.is_main and snapshot.url.startswith(("http://", "https://", "file:")):
            self._note_address(snapshot.time, snapshot.url)

    def _note_address(self, moment: float, url: str | None) -> None:
        if url:
            self._last_address = max(self._last_address, (moment, clip_url(url)))


class _Snapshot(msgspec.Struct, rename={"url": "frameUrl", "is_main": "isMainFrame", "time": "wallTime"}):
    url: str = ""
    is_main: bool = False
    time: float = 0


def _decode_event(line: bytes) -> TraceEvent | None:
    """Decode a line; None if it isn't an event that captures have."""
    try:
        return _decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _require_context(event: TraceEvent | None, name: str) -> TraceEvent:
    """Return the first event of a file, which names its version. Raises ImportProblem."""
    if event is None or event.type != "context-options":
        raise ImportProblem(f"{name} isn't a trace of Playwright")
    if event.version not in VERSIONS:
        made_by = f" of Playwright {event.playwright_version}" if event.playwright_version else ""
        raise ImportProblem(
            f"the trace{made_by} has format {event.version}; formats {VERSIONS[0]} to {VERSIONS[-1]} can be imported"
        )
    return event


def _build_console_entry(event: TraceEvent, moment: float) -> ConsoleEntry:
    level = _LEVELS.get(event.message_type, Level.LOG)
    texts = format_arguments([each.preview for each in event.args[:100]]) or [event.text]
    place = event.location
    source = f"{place.url}:{place.line_number + 1}:{place.column_number + 1}" if place and place.url else None
    return ConsoleEntry(0, moment, level, [clip_text(each) for each in texts], source=source and clip_url(source))


def _build_page_error(event: TraceEvent, moment: float) -> ErrorEntry:
    wrapped = event.params.error
    error = (wrapped and wrapped.error) or PageError()
    frames = read_frames(error.stack)
    return ErrorEntry(
        0, moment, ErrorKind.ERROR, clip_text(error.message), error.name[:LINE], error.stack[:TEXT] or None, frames,
        f"{frames[0].url}:{frames[0].line}:{frames[0].column}" if frames else None,
    )  # fmt: skip


def _split_name(message: str) -> tuple[str, str]:
    """Return the class of an error and the rest of its message."""
    name, separator, rest = message.partition(": ")
    return (name, rest) if separator and name.isidentifier() else ("", message)
