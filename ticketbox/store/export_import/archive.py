"""The file that an export is: a zip of records, stored contents and a manifest (docs/operate/export-import.md).

Reading trusts nothing: names come from a fixed set, sizes and hashes from the manifest, and nothing is unpacked beyond
what the manifest says, so neither a damaged file nor a bomb gets further than its own entry.
"""

import hashlib
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import msgspec

FORMAT = 1
MANIFEST = "manifest.json"
MAX_LINE = 4 << 20
MAX_BLOB = 64 << 20
MAX_MANIFEST = 256 << 20
MAX_RATIO = 250
# What zipfile raises for a damaged file.
ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError, RuntimeError)
_CHUNK = 1 << 18
_ENTRY_NAME = re.compile(r"records/[a-z_]{1,40}\.ndjson|contents/[0-9a-f]{64}")
_TIMESTAMP = (1980, 1, 1, 0, 0, 0)  # the same rows make the same bytes


class InvalidArchive(Exception):
    """The file is no export, or a damaged or newer one. The text says which."""


class ArchiveEntry(msgspec.Struct, frozen=True):
    """What an entry must be."""

    sha256: str
    bytes: int
    records: int = 0


class Manifest(msgspec.Struct, frozen=True):
    """What an export says of itself. `company` is a public id; None for a whole instance."""

    format: int
    version: str
    schema: int
    company: str | None
    entries: dict[str, ArchiveEntry]


class _FormatHeader(msgspec.Struct, frozen=True):
    format: int


class ArchiveWriter:
    """Writes an export, entry by entry; `close` writes the manifest."""

    def __init__(self, file: IO[bytes], version: str, schema: int, company: str | None) -> None:
        self._zip = zipfile.ZipFile(file, "w", allowZip64=True)
        self._about = (version, schema, company)
        self._entries: dict[str, ArchiveEntry] = {}

    def records(self, table: str, rows: Iterable[dict[str, Any]]) -> int:
        """Write a table's records, a line of JSON each; returns their number."""
        name = f"records/{table}.ndjson"
        hashed, size, count = hashlib.sha256(), 0, 0
        with self._zip.open(_build_zip_info(name, zipfile.ZIP_DEFLATED), "w", force_zip64=True) as entry:
            for row in rows:
                line = msgspec.json.encode(row) + b"\n"
                hashed.update(line)
                entry.write(line)
                size += len(line)
                count += 1
        self._entries[name] = ArchiveEntry(hashed.hexdigest(), size, count)
        return count

    def content(self, sha256: str, data: bytes, *, compress: bool) -> None:
        """Write a stored content under its hash."""
        name = f"contents/{sha256}"
        self._zip.writestr(_build_zip_info(name, zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED), data)
        self._entries[name] = ArchiveEntry(sha256, len(data))

    def close(self) -> Manifest:
        """Write the manifest and the directory."""
        manifest = Manifest(FORMAT, *self._about, self._entries)
        self._zip.writestr(_build_zip_info(MANIFEST, zipfile.ZIP_DEFLATED), msgspec.json.encode(manifest))
        self._zip.close()
        return manifest


def _build_zip_info(name: str, method: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _TIMESTAMP)
    info.compress_type = method
    info.external_attr = 0o600 << 16
    return info


class ArchiveReader:
    """Reads an export. Raises BadArchive wherever it isn't what it says."""

    def __init__(self, path: Path, newest_schema: int) -> None:
        try:
            self._zip = zipfile.ZipFile(path)
            self.manifest = self._read_manifest(newest_schema)
        except ZIP_ERRORS as error:
            raise InvalidArchive(f"{path}: this is no export of ticketbox's, or a damaged one ({error})") from error

    def _read_manifest(self, newest_schema: int) -> Manifest:
        infos = self._zip.infolist()
        names = [info.filename for info in infos]
        if len(set(names)) != len(names):
            raise InvalidArchive("the export is damaged: an entry stands in it twice")
        if MANIFEST not in names:
            raise InvalidArchive("this is no export of ticketbox's: it has no manifest")
        data = self._bytes(MANIFEST, self._zip.getinfo(MANIFEST).file_size, MAX_MANIFEST)
        try:
            found = msgspec.json.decode(data, type=_FormatHeader).format
            if found > FORMAT:
                raise InvalidArchive(
                    f"the export has format {found} and this version knows up to {FORMAT}; use a newer one"
                )
            manifest = msgspec.json.decode(data, type=Manifest)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise InvalidArchive(f"the export is damaged: its manifest can't be read ({error})") from error
        if manifest.schema > newest_schema:
            raise InvalidArchive(
                f"the export has schema {manifest.schema:04} and this version knows up to {newest_schema:04}; "
                "use a newer ticketbox"
            )
        if manifest.entries.keys() | {MANIFEST} != set(names):
            raise InvalidArchive("the export is damaged: what it holds isn't what its manifest says")
        for name, entry in manifest.entries.items():
            if not _ENTRY_NAME.fullmatch(name):
                raise InvalidArchive(f"the export holds an entry that doesn't belong there: {name[:80]!r}")
            info = self._zip.getinfo(name)
            if info.file_size != entry.bytes:
                raise InvalidArchive(f"the export is damaged: {name} isn't as long as its manifest says")
            if entry.bytes > (1 << 20) and entry.bytes > info.compress_size * MAX_RATIO:
                raise InvalidArchive(f"{name} would unpack to more than {MAX_RATIO} times its size")
        return manifest

    def tables(self) -> set[str]:
        """The tables that it has records of."""
        return {name[8:-7] for name in self.manifest.entries if name.startswith("records/")}

    def contents(self) -> list[str]:
        """The hashes of its contents."""
        return [name[9:] for name in self.manifest.entries if name.startswith("contents/")]

    def records(self, table: str) -> Iterator[dict[str, Any]]:
        """A table's records, each a map of columns."""
        name = f"records/{table}.ndjson"
        if name not in self.manifest.entries:
            return
        expected = self.manifest.entries[name]
        hashed, size, count = hashlib.sha256(), 0, 0
        for line in self._lines(name):
            hashed.update(line)
            size += len(line)
            count += 1
            if size > expected.bytes:
                break
            try:
                yield msgspec.json.decode(line, type=dict[str, int | float | str | None])
            except (msgspec.MsgspecError, RecursionError) as error:
                raise InvalidArchive(f"{name}, record {count}: {error}") from error
        if (hashed.hexdigest(), size, count) != (expected.sha256, expected.bytes, expected.records):
            raise InvalidArchive(f"the export is damaged: {name} isn't what its manifest says")

    def content(self, sha256: str) -> bytes:
        """A stored content."""
        name = f"contents/{sha256}"
        expected = self.manifest.entries.get(name)
        if expected is None:
            raise InvalidArchive(f"the export is damaged: the content {sha256} is missing")
        data = self._bytes(name, expected.bytes, MAX_BLOB)
        if hashlib.sha256(data).hexdigest() != sha256:
            raise InvalidArchive(f"the export is damaged: the content {sha256} has another hash")
        return data

    def _lines(self, name: str) -> Iterator[bytes]:
        try:
            with self._zip.open(name) as entry:
                while line := entry.readline(MAX_LINE):
                    if len(line) == MAX_LINE:
                        raise InvalidArchive(f"{name}: a record is longer than {MAX_LINE >> 20} MiB")
                    yield line
        except ZIP_ERRORS as error:
            raise InvalidArchive(f"the export is damaged: {name} can't be unpacked ({error})") from error

    def _bytes(self, name: str, size: int, most: int) -> bytes:
        if size > most:
            raise InvalidArchive(f"{name}: more than {most >> 20} MiB")
        try:
            with self._zip.open(name) as entry:
                data = entry.read(size + 1)
        except ZIP_ERRORS as error:
            raise InvalidArchive(f"the export is damaged: {name} can't be unpacked ({error})") from error
        if len(data) != size:
            raise InvalidArchive(f"the export is damaged: {name} isn't as long as it says")
        return data
