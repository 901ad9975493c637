"""The format of an export: a zip of records, stored contents and a manifest (docs/operate/export-import.md).

Files are untrusted: names must be from a fixed set, sizes and hashes must match the manifest, and nothing is unpacked
beyond the size in the manifest, so that a damaged file or a zip bomb fails at its first wrong entry.
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
    """The file isn't an export, or it is damaged or of a newer version. The text says which."""


class ArchiveEntry(msgspec.Struct, frozen=True):
    """The hash, size and number of records of an entry."""

    sha256: str
    bytes: int
    records: int = 0


class Manifest(msgspec.Struct, frozen=True):
    """The manifest of an export. `company` is a public id; None for a whole instance."""

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

    def write_records(self, table: str, rows: Iterable[dict[str, Any]]) -> int:
        """Write a table's records, a line of JSON each; return their number."""
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

    def write_content(self, sha256: str, data: bytes, *, compress: bool) -> None:
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
    """Reads an export. Raises InvalidArchive where it doesn't match its manifest."""

    def __init__(self, path: Path, schema: int) -> None:
        try:
            self._zip = zipfile.ZipFile(path)
            self.manifest = self._read_manifest(schema)
        except ZIP_ERRORS as error:
            raise InvalidArchive(f"{path}: this isn't an export of ticketbox, or it is damaged ({error})") from error

    def _read_manifest(self, schema: int) -> Manifest:
        infos = self._zip.infolist()
        names = [info.filename for info in infos]
        if len(set(names)) != len(names):
            raise InvalidArchive("the export is damaged: it has a duplicate entry")
        if MANIFEST not in names:
            raise InvalidArchive("this isn't an export of ticketbox: it has no manifest")
        data = self._read_entry(MANIFEST, self._zip.getinfo(MANIFEST).file_size, MAX_MANIFEST)
        try:
            format_ = msgspec.json.decode(data, type=_FormatHeader).format
            if format_ > FORMAT:
                raise InvalidArchive(
                    f"the export has format {format_} and this version supports up to {FORMAT}; use a newer one"
                )
            manifest = msgspec.json.decode(data, type=Manifest)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise InvalidArchive(f"the export is damaged: its manifest can't be read ({error})") from error
        if manifest.schema != schema:
            advice = "use the newer ticketbox that wrote it"
            if manifest.schema < schema:
                advice = "import it with the ticketbox that wrote it, open that file with this one, and export it again"
            raise InvalidArchive(f"the export has schema {manifest.schema:04} and this version {schema:04}; {advice}")
        if manifest.entries.keys() | {MANIFEST} != set(names):
            raise InvalidArchive("the export is damaged: its entries don't match its manifest")
        for name, entry in manifest.entries.items():
            if not _ENTRY_NAME.fullmatch(name):
                raise InvalidArchive(f"the export contains an unexpected entry: {name[:80]!r}")
            info = self._zip.getinfo(name)
            if info.file_size != entry.bytes:
                raise InvalidArchive(f"the export is damaged: {name} has another length than in its manifest")
            if entry.bytes > (1 << 20) and entry.bytes > info.compress_size * MAX_RATIO:
                raise InvalidArchive(f"{name} would unpack to more than {MAX_RATIO} times its size")
        return manifest

    def list_tables(self) -> set[str]:
        """List the tables with records."""
        return {name[8:-7] for name in self.manifest.entries if name.startswith("records/")}

    def list_contents(self) -> list[str]:
        """List the hashes of the contents."""
        return [name[9:] for name in self.manifest.entries if name.startswith("contents/")]

    def read_records(self, table: str) -> Iterator[dict[str, Any]]:
        """Read a table's records, each a map of columns."""
        name = f"records/{table}.ndjson"
        if name not in self.manifest.entries:
            return
        expected = self.manifest.entries[name]
        hashed, size, count = hashlib.sha256(), 0, 0
        for line in self._read_lines(name):
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
            raise InvalidArchive(f"the export is damaged: {name} doesn't match its manifest")

    def read_content(self, sha256: str) -> bytes:
        """Read a stored content."""
        name = f"contents/{sha256}"
        expected = self.manifest.entries.get(name)
        if expected is None:
            raise InvalidArchive(f"the export is damaged: the content {sha256} is missing")
        data = self._read_entry(name, expected.bytes, MAX_BLOB)
        if hashlib.sha256(data).hexdigest() != sha256:
            raise InvalidArchive(f"the export is damaged: the content {sha256} has another hash")
        return data

    def _read_lines(self, name: str) -> Iterator[bytes]:
        try:
            with self._zip.open(name) as entry:
                while line := entry.readline(MAX_LINE):
                    if len(line) == MAX_LINE:
                        raise InvalidArchive(f"{name}: a record is longer than {MAX_LINE >> 20} MiB")
                    yield line
        except ZIP_ERRORS as error:
            raise InvalidArchive(f"the export is damaged: {name} can't be unpacked ({error})") from error

    def _read_entry(self, name: str, size: int, most: int) -> bytes:
        if size > most:
            raise InvalidArchive(f"{name}: more than {most >> 20} MiB")
        try:
            with self._zip.open(name) as entry:
                data = entry.read(size + 1)
        except ZIP_ERRORS as error:
            raise InvalidArchive(f"the export is damaged: {name} can't be unpacked ({error})") from error
        if len(data) != size:
            raise InvalidArchive(f"the export is damaged: {name} has another length than it declares")
        return data
