"""The files of an assets folder: large contents, each named by its hash (docs/decisions/0024-assets-in-a-folder.md).

A file is complete and on the disk before the row that refers to it is committed, and is erased only after the commit
that removed its last row. So a crash can leave a file without a row, never a row without its file.
"""

import contextlib
import os
import re
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

from ticketbox.domain.core.problems import StorageFull, Unavailable
from ticketbox.store.file.errors import FULL_ERRORS

if sys.platform != "win32":
    import fcntl

MIN_FILE_BYTES = 64 * 1024  # shorter contents stay in the database file, which reads them faster
PARTS = tuple(f"{number:02x}" for number in range(256))

_CHUNK = 1 << 20
_NAME = re.compile(r"[0-9a-f]{64}")
_LOCK, _READING = "server.lock", "readers.lock"
_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class MissingContent(Unavailable):
    """A file is missing, or was deleted since the transaction began."""

    def __init__(self) -> None:
        super().__init__("the content's file is missing or truncated in the assets folder; run ticketbox check")


class FolderInUse(Exception):
    """Another process uses the folder."""


class AssetsFolder:
    """The files of one database file, in a folder that nobody else may read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: int | None = None
        self._opened: os.stat_result | None = None

    def create(self) -> None:
        """Create the folder and its parts, readable by their owner only. Raises OSError."""
        for folder in (self.path, *(self.path / part for part in PARTS)):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in (_LOCK, _READING):
            (self.path / name).touch(mode=0o600)
        flush_folder(self.path)
        flush_folder(self.path.parent)

    def lock(self) -> None:
        """Lock the folder for a server or a command that moves files. Raises FolderInUse, and OSError."""
        handle = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT | _FLAGS, 0o600)
        try:
            if sys.platform != "win32":
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._opened = self.path.stat()
            probe = self.path / PARTS[0] / "probe.part"
            probe.unlink(missing_ok=True)
            probe.touch(mode=0o600)
            probe.unlink()
        except BlockingIOError:
            os.close(handle)
            raise FolderInUse from None
        except BaseException:
            os.close(handle)
            raise
        self._lock = handle

    def close(self) -> None:
        """Release the lock."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def find_fault(self) -> str | None:
        """Return what happened to the folder since it was locked: it was deleted, unmounted or replaced."""
        try:
            found = (self.path / PARTS[0]).parent.stat()
            (self.path / _READING).stat()
        except OSError as error:
            return f"the assets folder {self.path} can't be found any more: {error.strerror}"
        if self._opened is not None and not os.path.samestat(self._opened, found):
            return f"another folder is in the place of the assets folder {self.path}"
        return None

    @contextlib.contextmanager
    def hold(self) -> Generator[None]:
        """Keep every file meanwhile: a server erases what is deleted only afterwards."""
        handle = self._open_readers_lock()
        try:
            if handle is not None and sys.platform != "win32":
                fcntl.flock(handle, fcntl.LOCK_SH)
            yield
        finally:
            if handle is not None:
                os.close(handle)

    @contextlib.contextmanager
    def try_alone(self) -> Generator[bool]:
        """Try to keep readers away; yield whether files may be erased now."""
        handle = self._open_readers_lock()
        try:
            if handle is not None and sys.platform != "win32":
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
        finally:
            if handle is not None:
                os.close(handle)

    def _open_readers_lock(self) -> int | None:
        try:
            return os.open(self.path / _READING, os.O_RDONLY | _FLAGS)
        except FileNotFoundError:  # a copy that somebody made of a backup
            return None

    def get_path(self, sha256: bytes) -> Path:
        """Return the path of a content."""
        name = sha256.hex()
        return self.path / name[:2] / name

    def write(self, sha256: bytes, data: bytes) -> None:
        """Write a content to the disk; returns when a crash can't lose it. Raises StorageFull and Unavailable."""
        path = self.get_path(sha256)
        part = path.with_name(f"{path.name}.part")
        try:
            part.unlink(missing_ok=True)
            handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
            flush_folder(path.parent)
            fault = self.find_fault()
        except OSError as error:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
            if error.errno in FULL_ERRORS:
                raise StorageFull(f"the disk of the assets folder {self.path}") from error
            raise Unavailable(f"the assets folder can't be written: {error.strerror}") from error
        if fault is not None:
            raise Unavailable(fault)

    def read(self, sha256: bytes, size: int) -> bytes:
        """Read a content of so many bytes. Raises MissingContent if its file is missing, truncated or being erased."""
        path = self.get_path(sha256)
        try:
            with os.fdopen(os.open(path, os.O_RDONLY | _FLAGS), "rb") as file:
                data = file.read(size + 1)
                # A file that is erased loses its name before its bytes.
                if len(data) != size or not os.path.samestat(os.fstat(file.fileno()), path.stat()):
                    raise MissingContent
                return data
        except FileNotFoundError as error:
            raise MissingContent from error
        except OSError as error:
            raise Unavailable(f"the assets folder can't be read: {error.strerror}") from error

    def has(self, sha256: bytes, size: int) -> bool:
        """Whether a content has a file of its length."""
        try:
            return self.get_path(sha256).stat().st_size == size
        except OSError:
            return False

    def erase(self, name: str) -> None:
        """Delete the file of a part by its name, `ab/abcd…`, after overwriting its bytes. Raises OSError.

        File systems that copy on write, snapshots and some disks keep the old bytes elsewhere. A file that a backup
        links to, because somebody serves a backup, keeps them.
        """
        path = self.path / name
        leaving = path if path.suffix else path.with_name(f"{path.name}.erased")
        with contextlib.suppress(FileNotFoundError):
            if leaving != path:
                path.replace(leaving)
            _overwrite(leaving)
            leaving.unlink()
            flush_folder(path.parent)

    def list_files(self, *parts: str) -> Iterator[str]:
        """List the files in some parts, or in all, as `ab/abcd…`; also incomplete ones. Raises OSError."""
        for part in parts or PARTS:
            with contextlib.suppress(FileNotFoundError), os.scandir(self.path / part) as entries:
                yield from (f"{part}/{entry.name}" for entry in entries)


def _overwrite(path: Path) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | _FLAGS), "wb") as file:
        found = os.fstat(file.fileno())
        left = found.st_size if found.st_nlink == 1 else 0
        with contextlib.suppress(OSError):  # a full disk of a file system that copies on write
            while left > 0:
                left -= file.write(bytes(min(left, _CHUNK)))
            file.flush()
            os.fsync(file.fileno())


def parse_name(name: str) -> bytes | None:
    """Return the hash that a name of `list_files` belongs to; None for an incomplete or foreign file."""
    part, _, rest = name.partition("/")
    return bytes.fromhex(rest) if _NAME.fullmatch(rest) and rest.startswith(part) else None


def format_name(sha256: bytes) -> str:
    """Return the name of a content's file, as `list_files` lists it."""
    return f"{sha256.hex()[:2]}/{sha256.hex()}"


def flush_folder(folder: Path) -> None:
    """Flush a folder, so that new names in it survive a crash (POSIX)."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
