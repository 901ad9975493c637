"""A guard on the file that a server uses: one server for each file, whatever its path, and always the same file.

The lock belongs to the file itself (flock), so a symbolic link, a hard link or a lost lock file doesn't evade it. The
guard never closes the file or the index of its log while SQLite has them open: that would release SQLite's own locks
(POSIX, fcntl).
"""

import contextlib
import os
import sys
from pathlib import Path

from ticketbox.store.file import log_identity
from ticketbox.store.file.connection import get_log_paths

if sys.platform != "win32":
    import fcntl

_MAGIC = b"SQLite format 3\0"
_HEADER = 100
_PAGES = slice(28, 32)  # the number of pages, as of the last checkpoint (SQLite's file format, 1.3.7)
_PAGE_SIZE = slice(16, 18)
_RESTORE = "stop the server and restore a backup"
_CHECK = "stop the server, run ticketbox check, and restore a backup if it finds a problem"


class FileInUse(Exception):
    """Another process holds the lock."""


class FileGuard:
    """The lock on a file, and the checks that it and its write-ahead log are still what was opened."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None
        self._size = 0
        self._log: list[int] = []  # the write-ahead log and its index
        self._log_paths: tuple[Path, ...] = ()

    def lock(self) -> None:
        """Lock the file that is now at the path, if there is one. Raises FileInUse; OSError if it can't be read.

        Call it while SQLite doesn't have the file open, or has just created it.
        """
        with contextlib.suppress(FileNotFoundError):
            if self._descriptor is not None and os.path.samestat(os.fstat(self._descriptor), self._path.stat()):
                return
            descriptor = os.open(self._path, os.O_RDONLY)
            try:
                if sys.platform != "win32":
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                raise FileInUse from None
            self.close()
            self._descriptor, self._size = descriptor, os.fstat(descriptor).st_size

    def watch_log(self) -> None:
        """Remember the write-ahead log and its index. Call it when SQLite has just opened them. Raises OSError."""
        if sys.platform != "win32":
            self._log_paths = get_log_paths(self._path)
            self._log.extend(os.open(path, os.O_RDONLY) for path in self._log_paths)

    def find_fault(self) -> str | None:
        """Return what happened to the file or its log since they were opened, and what to do."""
        if fault := self._find_file_fault():
            return f"{fault}; {_RESTORE}"
        if self.has_damaged_log():
            return f"the write-ahead log of the database file was truncated or overwritten; {_CHECK}"
        if fault := self.find_lost_log():
            return f"{fault}; {log_identity.ADVICE}"
        return None

    def has_damaged_log(self) -> bool:
        """Whether the log that was opened lacks commits. Nothing of it may be copied into the file then."""
        return bool(self._log) and not log_identity.is_complete(*self._log)

    def find_lost_log(self) -> str | None:
        """Return what happened to the name of the log or of its index: it was deleted, or is another file's.

        What is committed then is lost when the process is killed. Deleting only the index is as bad: commands create
        another one, and then they and the server overwrite each other's commits in the log.
        """
        for path, opened in zip(self._log_paths, self._log, strict=False):
            try:
                found = os.stat(path)  # noqa: PTH116 (before and after every commit)
            except OSError as error:
                return f"{path.name}, a part of the database, can't be found any more: {error.strerror}"
            if not os.path.samestat(os.fstat(opened), found):
                return f"another file is in the place of {path.name}, a part of the database"
        return None

    def _find_file_fault(self) -> str | None:
        """Return what happened to the file since it was locked: it was deleted, replaced, overwritten or truncated.

        A file that is shorter than its header says is whole if it didn't shrink: a checkpoint that a reader limits
        leaves pages in the log that the header counts already (SQLite's src/wal.c, walCheckpoint).
        """
        if self._descriptor is None:
            return None
        last_size = self._size
        try:
            found = self._path.stat()
        except OSError as error:
            return f"the database file can't be found any more: {error.strerror}"
        if not os.path.samestat(os.fstat(self._descriptor), found):
            return "another file is in the place of the database file"
        if sys.platform == "win32":
            return None
        header = os.pread(self._descriptor, _HEADER, 0)
        if not header.startswith(_MAGIC):
            return "the database file was overwritten or truncated"
        page_size = int.from_bytes(header[_PAGE_SIZE]) or 1
        counted = int.from_bytes(header[_PAGES]) * (65_536 if page_size == 1 else page_size)
        if found.st_size < min(counted, last_size):
            return "the database file was truncated"
        self._size = found.st_size
        return None

    def close(self) -> None:
        """Release the lock."""
        for descriptor in self._log:
            os.close(descriptor)
        self._log.clear()
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
