"""The worker process: it returns and raises what the function does, and never outlives the server."""

import contextlib
import math
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.server import eventually
from ticketbox.domain.core.problems import (
    PROBLEMS,
    InvalidField,
    NotFound,
    PayloadTooLarge,
    Problem,
    RateLimited,
    Unavailable,
)
from ticketbox.operations.core.workers.worker_process import WorkerProcess

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither signals nor limits")
NEVER = 3600


@pytest.fixture
def worker() -> Iterator[WorkerProcess]:
    process = WorkerProcess()
    yield process
    process.close()


def raise_problem(problem: Problem) -> None:
    raise problem


def raise_unpicklable() -> None:
    raise ValueError(threading.Lock())


def is_gone(pid: int) -> bool:
    """Whether a process has ended; one whose end nobody collected has."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return True


@pytest.mark.long
def test_result_and_problem_are_those_of_the_function(worker: WorkerProcess) -> None:
    assert not worker.is_running
    assert worker.call(5, math.hypot, 3, 4) == 5
    assert worker.call(5, os.getpid) == worker.pid != os.getpid()
    worker.call(5, os.write, 1, b"to standard output\n")
    with pytest.raises(InvalidField) as caught:
        worker.call(5, raise_problem, InvalidField("console", "wrong", valid=["x"]))
    assert caught.value.build_body() == InvalidField("console", "wrong", valid=["x"]).build_body()
    with pytest.raises(ZeroDivisionError) as failed:
        worker.call(5, divmod, 1, 0)
    assert "worker_loop.py" in failed.value.__notes__[0]
    assert (worker.starts, worker.calls, dict(worker.ends)) == (1, 5, {})


@pytest.mark.parametrize("kind", PROBLEMS, ids=lambda kind: kind.code)
def test_every_problem_can_be_pickled(kind: type[Problem]) -> None:
    problem = kind.__new__(kind)
    Problem.__init__(problem, "why", retry_after=3)
    copy = pickle.loads(pickle.dumps(problem))
    assert (type(copy), str(copy), vars(copy)) == (kind, "why", {"detail": "why", "extra": {"retry_after": 3}})
    limited, missing = pickle.loads(pickle.dumps([RateLimited(3, "too many"), NotFound("ticket")]))
    assert (limited.retry_after, missing.build_body()) == (3, NotFound("ticket").build_body())


@pytest.mark.long
def test_killed_process_is_replaced(worker: WorkerProcess) -> None:
    first = worker.call(5, os.getpid)
    os.kill(first, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
    eventually(lambda: is_gone(first))
    assert worker.call(5, os.getpid) != first
    assert (worker.starts, dict(worker.ends)) == (2, {"killed": 1})
    with pytest.raises(Unavailable, match="nothing was stored, try again") as caught:
        worker.call(5, os._exit, 1)
    assert caught.value.extra == {"retry_after": 5}
    assert worker.call(5, math.sqrt, 4) == 2
    assert worker.ends == {"killed": 2}
    with pytest.raises(Unavailable):
        worker.call(5, raise_unpicklable)
    assert worker.call(5, math.sqrt, 9) == 3


@posix
@pytest.mark.long
def test_step_that_takes_too_long_is_ended(worker: WorkerProcess) -> None:
    with pytest.raises(PayloadTooLarge, match=r"more than 0\.1 s of processor time"):
        worker.call(0.1, math.factorial, 5_000_000)
    assert worker.ends == {"processor_time": 1}


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits all memory")
def test_work_that_needs_too_much_memory_is_refused(worker: WorkerProcess) -> None:
    with pytest.raises(PayloadTooLarge, match="more than 512 MB of memory"):
        worker.call(5, bytes, 600_000_000)
    assert worker.call(5, len, bytes(30_000_000)) == 30_000_000
    assert worker.starts == 1


@pytest.mark.long
def test_idle_process_ends_and_a_closed_one_never_starts_again(worker: WorkerProcess) -> None:
    first = worker.call(5, os.getpid)
    worker.end_if_idle()
    assert is_gone(first)
    assert not worker.is_running
    second = worker.call(5, os.getpid)
    worker.close()
    assert is_gone(second)
    with pytest.raises(Unavailable, match="the server is stopping"):
        worker.call(5, os.getpid)
    assert worker.ends == {"idle": 1, "stop": 1}


@pytest.mark.long
def test_working_process_ends_with_the_server_but_not_when_idle(worker: WorkerProcess) -> None:
    first = worker.call(5, os.getpid)
    raised: list[Problem] = []

    def work() -> None:
        try:
            worker.call(5, time.sleep, NEVER)
        except Problem as problem:
            raised.append(problem)

    thread = threading.Thread(target=work)
    thread.start()
    eventually(worker._lock.locked)
    worker.end_if_idle()
    assert not is_gone(first)
    worker.close()
    thread.join(60)
    assert [type(each) for each in raised] == [Unavailable]
    assert is_gone(first)


PARENT = """
import os, sys, threading, time
from ticketbox.operations.core.workers.worker_process import WorkerProcess
worker = WorkerProcess()
print(worker.call(5, os.getpid), flush=True)
if "busy" in sys.argv:
    worker.call(60, time.sleep, 2)
sys.stdin.readline()
print(worker.call(5, os.getpid), flush=True)
time.sleep(3600)
"""


@posix
@pytest.mark.long
@pytest.mark.parametrize("state", ["idle", "busy"])
def test_process_ends_when_its_server_is_killed(state: str) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, state], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdin is not None
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    assert not is_gone(pid)
    os.kill(pid, signal.SIGTERM)  # signals for the whole group are the server's
    os.kill(pid, signal.SIGINT)
    if state == "idle":
        parent.stdin.write("\n")
        parent.stdin.flush()
        assert int(parent.stdout.readline()) == pid
    parent.kill()
    parent.wait()
    parent.stdin.close()
    parent.stdout.close()
    eventually(lambda: is_gone(pid), seconds=60)
