"""Multipart uploads: parsed as they arrive, within limits, into an operation's arguments."""

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Annotated, Any, cast, get_origin
from urllib.parse import unquote

import msgspec
from multipart import (  # pyright: ignore[reportMissingTypeStubs]
    MultipartError,
    MultipartSegment,
    ParserLimitReached,
    PushMultipartParser,
    parse_options_header,  # pyright: ignore[reportUnknownVariableType]
)

from ticketbox.domain.captures.intake.json_repair import repair_json
from ticketbox.domain.core.problems import (
    InvalidField,
    InvalidRequest,
    PayloadTooLarge,
    RequestTimeout,
    UnsupportedMediaType,
)
from ticketbox.edge.asgi import Receive, Scope, get_header, read_chunks
from ticketbox.operations.captures.processing.intake import MAX_ATTACHMENTS
from ticketbox.operations.core.registry import Operation
from ticketbox.operations.core.services import Services

UPLOAD_SECONDS = 180.0
PAUSE_SECONDS = 10.0  # how long a body may pause, and be slower than the minimum rate
MAX_ENVELOPE = 1024 * 1024
# Boundaries and part headers, beside the 32 MB of the parts.
_FRAMING = 64 * 1024


async def read_upload(operation: Operation, scope: Scope, receive: Receive, services: Services) -> dict[str, Any]:
    """Read a multipart body into arguments: JSON parts decoded, files as bytes.

    Raises UnsupportedMediaType, PayloadTooLarge, InvalidRequest, and RequestTimeout for a body that takes too long or
    arrives at less than the minimum rate.
    """
    media_type, options = cast(
        tuple[str, dict[str, str]], parse_options_header(get_header(scope, b"content-type") or "")
    )
    boundary = options.get("boundary", "")
    if media_type != "multipart/form-data" or not boundary:
        raise UnsupportedMediaType("send the parts as multipart/form-data", valid=["multipart/form-data"])
    reader = _Reader(operation)
    try:
        with PushMultipartParser(boundary, max_segment_count=2 * MAX_ATTACHMENTS, strict=True) as parser:
            chunks = read_chunks(scope, receive, operation.max_body + _FRAMING, UPLOAD_SECONDS)
            async for chunk in _require_rate(chunks, services):
                for event in parser.parse(chunk):
                    reader.read_event(event)
    except ParserLimitReached:
        raise PayloadTooLarge("too many parts, or too long part headers") from None
    except (MultipartError, UnicodeDecodeError) as error:
        if any(isinstance(each, UnicodeDecodeError) for each in (error, *error.args)):
            raise InvalidRequest("the headers of a part, such as its file name, must be UTF-8") from None
        raise InvalidRequest(f"the multipart body is malformed: {error}") from None
    return reader.get_arguments()


async def _require_rate(chunks: AsyncIterator[bytes], services: Services) -> AsyncIterator[bytes]:
    """Yield the chunks of a body; each extends its time by as long as it may take. Raises RequestTimeout."""
    now, min_rate = asyncio.get_running_loop().time, services.min_upload_rate
    deadline = now() + PAUSE_SECONDS
    while True:
        try:
            async with asyncio.timeout_at(deadline if min_rate else None):
                chunk = await anext(chunks, None)
        except TimeoutError:
            services.queue_times.record_refusal(services.uploads.name, "rate")
            raise RequestTimeout(f"the upload is slower than {min_rate:,} bytes a second") from None
        if chunk is None:
            return
        if min_rate:
            deadline = min(deadline + len(chunk) / min_rate, now() + PAUSE_SECONDS)
        yield chunk


_EXTENDED_NAME = re.compile(r";\s*filename\*\s*=\s*UTF-8'[^']*'([^;\s]+)", re.IGNORECASE)


class _Reader:
    """Collects the parts that an operation accepts."""

    def __init__(self, operation: Operation) -> None:
        in_path = {name for route in operation.routes for name in route.parameters}
        self._texts = {
            field.encode_name for field in msgspec.structs.fields(operation.arguments) if _is_text(field.type)
        }
        self._accepted = set(operation.arguments.__struct_fields__) - in_path - {"idempotency_key"}
        self._arguments: dict[str, Any] = {}
        self._segment: MultipartSegment | None = None
        self._name = ""
        self._parts: list[bytes | bytearray] = []
        self._length = 0

    def read_event(self, event: MultipartSegment | bytes | bytearray | None) -> None:
        """Process the parser's next event: a part's headers, some of its bytes, or its end (None)."""
        if isinstance(event, MultipartSegment):
            self._begin_part(event)
        elif event:
            self._parts.append(bytes(event))
            self._length += len(event)
            if self._name == "capture" and self._length > MAX_ENVELOPE:
                raise PayloadTooLarge("capture: more than 1 MB")
        elif event is None:
            self._end_part()

    def _begin_part(self, segment: MultipartSegment) -> None:
        name = segment.name or ""
        if name not in self._accepted:
            raise InvalidField(name, "unknown part", valid=sorted(self._accepted))
        if name in self._arguments and name != "attachments":
            raise InvalidField(name, "this part was sent more than once")
        self._segment, self._name, self._parts, self._length = segment, name, [], 0

    def _end_part(self) -> None:
        segment = self._segment
        if segment is None:
            return
        data = b"".join(self._parts)
        self._segment, self._parts = None, []
        if self._name == "capture":
            self._arguments["capture"] = _decode_capture(data)
        elif self._name == "attachments":
            self._arguments.setdefault(self._name, []).append(_build_file(segment, data))
        elif self._name == "file":
            self._arguments["file"] = _build_file(segment, data)
        elif self._name in self._texts:
            self._arguments[self._name] = _decode_text(self._name, data)
        else:
            self._arguments[self._name] = data

    def get_arguments(self) -> dict[str, Any]:
        """Return the collected arguments."""
        return self._arguments


def _is_text(kind: Any) -> bool:
    return (kind.__origin__ if get_origin(kind) is Annotated else kind) is str


def _decode_text(name: str, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise InvalidField(name, "not UTF-8") from None


def _build_file(segment: MultipartSegment, data: bytes) -> dict[str, Any]:
    return {"name": segment.filename or _read_extended_name(segment), "data": data}


def _decode_capture(data: bytes) -> object:
    try:
        return msgspec.json.decode(repair_json(data))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"capture: invalid JSON: {error}") from None
    except RecursionError:
        raise InvalidRequest("capture: the JSON is nested too deeply") from None


def _read_extended_name(segment: MultipartSegment) -> str:
    """Return the name in `filename*` (RFC 8187), which some older clients send alone; empty if there is none."""
    disposition = cast(str, segment.header("Content-Disposition", ""))  # pyright: ignore[reportUnknownMemberType]
    match = _EXTENDED_NAME.search(disposition)
    return "" if match is None else unquote(match[1], errors="replace")
