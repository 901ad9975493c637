"""Bylines: who wrote a row, with which token, over which channel. Rows hold a byline's key."""

from collections.abc import Iterable

import msgspec

from ticketbox.domain.core.access.policy import Actor, Kind, Via
from ticketbox.domain.core.clock import format_rfc3339
from ticketbox.domain.core.records import By, Person
from ticketbox.store.file.database import Read, Write

SELECT_BYLINE = "SELECT id FROM byline WHERE user_id = ? AND ifnull(token_id, '') = ? AND via = ?"
INSERT_BYLINE = "INSERT INTO byline (user_id, credential_id, token_id, token_label, via) VALUES (?, ?, ?, ?, ?)"


def ensure_byline(tx: Write, actor: Actor) -> int:
    """Return the key of the actor's byline; insert it at the first write. A web session has no token, a hook no row."""
    token_id = actor.token_id if actor.kind in {Kind.API, Kind.OAUTH} else None
    key = tx.fetch_value(SELECT_BYLINE, (actor.user, token_id or "", actor.via.value))
    if key is not None:
        return key
    credential = actor.credential or None if token_id else None
    return tx.insert(INSERT_BYLINE, (actor.user, credential, token_id, actor.token_label, actor.via.value))


_VIAS = {via.value: via for via in Via}

SELECT_BYLINES = """
SELECT b.id, u.public_id, u.name, b.token_id, b.token_label, b.via
FROM json_each(?) k CROSS JOIN byline b ON b.id = k.value JOIN user u ON u.id = b.user_id
"""


class Bylines:
    """The bylines of one answer, loaded by one query."""

    def __init__(self, tx: Read, keys: Iterable[int | None]) -> None:
        wanted = {*keys} - {None}
        rows = tx.fetch_all(SELECT_BYLINES, (msgspec.json.encode(list(wanted)).decode(),)) if wanted else []
        self._known = {
            key: (Person(user_id, name), token_id, token_label, _VIAS[via])
            for key, user_id, name, token_id, token_label, via in rows
        }

    def build(self, key: int, at: int) -> By:
        """Build the byline of a write at a time."""
        user, token_id, token_label, via = self._known[key]
        return By(user, token_id, token_label, via, format_rfc3339(at))

    def build_optional(self, key: int | None, at: int | None) -> By | None:
        """Build the byline of a write, or return None if there was none."""
        return None if key is None or at is None else self.build(key, at)
