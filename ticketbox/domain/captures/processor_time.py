"""A limit of processor time, so that no capture occupies a thread for long, however its texts are made."""

import time

from ticketbox.domain.core.problems import PayloadTooLarge

# Reading the clock takes as long as a short entry, so it is read after this many characters.
STRIDE = 65_536


class ProcessorTime:
    """A limit of the processor time that the current thread may use from now on."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = time.thread_time() + seconds
        self._left = 0

    def check(self, length: int) -> None:
        """Raise PayloadTooLarge if the limit is exceeded, before a text of this length is processed."""
        self._left -= length
        if self._left > 0:
            return
        self._left = STRIDE
        if time.thread_time() > self._end:
            raise PayloadTooLarge(
                f"reading and redacting this capture takes more than {self._seconds:g} s of processor time; "
                "send fewer entries or shorter texts"
            )
