"""Start the servers to measure, each in a process on the server's core."""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.machine import SERVER_CORE, pin_to_core
from bench.seed import SeededFile, seed

ROOT = Path(__file__).parent.parent


class Server(NamedTuple):
    """A running server process."""

    url: str
    pid: int
    process: subprocess.Popen[str]

    @property
    def host(self) -> str:
        """The value of the Host header."""
        return self.url.removeprefix("http://")


@contextlib.contextmanager
def launch_ticketbox(db: Path, tree: Path = ROOT) -> Generator[Server]:
    """Run `ticketbox serve` from this checkout, or from another `tree`."""
    with launch(["-m", "ticketbox", "serve", "--db", str(db), "--port", "0", "--no-open"], tree) as server:
        yield server


class Contender(NamedTuple):
    """A checkout's server, and the file that it serves."""

    server: Server
    seeded: SeededFile


@contextlib.contextmanager
def launch_contenders(folder: Path, tickets: int, others: Sequence[Path]) -> Generator[dict[str, Contender]]:
    """Serve as many tickets from this checkout and from each other one, at the same time; yield them by name.

    Each checkout seeds its own file, whose schema may differ, and serves a copy, which writes may change.
    """
    with contextlib.ExitStack() as stack:
        contenders: dict[str, Contender] = {}
        for number, tree in enumerate([ROOT, *others]):
            original, db = folder / f"{tickets}-{tree.name}.db", folder / f"contender-{number}.db"
            environment = {**os.environ, "PYTHONPATH": str(tree)}
            command = [sys.executable, "-m", "bench.seed", str(original), "--tickets", str(tickets)]
            subprocess.run(command, cwd=tree, env=environment, check=True, stdout=subprocess.DEVNULL)
            shutil.copyfile(original, db)
            seeded = seed(original, tickets)._replace(db=db)
            server = stack.enter_context(launch_ticketbox(db, tree))
            contenders[tree.name if number else "this"] = Contender(server, seeded)
        yield contenders


@contextlib.contextmanager
def launch(arguments: list[str], tree: Path) -> Generator[Server]:
    """Run a Python process on the server's core that prints the address it serves at."""
    with tempfile.TemporaryFile("w+") as errors:
        environment = {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONPATH": str(tree)}
        with pin_to_core(SERVER_CORE):
            process = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=tree,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if match := re.search(r" at (http://\S+)", line):
                    url = match[1].replace("localhost", "127.0.0.1")
                    _wait_for(url)
                    yield Server(url, process.pid, process)
                    break
            else:
                errors.seek(0)
                raise RuntimeError(f"the server didn't start: {errors.read()}")
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdout is not None:
                process.stdout.close()


def _wait_for(url: str) -> None:
    """Wait until a server listens; not every server prints when it does."""
    host, port = url.removeprefix("http://").split(":")
    for _ in range(100):
        try:
            socket.create_connection((host, int(port))).close()
        except ConnectionRefusedError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"no server listens at {url}")
