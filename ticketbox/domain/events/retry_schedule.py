"""When a delivery that failed is tried again (docs/use/webhooks.md, "Retries")."""

from ticketbox.domain.core.clock import DAY, HOUR

FIRST_MS = 10_000
LONGEST_MS = 6 * HOUR
GIVE_UP_AFTER_MS = DAY


def compute_next_attempt(attempts: int, first_at: int, now: int) -> int | None:
    """Compute the time of the next attempt after that many failed ones; None to give up.

    Times are epoch milliseconds, `first_at` that of the first attempt. The waits double, up to six hours.
    """
    at = now + min(FIRST_MS << min(attempts - 1, 20), LONGEST_MS)
    return at if at - first_at <= GIVE_UP_AFTER_MS else None
