"""The health of a capture, in words (docs/use/captures.md: what can't be collected)."""

from msgspec import UnsetType

from ticketbox.domain.captures.capture import (
    Extent,
    Health,
    HealthReason,
    HealthStatus,
    ScreenshotHealth,
    Stream,
    StreamHealth,
)

LATE_START_MS = 1_000  # a script injected at document start still begins a little after the page

_NAMES = {
    Stream.CONSOLE: "the console",
    Stream.NETWORK: "network requests",
    Stream.ERRORS: "errors",
    Stream.ACTIONS: "actions",
}
_REASONS = {
    HealthReason.CSP: "the page's content-security policy blocks the extension's script",
    HealthReason.RESTRICTED_PAGE: "the browser lets no extension into this page",
    HealthReason.LATE_START: "the extension started after the page had loaded",
    HealthReason.POLICY: "the project's capture policy leaves it out",
    HealthReason.LIMIT: "the size limit was reached",
    HealthReason.NAVIGATED: "what happened on an earlier page of the tab is missing",
    HealthReason.HIDDEN: "the browser doesn't show all of it to the extension",
    HealthReason.ERROR: "collecting failed",
    HealthReason.SLOWDOWN: "recording slowed the page down",
}
_UNAFFECTED = "The screenshot is not affected."


def describe_health(health: Health) -> str:
    """Describe in sentences what could not be collected, and why."""
    groups: dict[tuple[HealthStatus, HealthReason | None], list[Stream]] = {}
    parts = {stream: get_stream_health(health, stream) for stream in Stream if _is_described(health, stream)}
    for stream, part in parts.items():
        groups.setdefault((part.status, part.reason), []).append(stream)

    sentences = [_compose_sentence(status, reason, streams) for (status, reason), streams in groups.items()]
    for stream, part in parts.items():
        if count := part.dropped:
            entries = "entry was" if count == 1 else "entries were"
            sentences.append(f"{_capitalize(_NAMES[stream])}: {count:,} {entries} left out to keep the limits.")
    sentences += [_describe_replay(health), _describe_source_maps(health)]
    sentences.append(_describe_late_start(health))
    sentences = [sentence for sentence in sentences if sentence]
    if not sentences:
        names = "Console, network, errors and actions" if Stream.ACTIONS in parts else "Console, network and errors"
        sentences.append(f"{names} were collected in full.")
    elif any(status is not HealthStatus.OK for status, _ in groups):
        sentences.append(_UNAFFECTED)
    return " ".join(sentences + _describe_screenshot(health))


def get_stream_health(health: Health, stream: Stream) -> StreamHealth:
    """Return the health of one stream; one that the client doesn't record is disabled."""
    match stream:
        case Stream.CONSOLE:
            return health.console
        case Stream.NETWORK:
            return health.network
        case Stream.ERRORS:
            return health.errors
        case Stream.ACTIONS:
            return StreamHealth(HealthStatus.DISABLED) if isinstance(health.actions, UnsetType) else health.actions


def _is_described(health: Health, stream: Stream) -> bool:
    return stream is not Stream.ACTIONS or not isinstance(health.actions, UnsetType)


def _compose_sentence(status: HealthStatus, reason: HealthReason | None, streams: list[Stream]) -> str:
    *first, last = (_NAMES[stream] for stream in streams)
    names = _capitalize(f"{', '.join(first)} and {last}" if first else last)
    because = f": {_REASONS[reason]}" if reason else ""
    match status:
        case HealthStatus.OK:
            return ""
        case HealthStatus.PARTIAL:
            return f"{names} could be collected only in part{because}."
        case HealthStatus.EMPTY:
            return f"{names}: nothing was recorded{because}."
        case HealthStatus.BLOCKED:
            return f"{names} could not be collected{because}."
        case HealthStatus.DISABLED:
            return f"{names} are switched off{because}." if len(streams) > 1 else f"{names}: off{because}."


def _describe_replay(health: Health) -> str:
    replay = health.replay
    if isinstance(replay, UnsetType) or replay.status is HealthStatus.OK:
        return ""
    because = f": {_REASONS[replay.reason]}" if replay.reason else ""
    return f"The replay is incomplete{because}." if replay.captured else f"There is no replay{because}."


def _describe_source_maps(health: Health) -> str:
    maps = health.source_maps
    if isinstance(maps, UnsetType) or not maps.dropped:
        return ""
    reasons = {
        **_REASONS,
        HealthReason.LIMIT: "too large, too many or too slow",
        HealthReason.ERROR: "invalid",
        HealthReason.HIDDEN: "out of the page's reach",
    }
    because = f": {reasons[maps.reason]}" if maps.reason else ""
    ignored = "source map of the page was" if maps.dropped == 1 else "source maps of the page were"
    return f"{maps.dropped:,} {ignored} ignored{because}."


def _describe_screenshot(health: Health) -> list[str]:
    shown = health.screenshot
    if not isinstance(shown, ScreenshotHealth) or shown.extent is Extent.VISIBLE:
        return []
    sentences = ["The picture shows the page from top to bottom, not only what was in view."]
    if shown.cut:
        sentences.append("The page goes on where the picture ends.")
    if shown.inner:
        parts = "One part scrolls separately" if shown.inner == 1 else f"{shown.inner:,} parts scroll separately"
        sentences.append(f"{parts}; of that, the picture shows what was in view.")
    return sentences


def _describe_late_start(health: Health) -> str:
    began, loaded = health.history_started_at, health.page_loaded_at
    if began is None or loaded is None or began - loaded <= LATE_START_MS:
        return ""
    return (
        f"History starts {(began - loaded) / 1000:,.1f} s after the page loaded, when the extension did; "
        "what happened before is missing."
    )


def _capitalize(text: str) -> str:
    return text[0].upper() + text[1:]
