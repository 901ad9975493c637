"""Resolving the stacks of a capture: each frame in a bundle gets its place in the author's file."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ticketbox.domain.captures.capture import ConsoleEntry, ErrorEntry
from ticketbox.domain.captures.source_maps.frames import AROUND, Frame, OriginalFrame
from ticketbox.domain.captures.source_maps.source_map import SourceMap
from ticketbox.domain.captures.source_maps.stacks import parse_stack

MAX_CONTEXTS = 5  # frames of an error with context
MAX_CONTEXT_LINE = 200


class Script(NamedTuple):
    """What a map is matched by: the script's debug id, else its address."""

    debug_id: str | None
    url: str


def list_scripts(console: Iterable[ConsoleEntry], errors: Iterable[ErrorEntry]) -> list[Script]:
    """List the scripts of the frames that no uploaded map resolved, each once."""
    found: dict[Script, None] = {}
    for frames in _list_stacks(console, errors):
        for frame in frames:
            if not frame.is_resolved and frame.line is not None:
                found.setdefault(identify_script(frame))
    return list(found)


def _list_stacks(console: Iterable[ConsoleEntry], errors: Iterable[ErrorEntry]) -> Iterator[list[Frame]]:
    for entry in console:
        yield entry.frames or parse_stack(entry.stack or "")
    for error in errors:
        yield error.frames or parse_stack(error.stack or "")


def identify_script(frame: Frame) -> Script:
    """Return what the map of a frame's script is matched by."""
    return Script(frame.debug_id or None, frame.url.partition("?")[0].partition("#")[0])


def resolve_entries(
    console: Sequence[ConsoleEntry],
    errors: Sequence[ErrorEntry],
    maps: Mapping[Script, SourceMap],
    redact: Callable[[str], str],
) -> int:
    """Resolve the frames of entries in place; return how many. Texts of the author's files are redacted."""
    resolved = 0
    for error in errors:
        frames = error.frames or parse_stack(error.stack or "")
        count = resolve_frames(frames, maps, redact, contexts=MAX_CONTEXTS)
        if count:
            error.frames = frames
        resolved += count
    for entry in console:
        frames = entry.frames or parse_stack(entry.stack or "")
        count = resolve_frames(frames, maps, redact, contexts=0)
        if count:
            entry.frames = frames
        resolved += count
    return resolved


def resolve_frames(
    frames: Sequence[Frame],
    maps: Mapping[Script, SourceMap],
    redact: Callable[[str], str] = lambda text: text,
    *,
    contexts: int = MAX_CONTEXTS,
) -> int:
    """Resolve frames in place; return how many. The first ones get the lines around them as context."""
    resolved = 0
    for frame in frames:
        found = maps.get(identify_script(frame))
        if frame.is_resolved or found is None:
            continue
        original = _resolve_frame(frame, found, redact, has_context=resolved < contexts)
        if original is not None:
            frame.original = original
            resolved += 1
    return resolved


def _resolve_frame(
    frame: Frame, found: SourceMap, redact: Callable[[str], str], *, has_context: bool
) -> OriginalFrame | None:
    place = found.find(frame.line or 0, frame.column or 1)
    if place is None:
        return None
    context = found.list_context(place, AROUND, MAX_CONTEXT_LINE) if has_context else []
    return OriginalFrame(
        file=redact(place.file),
        line=place.line,
        column=place.column,
        context=[redact(line)[:MAX_CONTEXT_LINE] for line in context],
    )
