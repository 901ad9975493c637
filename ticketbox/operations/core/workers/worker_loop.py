"""What a worker process does: it reads calls from standard input and writes their results to standard output.

It ends when the input does, so also when the server is killed. Signals for the server's group are ignored.
"""

import math
import os
import pickle
import signal
import sys
import time
import traceback
from collections.abc import Callable
from typing import IO, Any

from ticketbox.domain.core.memory import return_free_memory, return_large_blocks
from ticketbox.domain.core.problems import PayloadTooLarge

NICENESS = 5
MAX_MEMORY = 512 * 1024 * 1024
# The work measures its own time; this much later the system ends it, if it is in one step that takes too long.
GRACE_SECONDS = 2

Call = tuple[float, Callable[..., Any], tuple[Any, ...]]


def run_calls() -> None:
    """Run calls until standard input is closed."""
    for name in ("SIGINT", "SIGTERM"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    _limit_resources()
    return_large_blocks()
    calls, results = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints isn't a result
    try:
        while True:
            _run_call(calls, results)
            return_free_memory()
    except (EOFError, OSError, KeyboardInterrupt):
        pass
    os._exit(0)  # nothing is left to clean up


def _run_call(calls: IO[bytes], results: IO[bytes]) -> None:
    """Run one call. Raises EOFError when there are no more."""
    call: Call = pickle.load(calls)  # noqa: S301 (of the server)
    started = time.process_time()
    # No variable has the result: the frames of an exception would then keep it, and what was sent, until a collection.
    pickle.dump((*_compute(call), time.process_time() - started), results, 5)
    results.flush()


def _compute(call: Call) -> tuple[bool, Any]:
    """Return whether a call returns, and its value or exception."""
    seconds, function, arguments = call
    _limit_processor_time(seconds)
    try:
        return True, function(*arguments)
    except MemoryError:
        return False, PayloadTooLarge(f"this takes more than {MAX_MEMORY >> 20} MB of memory")
    except Exception as error:
        error.add_note(traceback.format_exc())  # a traceback can't be pickled
        return False, error


def _limit_resources() -> None:
    """Limit memory, and let the server's event loop run first. Windows has no such limit of memory."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (MAX_MEMORY, MAX_MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limit_processor_time(seconds: float) -> None:
    """Let the system end this process if it uses more than these seconds from now on. Windows has no such limit."""
    if sys.platform != "win32":
        import resource

        most = math.ceil(time.process_time() + seconds) + GRACE_SECONDS
        resource.setrlimit(resource.RLIMIT_CPU, (most, resource.RLIM_INFINITY))
