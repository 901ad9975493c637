"""Whether the wall clock can be trusted: a clock that jumps must not make old what is new."""

import logging

from ticketbox.domain.core.clock import DAY, HOUR, Clock

log = logging.getLogger("ticketbox.jobs")

MOST_DIFFERENCE = HOUR
TRUSTED_AFTER = DAY


class ClockWatch:
    """Compares the wall clock with the monotonic clock since the start of the server.

    A jump of more than an hour is suspect until the clock returns, or has kept its new time for a day: a machine that
    was asleep, or a corrected clock.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._offset = self._measure_offset()
        self._suspect = self._offset
        self._suspect_since = 0.0

    def is_trusted(self) -> bool:
        """Whether the clock has made no jump that the monotonic clock doesn't confirm. Logs a new jump."""
        offset, now = self._measure_offset(), self._clock.monotonic()
        if abs(offset - self._offset) <= MOST_DIFFERENCE:
            self._offset = self._suspect = offset  # small corrections add up
            return True
        if abs(offset - self._suspect) > MOST_DIFFERENCE:
            self._suspect, self._suspect_since = offset, now
            log.error(
                "the clock jumped by %.1f hours; nothing is deleted by its age until it returns or a day has passed",
                (offset - self._offset) / HOUR,
            )
        if (now - self._suspect_since) * 1000 < TRUSTED_AFTER:
            return False
        self._offset = self._suspect = offset
        return True

    def _measure_offset(self) -> float:
        return self._clock.now() - self._clock.monotonic() * 1000
