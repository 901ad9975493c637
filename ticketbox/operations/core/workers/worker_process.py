"""A process for work that would hold the interpreter's lock for long (docs/decisions/0020).

It is this program again, which reads calls from standard input and writes results to standard output
(`worker_loop.py`). So it needs no semaphores or files, and ends when the server does, however that ends.
"""

import contextlib
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import IO, Any, TypeVar

from ticketbox.domain.core.problems import PayloadTooLarge, Unavailable
from ticketbox.operations.core.workers.argument import ARGUMENT

T = TypeVar("T")

RETRY_SECONDS = 5
_LOOP = "ticketbox.operations.core.workers.worker_loop"
_PROTOCOL = 5  # large bytes aren't copied


class WorkerProcess:
    """A process that starts with the first call. Calls come from any thread, and wait for each other.

    `starts`, `ends` (by reason) and `seconds` of its work are for the metrics; `processor_seconds` are what it used.
    """

    def __init__(self) -> None:
        self.starts = 0
        self.ends: Counter[str] = Counter()
        self.calls = 0
        self.seconds = 0.0
        self.processor_seconds = 0.0
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False

    @property
    def is_running(self) -> bool:
        """Whether the process was started and hasn't been ended."""
        return self._process is not None

    @property
    def pid(self) -> int | None:
        """The id of the process, if it runs."""
        return None if (process := self._process) is None else process.pid

    def call(self, seconds: float, function: Callable[..., T], *arguments: Any) -> T:
        """Call a module's function in the process; its arguments and result are pickled.

        Raises what it raises, Unavailable if the process ends, and PayloadTooLarge if that is because it used more
        than these seconds of processor time.
        """
        with self._lock:
            started = time.monotonic()
            process = self._start()
            try:
                done, result, used = _exchange(process, (seconds, function, arguments))
                self.processor_seconds += used
            except (OSError, EOFError, pickle.UnpicklingError):
                raise self._report_end(seconds) from None
            finally:
                self.calls += 1
                self.seconds += time.monotonic() - started
        if not done:
            raise result
        return result

    def end_if_idle(self) -> None:
        """End the process, unless it works."""
        if self._lock.acquire(blocking=False):
            try:
                self._end("idle")
            finally:
                self._lock.release()

    def close(self) -> None:
        """End the process, also if it works, and start no more."""
        self._closed = True
        if (process := self._process) is not None:
            process.kill()
        with self._lock:
            self._end("stop")

    def _start(self) -> subprocess.Popen[bytes]:
        if self._closed:
            raise Unavailable("the server is stopping", retry_after=RETRY_SECONDS)
        if self._process is not None and self._process.poll() is not None:
            self._end("killed")
        if self._process is None:
            self._process = subprocess.Popen(  # noqa: S603 (this program)
                _build_command(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                creationflags=getattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0),  # only on Windows
            )
            self.starts += 1
        return self._process

    def _end(self, reason: str) -> int:
        """End the process, if there is one, and return its exit status."""
        process, self._process = self._process, None
        if process is None:
            return 0
        process.kill()
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            with contextlib.suppress(OSError):  # what couldn't be written
                stream.close()
        self.ends[reason] += 1
        return process.wait()

    def _report_end(self, seconds: float) -> Exception:
        """Return the error of a call whose process ended."""
        assert self._process is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)  # its standard output ends just before it does
        exceeded = self._process.poll() == -getattr(signal, "SIGXCPU", 0)
        self._end("processor_time" if exceeded else "stop" if self._closed else "killed")
        if exceeded:
            self.processor_seconds += seconds
            return PayloadTooLarge(f"this takes more than {seconds:g} s of processor time")
        return Unavailable(
            "the process that does this work ended; nothing was stored, try again", retry_after=RETRY_SECONDS
        )


def _exchange(process: subprocess.Popen[bytes], call: Any) -> tuple[bool, Any, float]:
    """Send a call, and wait for its result: whether it returned, the value or the exception, and the time used."""
    requests, results = process.stdin, process.stdout
    assert requests is not None
    assert results is not None
    _dump(call, requests)
    return pickle.load(results)  # noqa: S301 (written by this program)


def _dump(value: Any, stream: IO[bytes]) -> None:
    pickle.dump(value, stream, _PROTOCOL)
    stream.flush()


def _build_command() -> list[str]:
    """Return the command of the process, with the same modules as this one has, wherever it was started."""
    if getattr(sys, "frozen", False):
        return [sys.executable, ARGUMENT]
    code = f"import sys; sys.path[:] = {sys.path!r}; from {_LOOP} import run_calls; run_calls()"
    return [sys.executable, "-I", "-c", code]
