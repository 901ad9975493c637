"""Who has which ticket open in the web app now. It is in memory only: a restart forgets it, and the tabs report again.

An entry is one tab. It ends when the tab reports that it left, when its event stream ends, and when it hasn't been
renewed. Only the tabs with the same ticket open are notified, so a change costs as much as a ticket has viewers.
"""

import time
from collections.abc import Callable

import msgspec

EXPIRY_SECONDS = 40.0  # the web app renews its entry every 15 seconds

TabKey = tuple[int, str]  # a session's credential, and the name that the tab gave its event stream


class _Tab(msgspec.Struct, frozen=True):
    """A tab with a ticket open. `expires` is in seconds of the monotonic clock."""

    user: int
    ticket: int
    ticket_id: str
    expires: float


class Presence:
    """The tabs that have a ticket open. `notify` gets each tab whose ticket has other viewers than before."""

    def __init__(self, notify: Callable[[TabKey, str], None], read_clock: Callable[[], float] = time.monotonic) -> None:
        self._notify = notify
        self._read_clock = read_clock
        self._tabs: dict[TabKey, _Tab] = {}  # in the order in which they expire
        self._by_ticket: dict[int, dict[TabKey, int]] = {}  # tab to user

    def __len__(self) -> int:
        return len(self._tabs)

    def enter(self, key: TabKey, user: int, ticket: int, ticket_id: str) -> None:
        """Record that a tab has a ticket open, and no other one."""
        self.forget_expired()
        known = self._tabs.get(key)
        if known is not None and known.ticket != ticket:
            self.leave(key)
        is_new = user not in self._by_ticket.get(ticket, {}).values()
        self._tabs.pop(key, None)
        self._tabs[key] = _Tab(user, ticket, ticket_id, self._read_clock() + EXPIRY_SECONDS)
        self._by_ticket.setdefault(ticket, {})[key] = user
        if is_new:
            self._notify_others(ticket, ticket_id, user)

    def leave(self, key: TabKey, ticket: int | None = None) -> None:
        """Record that a tab has no ticket open, or no longer this one."""
        tab = self._tabs.get(key)
        if tab is None or ticket not in {None, tab.ticket}:
            return
        del self._tabs[key]
        viewers = self._by_ticket[tab.ticket]
        del viewers[key]
        if not viewers:
            del self._by_ticket[tab.ticket]
        elif tab.user not in viewers.values():
            self._notify_others(tab.ticket, tab.ticket_id, tab.user)

    def list_users(self, ticket: int) -> set[int]:
        """List the keys of the users who have a ticket open."""
        self.forget_expired()
        return set(self._by_ticket.get(ticket, {}).values())

    def forget_expired(self) -> None:
        """Remove the entries that weren't renewed in time."""
        now = self._read_clock()
        while self._tabs:
            key, tab = next(iter(self._tabs.items()))
            if tab.expires > now:
                return
            self.leave(key)

    def _notify_others(self, ticket: int, ticket_id: str, user: int) -> None:
        for key, viewer in self._by_ticket.get(ticket, {}).items():
            if viewer != user:
                self._notify(key, ticket_id)
