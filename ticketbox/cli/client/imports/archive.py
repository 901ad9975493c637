"""Reading zip files of strangers in bounded memory: nothing is unpacked to disk, and every size is counted."""

import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from ticketbox.cli.client.imports.recording import MIB, ImportProblem

MAX_ARCHIVE = 500 * MIB
MAX_DIRECTORY = 4 * MIB  # the list of files at the end of a zip
MAX_INFLATED = 1_024 * MIB  # all files that are read, together
MAX_LINE = 16 * MIB

_CHUNK = 256 * 1024
_END = struct.Struct("<4s4H2IH")
_TORN = "the zip file is torn or damaged; copy or download it again"


class Archive:
    """An open zip file. Raises ImportProblem for one that is damaged, too large, or names files outside of it."""

    def __init__(self, path: Path) -> None:
        _check_directory(path)
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
            raise ImportProblem(f"{_TORN} ({error})") from None
        self._inflated = 0
        self.names = self._zip.namelist()
        if any(name.startswith(("/", "\\")) or ".." in name.replace("\\", "/").split("/") for name in self.names):
            self.close()
            raise ImportProblem("the zip file has a file name that leads out of it")
        self._known = set(self.names)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._zip.close()

    def read(self, name: str, limit: int) -> bytes | None:
        """Return the first bytes of a file, at most `limit`; None if it isn't in the archive."""
        if name not in self._known:
            return None
        found = bytearray()
        for chunk in self._read_chunks(name):
            found += chunk
            if len(found) >= limit:
                break
        return bytes(found[:limit])

    def read_lines(self, name: str) -> Iterator[bytes]:
        """Yield the lines of a file that aren't too long."""
        rest = bytearray()
        skips = False
        for chunk in self._read_chunks(name):
            *whole, last = chunk.split(b"\n")
            for part in whole:
                rest += part
                if not skips and rest.strip():
                    yield bytes(rest)
                rest.clear()
                skips = False
            rest += last
            if len(rest) > MAX_LINE:
                rest.clear()
                skips = True
        if not skips and rest.strip():
            yield bytes(rest)

    def _read_chunks(self, name: str) -> Iterator[bytes]:
        try:
            with self._zip.open(name) as file:
                while chunk := file.read(_CHUNK):
                    self._inflated += len(chunk)
                    if self._inflated > MAX_INFLATED:
                        raise ImportProblem(f"the zip file holds more than {MAX_INFLATED // MIB} MB of records")
                    yield chunk
        except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, OSError) as error:
            raise ImportProblem(f"{_TORN} ({error})") from None


def _check_directory(path: Path) -> None:
    """Refuse a zip file whose list of files is too large to load, before it is loaded (APPNOTE.TXT, 4.3.16)."""
    size = path.stat().st_size
    if size > MAX_ARCHIVE:
        raise ImportProblem(f"the file has {size // MIB} MB; at most {MAX_ARCHIVE // MIB} MB can be imported")
    with path.open("rb") as file:
        file.seek(max(0, size - _END.size - 65_535))
        tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) < at + _END.size:
        raise ImportProblem(_TORN)
    *_, directory, _, _ = _END.unpack_from(tail, at)
    if directory > MAX_DIRECTORY or tail[max(0, at - 20) : at].startswith(b"PK\x06\x07"):
        raise ImportProblem("the zip file lists too many files")
