"""sqlite3_rsync, which copies a database file that others write to (docs/operate/replication.md)."""

import subprocess
import sysconfig
from pathlib import Path

PROGRAM = Path(sysconfig.get_path("platlib")) / "apsw/sqlite_extra_binaries/sqlite3_rsync"


def start_copy(db: Path, copy: Path) -> "subprocess.Popen[str]":
    """Start to make `copy` what `db` is; only what differs is transferred."""
    command = [PROGRAM, str(db), str(copy)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, umask=0o077, start_new_session=True
    )


def copy_file(db: Path, copy: Path) -> None:
    """Make `copy` what `db` is."""
    process = start_copy(db, copy)
    printed = process.communicate(timeout=120)[0]
    assert process.returncode == 0, printed
