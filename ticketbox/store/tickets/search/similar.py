"""Similar tickets, found by their fingerprints."""

import time
from collections.abc import Iterable

import msgspec

from ticketbox.domain.captures.fingerprints import Fingerprint
from ticketbox.domain.tickets.records import Similarity, Status
from ticketbox.store.core.visibility import WITH_VISIBLE_PROJECTS, Viewer
from ticketbox.store.file.database import Read, Write

TIME_LIMIT_SECONDS = 1.0
MAX_PER_FINGERPRINT = 50

INSERT_FINGERPRINT = """
INSERT OR IGNORE INTO fingerprint (ticket_id, similarity, value, company_id, label)
SELECT ?, ?, ?, p.company_id, ? FROM ticket t JOIN project p ON p.id = t.project_id WHERE t.id = ?
"""


def insert_fingerprints(tx: Write, ticket: int, prints: Iterable[Fingerprint]) -> None:
    """Add fingerprints to those of a ticket."""
    tx.execute_many(
        INSERT_FINGERPRINT, [(ticket, each.similarity.value, each.value, each.label, ticket) for each in prints]
    )


def replace_fingerprints(tx: Write, ticket: int, prints: Iterable[Fingerprint]) -> None:
    """Replace the fingerprints of a ticket."""
    tx.execute("DELETE FROM fingerprint WHERE ticket_id = ?", (ticket,))
    insert_fingerprints(tx, ticket, prints)


SELECT_FINGERPRINTS = "SELECT similarity, value, label FROM fingerprint WHERE ticket_id = ?"


def list_fingerprints(tx: Read, ticket: int) -> list[Fingerprint]:
    """List a ticket's fingerprints."""
    rows = tx.fetch_all(SELECT_FINGERPRINTS, (ticket,))
    return [Fingerprint(Similarity(similarity), value, label) for similarity, value, label in rows]


class SimilarMatch(msgspec.Struct, frozen=True):
    """A similar ticket and the fingerprints that it shares."""

    key: int
    prints: list[Fingerprint]


SELECT_VISIBLE_COMPANIES = f"""
{WITH_VISIBLE_PROJECTS}
SELECT DISTINCT v.company FROM visible_project v
WHERE v.within AND (:company IS NULL OR v.company = :company)
"""
SELECT_NEWEST_MATCHES = f"""
{WITH_VISIBLE_PROJECTS}
SELECT f.ticket_id, f.label FROM fingerprint f
CROSS JOIN ticket t ON t.id = f.ticket_id CROSS JOIN visible_project v ON v.id = t.project_id
WHERE f.company_id = :company AND f.similarity = :similarity AND f.value = :value AND f.ticket_id <> :except
  AND t.status IN (SELECT value FROM json_each(:statuses)) AND v.within
ORDER BY f.ticket_id DESC LIMIT :limit
"""


def find_similar(
    tx: Read,
    viewer: Viewer,
    prints: Iterable[Fingerprint],
    statuses: Iterable[Status],
    company: int | None = None,
    exclude: int = 0,
) -> tuple[list[SimilarMatch], bool]:
    """Find the newest visible tickets with these fingerprints, most similar first.

    Also return whether the search finished within its time limit.
    """
    deadline = time.monotonic() + TIME_LIMIT_SECONDS
    common = {**viewer, "statuses": msgspec.json.encode(list(statuses)).decode(), "except": exclude}
    shared: dict[int, list[Fingerprint]] = {}
    finished = True
    companies = tx.fetch_all(SELECT_VISIBLE_COMPANIES, {**viewer, "company": company})
    for each in prints:
        for (company_key,) in companies:
            specific = {
                "company": company_key,
                "similarity": each.similarity.value,
                "value": each.value,
                "limit": MAX_PER_FINGERPRINT,
            }
            rows, done = tx.fetch_until(SELECT_NEWEST_MATCHES, {**common, **specific}, deadline)
            finished = finished and done
            for key, label in rows:
                shared.setdefault(key, []).append(Fingerprint(each.similarity, each.value, label))
    matches = [SimilarMatch(key, prints) for key, prints in shared.items()]
    return sorted(matches, key=lambda match: (_compute_weight(match), match.key), reverse=True), finished


def merge_matches(first: list[SimilarMatch], others: list[SimilarMatch]) -> list[SimilarMatch]:
    """Add the fingerprints of other matches: tickets that both have keep the order of the first."""
    prints = {match.key: match.prints for match in [*first, *others]}
    for match in first:
        added = prints[match.key]
        prints[match.key] = match.prints if added is match.prints else match.prints + added
    return [SimilarMatch(key, listed) for key, listed in prints.items()]


_WEIGHTS = {Similarity.ERROR: 4, Similarity.MESSAGE: 2, Similarity.PAGE: 1}


def _compute_weight(match: SimilarMatch) -> int:
    return sum(_WEIGHTS[each.similarity] for each in match.prints)
