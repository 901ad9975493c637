"""Whether the wall clock can be trusted: a clock that jumps must not make old what is new."""

import logging

from ticketbox.domain.core.clock import DAY, HOUR, Clock, format_rfc3339

log = logging.getLogger("ticketbox.jobs")

MOST_DIFFERENCE = HOUR
TRUSTED_AFTER = DAY
MOST_PAUSE = DAY


class ClockWatch:
    """Compares the wall clock with the file at the start of the server, and with the monotonic clock from then on.

    A jump of more than an hour is suspect until the clock returns, or has kept its new time for a day: a machine that
    was asleep, or a corrected clock.

    `newest` is the time of the newest change that is at least `TRUSTED_AFTER` old, in epoch milliseconds; None without
    one. If it is older by more than a day, the clock has jumped since, or nobody used the server for a while: the start
    counts as a jump. Younger changes prove nothing, because the wrong clock may have dated them.
    """

    def __init__(self, clock: Clock, newest: int | None = None) -> None:
        self._clock = clock
        self._offset = self._suspect = self._measure_offset()
        self._suspect_since = clock.monotonic()
        if newest is not None and clock.now() - newest > TRUSTED_AFTER + MOST_PAUSE:
            self._offset = newest - clock.monotonic() * 1000
            log.warning(
                "there was no change from %s until the last 24 hours: if the clock is wrong, fix it; "
                "nothing is deleted by its age until the server has run for a day, or is started with --trust-clock",
                format_rfc3339(newest),
            )

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
