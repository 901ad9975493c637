"""Tickets that look alike, by their fingerprints."""

import time
from collections.abc import Iterable

import msgspec

from ticketbox.domain.captures.fingerprints import Print
from ticketbox.domain.tickets.records import Likeness, Status
from ticketbox.store.core.visibility import VISIBLE, Viewer
from ticketbox.store.file.database import Read, Write

SECONDS = 1.0
MOST_OF_A_KIND = 50

ADD = """
INSERT OR IGNORE INTO fingerprint (ticket_id, likeness, value, company_id, label)
SELECT ?, ?, ?, p.company_id, ? FROM ticket t JOIN project p ON p.id = t.project_id WHERE t.id = ?
"""


def add(tx: Write, ticket: int, prints: Iterable[Print]) -> None:
    """Note what a ticket looks like, beside what is known of it."""
    tx.many(ADD, [(ticket, each.likeness.value, each.value, each.label, ticket) for each in prints])


OF_TICKET = "SELECT likeness, value, label FROM fingerprint WHERE ticket_id = ?"


def prints_of(tx: Read, ticket: int) -> list[Print]:
    """What a ticket looks like."""
    return [Print(Likeness(row[0]), row[1], row[2]) for row in tx.all(OF_TICKET, (ticket,))]


class Alike(msgspec.Struct, frozen=True):
    """A ticket that looks like what was asked for, and in what."""

    key: int
    prints: list[Print]


COMPANIES = f"{VISIBLE} SELECT DISTINCT v.company FROM visible_project v WHERE v.within"
NEWEST = f"""
{VISIBLE}
SELECT f.ticket_id, f.label FROM fingerprint f
CROSS JOIN ticket t ON t.id = f.ticket_id CROSS JOIN visible_project v ON v.id = t.project_id
WHERE f.company_id = :company AND f.likeness = :likeness AND f.value = :value AND f.ticket_id <> :except
  AND t.status IN (SELECT value FROM json_each(:statuses)) AND v.within
ORDER BY f.ticket_id DESC LIMIT :limit
"""


def alike(
    tx: Read, viewer: Viewer, prints: Iterable[Print], statuses: Iterable[Status], besides: int = 0
) -> tuple[list[Alike], bool]:
    """The newest visible tickets with these fingerprints, most alike first, and whether time was enough for all."""
    deadline = time.monotonic() + SECONDS
    given = {**viewer, "statuses": msgspec.json.encode(list(statuses)).decode(), "except": besides}
    found: dict[int, list[Print]] = {}
    whole = True
    companies = tx.all(COMPANIES, viewer)
    for each in prints:
        for (company,) in companies:
            asked = {"company": company, "likeness": each.likeness.value, "value": each.value, "limit": MOST_OF_A_KIND}
            rows, done = tx.some(NEWEST, {**given, **asked}, deadline)
            whole = whole and done
            for key, label in rows:
                found.setdefault(key, []).append(Print(each.likeness, each.value, label))
    alikes = [Alike(key, kept) for key, kept in found.items()]
    return sorted(alikes, key=lambda one: (_weight(one), one.key), reverse=True), whole


_WEIGHTS = {Likeness.ERROR: 4, Likeness.MESSAGE: 2, Likeness.PAGE: 1}


def _weight(alike: Alike) -> int:
    return sum(_WEIGHTS[each.likeness] for each in alike.prints)
