"""The segments of the index of words, and their merging (docs/use/search.md, "How it works").

Every transaction that changes the index adds a segment, and each word of a search is looked up in all of them. SQLite
merges some as they come; these statements merge the rest, a few pages at a time ("The 'merge' Command" in its
documentation of FTS5).
"""

from ticketbox.store.file.database import Read, Write

COUNT_SEGMENTS = """
WITH RECURSIVE segment (id) AS (
  SELECT min(segid) FROM search_idx
  UNION ALL
  SELECT (SELECT min(segid) FROM search_idx WHERE segid > segment.id) FROM segment WHERE segment.id IS NOT NULL
)
SELECT count(id) FROM segment
"""
MERGE_SEGMENTS = "INSERT INTO search (search, rank) VALUES ('merge', ?)"


def count_segments(tx: Read) -> int:
    """How many segments the index has."""
    return int(tx.value(COUNT_SEGMENTS))


def merge_segments(tx: Write, pages: int, *, begin: bool = False) -> bool:
    """Write so many pages of a merge; returns whether anything was left to do.

    It goes on with a merge that was begun, then merges those of about the same size where there are four. `begin` has
    all merged into one.
    """
    before = tx.connection.total_changes
    tx.run(MERGE_SEGMENTS, (-pages if begin else pages,))
    return tx.connection.total_changes - before > 1  # the statement itself counts as one
