"""Claims that were made by a call that waited: its caller may have given up, and then nobody knows of the claim.

Such a claim ends after five minutes unless its token makes another call about the ticket (docs/use/work-sessions.md,
"Ready tickets"). They are in memory only: after a restart of the server only the lease makes the claim last longer.
"""

from collections.abc import Iterable, Mapping
from typing import Any, cast

import msgspec

from ticketbox.domain.core.ids import parse_ticket_reference
from ticketbox.domain.work.leases import parse_ticket

MAX_PROVISIONAL = 4_000  # as many as calls can wait
_LONGEST_REFERENCE = 500


class ProvisionalClaim(msgspec.Struct, frozen=True):
    """A claim that lasts until `ends`, or until `until` if the token calls again. Both are epoch milliseconds.

    `project` is a key. `names` are the ids of the ticket and of what belongs to it, in lower case, by which calls name
    it.
    """

    project: int
    ticket_id: str
    session_id: str
    run: str | None
    names: frozenset[str]
    ends: int
    until: int


class ProvisionalClaims:
    """The provisional claims of each credential; the oldest is forgotten if there are too many."""

    def __init__(self) -> None:
        self._claims: dict[tuple[int, str], ProvisionalClaim] = {}  # by credential and session, the oldest first

    def __len__(self) -> int:
        return len(self._claims)

    def add(self, credential: int, claim: ProvisionalClaim, now: int) -> None:
        """Remember a claim, and forget those that have ended."""
        for key, each in list(self._claims.items()):
            if each.ends > now and len(self._claims) < MAX_PROVISIONAL:
                break
            del self._claims[key]
        self._claims[credential, claim.session_id] = claim

    def list_of_run(self, credential: int, run: str) -> list[ProvisionalClaim]:
        """List the claims of a run, which may ask again because it didn't get the answer."""
        return [each for each in self._list(credential) if each.run == run]

    def forget(self, credential: int, session_id: str) -> None:
        """Forget the claim of a session."""
        self._claims.pop((credential, session_id), None)

    def take(self, credential: int, given: Mapping[str, Any]) -> list[ProvisionalClaim]:
        """Remove and return the claims that a call with these arguments is about."""
        if not self._claims:
            return []
        claims = self._list(credential)
        named = set(_list_names(given.values())) if claims else set[str]()
        taken = [each for each in claims if named & each.names]
        for each in taken:
            del self._claims[credential, each.session_id]
        return taken

    def _list(self, credential: int) -> list[ProvisionalClaim]:
        return [claim for (owner, _), claim in self._claims.items() if owner == credential]


def _list_names(values: Iterable[Any]) -> Iterable[str]:
    """Yield what the arguments of a call name: ids, and tickets by key, URL or lease."""
    for value in values:
        if isinstance(value, list | tuple):
            yield from _list_names(cast("Iterable[Any]", value))
        elif isinstance(value, str) and len(value) <= _LONGEST_REFERENCE:
            ticket = parse_ticket(value) or parse_ticket_reference(value) or value
            yield (ticket if isinstance(ticket, str) else f"{ticket.project}-{ticket.number}").strip().lower()
