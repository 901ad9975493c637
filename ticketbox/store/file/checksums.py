"""The checksum beside a backup, `NAME.db.sha256`: SQLite's pages have none, so a changed bit can stay unnoticed.

In the format of sha256sum(1), so `sha256sum --check` reads it too.
"""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

from ticketbox.store.file.migrate import UnusableFile

_CHUNK = 1 << 20


def get_checksum_path(backup: Path) -> Path:
    """Return the path of a backup's checksum."""
    return backup.with_name(f"{backup.name}.sha256")


def compute_checksum(path: Path, on_part: Callable[[], None] = lambda: None) -> str:
    """Hash a file; calls `on_part` after each part. Raises OSError."""
    hashed = hashlib.sha256()
    with path.open("rb") as file:
        while part := file.read(_CHUNK):
            hashed.update(part)
            on_part()
    return hashed.hexdigest()


def write_checksum(backup: Path, checksum: str) -> None:
    """Write the checksum of a backup beside it, onto the disk. Raises OSError."""
    path = get_checksum_path(backup)
    path.touch(mode=0o600)
    with path.open("w") as file:
        file.write(f"{checksum}  {backup.name}\n")
        file.flush()
        os.fsync(file.fileno())


def has_checksum(backup: Path) -> bool:
    """Whether there is a checksum beside a file."""
    return get_checksum_path(backup).exists()


def verify_checksum(backup: Path) -> None:
    """Compare a file with the checksum beside it, if there is one. Raises UnusableFile, and OSError."""
    if not has_checksum(backup):
        return
    path = get_checksum_path(backup)
    if path.read_text("utf-8", "replace").split(" ")[0] != compute_checksum(backup):
        raise UnusableFile(
            f"{backup}: the file isn't what the backup wrote: it differs from its checksum in {path.name}; use another "
            "backup, or delete the checksum if you changed the file yourself, by serving it for example"
        )
