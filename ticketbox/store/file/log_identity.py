"""Whether the write-ahead log beside a file is the one that its users write to.

A log that is deleted or replaced keeps working for those who have it open: their commits succeed, nobody else sees
them, and a kill loses them. The index of the log, `-shm`, says what the log must contain (SQLite's walformat.html).
"""

import contextlib
import os
import struct
import sys
import time
from pathlib import Path

from ticketbox.store.file.connection import get_log_paths
from ticketbox.store.file.migrate import UnusableFile

ADVICE = "stop the server in an orderly way: that saves what it has"

_INDEX_BYTES = 136
_LOG_HEADER, _FRAME_HEADER = 32, 24
_PAGE_SIZE, _FRAMES, _SALT = slice(14, 16), slice(16, 20), slice(32, 40)  # in the index
_SALT_OF_LOG = slice(16, 24)
_FILE_HEADER = 20
_SETTLE_SECONDS = 0.5
_SHARED_FIRST, _SHARED_BYTES = 0x40000000 + 2, 510  # the bytes that readers of the file lock (src/os.h)


def is_complete(log: int, index: int) -> bool:
    """Whether an open log has what its open index lists.

    Another process may write meanwhile, so a difference counts only if the index stays the same.
    """
    while True:
        listed = os.pread(index, _INDEX_BYTES, 0)
        header = os.pread(log, _LOG_HEADER, 0)
        if _matches(listed, header, os.fstat(log).st_size):
            return True
        if os.pread(index, _INDEX_BYTES, 0) == listed:
            return False


def _matches(index: bytes, header: bytes, size: int) -> bool:
    frames = int.from_bytes(index[_FRAMES], sys.byteorder)
    page_size = int.from_bytes(index[_PAGE_SIZE], sys.byteorder)
    frame = _FRAME_HEADER + (65_536 if page_size == 1 else page_size)
    return frames == 0 or (size >= _LOG_HEADER + frames * frame and header[_SALT_OF_LOG] == index[_SALT])


def refuse_lost_log(db: Path) -> None:
    """Refuse a file whose users write to another log than the one beside it: what they wrote can't be read here.

    Only for commands, while they don't have the file open: closing it here would release SQLite's own locks on it.
    Raises UnusableFile.
    """
    deadline = time.monotonic() + _SETTLE_SECONDS  # who opens or closes the file has it open without a log for a moment
    while _is_open_elsewhere(db) and (fault := _find_fault(db)):
        if time.monotonic() > deadline:
            raise UnusableFile(f"{db}: {fault} while a server uses it; {ADVICE}")
        time.sleep(_SETTLE_SECONDS / 20)


def _find_fault(db: Path) -> str | None:
    with contextlib.ExitStack() as stack:
        handles: list[int] = []
        for path in get_log_paths(db):
            try:
                handles.append(os.open(path, os.O_RDONLY))
            except FileNotFoundError:
                return f"{path.name} was deleted"
            stack.callback(os.close, handles[-1])
        return None if is_complete(*handles) else f"{get_log_paths(db)[0].name} was replaced, truncated or overwritten"


def _is_open_elsewhere(db: Path) -> bool:
    """Whether another process has the file open in WAL mode; False where this can't be asked."""
    if sys.platform != "linux":
        return False
    import fcntl

    try:
        handle = os.open(db, os.O_RDONLY)
    except OSError:
        return False
    try:
        if os.pread(handle, _FILE_HEADER, 0)[18:] != b"\2\2":
            return False
        question = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, _SHARED_FIRST, _SHARED_BYTES, 0)
        (kind,) = struct.unpack_from("h", fcntl.fcntl(handle, fcntl.F_GETLK, question))
        return kind != fcntl.F_UNLCK
    finally:
        os.close(handle)
