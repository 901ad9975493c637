"""Checking source maps, and resolving the stacks of a capture with them.

The worker process imports this, so it imports nothing of the store or the event loop, which take 8 MB.
"""

from collections.abc import Mapping
from typing import NamedTuple, TypeVar

import msgspec

from ticketbox.domain.captures.actions import ActionEntry
from ticketbox.domain.captures.capture import ConsoleEntry, ErrorEntry, NetworkEntry, Stream
from ticketbox.domain.captures.fingerprints import Fingerprint, fingerprint_errors
from ticketbox.domain.captures.intake.new_capture import pack_excerpt
from ticketbox.domain.captures.redaction.redactor import Redactor
from ticketbox.domain.captures.source_maps.mappings import InvalidSourceMap
from ticketbox.domain.captures.source_maps.resolution import Script, list_scripts, resolve_entries
from ticketbox.domain.captures.source_maps.source_map import SourceMap, decode_map_file, find_debug_id
from ticketbox.domain.captures.streams import MAX_BYTES
from ticketbox.domain.core.packed_content import PackedContent, pack_content, unpack_content

T = TypeVar("T")

PackedMaps = dict[Script, tuple[str, bytes]]


class StoredStreams(NamedTuple):
    """The streams of a capture as they are stored, and its project's own redactions."""

    id: str
    extra_redactions: list[str]
    contents: Mapping[Stream, tuple[str, bytes]]

    def decode(self, stream: Stream, kind: type[T]) -> list[T]:
        """Decode the entries of a stream."""
        packed = self.contents.get(stream)
        return [] if packed is None else msgspec.json.decode(unpack_content(*packed), type=list[kind])


class ResolvedStreams(NamedTuple):
    """What replaces parts of a capture."""

    console: PackedContent
    errors: PackedContent
    excerpt: PackedContent
    fingerprints: list[Fingerprint]


class Resolution(NamedTuple):
    """The resolved streams, None if nothing changes, and what the log says about it."""

    streams: ResolvedStreams | None
    notes: list[str]


def check_map(data: bytes) -> str | None:
    """Check a map, and return its debug id if it has one. Raises InvalidSourceMap."""
    return find_debug_id(decode_map_file(data))


def list_stored_scripts(stored: StoredStreams) -> list[Script]:
    """List the scripts of the frames that no uploaded map resolved, each once."""
    return list_scripts(stored.decode(Stream.CONSOLE, ConsoleEntry), stored.decode(Stream.ERRORS, ErrorEntry))


def resolve_stacks(stored: StoredStreams, packed: PackedMaps) -> Resolution:
    """Resolve the stacks of a capture. A map that can't be read is noted."""
    notes: list[str] = []
    maps: dict[Script, SourceMap] = {}
    for script, content in packed.items():
        try:
            maps[script] = SourceMap(unpack_content(*content))
        except InvalidSourceMap as error:
            notes.append(f"the source map of {script.url[-200:]} is ignored: {error}")
    console, errors = stored.decode(Stream.CONSOLE, ConsoleEntry), stored.decode(Stream.ERRORS, ErrorEntry)
    redactor = Redactor(stored.extra_redactions)
    if not resolve_entries(console, errors, maps, redactor.redact_text):
        return Resolution(None, notes)
    encoded = msgspec.json.encode(console), msgspec.json.encode(errors)
    if max(map(len, encoded)) > MAX_BYTES:
        return Resolution(None, [*notes, f"the stacks of {stored.id} aren't resolved: the stream would be too large"])
    excerpt = pack_excerpt(
        console,
        stored.decode(Stream.NETWORK, NetworkEntry),
        errors,
        stored.decode(Stream.ACTIONS, ActionEntry),
        stored.id,
    )
    streams = ResolvedStreams(
        pack_content(encoded[0], compress=True),
        pack_content(encoded[1], compress=True),
        excerpt,
        fingerprint_errors(errors),
    )
    return Resolution(streams, notes)
