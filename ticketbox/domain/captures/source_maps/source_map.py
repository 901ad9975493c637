"""Reading source maps. Nothing that a map names is ever fetched: sources are names and, at most, included texts."""

import re
from array import array
from typing import NamedTuple

import msgspec

from ticketbox.domain.captures.intake.processor_time import ProcessorTime
from ticketbox.domain.captures.source_maps.encoded_texts import EncodedTexts
from ticketbox.domain.captures.source_maps.mappings import InvalidSourceMap, Mappings
from ticketbox.domain.core.unsafe_characters import remove_unsafe

MAX_BYTES = 32 * 1024 * 1024
MAX_SOURCES = 50_000
MAX_FILE = 400  # characters of a source's name
MAX_NAME = 4_000  # bytes of an encoded source's name; longer ones are ignored
MAX_TEXT = 4 * 1024 * 1024  # bytes of an encoded source; longer ones are ignored
MAX_SECONDS = 10.0  # of processor time for one map

_MAX_KNOWN_TEXTS = 8 * 1024 * 1024
_MAPPINGS = re.compile(rb'"[A-Za-z0-9+/,;]*+(?:\\/[A-Za-z0-9+/,;]*+)*+"')
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.\-]{0,30}:(?://[^/]*)?")
_DEBUG_ID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_PREFIX = b")]}'"
_NULL = msgspec.Raw(b"null")


class _EncodedFile(msgspec.Struct):
    """The fields of a map that are used, still encoded: decoded, they can take ten times the memory."""

    version: int
    mappings: msgspec.Raw = msgspec.Raw(b'""')
    sources: msgspec.Raw = _NULL
    sourcesContent: msgspec.Raw = _NULL
    sourceRoot: msgspec.Raw = _NULL
    debugId: msgspec.Raw = _NULL
    debug_id: msgspec.Raw = _NULL
    sections: msgspec.Raw = _NULL


class MapFile(NamedTuple):
    """A map whose form was checked."""

    mappings: bytes
    sources: EncodedTexts
    contents: EncodedTexts
    root: str
    debug_id: str | None


class Place(NamedTuple):
    """A place in an author's file. Line and column begin at 1; `source` is the file's index in the map."""

    file: str
    line: int
    column: int
    source: int


_DECODER = msgspec.json.Decoder(_EncodedFile)


def decode_map_file(data: bytes) -> MapFile:
    """Decode a map, and check its form. Raises InvalidSourceMap."""
    if len(data) > MAX_BYTES:
        raise InvalidSourceMap(f"it has more than {MAX_BYTES // 1024 // 1024} MiB")
    if data.startswith(_PREFIX):  # against scripts that include a map
        data = data.partition(b"\n")[2]
    try:
        found = _DECODER.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidSourceMap(f"it isn't a source map: {error}") from None
    if bytes(found.sections) != b"null":
        raise InvalidSourceMap("it consists of other maps (`sections`); send these")
    if found.version != 3:
        raise InvalidSourceMap(f"it has version {found.version}; only version 3 is supported")
    sources = EncodedTexts(found.sources, "sources", MAX_SOURCES, MAX_NAME)
    mappings = _decode_mappings(memoryview(found.mappings))
    if not len(sources) or not mappings:
        raise InvalidSourceMap("it has no sources or no mappings")
    return MapFile(
        mappings,
        sources,
        EncodedTexts(found.sourcesContent, "sources", MAX_SOURCES, MAX_TEXT),
        _decode_short(found.sourceRoot) or "",
        _decode_short(found.debugId) or _decode_short(found.debug_id),
    )


def _decode_mappings(encoded: memoryview) -> bytes:
    if not _MAPPINGS.fullmatch(encoded):
        raise InvalidSourceMap("its mappings have a character that isn't base 64")
    return bytes(encoded[1:-1]).replace(b"\\/", b"/")


def _decode_short(encoded: msgspec.Raw) -> str | None:
    """Decode a short text; None for anything else."""
    data = memoryview(encoded)
    try:
        return None if len(data) > MAX_NAME else msgspec.json.decode(data, type=str | None)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def find_debug_id(found: MapFile) -> str | None:
    """Return the debug id of a map in lower case, if it has a valid one."""
    text = found.debug_id or ""
    return text.lower() if _DEBUG_ID.fullmatch(text) else None


class SourceMap:
    """A map that positions of its bundle are looked up in. Raises InvalidSourceMap."""

    def __init__(self, data: bytes) -> None:
        self._file = decode_map_file(data)
        self._mappings = Mappings(self._file.mappings, ProcessorTime(MAX_SECONDS, _build_time_error))
        self._texts: dict[int, SourceText | None] = {}
        self._texts_length = 0

    def find(self, line: int, column: int) -> Place | None:
        """Find the place of a position in the bundle; lines and columns begin at 1."""
        mapping = self._mappings.find(line - 1, column - 1)
        if mapping is None or mapping.line < 0 or mapping.column < 0:
            return None
        source = self._file.sources.decode(mapping.source)
        if source is None:
            return None
        return Place(clean_file(source, self._file.root), mapping.line + 1, mapping.column + 1, mapping.source)

    def list_context(self, place: Place, around: int, longest: int) -> list[str]:
        """List the line of a place with the lines around it, each cut to a length; none if the map has no text."""
        if place.source not in self._texts:
            text = self._file.contents.decode(place.source)
            self._texts_length += len(text or "")
            if self._texts_length > _MAX_KNOWN_TEXTS:
                self._texts.clear()
                self._texts_length = len(text or "")
            self._texts[place.source] = None if text is None else SourceText(text)
        found = self._texts[place.source]
        return [] if found is None else found.list_context(place.line, around, longest)


class SourceText:
    """The text of an author's file."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends = array("I", (match.start() for match in re.finditer("\n", text)))
        self._ends.append(len(text))

    def list_context(self, line: int, around: int, longest: int) -> list[str]:
        """List a line (from 1) with the lines around it, each cut to a length."""
        if not 1 <= line <= len(self._ends):
            return []
        lines = range(max(1, line - around), min(len(self._ends), line + around) + 1)
        return [self._text[self._find_start(each) : self._ends[each - 1]].rstrip("\r")[:longest] for each in lines]

    def _find_start(self, line: int) -> int:
        return 0 if line == 1 else self._ends[line - 2] + 1


def clean_file(source: str, root: str = "") -> str:
    """Return the name of a source as people write it: a relative path without schemes, queries and `..`."""
    text = source if _SCHEME.match(source) or not root else f"{root.rstrip('/')}/{source}"
    path = remove_unsafe(_SCHEME.sub("", text.replace("\\", "/"), count=1).partition("?")[0])
    parts = [part for part in path.split("/") if part not in ("", ".", "..")]
    return "/".join(parts)[-MAX_FILE:] or "(unknown)"


def _build_time_error(seconds: float) -> Exception:
    return InvalidSourceMap(f"reading it takes more than {seconds:g} s of processor time")
