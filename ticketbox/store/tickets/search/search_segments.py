"""The segments of the full-text index, and their merging (docs/use/search.md, "How it works").

Every transaction that changes the index adds a segment, and a search looks each word up in all of them. SQLite
merges some automatically; these statements merge the rest, a few pages at a time ("The 'merge' Command" in its
FTS5 documentation).
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
    """Count the segments of the index."""
    return int(tx.fetch_value(COUNT_SEGMENTS))


def merge_segments(tx: Write, pages: int, *, begin: bool = False) -> bool:
    """Write that many pages of a merge; return whether there was anything to merge.

    Continues a merge that was started, then merges four or more segments of about the same size. `begin` starts a
    merge of all segments into one.
    """
    before = tx.connection.total_changes
    tx.execute(MERGE_SEGMENTS, (-pages if begin else pages,))
    return tx.connection.total_changes - before > 1  # the statement itself counts as one
