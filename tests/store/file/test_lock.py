"""The lock of a file that a server uses."""

from pathlib import Path

from ticketbox.app import lock_file


def test_lock_can_be_read_by_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "a.db.lock"
    for _ in range(2):  # the second time, as a file of an earlier version
        with lock_file(tmp_path / "a.db"):
            assert path.stat().st_mode & 0o777 == 0o600
        path.touch()
        path.chmod(0o644)
