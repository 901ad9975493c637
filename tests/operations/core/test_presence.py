"""Entries of presence expire in order, and each change notifies only the ticket's other viewers."""

from ticketbox.domain.core.access.policy import ANONYMOUS
from ticketbox.operations.core.live.listeners import Listeners
from ticketbox.operations.core.live.presence import EXPIRY_SECONDS, Presence, TabKey


def test_entries_expire_without_renewal_and_leave_nothing() -> None:
    now, told = [0.0], list[tuple[TabKey, str]]()
    presence = Presence(lambda tab, ticket: told.append((tab, ticket)), lambda: now[0])
    presence.enter((1, "a"), 10, 7, "t-7")
    presence.enter((2, "b"), 20, 7, "t-7")
    presence.enter((3, "c"), 30, 8, "t-8")
    assert told == [((1, "a"), "t-7")]
    now[0] = EXPIRY_SECONDS - 1
    presence.enter((1, "a"), 10, 7, "t-7")
    assert told == [((1, "a"), "t-7")], "a renewal is no news"
    now[0] = EXPIRY_SECONDS
    assert presence.list_users(7) == {10}
    assert presence.list_users(8) == set()
    assert told[1:] == [((1, "a"), "t-7")]
    presence.leave((1, "a"), ticket=8)
    assert len(presence) == 1
    presence.leave((1, "a"))
    assert len(presence) == 0
    assert presence._by_ticket == {}


def test_stream_that_was_replaced_ends_quietly_and_last() -> None:
    listeners = Listeners()
    first, second = listeners.listen(ANONYMOUS, "a"), listeners.listen(ANONYMOUS, "a")
    first.__enter__()
    second.__enter__()
    listeners.presence.enter((ANONYMOUS.credential, "a"), 10, 7, "t-7")
    second.__exit__(None, None, None)
    assert len(listeners.presence) == 0
    first.__exit__(None, None, None)
