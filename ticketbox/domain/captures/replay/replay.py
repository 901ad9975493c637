"""Reading the replay that a client sends: the page's changes in the last seconds, as events of rrweb 2.

A replay never costs the capture: one that can't be read is left out, and the capture's health says why.
"""

from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import UNSET, UnsetType

from ticketbox.domain.captures.capture import HealthReason, HealthStatus, ReplayHealth
from ticketbox.domain.captures.intake.inflation import MAGIC, InflatedTooLarge, InvalidGzip, inflate
from ticketbox.domain.captures.intake.json_repair import repair_json
from ticketbox.domain.captures.intake.processor_time import ProcessorTime
from ticketbox.domain.captures.redaction.redactor import Redactor
from ticketbox.domain.captures.replay.events import FULL_SNAPSHOT, META, EventCopier, take
from ticketbox.domain.captures.replay.nodes import NodeCopier
from ticketbox.domain.core.problems import PayloadTooLarge


class _Limits(msgspec.Struct, frozen=True):
    """The contents of limits.json, which the reporter of pages shares."""

    compressed_bytes: int
    bytes: int
    events: int
    quotes: int
    commas: int
    objects: int


_limits = msgspec.json.decode(Path(__file__).with_name("limits.json").read_bytes(), type=_Limits)
MAX_SENT = _limits.compressed_bytes
MAX_INFLATED = _limits.bytes  # a recording has 4,000,000 characters, most of one byte
MAX_EVENTS = _limits.events
# Decoded, an event takes memory for each object, list, text and number: without limits 30 times as much as it does.
MAX_QUOTES = _limits.quotes
MAX_COMMAS = _limits.commas
MAX_OBJECTS = _limits.objects  # and as many lists, in one event: what 4,000,000 characters of ordinary elements have


class _EventHead(msgspec.Struct):
    """What is read of every event first. The rest is skipped."""

    type: int
    timestamp: float


class _Unusable(Exception):
    """A replay that isn't stored."""

    def __init__(self, reason: HealthReason) -> None:
        super().__init__(reason)
        self.reason = reason


class Replay(msgspec.Struct, frozen=True):
    """A replay as it is stored, a JSON array of events, empty if there is none; and its health."""

    events: bytes
    health: ReplayHealth | UnsetType


_heads = msgspec.json.Decoder(_EventHead)
_array = msgspec.json.Decoder(list[msgspec.Raw])
_INVALID = (KeyError, TypeError, ValueError, AttributeError, IndexError)  # an event of another shape


def read_replay(
    body: bytes, seconds: int, sent_health: ReplayHealth | UnsetType, redactor: Redactor, limit: ProcessorTime
) -> Replay:
    """Read a replay, plain or gzip, and copy what is shown of its last seconds.

    `sent_health` is what the client reports. The stored part begins with the last full snapshot
    that is early enough, because a replay can begin only with one.
    """
    if not seconds and (body or sent_health is not UNSET):
        return Replay(b"", ReplayHealth(HealthStatus.DISABLED, HealthReason.POLICY))
    if not body:
        without = UNSET if sent_health is UNSET else msgspec.structs.replace(sent_health, captured=0, length=UNSET)
        return Replay(b"", without)
    try:
        replay = _read_events(body, seconds, EventCopier(NodeCopier(redactor, limit)), limit)
    except _Unusable as error:
        return Replay(b"", ReplayHealth(HealthStatus.BLOCKED, error.reason))
    except PayloadTooLarge:
        return Replay(b"", ReplayHealth(HealthStatus.BLOCKED, HealthReason.LIMIT))
    events, count, dropped, length = replay
    if dropped:
        health = ReplayHealth(HealthStatus.PARTIAL, HealthReason.ERROR, dropped=dropped)
    else:
        health = ReplayHealth(HealthStatus.OK) if isinstance(sent_health, UnsetType) else sent_health
    return Replay(events, msgspec.structs.replace(health, captured=count, length=length))


def _read_events(body: bytes, seconds: int, copier: EventCopier, limit: ProcessorTime) -> tuple[bytes, int, int, int]:
    """Return the stored events, their count, how many were dropped, and the milliseconds from the first to the last.

    Raises _Unusable and PayloadTooLarge.
    """
    dropped, start, events = _choose_events(_split_events(body), seconds)
    length = max(0, round(events[-1][0].timestamp - max(start, events[0][0].timestamp)))
    copies: list[bytes] = []
    for head, event in take(events):
        limit.check(len(event))
        if event.count(b"{") > MAX_OBJECTS or event.count(b"[") > MAX_OBJECTS:
            raise _Unusable(HealthReason.LIMIT)
        try:
            copy = copier.copy_event(msgspec.json.decode(event))
        except RecursionError:
            raise _Unusable(HealthReason.ERROR) from None
        except _INVALID:
            if head.type in (FULL_SNAPSHOT, META):
                raise _Unusable(HealthReason.ERROR) from None
            dropped += 1
            continue
        if copy is not None:
            # what happened before is the state that the replay begins with
            copies.append(msgspec.json.encode(copy | {"timestamp": max(start, head.timestamp)}))
    if len(copies) < 2:
        raise _Unusable(HealthReason.ERROR)
    return b"[%s]" % b",".join(copies), len(copies), dropped, length


def _split_events(body: bytes) -> list[msgspec.Raw]:
    if len(body) > MAX_SENT:
        raise _Unusable(HealthReason.LIMIT)
    try:
        plain = inflate(body, MAX_INFLATED) if body.startswith(MAGIC) else body
        if plain.count(b",") > MAX_COMMAS or plain.count(b'"') > MAX_QUOTES:
            raise _Unusable(HealthReason.LIMIT)
        raws = _array.decode(repair_json(plain))
    except InflatedTooLarge:
        raise _Unusable(HealthReason.LIMIT) from None
    except (InvalidGzip, ValueError, RecursionError):
        raise _Unusable(HealthReason.ERROR) from None
    if len(raws) > MAX_EVENTS:
        raise _Unusable(HealthReason.LIMIT)
    return raws


def _choose_events(raws: Sequence[msgspec.Raw], seconds: int) -> tuple[int, float, list[tuple[_EventHead, bytes]]]:
    """Return how many events are invalid or out of order, the time of the beginning, and the events that are stored."""
    events: list[tuple[_EventHead, bytes]] = []
    snapshots: list[int] = []  # each after the event with the page's size
    for raw in raws:
        try:
            head = _heads.decode(raw)
        except (ValueError, RecursionError):
            continue
        if events and head.timestamp < events[-1][0].timestamp:
            continue
        if head.type == FULL_SNAPSHOT and events and events[-1][0].type == META:
            snapshots.append(len(events) - 1)
        events.append((head, bytes(raw)))
    if not snapshots:
        raise _Unusable(HealthReason.ERROR)
    start = events[-1][0].timestamp - seconds * 1000
    first = max((each for each in snapshots if events[each][0].timestamp <= start), default=snapshots[0])
    return len(raws) - len(events), start, events[first:]
