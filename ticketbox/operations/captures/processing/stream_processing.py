"""Processing a capture's streams and texts: decode, redact, shorten and compress them.

The worker process imports this, so it imports nothing of the store or the event loop, which take 8 MB.
"""

import msgspec

from ticketbox.domain.captures import streams
from ticketbox.domain.captures.capture import (
    ConsoleEntry,
    ErrorEntry,
    Health,
    HealthReason,
    HealthStatus,
    NetworkEntry,
    Page,
    Redaction,
    Stream,
    StreamHealth,
)
from ticketbox.domain.captures.environment import Environment
from ticketbox.domain.captures.fingerprints import Fingerprint, find_main_error, fingerprint_errors, fingerprint_page
from ticketbox.domain.captures.health import get_stream_health
from ticketbox.domain.captures.intake.entry_sequence import Allowance
from ticketbox.domain.captures.intake.new_capture import NewCapture, pack_excerpt
from ticketbox.domain.captures.intake.processor_time import ProcessorTime
from ticketbox.domain.captures.intake.sent_streams import read_stream
from ticketbox.domain.captures.redaction.body_shape import shape_bodies
from ticketbox.domain.captures.redaction.redactor import Redactor
from ticketbox.domain.captures.replay.replay import ReplaySpan, read_replay
from ticketbox.domain.captures.source_maps.frames import mark_as_from_page, remove_originals
from ticketbox.domain.captures.summaries.search_text import collect_console_words, collect_error_words
from ticketbox.domain.companies.records import Actions, Bodies, CapturePolicy, PageSourceMaps
from ticketbox.domain.core.ids import Prefix, generate_id
from ticketbox.domain.core.packed_content import pack_content, pack_pieces
from ticketbox.domain.core.unsafe_characters import remove_unsafe
from ticketbox.domain.tickets.records import FrequentError, StreamCounts
from ticketbox.operations.core.inputs import MAX_LABEL, MAX_MARKDOWN

MAX_DECODED = 2 * 1024 * 1024  # of the entries of all streams: few are read again


class SentCapture(msgspec.Struct, frozen=True):
    """What is sent of a capture, but the files."""

    client_id: str
    captured_at: int
    page: Page
    environment: Environment
    health: Health
    redaction: Redaction
    title: str | None
    description: str
    labels: list[str]
    console: bytes
    network: bytes
    errors: bytes
    actions: bytes
    replay: bytes


class ProcessedCapture(msgspec.Struct, frozen=True):
    """A capture that is redacted and packed, and what its ticket shows of it."""

    capture: NewCapture
    title: str
    description: str
    labels: list[str]
    counts: StreamCounts
    fingerprints: list[Fingerprint]
    main_error: FrequentError | None
    replay_span: ReplaySpan | None


def process_streams(args: SentCapture, policy: CapturePolicy, seconds: float) -> ProcessedCapture:
    """Redact, shorten and compress a capture. Raises InvalidRequest and PayloadTooLarge."""
    limit = ProcessorTime(seconds)
    allowance = Allowance(MAX_DECODED)
    redactor = Redactor(policy.extra_redactions, limit.check)

    def prepare_request(entry: NetworkEntry) -> None:
        if policy.bodies is Bodies.OFF:
            streams.remove_bodies(entry)
        redactor.redact_network((entry,))
        streams.shorten_bodies(entry)  # redaction can lengthen a text, so every cut comes after it

    has_originals = policy.page_source_maps is PageSourceMaps.ON
    prepare_frames = mark_as_from_page if has_originals else remove_originals

    def prepare_line(entry: ConsoleEntry) -> None:
        prepare_frames(entry.frames)
        redactor.redact_console((entry,))

    def prepare_error(entry: ErrorEntry) -> None:
        prepare_frames(entry.frames)
        redactor.redact_errors((entry,))

    network, network_dropped = read_stream(
        Stream.NETWORK, args.network, prepare_request, limit.check, allowance=allowance
    )
    if policy.bodies is Bodies.SHAPE:
        shape_bodies(network, limit.check)
    errors, errors_dropped = read_stream(Stream.ERRORS, args.errors, prepare_error, limit.check, allowance=allowance)
    sent_actions = b"[]" if policy.actions is Actions.OFF else args.actions
    actions, actions_dropped = read_stream(
        Stream.ACTIONS, sent_actions, lambda entry: redactor.redact_actions((entry,)), limit.check, allowance=allowance
    )
    # after the others, whose failures are all read again and so use the allowance first
    console, console_dropped = read_stream(Stream.CONSOLE, args.console, prepare_line, limit.check, allowance=allowance)
    page = _remove_control_characters(args.page)
    redactor.redact_page(page)
    redactor.redact_environment(args.environment)
    health = args.health
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
    if not has_originals and health.source_maps is not msgspec.UNSET:
        health.source_maps = StreamHealth(HealthStatus.DISABLED, HealthReason.POLICY)
    for stream, count in dropped.items():
        get_stream_health(health, stream).dropped += count
    public_id = generate_id(Prefix.CAPTURE)
    counts = StreamCounts(
        console=len(console),
        network=len(network),
        errors=len(errors),
        failed_requests=sum(failed for _, failed in network.list_marks()),
        actions=len(actions),
    )
    title = redactor.redact_text(remove_unsafe(args.title or "", " ").strip() or page.title.strip() or page.url)
    description = redactor.redact_text(args.description, MAX_MARKDOWN)
    labels = [redactor.redact_text(label, MAX_LABEL) for label in args.labels]
    # last, because it takes what is left of the processor's time
    replay = read_replay(args.replay, policy.replay, health.replay, redactor, limit)
    health.replay = replay.health
    return ProcessedCapture(
        capture=NewCapture(
            public_id=public_id,
            client_id=args.client_id,
            captured_at=args.captured_at,
            page=page,
            environment=args.environment,
            health=health,
            redaction=args.redaction.add(redactor.counts),
            streams={
                stream: pack_pieces(entries.encode_pieces())
                for stream, entries in zip(Stream, (console, network, errors, actions), strict=True)
            },
            replay=pack_content(replay.events, compress=True) if replay.events else None,
            excerpt=pack_excerpt(console, network, errors, actions, public_id),
            error_words=collect_error_words(errors),
            console_words=collect_console_words(console.iterate_failures()),
        ),
        title=" ".join(title.split())[:300] or "Untitled page",
        description=description,
        labels=labels,
        counts=counts,
        fingerprints=[*fingerprint_errors(errors), *filter(None, [fingerprint_page(page.url)])],
        main_error=find_main_error(errors),
        replay_span=replay.span,
    )


def _remove_control_characters(page: Page) -> Page:
    """Remove control characters from a page's texts, which come from the site: a ticket's lines mustn't have any."""
    url, title = remove_unsafe(page.url), remove_unsafe(page.title, " ")
    return Page(url, title, None if page.referrer is None else remove_unsafe(page.referrer))
