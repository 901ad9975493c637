"""Stacks as browsers write them, taken apart, and written again with the places in the author's files."""

import re
from collections.abc import Sequence

from msgspec import UNSET

from ticketbox.domain.captures.fields import LINE, TEXT, URL
from ticketbox.domain.captures.source_maps.frames import Frame

MAX_FRAMES = 50

_PLACE = r"(?P<url>[a-zA-Z][a-zA-Z0-9+.\-]*:[^\s()]+?):(?P<line>[0-9]{1,9}):(?P<column>[0-9]{1,9})"
_CHROMIUM = re.compile(rf"\s*at (?:async )?(?:(?P<function>[^()]{{1,300}}?) (?:\[as [^\]]*\] )?\()?{_PLACE}\)?\s*")
_FIREFOX = re.compile(rf"(?P<function>[^@\s]{{0,300}})@{_PLACE}\s*")


def parse_stack(stack: str) -> list[Frame]:
    """Take a stack apart, innermost frame first; lines without a place in a script are left out."""
    frames: list[Frame] = []
    for line in stack[:TEXT].split("\n"):
        match = len(line) < URL and (_CHROMIUM.fullmatch(line) or _FIREFOX.fullmatch(line))
        if match:
            function = (match["function"] or "")[:LINE] or None
            frames.append(Frame(match["url"], function, int(match["line"]), int(match["column"])))
            if len(frames) == MAX_FRAMES:
                break
    return frames


def write_original_stack(stack: str | None, frames: Sequence[Frame]) -> str | None:
    """Write a stack with the author's files, below the message of the browser's; None if no frame has one."""
    if all(frame.original is UNSET for frame in frames):
        return None
    head = (stack or "").split("\n")
    count = next((place for place, line in enumerate(head) if parse_stack(line)), 0)
    return "\n".join([*head[:count], *(f"    at {_format_frame(frame)}" for frame in frames)])


def _format_frame(frame: Frame) -> str:
    if frame.original is not UNSET:
        place = frame.original.place
    else:
        place = frame.url + "".join(f":{number}" for number in (frame.line, frame.column) if number is not None)
    return f"{frame.function} ({place})" if frame.function else place
