"""A limit of processor time, so that no capture occupies a thread for long, however its texts are made."""

import time
from collections.abc import Callable

from ticketbox.domain.core.problems import PayloadTooLarge

# Reading the clock takes as long as a short entry, so it is read after this many characters.
STRIDE = 65_536


class ProcessorTime:
    """A limit of the processor time that the current thread may use from now on."""

    def __init__(self, seconds: float, build_error: Callable[[float], Exception] | None = None) -> None:
        self._seconds = seconds
        self._build_error = build_error or _build_capture_error
        self._end = time.thread_time() + seconds
        self._left = 0

    def check(self, length: int) -> None:
        """Raise the error, by default PayloadTooLarge, if the limit is exceeded, before a text of this length."""
        self._left -= length
        if self._left > 0:
            return
        self._left = STRIDE
        if time.thread_time() > self._end:
            raise self._build_error(self._seconds)


def _build_capture_error(seconds: float) -> Exception:
    return PayloadTooLarge(
        f"reading and redacting this capture takes more than {seconds:g} s of processor time; "
        "send fewer entries or shorter texts"
    )
