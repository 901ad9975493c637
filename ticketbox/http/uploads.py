"""Multipart uploads: parsed as they arrive, within limits, into an operation's arguments."""

import asyncio
from typing import Any, cast

import msgspec
from multipart import (  # pyright: ignore[reportMissingTypeStubs]
    MultipartError,
    MultipartSegment,
    ParserLimitReached,
    PushMultipartParser,
    parse_options_header,  # pyright: ignore[reportUnknownVariableType]
)

from ticketbox.domain.captures.json_repair import repair_json
from ticketbox.domain.core.problems import InvalidField, InvalidRequest, PayloadTooLarge, UnsupportedMediaType
from ticketbox.edge.asgi import Receive, Scope, get_header, read_chunks
from ticketbox.operations.captures.preparation import MAX_ATTACHMENTS, MAX_UPLOAD
from ticketbox.operations.core.registry import Operation

UPLOAD_SECONDS = 180.0
MAX_ENVELOPE = 1024 * 1024
# Boundaries and part headers, beside the 32 MB of the parts.
_FRAMING = 64 * 1024
_CONCURRENT = 4

_slots = asyncio.Semaphore(_CONCURRENT)


async def read_upload(operation: Operation, scope: Scope, receive: Receive) -> dict[str, Any]:
    """Read a multipart body into arguments: JSON parts decoded, files as bytes.

    At most four bodies are read concurrently; the others wait. Raises UnsupportedMediaType, PayloadTooLarge,
    RequestTimeout and InvalidRequest.
    """
    media_type, options = cast(
        tuple[str, dict[str, str]], parse_options_header(get_header(scope, b"content-type") or "")
    )
    boundary = options.get("boundary", "")
    if media_type != "multipart/form-data" or not boundary:
        raise UnsupportedMediaType("send the parts as multipart/form-data", valid=["multipart/form-data"])
    async with _slots:
        reader = _Reader(operation)
        try:
            parser = PushMultipartParser(boundary, max_segment_count=MAX_ATTACHMENTS + 8, strict=True)
            with parser:
                async for chunk in read_chunks(scope, receive, MAX_UPLOAD + _FRAMING, UPLOAD_SECONDS):
                    for event in parser.parse(chunk):
                        reader.read_event(event)
        except ParserLimitReached:
            raise PayloadTooLarge("too many parts, or too long part headers") from None
        except (MultipartError, UnicodeDecodeError) as error:
            raise InvalidRequest(f"the multipart body is malformed: {error}") from None
        return reader.get_arguments()


class _Reader:
    """Collects the parts that an operation accepts."""

    def __init__(self, operation: Operation) -> None:
        in_path = {name for route in operation.routes for name in route.parameters}
        self._accepted = set(operation.arguments.__struct_fields__) - in_path - {"idempotency_key"}
        self._arguments: dict[str, Any] = {}
        self._segment: MultipartSegment | None = None
        self._name = ""
        self._parts: list[bytes | bytearray] = []

    def read_event(self, event: MultipartSegment | bytes | bytearray | None) -> None:
        """Process the parser's next event: a part's headers, some of its bytes, or its end (None)."""
        if isinstance(event, MultipartSegment):
            self._begin_part(event)
        elif event:
            self._parts.append(bytes(event))
            if self._name == "capture" and sum(map(len, self._parts)) > MAX_ENVELOPE:
                raise PayloadTooLarge("capture: more than 1 MB")
        elif event is None:
            self._end_part()

    def _begin_part(self, segment: MultipartSegment) -> None:
        name = segment.name or ""
        if name not in self._accepted:
            raise InvalidField(name, "unknown part", valid=sorted(self._accepted))
        if name in self._arguments and name != "attachments":
            raise InvalidField(name, "this part was sent more than once")
        self._segment, self._name, self._parts = segment, name, []

    def _end_part(self) -> None:
        segment = self._segment
        if segment is None:
            return
        data = b"".join(self._parts)
        self._segment, self._parts = None, []
        if self._name == "capture":
            self._arguments["capture"] = _decode_capture(data)
        elif self._name == "attachments":
            self._arguments.setdefault("attachments", []).append(_build_file(segment, data))
        elif self._name == "file":
            self._arguments["file"] = _build_file(segment, data)
        else:
            self._arguments[self._name] = data

    def get_arguments(self) -> dict[str, Any]:
        """Return the collected arguments."""
        return self._arguments


def _build_file(segment: MultipartSegment, data: bytes) -> dict[str, Any]:
    return {"name": segment.filename or "", "data": data}


def _decode_capture(data: bytes) -> object:
    try:
        return msgspec.json.decode(repair_json(data))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"capture: invalid JSON: {error}") from None
    except RecursionError:
        raise InvalidRequest("capture: the JSON is nested too deeply") from None
