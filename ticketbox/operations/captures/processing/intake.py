"""What is sent of a capture, and processing it: decode, redact, shorten and compress its parts."""

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.captures.capture import Health, Page, Redaction, Stream
from ticketbox.domain.captures.environment import Environment
from ticketbox.domain.captures.expectations import SentExpectations
from ticketbox.domain.captures.fingerprints import Fingerprint
from ticketbox.domain.captures.images import media_types, processing
from ticketbox.domain.captures.images.metadata import remove_metadata
from ticketbox.domain.captures.intake.inflation import MAGIC, InflatedTooLarge, InvalidGzip, inflate
from ticketbox.domain.captures.records import AssetKind
from ticketbox.domain.companies.records import CapturePolicy
from ticketbox.domain.core.clock import to_epoch_ms
from ticketbox.domain.core.patterns import match_whole
from ticketbox.domain.core.problems import InvalidField, InvalidRequest, PayloadTooLarge
from ticketbox.domain.tickets.records import Failure, FrequentError, Priority, StreamCounts
from ticketbox.operations.captures.processing.stream_processing import SentCapture, process_streams
from ticketbox.operations.captures.processing.trace_parts import TraceParts
from ticketbox.operations.core.inputs import Labels, Markdown
from ticketbox.operations.core.lookups import ColumnId, Key, ProjectId, TicketId
from ticketbox.operations.core.workers.worker_process import WorkerProcess
from ticketbox.settings import DEFAULT_CAPTURE_SECONDS
from ticketbox.store.captures.assets import NewAsset
from ticketbox.store.captures.captures import NewCapture
from ticketbox.store.core import blobs

# Above this length in bytes, streams are read in another process: the interpreter's lock is held for 50 ns a byte.
LONG_STREAMS = 64 * 1024
MAX_ATTACHMENTS = 20
MAX_KEPT = 200  # answers that keep their numbers
# A title often comes from the page: characters that reorder text are removed, not refused.
_PAGE_LINE = match_whole(r"[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f][^\x00-\x1f\x7f]*")

MAX_CAPTURED_AT = 4_102_444_800_000  # the year 2100


class Envelope(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The metadata of a capture.

    Without `project_id` and `ticket_id`, the page's URL chooses the project, by the projects' URL patterns.
    """

    id: Annotated[
        str,
        Meta(
            min_length=8,
            max_length=64,
            description="A unique id from the client. Sending the same capture again changes nothing.",
            examples=["5f0c1e3a-77c4-4a51-9a58-0f1f3f4f7c11"],
        ),
        match_whole(r"[A-Za-z0-9_\-]+"),
    ]
    page: Page
    health: Health
    captured_at: (
        Annotated[float, Meta(ge=0, le=MAX_CAPTURED_AT, description="The browser's time, in epoch milliseconds.")]
        | Annotated[datetime, Meta(tz=True, description="The browser's time, in RFC 3339.")]
    )
    environment: Environment = msgspec.field(default_factory=Environment)
    redaction: Annotated[Redaction, Meta(description="What the browser has already redacted.")] = msgspec.field(
        default_factory=Redaction
    )
    bug: (
        Annotated[
            Failure, Meta(description="The failure that the capture is about. Default: the last that a step led to.")
        ]
        | None
    ) = None
    expectations: SentExpectations = []
    kept_numbers: Annotated[
        list[Annotated[str, Meta(max_length=64)]],
        Meta(
            max_length=MAX_KEPT,
            description="Ids of requests whose answers keep their numbers where bodies are stored as `shape`, because "
            "a person agreed to it.",
        ),
    ] = []
    ticket_id: Annotated[TicketId, Meta(description="Attach to this ticket instead of a new one.")] | None = None
    project_id: ProjectId | None = None
    column_id: ColumnId | None = None
    title: (
        Annotated[str, Meta(min_length=1, max_length=300, description="Default: the page's title or URL."), _PAGE_LINE]
        | None
    ) = None
    description: Markdown = ""
    priority: Priority = Priority.NONE
    labels: Labels = []
    keep_trace: Annotated[
        bool, Meta(description="Attach the `trace`, too. No secrets are removed from what is attached.")
    ] = False

    @property
    def has_target(self) -> bool:
        """Whether it says where the capture belongs."""
        return any(each is not None for each in (self.ticket_id, self.project_id, self.column_id))


def _parse_captured_at(moment: float | datetime) -> int:
    """Convert a capture's time to epoch milliseconds. Raises InvalidRequest for a time before 1970 or after 2100."""
    if not isinstance(moment, datetime):
        return int(moment)
    captured_at = to_epoch_ms(moment) if 1970 <= moment.year <= 2100 else -1
    if not 0 <= captured_at <= MAX_CAPTURED_AT:
        raise InvalidField("capture.captured_at", "must be between 1970 and 2100")
    return captured_at


class Upload(msgspec.Struct, frozen=True):
    """A file part of a request; in a tool's arguments, an object."""

    name: Annotated[str, Meta(description="The file's name.")]
    data: Annotated[bytes, Meta(description="The content in base64.")]


class CreateCapture(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The parts of the request. Each stream is a JSON array and may be compressed with gzip."""

    capture: Envelope
    screenshot: Annotated[bytes, Meta(description="PNG, JPEG or WebP; up to 10 MB and 50 megapixels.")] | None = None
    console: Annotated[bytes, Meta(description="A JSON array of console entries.")] = b"[]"
    network: Annotated[bytes, Meta(description="A JSON array of network requests.")] = b"[]"
    errors: Annotated[bytes, Meta(description="A JSON array of errors.")] = b"[]"
    actions: Annotated[bytes, Meta(description="A JSON array of actions.")] = b"[]"
    replay: Annotated[bytes, Meta(description="The page's last seconds: a JSON array of rrweb events, up to 2 MB.")] = (
        b""
    )
    trace: (
        Annotated[
            bytes,
            Meta(
                description="The trace.zip of Playwright. Its entries are added to the streams. It replaces `page`, "
                "`health`, `captured_at` and `environment`, and by default title and screenshot."
            ),
        ]
        | None
    ) = None
    attachments: Annotated[list[Upload], Meta(max_length=MAX_ATTACHMENTS, description="Up to 20 files.")] = []
    idempotency_key: Key | None = None

    @property
    def streams(self) -> tuple[bytes, ...]:
        """What is read entry by entry."""
        return self.console, self.network, self.errors, self.actions, self.replay


def apply_trace(args: CreateCapture, parts: TraceParts) -> CreateCapture:
    """Return the capture whose trace was read: what was sent as its title and screenshot stays."""
    envelope = args.capture
    is_possible = 0 < parts.captured_at <= MAX_CAPTURED_AT
    kept = [Upload("trace.zip", args.trace)] if args.trace is not None and envelope.keep_trace else []
    return msgspec.structs.replace(
        args,
        capture=msgspec.structs.replace(
            envelope,
            page=parts.page,
            environment=parts.environment,
            captured_at=parts.captured_at if is_possible else envelope.captured_at,
            health=msgspec.structs.replace(envelope.health, **parts.health),
            title=envelope.title or parts.title,
        ),
        screenshot=args.screenshot or parts.screenshot,
        **{stream.value: parts.streams.get(stream.value, b"[]") for stream in Stream},
        trace=None,
        attachments=[*args.attachments, *kept],
    )


class PreparedCapture(msgspec.Struct, frozen=True):
    """A capture that is ready to be stored."""

    capture: NewCapture
    project_id: str | None
    title: str
    description: str
    labels: list[str]
    counts: StreamCounts
    fingerprints: list[Fingerprint]
    main_error: FrequentError | None
    screenshot: NewAsset | None
    attachments: list[NewAsset]
    public_url: str


def process_capture(
    args: CreateCapture,
    project_id: str | None,
    policy: CapturePolicy,
    public_url: str,
    seconds: float = DEFAULT_CAPTURE_SECONDS,
    process: WorkerProcess | None = None,
) -> PreparedCapture:
    """Process a capture as its project's policy requires: redact, drop bodies, shorten and compress.

    The streams are read in the `process`, if there is one and they are long. Raises InvalidRequest,
    UnsupportedMediaType and PayloadTooLarge for invalid parts, and if it takes more than these seconds of processor
    time.
    """
    screenshot = None if args.screenshot is None else _prepare_screenshot(args.screenshot)
    attachments = [prepare_picture_upload(part) for part in args.attachments]
    envelope = args.capture
    sent = SentCapture(
        envelope.id, _parse_captured_at(envelope.captured_at), envelope.page, envelope.environment, envelope.health,
        envelope.redaction, envelope.bug, envelope.expectations, envelope.kept_numbers, envelope.title,
        envelope.description, envelope.labels, args.console, args.network, args.errors, args.actions, args.replay,
    )  # fmt: skip
    if process is None or not has_more_than(LONG_STREAMS, args.streams):
        processed = process_streams(sent, policy, seconds)
    else:
        processed = process.call(seconds, process_streams, sent, policy, seconds)
    return PreparedCapture(
        processed.capture, project_id, processed.title, processed.description, processed.labels, processed.counts,
        processed.fingerprints, processed.main_error,
        screenshot=screenshot,
        attachments=attachments,
        public_url=public_url,
    )  # fmt: skip


def has_more_than(limit: int, streams: Iterable[bytes]) -> bool:
    """Whether the streams have more than so many bytes, inflated."""
    length = 0
    for body in streams:
        try:
            length += len(inflate(body, limit - length)) if body.startswith(MAGIC) else len(body)
        except InflatedTooLarge:
            return True
        except InvalidGzip:  # reported when it is read
            continue
        if length > limit:
            return True
    return False


def is_small(streams: Iterable[bytes], uploads: Iterable[Upload]) -> bool:
    """Whether a capture or report is read within milliseconds: its streams and files together aren't long."""
    files = sum(len(part.data) for part in uploads)
    return files <= LONG_STREAMS and not has_more_than(LONG_STREAMS - files, streams)


def _prepare_screenshot(data: bytes) -> NewAsset:
    if len(data) > processing.MAX_SCREENSHOT_BYTES:
        raise PayloadTooLarge("screenshot: more than 10 MB")
    info = processing.inspect_image(data)
    data = remove_metadata(data, info.media_type)
    name = "screenshot." + info.media_type.rpartition("/")[2]
    packed = blobs.pack_content(data, compress=False)
    return NewAsset(AssetKind.SCREENSHOT, packed, info.media_type, info.width, info.height, name)


def prepare_picture_upload(part: Upload) -> NewAsset:
    """Prepare a file that belongs to a capture or a report: a picture doesn't say where and with what it was taken."""
    kind = media_types.detect_media_type(part.data)
    return prepare_upload(msgspec.structs.replace(part, data=remove_metadata(part.data, kind)))


def prepare_upload(part: Upload) -> NewAsset:
    """Prepare a file for storage: detect its type, make its name safe, and measure it in pixels if it is an image.

    An image that can't be shown safely, because it is animated, damaged or very large, is stored without a type.
    """
    if not part.data:
        raise InvalidRequest("the attached file is empty")
    kind = media_types.detect_media_type(part.data)
    width = height = None
    if kind in {media_types.PNG, media_types.JPEG, media_types.WEBP}:
        try:
            info = processing.inspect_image(part.data)
            width, height = info.width, info.height
        except (InvalidRequest, PayloadTooLarge):
            kind = media_types.BINARY
    packed = blobs.pack_content(part.data, compress=False)
    return NewAsset(AssetKind.ATTACHMENT, packed, kind, width, height, media_types.sanitize_file_name(part.name))
