"""Tickets with similar titles, found by the words that they share."""

import time

import msgspec

from ticketbox.domain.captures.fingerprints import Fingerprint
from ticketbox.domain.tickets.records import Similarity, Status
from ticketbox.domain.tickets.search_query import SearchQuery
from ticketbox.domain.tickets.search_words import write_query
from ticketbox.domain.tickets.title_words import compute_similarity, list_title_words
from ticketbox.store.core.visibility import WITH_VISIBLE_PROJECTS, Viewer
from ticketbox.store.file.database import Read
from ticketbox.store.tickets.search.search_scope import compose_scope, list_visible_projects, quote
from ticketbox.store.tickets.search.similar import TIME_LIMIT_SECONDS, SimilarMatch

MAX_COMPARED = 200

SELECT_TITLES = f"""
{WITH_VISIBLE_PROJECTS}
SELECT t.id, t.title
FROM search CROSS JOIN ticket t ON t.id = search.rowid CROSS JOIN visible_project v ON v.id = t.project_id
WHERE search MATCH :match AND t.status IN (SELECT value FROM json_each(:statuses)) AND v.within
ORDER BY search.rowid DESC LIMIT :limit
"""


def find_similar_titles(
    tx: Read, viewer: Viewer, title: str, statuses: tuple[Status, ...], company: int | None = None
) -> tuple[list[SimilarMatch], bool]:
    """Compare a title with those of the newest 200 visible tickets that share two words with it, or its only word.

    The most similar come first, then the newest. Also return whether the search finished within its time limit.
    """
    words = list_title_words(title)
    homes = [home for home in list_visible_projects(tx, viewer) if company in {None, home.company}]
    scope = compose_scope(homes, statuses, SearchQuery((), (), ()), {}, tx.now)
    if not words or not scope:
        return [], True
    given = {
        **viewer,
        "match": f"({scope}) AND {{title}} : ({_compose_shared_words(words)})",
        "statuses": msgspec.json.encode(statuses).decode(),
        "limit": MAX_COMPARED,
    }
    rows, finished = tx.fetch_until(SELECT_TITLES, given, time.monotonic() + TIME_LIMIT_SECONDS)
    compared = [(compute_similarity(words, list_title_words(found)), key, found) for key, found in rows]
    best = sorted((each for each in compared if each[0]), reverse=True)
    return [SimilarMatch(key, [Fingerprint(Similarity.TITLE, 0, found)]) for _, key, found in best], finished


def _compose_shared_words(words: tuple[str, ...]) -> str:
    """Compose the FTS5 expression for two of the words, or the only one."""
    terms = [quote(write_query(word)) for word in words]
    if len(terms) == 1:
        return terms[0]
    tails = (" OR ".join(terms[number + 1 :]) for number in range(len(terms) - 1))
    return " OR ".join(f"({term} AND ({tail}))" for term, tail in zip(terms, tails, strict=False))
