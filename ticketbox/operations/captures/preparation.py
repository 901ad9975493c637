"""Preparing a capture before its transaction: decode, redact, shorten and compress its parts."""

from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.captures import streams
from ticketbox.domain.captures.capture import (
    Environment,
    Health,
    HealthReason,
    HealthStatus,
    NetworkEntry,
    Page,
    Redaction,
    Stream,
    StreamHealth,
)
from ticketbox.domain.captures.excerpt import build_excerpt
from ticketbox.domain.captures.fingerprints import Fingerprint, find_main_error, fingerprint_errors, fingerprint_page
from ticketbox.domain.captures.health import get_stream_health
from ticketbox.domain.captures.images import media_types, processing
from ticketbox.domain.captures.processor_time import ProcessorTime
from ticketbox.domain.captures.records import AssetKind
from ticketbox.domain.captures.redaction.body_shape import shape_bodies
from ticketbox.domain.captures.redaction.redactor import Redactor
from ticketbox.domain.captures.replay.replay import read_replay
from ticketbox.domain.captures.search_text import collect_console_words, collect_error_words
from ticketbox.domain.captures.sent_streams import read_stream
from ticketbox.domain.companies.records import Actions, Bodies, CapturePolicy
from ticketbox.domain.companies.url_patterns import choose_best_match
from ticketbox.domain.core.clock import to_epoch_ms
from ticketbox.domain.core.ids import Prefix, generate_id
from ticketbox.domain.core.patterns import match_whole
from ticketbox.domain.core.policy import Actor
from ticketbox.domain.core.problems import InvalidField, InvalidRequest, PayloadTooLarge
from ticketbox.domain.core.unsafe_characters import remove_unsafe
from ticketbox.domain.tickets.records import FrequentError, Priority, StreamCounts
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.inputs import MAX_LABEL, MAX_MARKDOWN, Labels, Markdown
from ticketbox.operations.core.lookups import ColumnId, Key, ProjectId, TicketId, find_writable
from ticketbox.operations.core.services import Services
from ticketbox.operations.tickets.lookups import find_writable_ticket
from ticketbox.operations.tickets.tickets import resolve_target
from ticketbox.settings import DEFAULT_CAPTURE_SECONDS
from ticketbox.store.captures import captures
from ticketbox.store.captures.assets import NewAsset
from ticketbox.store.captures.captures import NewCapture
from ticketbox.store.companies import projects
from ticketbox.store.core import blobs
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.file.database import Read

MAX_UPLOAD = 32 * 1024 * 1024
MAX_ATTACHMENTS = 20
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
    attachments: Annotated[list[Upload], Meta(max_length=MAX_ATTACHMENTS, description="Up to 20 files.")] = []
    idempotency_key: Key | None = None


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


async def prepare_capture(
    services: Services, actor: Actor, args: CreateCapture, context: RequestContext
) -> PreparedCapture | str:
    """Decode, redact, shorten and compress a capture. For one that is already stored, return only the public URL.

    Raises InvalidRequest, UnsupportedMediaType and PayloadTooLarge for invalid parts.
    """
    known = await services.read(
        lambda tx: captures.find_capture_by_client_id(tx, actor.user, args.capture.id), actor.share
    )
    if known:
        return services.public_url
    row, project_id, policy = await services.read(lambda tx: _find_project(tx, actor, args.capture), actor.share)
    share = row.company, actor.credential
    return await services.captures.run(
        share, process_capture, args, project_id, policy, services.public_url, services.max_capture_seconds
    )


def _find_project(tx: Read, actor: Actor, envelope: Envelope) -> tuple[VisibleRow, str | None, CapturePolicy]:
    """Find a capture's row, project (None if a ticket or column decides) and policy. Raises InvalidRequest."""
    project_id = envelope.project_id
    if envelope.ticket_id is not None:
        if project_id is not None or envelope.column_id is not None:
            raise InvalidField("capture.ticket_id", "send ticket_id, or project_id and column_id, not both")
        row, _ = find_writable_ticket(tx, actor, envelope.ticket_id)
    elif envelope.column_id is not None:
        row, _ = resolve_target(tx, actor, project_id, envelope.column_id)
    else:
        project_id = project_id or choose_best_match(projects.list_url_patterns(tx, actor.viewer), envelope.page.url)
        if project_id is None:
            raise InvalidField("capture.project_id", "this page matches no project's URL patterns; send project_id")
        row = find_writable(tx, actor, "project", project_id)
    return row, project_id, projects.load_project(tx, actor.viewer, row.project).capture_policy


def _remove_control_characters(page: Page) -> Page:
    """Remove control characters from a page's texts, which come from the site: a ticket's lines mustn't have any."""
    url, title = remove_unsafe(page.url), remove_unsafe(page.title, " ")
    return Page(url, title, None if page.referrer is None else remove_unsafe(page.referrer))


def process_capture(
    args: CreateCapture,
    project_id: str | None,
    policy: CapturePolicy,
    public_url: str,
    seconds: float = DEFAULT_CAPTURE_SECONDS,
) -> PreparedCapture:
    """Process a capture as its project's policy requires: redact, drop bodies, shorten and compress.

    Raises InvalidRequest, UnsupportedMediaType and PayloadTooLarge for invalid parts, and if it takes more than these
    seconds of processor time.
    """
    envelope = args.capture
    limit = ProcessorTime(seconds)
    redactor = Redactor(policy.extra_redactions, limit.check)

    def prepare_request(entry: NetworkEntry) -> None:
        if policy.bodies is Bodies.OFF:
            streams.remove_bodies(entry)
        redactor.redact_network((entry,))
        streams.shorten_bodies(entry)  # redaction can lengthen a text, so every cut comes after it

    console, console_dropped = read_stream(
        Stream.CONSOLE, args.console, lambda entry: redactor.redact_console((entry,)), limit.check
    )
    network, network_dropped = read_stream(Stream.NETWORK, args.network, prepare_request, limit.check)
    if policy.bodies is Bodies.SHAPE:
        network = shape_bodies(network, limit.check)
    errors, errors_dropped = read_stream(
        Stream.ERRORS, args.errors, lambda entry: redactor.redact_errors((entry,)), limit.check
    )
    sent_actions = b"[]" if policy.actions is Actions.OFF else args.actions
    actions, actions_dropped = read_stream(
        Stream.ACTIONS, sent_actions, lambda entry: redactor.redact_actions((entry,)), limit.check
    )
    page = _remove_control_characters(envelope.page)
    redactor.redact_page(page)
    redactor.redact_environment(envelope.environment)
    health = envelope.health
    dropped = {
        Stream.CONSOLE: console_dropped,
        Stream.NETWORK: network_dropped,
        Stream.ERRORS: errors_dropped,
        Stream.ACTIONS: actions_dropped,
    }
    if policy.actions is Actions.OFF and health.actions is not msgspec.UNSET:
        health.actions = StreamHealth(HealthStatus.DISABLED, HealthReason.POLICY)
    elif actions and health.actions is msgspec.UNSET:
        health.actions = StreamHealth(HealthStatus.OK, captured=len(actions), dropped=actions_dropped)
    for stream, count in dropped.items():
        get_stream_health(health, stream).dropped += count
    public_id = generate_id(Prefix.CAPTURE)
    counts = StreamCounts(
        console=len(console),
        network=len(network),
        errors=len(errors),
        failed_requests=sum(1 for entry in network if streams.is_failure(entry)),
        actions=len(actions),
    )
    title = redactor.redact_text(remove_unsafe(envelope.title or "", " ").strip() or page.title.strip() or page.url)
    description = redactor.redact_text(envelope.description, MAX_MARKDOWN)
    labels = [redactor.redact_text(label, MAX_LABEL) for label in envelope.labels]
    # last, because it takes what is left of the processor's time
    replay = read_replay(args.replay, policy.replay, health.replay, redactor, limit)
    health.replay = replay.health
    return PreparedCapture(
        capture=NewCapture(
            public_id=public_id,
            client_id=envelope.id,
            captured_at=_parse_captured_at(envelope.captured_at),
            page=page,
            environment=envelope.environment,
            health=health,
            redaction=envelope.redaction.add(redactor.counts),
            streams={
                stream: blobs.pack_content(entries.encode(), compress=True)
                for stream, entries in zip(Stream, (console, network, errors, actions), strict=True)
            },
            replay=blobs.pack_content(replay.events, compress=True) if replay.events else None,
            excerpt=blobs.pack_content(
                msgspec.json.encode(build_excerpt(console, network, errors, actions, capture_id=public_id)),
                compress=True,
            ),
            error_words=collect_error_words(errors),
            console_words=collect_console_words(console),
        ),
        project_id=project_id,
        title=" ".join(title.split())[:300] or "Untitled page",
        description=description,
        labels=labels,
        counts=counts,
        fingerprints=[*fingerprint_errors(errors), *filter(None, [fingerprint_page(page.url)])],
        main_error=find_main_error(errors),
        screenshot=None if args.screenshot is None else _prepare_screenshot(args.screenshot),
        attachments=[prepare_upload(part) for part in args.attachments],
        public_url=public_url,
    )


def _prepare_screenshot(data: bytes) -> NewAsset:
    if len(data) > processing.MAX_SCREENSHOT_BYTES:
        raise PayloadTooLarge("screenshot: more than 10 MB")
    info = processing.inspect_image(data)
    name = "screenshot." + info.media_type.rpartition("/")[2]
    packed = blobs.pack_content(data, compress=False)
    return NewAsset(AssetKind.SCREENSHOT, packed, info.media_type, info.width, info.height, name)


def prepare_upload(part: Upload) -> NewAsset:
    """Prepare a file for storage: detect its type, make its name safe, and measure it in pixels if it is an image."""
    if not part.data:
        raise InvalidRequest("the attached file is empty")
    kind = media_types.detect_media_type(part.data)
    width = height = None
    if kind in {media_types.PNG, media_types.JPEG, media_types.WEBP}:
        info = processing.inspect_image(part.data)
        width, height = info.width, info.height
    packed = blobs.pack_content(part.data, compress=False)
    return NewAsset(AssetKind.ATTACHMENT, packed, kind, width, height, media_types.sanitize_file_name(part.name))
