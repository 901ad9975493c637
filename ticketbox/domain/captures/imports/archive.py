"""Reading zip files of strangers in bounded memory: nothing is unpacked to disk, and every size is counted."""

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import Self

from ticketbox.domain.captures.imports.recording import MIB, ImportProblem

MAX_DIRECTORY = 4 * MIB  # the list of files at the end of a zip
MAX_INFLATED = 512 * MIB  # all files that are read, together
MAX_LINE = 16 * MIB

_CHUNK = 256 * 1024
_END = struct.Struct("<4s4H2IH")
_TORN = "the zip file is torn or damaged; copy or download it again"


class ZipArchive:
    """An open zip file. Raises ImportProblem for one that is damaged, too large, or names files outside of it.

    `check_time` is called with the length of each part that is read, and raises when it has taken too long.
    """

    def __init__(self, data: bytes, check_time: Callable[[int], None] = lambda _: None) -> None:
        _check_directory(data)
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
            raise ImportProblem(f"{_TORN} ({error})") from None
        self._check_time = check_time
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
                    self._check_time(len(chunk))
                    self._inflated += len(chunk)
                    if self._inflated > MAX_INFLATED:
                        raise ImportProblem(f"the zip file holds more than {MAX_INFLATED // MIB} MB of records")
                    yield chunk
        except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, OSError) as error:
            raise ImportProblem(f"{_TORN} ({error})") from None


def _check_directory(data: bytes) -> None:
    """Refuse a zip file whose list of files is too large to load, before it is loaded (APPNOTE.TXT, 4.3.16)."""
    tail = data[-_END.size - 65_535 :]
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) < at + _END.size:
        raise ImportProblem(_TORN)
    *_, directory, _, _ = _END.unpack_from(tail, at)
    if directory > MAX_DIRECTORY or tail[max(0, at - 20) : at].startswith(b"PK\x06\x07"):
        raise ImportProblem("the zip file lists too many files")
