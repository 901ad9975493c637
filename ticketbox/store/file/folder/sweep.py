"""Unused files of an assets folder: found, and erased. Only on the writer's thread, outside of its transactions."""

import logging
import sqlite3
from collections.abc import Iterable, Sequence

from ticketbox.store.file.folder.contents import PARTS, AssetsFolder, parse_name

_INCOMPLETE = (".part", ".erased")
_PARTS_AT_A_TIME = 16
SELECT_STORED = "SELECT 1 FROM blob WHERE sha256 = ? AND stored IS NOT NULL"

log = logging.getLogger("ticketbox.store")


class UnusedFiles:
    """Files that a transaction may have left unused, until they are erased. Without a folder there are none."""

    def __init__(self, folder: AssetsFolder | None) -> None:
        self._folder = folder
        self._waiting: set[str] = set()
        self._next = 0

    def add(self, names: Iterable[str]) -> None:
        """Add files to erase, unless a row refers to them then."""
        if self._folder is not None:
            self._waiting.update(names)

    def are_waiting(self) -> bool:
        """Whether files wait because a backup reads the folder."""
        return bool(self._waiting)

    def erase(self, connection: sqlite3.Connection) -> None:
        """Erase the files that no row refers to, unless a backup reads the folder."""
        if self._folder is None or not self._waiting:
            return
        try:
            with self._folder.try_alone() as is_alone:
                if is_alone:
                    for name in self._waiting:
                        if _is_unused(connection, name):
                            self._folder.erase(name)
                    self._waiting.clear()
        except (OSError, sqlite3.Error):
            self._waiting.clear()  # the sweep finds them again
            log.exception("erasing files in the assets folder failed; it will be retried within 20 minutes")

    def sweep(self, connection: sqlite3.Connection, parts: Sequence[str] = PARTS) -> None:
        """Erase unused files in some parts of the folder, such as those of a killed process."""
        if self._folder is None:
            return
        try:
            self._waiting |= list_unused(connection, self._folder, parts)
        except OSError:
            log.exception("the assets folder can't be listed")
        self.erase(connection)

    def sweep_next(self, connection: sqlite3.Connection) -> None:
        """Sweep the next parts."""
        parts, self._next = PARTS[self._next :][:_PARTS_AT_A_TIME], (self._next + _PARTS_AT_A_TIME) % len(PARTS)
        self.sweep(connection, parts)


def list_unused(connection: sqlite3.Connection, folder: AssetsFolder, parts: Sequence[str] = PARTS) -> set[str]:
    """List the files in some parts that no row refers to. Raises OSError."""
    return {name for name in folder.list_files(*parts) if _is_unused(connection, name)}


def _is_unused(connection: sqlite3.Connection, name: str) -> bool:
    sha256 = parse_name(name)
    if sha256 is None:
        return name.endswith(_INCOMPLETE)
    return connection.execute(SELECT_STORED, (sha256,)).fetchone() is None
