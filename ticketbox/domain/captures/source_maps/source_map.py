"""Reading source maps. Nothing that a map names is ever fetched: sources are names and, at most, included texts."""

import re
from typing import NamedTuple

import msgspec

from ticketbox.domain.captures.intake.processor_time import ProcessorTime
from ticketbox.domain.captures.source_maps.functions import FunctionScopes
from ticketbox.domain.captures.source_maps.mappings import InvalidSourceMap, Mappings
from ticketbox.domain.core.unsafe_characters import remove_unsafe

MAX_BYTES = 32 * 1024 * 1024
MAX_SOURCES = 50_000
MAX_FILE = 400  # characters of a source's name
MAX_SECONDS = 10.0  # of processor time for one map

_ALPHABET = re.compile(r"[A-Za-z0-9+/,;]*")
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.\-]*:(?://[^/]*)?")
_DEBUG_ID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_PREFIX = b")]}'"


class MapFile(msgspec.Struct):
    """The fields of a map that are used."""

    version: int
    mappings: str = ""
    sources: list[str | None] = []
    sourcesContent: list[str | None] | None = None
    names: list[str] = []
    sourceRoot: str | None = None
    debugId: str | None = None
    debug_id: str | None = None
    sections: msgspec.Raw | None = None


class Place(NamedTuple):
    """A place in an author's file. Line and column begin at 1; `name` is the identifier there, if the map has it."""

    file: str
    line: int
    column: int
    name: str | None
    source: int


_DECODER = msgspec.json.Decoder(MapFile)


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
    if found.sections is not None:
        raise InvalidSourceMap("it consists of other maps (`sections`); send these")
    if found.version != 3:
        raise InvalidSourceMap(f"it has version {found.version}; only version 3 is supported")
    if not found.sources or not found.mappings:
        raise InvalidSourceMap("it has no sources or no mappings")
    if len(found.sources) > MAX_SOURCES:
        raise InvalidSourceMap(f"it has more than {MAX_SOURCES:,} sources")
    if not _ALPHABET.fullmatch(found.mappings):
        raise InvalidSourceMap("its mappings have a character that isn't base 64")
    return found


def find_debug_id(found: MapFile) -> str | None:
    """Return the debug id of a map in lower case, if it has a valid one."""
    text = found.debugId or found.debug_id or ""
    return text.lower() if _DEBUG_ID.fullmatch(text) else None


class SourceMap:
    """A map that positions of its bundle are looked up in. Raises InvalidSourceMap."""

    def __init__(self, data: bytes) -> None:
        self._file = decode_map_file(data)
        self._mappings = Mappings(self._file.mappings, ProcessorTime(MAX_SECONDS, _build_time_error))
        self._texts: dict[int, SourceText | None] = {}

    def find(self, line: int, column: int) -> Place | None:
        """Find the place of a position in the bundle; lines and columns begin at 1."""
        mapping = self._mappings.find(line - 1, column - 1)
        if mapping is None or not 0 <= mapping.source < len(self._file.sources):
            return None
        source = self._file.sources[mapping.source]
        if source is None or mapping.line < 0 or mapping.column < 0:
            return None
        name = self._file.names[mapping.name] if 0 <= mapping.name < len(self._file.names) else None
        file = clean_file(source, self._file.sourceRoot or "")
        return Place(file, mapping.line + 1, mapping.column + 1, name, mapping.source)

    def get_text(self, source: int) -> "SourceText | None":
        """Return the text of a source, if the map includes it."""
        if source not in self._texts:
            texts = self._file.sourcesContent or []
            text = texts[source] if source < len(texts) else None
            self._texts[source] = None if text is None else SourceText(text)
        return self._texts[source]


class SourceText:
    """The text of an author's file."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = text.split("\n")
        self._scopes: FunctionScopes | None = None

    def list_context(self, line: int, around: int, longest: int) -> list[str]:
        """List a line (from 1) with the lines around it, each cut to a length."""
        if not 1 <= line <= len(self._lines):
            return []
        return [each.rstrip("\r")[:longest] for each in self._lines[max(0, line - 1 - around) : line + around]]

    def find_function(self, line: int, column: int) -> str | None:
        """Name the function around a position; None at the top level and in functions without a name."""
        if not 1 <= line <= len(self._lines):
            return None
        if self._scopes is None:
            self._scopes = FunctionScopes(self._text)
        start = sum(len(each) + 1 for each in self._lines[: line - 1])
        return self._scopes.find(start + min(column - 1, len(self._lines[line - 1])))


def clean_file(source: str, root: str = "") -> str:
    """Return the name of a source as people write it: a relative path without schemes, queries and `..`."""
    text = source if _SCHEME.match(source) or not root else f"{root.rstrip('/')}/{source}"
    path = remove_unsafe(_SCHEME.sub("", text.replace("\\", "/"), count=1).partition("?")[0])
    parts = [part for part in path.split("/") if part not in ("", ".", "..")]
    return "/".join(parts)[-MAX_FILE:] or "(unknown)"


def _build_time_error(seconds: float) -> Exception:
    return InvalidSourceMap(f"reading it takes more than {seconds:g} s of processor time")
