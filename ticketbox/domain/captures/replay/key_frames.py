"""Checking the key frames that a client sends: pictures of a replay's key moments, rendered by the reporter's browser.

A frame never costs the capture: one that can't be used is left out, and the capture's health says why.
"""

import re
from collections.abc import Iterable

import msgspec
from msgspec import UNSET, UnsetType

from ticketbox.domain.captures.capture import HealthReason, HealthStatus, StreamHealth
from ticketbox.domain.captures.images import processing
from ticketbox.domain.captures.replay.replay import ReplaySpan
from ticketbox.domain.core.problems import Problem

MAX_FRAMES = 5
MAX_BYTES = 200_000
MAX_SIDE = 2_000
MIN_GAP_MS = 1_000

# A frame's file name is its time in epoch milliseconds.
_NAME = re.compile(r"(\d{1,14})\.(?:webp|png|jpe?g)", re.ASCII)


class KeyFrame(msgspec.Struct, frozen=True):
    """A picture of a moment: its time in epoch milliseconds, and the seconds since the replay began."""

    at: int
    second: float
    data: bytes
    media_type: str
    width: int
    height: int


def select_frames(
    sent: Iterable[tuple[str, bytes]], span: ReplaySpan | None, sent_health: StreamHealth | UnsetType, *, off: bool
) -> tuple[list[KeyFrame], StreamHealth | UnsetType]:
    """Select the frames that can be stored, oldest first, of those that were sent with their names; and their health.

    Each must be an image within the limits, of a moment inside the replay, at least a second after the one before.
    `off`: the project's policy keeps no replays.
    """
    sent = list(sent)
    if off and (sent or sent_health is not UNSET):
        return [], StreamHealth(HealthStatus.DISABLED, HealthReason.POLICY)
    frames: list[KeyFrame] = []
    reason: HealthReason | None = None
    for name, data in sent:
        frame = _read_frame(name, data, span)
        if isinstance(frame, HealthReason):
            reason = reason or frame
        elif frames and frame.at < frames[-1].at + MIN_GAP_MS:
            reason = reason or HealthReason.ERROR
        else:
            frames.append(frame)
    dropped = len(sent) - len(frames)
    if dropped:
        status = HealthStatus.PARTIAL if frames else HealthStatus.BLOCKED
        return frames, StreamHealth(status, reason, len(frames), dropped)
    if sent_health is UNSET:
        return frames, StreamHealth(HealthStatus.OK, captured=len(frames)) if frames else UNSET
    return frames, msgspec.structs.replace(sent_health, captured=len(frames))


def _read_frame(name: str, data: bytes, span: ReplaySpan | None) -> KeyFrame | HealthReason:
    """Read a frame, or return why it can't be used."""
    match = _NAME.fullmatch(name)
    if match is None or span is None or int(match[1]) > span.end:
        return HealthReason.ERROR
    if int(match[1]) < span.start or len(data) > MAX_BYTES:
        return HealthReason.LIMIT
    try:
        info = processing.inspect_image(data)
    except Problem:
        return HealthReason.ERROR
    if max(info.width, info.height) > MAX_SIDE:
        return HealthReason.LIMIT
    at = int(match[1])
    return KeyFrame(at, round((at - span.start) / 1000, 1), data, info.media_type, info.width, info.height)
