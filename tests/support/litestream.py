"""A server that Litestream starts and whose write-ahead log it copies to a folder (docs/operate/replication.md)."""

import shlex
import signal
import subprocess
import sys
from pathlib import Path

import psutil

from tests.support.server import Box

PROGRAM = Path(sys.executable).with_name("litestream")


class ReplicatedBox(Box):
    """A server inside of `litestream replicate -exec`. `process` is Litestream's."""

    def __init__(self, db: Path, replica: Path, *arguments: str) -> None:
        self.replica = f"file://{replica}"
        super().__init__(db, "--leave-checkpoints", *arguments)

    def command(self) -> list[str]:
        """The command that starts Litestream."""
        return [str(PROGRAM), "replicate", "-exec", shlex.join(super().command()), str(self.db), self.replica]

    def crash(self) -> None:
        """Kill the server; Litestream ends with it."""
        (server,) = psutil.Process(self.process.pid).children()
        server.send_signal(signal.SIGKILL)
        self.process.wait(60)
        self.stop()

    def restore(self, target: Path) -> Path | None:
        """Restore the newest state; None if there is none yet."""
        for each in target.parent.glob(f"{target.name}*"):
            each.unlink()
        command = [PROGRAM, "restore", "-if-replica-exists", "-o", str(target), self.replica]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        return target if target.exists() else None
