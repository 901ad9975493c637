"""Processing a capture's streams and texts: decode, redact, shorten and compress them.

The worker process imports this, so it imports nothing of the store or the event loop, which take 8 MB.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from ticketbox.domain.captures.actions import ActionEntry
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
from ticketbox.domain.captures.expectations import SentExpectation, find_fault, normalize_expectation
from ticketbox.domain.captures.fingerprints import Fingerprint, find_main_error, fingerprint_errors, fingerprint_page
from ticketbox.domain.captures.health import get_stream_health
from ticketbox.domain.captures.intake.entry_sequence import EntrySequence, MemoryQuota
from ticketbox.domain.captures.intake.new_capture import NewCapture, pack_excerpt
from ticketbox.domain.captures.intake.processor_time import ProcessorTime
from ticketbox.domain.captures.intake.sent_streams import read_stream
from ticketbox.domain.captures.records import DescribedFailure
from ticketbox.domain.captures.redaction.body_shape import shape_bodies
from ticketbox.domain.captures.redaction.redactor import Redactor
from ticketbox.domain.captures.redaction.secret_values import REDACTED
from ticketbox.domain.captures.redaction.storage_shape import StorageShaper
from ticketbox.domain.captures.replay.replay import Replay, read_replay
from ticketbox.domain.captures.reproduction.bug import Streams, describe_failure, find_bug, find_failure
from ticketbox.domain.captures.source_maps.frames import mark_as_from_page, remove_originals
from ticketbox.domain.captures.steps import build_steps
from ticketbox.domain.captures.streams import remove_bodies, shorten_bodies
from ticketbox.domain.captures.summaries.search_text import collect_console_words, collect_error_words
from ticketbox.domain.companies.records import Actions, Bodies, CapturePolicy, PageSourceMaps, PageStorage
from ticketbox.domain.core.ids import Prefix, generate_id
from ticketbox.domain.core.memory import return_free_memory
from ticketbox.domain.core.network.page_address import normalize_page_address
from ticketbox.domain.core.packed_content import PackedContent, pack_content, pack_pieces
from ticketbox.domain.core.problems import InvalidField
from ticketbox.domain.core.unsafe_characters import remove_unsafe
from ticketbox.domain.tickets.records import Failure, FrequentError, StreamCounts
from ticketbox.operations.core.inputs import MAX_LABEL, MAX_MARKDOWN

NO_SUCH_FAILURE = "must be a thrown error, an error in the console, or a failed request of the capture"
_NO_PAGE = "about:blank"  # where a step led that didn't open a page of a site

MAX_DECODED = 2 * 1024 * 1024  # of the entries of all streams: few are read again


class SentCapture(msgspec.Struct, frozen=True):
    """What is sent of a capture, but the files."""

    client_id: str
    captured_at: int
    page: Page
    environment: Environment
    health: Health
    redaction: Redaction
    bug: Failure | None
    expectations: list[SentExpectation]
    kept_numbers: list[str]
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


class PackedStreams(msgspec.Struct, frozen=True):
    """A capture's streams, redacted and packed, and what is drawn from their entries."""

    contents: dict[Stream, PackedContent]
    counts: StreamCounts
    dropped: dict[Stream, int]
    excerpt: PackedContent
    fingerprints: list[Fingerprint]
    main_error: FrequentError | None
    error_words: str
    console_words: str
    bug: DescribedFailure | None


def process_streams(args: SentCapture, policy: CapturePolicy, seconds: float) -> ProcessedCapture:
    """Redact, shorten and compress a capture. Raises InvalidRequest and PayloadTooLarge."""
    limit = ProcessorTime(seconds)
    redactor = Redactor(policy.extra_redactions, limit.check)
    public_id = generate_id(Prefix.CAPTURE)
    streams = _pack_streams(args, policy, public_id, redactor, limit)
    page = _clean_page(args.page)
    redactor.redact_page(page)
    redactor.redact_environment(args.environment)
    _apply_storage_policy(args.environment, policy, args.captured_at)
    for place, each in enumerate(args.expectations):
        prepare_expectation(each, redactor, f"capture.expectations[{place}].")
    title = redactor.redact_text(remove_unsafe(args.title or "", " ").strip() or page.title.strip() or page.url)
    description = redactor.redact_text(args.description, MAX_MARKDOWN)
    labels = [redactor.redact_text(label, MAX_LABEL) for label in args.labels]
    # last, because it takes what is left of the processor's time, and of the memory
    return_free_memory()
    replay = read_replay(args.replay, policy.replay, args.health.replay, redactor, limit)
    _complete_health(args.health, policy, streams, replay)
    return ProcessedCapture(
        capture=NewCapture(
            public_id=public_id,
            client_id=args.client_id,
            captured_at=args.captured_at,
            page=page,
            environment=args.environment,
            health=args.health,
            redaction=args.redaction.add(redactor.counts),
            streams=streams.contents,
            replay=pack_content(replay.events, compress=True) if replay.events else None,
            excerpt=streams.excerpt,
            error_words=streams.error_words,
            console_words=streams.console_words,
            bug=streams.bug,
            is_bug_chosen=args.bug is not None,
            expectations=args.expectations,
        ),
        title=" ".join(title.split())[:300] or "Untitled page",
        description=description,
        labels=labels,
        counts=streams.counts,
        fingerprints=[*streams.fingerprints, *filter(None, [fingerprint_page(page.url)])],
        main_error=streams.main_error,
    )


def prepare_expectation(sent: SentExpectation, redactor: Redactor, path: str = "") -> None:
    """Check, normalize and redact an expectation in place. Raises InvalidRequest with the path of its field."""
    normalize_expectation(sent)
    fault = find_fault(sent)
    if fault is not None:
        raise InvalidField(f"{path}{fault.field}", fault.detail)
    redactor.redact_expectation(sent)


def _apply_storage_policy(environment: Environment, policy: CapturePolicy, captured_at: int) -> None:
    """Remove of a page's storage what the policy excludes, and replace its values."""
    if policy.storage is PageStorage.OFF:
        environment.storage = msgspec.UNSET
    if environment.storage is msgspec.UNSET or environment.storage.start is msgspec.UNSET:
        return
    shaper = StorageShaper(captured_at, policy.extra_redactions)
    for values in [each for start in environment.storage.start for each in (start.local, start.session)]:
        for name, value in values.items():
            is_kept = policy.storage is PageStorage.SHAPE and value is not None and REDACTED not in name
            values[name] = shaper.shape(name, value) if is_kept and value is not None else None


def _pack_streams(
    args: SentCapture, policy: CapturePolicy, public_id: str, redactor: Redactor, limit: ProcessorTime
) -> PackedStreams:
    """Read, redact and pack the streams. Their entries are released on return."""
    quota = MemoryQuota(MAX_DECODED)

    def read(stream: Stream, body: bytes, prepare: Callable[[Any], None]) -> EntrySequence[Any]:
        entries, dropped[stream] = read_stream(stream, body, prepare, limit.check, quota=quota)
        return entries

    def prepare_request(entry: NetworkEntry) -> None:
        if policy.bodies is Bodies.OFF:
            remove_bodies(entry)
        redactor.redact_network((entry,))
        shorten_bodies(entry)  # redaction can lengthen a text, so every cut comes after it

    prepare_frames = mark_as_from_page if policy.page_source_maps is PageSourceMaps.ON else remove_originals

    def prepare_line(entry: ConsoleEntry) -> None:
        prepare_frames(entry.frames)
        redactor.redact_console((entry,))

    def prepare_error(entry: ErrorEntry) -> None:
        prepare_frames(entry.frames)
        redactor.redact_errors((entry,))

    dropped: dict[Stream, int] = {}
    network: EntrySequence[NetworkEntry] = read(Stream.NETWORK, args.network, prepare_request)
    if policy.bodies is Bodies.SHAPE:
        shape_bodies(network, limit.check, frozenset(args.kept_numbers))
    errors: EntrySequence[ErrorEntry] = read(Stream.ERRORS, args.errors, prepare_error)
    sent_actions = b"[]" if policy.actions is Actions.OFF else args.actions

    def prepare_action(entry: ActionEntry) -> None:
        if entry.url is not None:
            entry.url = normalize_page_address(entry.url) or _NO_PAGE
        redactor.redact_actions((entry,))

    actions = read(Stream.ACTIONS, sent_actions, prepare_action)
    # after the others, whose failures are all read again and so use the quota first
    console: EntrySequence[ConsoleEntry] = read(Stream.CONSOLE, args.console, prepare_line)
    return PackedStreams(
        contents={
            stream: pack_pieces(entries.encode_pieces())
            for stream, entries in zip(Stream, (console, network, errors, actions), strict=True)
        },
        counts=StreamCounts(
            console=len(console),
            network=len(network),
            errors=len(errors),
            failed_requests=sum(failed for _, failed in network.list_occurrences()),
            actions=len(actions),
        ),
        dropped=dropped,
        excerpt=pack_excerpt(console, network, errors, actions, public_id),
        fingerprints=fingerprint_errors(errors),
        main_error=find_main_error(errors),
        error_words=collect_error_words(errors),
        console_words=collect_console_words(console.iterate_failures()),
        bug=_find_bug(console, network, errors, actions, args),
    )


def _find_bug(
    console: EntrySequence[ConsoleEntry],
    network: EntrySequence[NetworkEntry],
    errors: EntrySequence[ErrorEntry],
    actions: EntrySequence[ActionEntry],
    args: SentCapture,
) -> DescribedFailure | None:
    """Find the failure that the capture is about. Raises InvalidRequest if it has none with the name that was sent."""

    def read_streams() -> Streams:
        return console.iterate_failures(), network.iterate_failures(), errors

    if args.bug is None:
        found = find_bug(read_streams, build_steps(actions), args.page.url)
    elif (found := find_failure(read_streams(), args.bug)) is None:
        raise InvalidField("capture.bug", NO_SUCH_FAILURE)
    return found and describe_failure(found)


def _complete_health(health: Health, policy: CapturePolicy, streams: PackedStreams, replay: Replay) -> None:
    """Add to a capture's health what its project's policy and the limits left out."""
    if policy.actions is Actions.OFF and health.actions is not msgspec.UNSET:
        health.actions = StreamHealth(HealthStatus.DISABLED, HealthReason.POLICY)
    elif streams.counts.actions and health.actions is msgspec.UNSET:
        health.actions = StreamHealth(HealthStatus.OK, captured=streams.counts.actions)
    if policy.page_source_maps is PageSourceMaps.OFF and health.source_maps is not msgspec.UNSET:
        health.source_maps = StreamHealth(HealthStatus.DISABLED, HealthReason.POLICY)
    for stream, count in streams.dropped.items():
        get_stream_health(health, stream).dropped += count
    health.replay = replay.health


def _clean_page(page: Page) -> Page:
    """Remove control characters from a page's texts, which come from the site: a ticket's lines mustn't have any."""
    url = normalize_page_address(remove_unsafe(page.url)) or ""
    return Page(url, remove_unsafe(page.title, " "), None if page.referrer is None else remove_unsafe(page.referrer))
