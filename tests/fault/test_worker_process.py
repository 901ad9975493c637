"""The worker process of a real server: killed while it reads a capture, and when the server ends."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from bench.machine import list_children
from tests.fault.test_memory import build_streams
from tests.support.seed import Seed, capture_parts, faults, public_ids
from tests.support.server import eventually, expect_error, ok

pytestmark = [pytest.mark.long, pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")]


def is_running(pid: int) -> bool:
    """Whether a process exists and hasn't ended."""
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def build_parts(project: str, number: int) -> list[tuple[str, tuple[Any, ...]]]:
    """A capture that takes seconds to read."""
    streams = [(name, (None, data)) for name, data in build_streams().items()]
    return [*capture_parts(project, number)[:2], *streams]


def count_slow_threads(pid: int) -> int:
    """How many threads of a process have a lower priority than its main one, which runs the event loop."""
    own = os.getpriority(os.PRIO_PROCESS, pid)
    threads = [int(path.name) for path in Path(f"/proc/{pid}/task").iterdir()]
    return sum(os.getpriority(os.PRIO_PROCESS, thread) > own for thread in threads)


def test_event_loop_runs_before_slow_work(seed: Seed, tmp_path: Path) -> None:
    with seed.box(tmp_path) as box, box.client(seed.token) as client:
        assert count_slow_threads(box.process.pid) == 0
        assert client.get("/openapi.json").headers["content-encoding"] == "gzip"
        assert count_slow_threads(box.process.pid) == 1
        ok(client.post("/captures", files=capture_parts(seed.project, 1)))
        assert count_slow_threads(box.process.pid) == 2


def test_capture_whose_worker_is_killed_stores_nothing(seed: Seed, tmp_path: Path) -> None:
    with seed.box(tmp_path, "--max-capture-seconds", "600") as box, box.client(seed.token) as client:
        client.timeout = 600
        before = public_ids(box.db, "capture"), public_ids(box.db, "ticket")
        with ThreadPoolExecutor(1) as pool:
            sent = pool.submit(client.post, "/captures", files=build_parts(seed.project, 1))
            (worker,) = eventually(lambda: list_children(box.process.pid), seconds=60)
            subprocess.run(["kill", "-KILL", str(worker)], check=True)
            refused = sent.result()
        expect_error(refused, 503, "unavailable")
        assert refused.headers["retry-after"] == "5"
        assert (public_ids(box.db, "capture"), public_ids(box.db, "ticket")) == before
        ok(client.post("/captures", files=build_parts(seed.project, 1)))
        assert list_children(box.process.pid) not in ([], [worker])
        assert faults(box.db) == {}
        assert "Traceback" not in box.log.read_text()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_no_worker_outlives_its_server(seed: Seed, tmp_path: Path, how: signal.Signals) -> None:
    with seed.box(tmp_path) as box, box.client(seed.token) as client:
        client.timeout = 600
        lines = b"[%s]" % b",".join([b'{"seq":1,"ts":1,"level":"log","args":["x"]}'] * 5_000)
        ok(client.post("/captures", files=[*capture_parts(seed.project, 2)[:2], ("console", (None, lines))]))
        (worker,) = list_children(box.process.pid)
        assert is_running(worker)
        if how is signal.SIGKILL:
            box.process.kill()
            box.process.wait()
        else:
            assert box.stop(how) == 0
        eventually(lambda: not is_running(worker), seconds=60)
