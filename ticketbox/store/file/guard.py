"""A guard on the file that a server uses: one server for each file, whatever its path, and always the same file.

The lock belongs to the file itself (flock), so a symbolic link, a hard link or a lost lock file doesn't evade it. The
guard never closes the file while SQLite has it open: that would release SQLite's own locks (POSIX, fcntl).
"""

import contextlib
import os
import sys
from pathlib import Path

if sys.platform != "win32":
    import fcntl

_MAGIC = b"SQLite format 3\0"
_HEADER = 100
_PAGES = slice(28, 32)  # the number of pages, as of the last checkpoint (SQLite's file format, 1.3.7)
_PAGE_SIZE = slice(16, 18)


class FileInUse(Exception):
    """Another process holds the lock."""


class FileGuard:
    """The lock on a file, and the checks that it is still the file that was opened."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None
        self._size = 0

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

    def find_fault(self) -> str | None:
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
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
