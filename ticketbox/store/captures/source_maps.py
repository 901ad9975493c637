"""Source maps of projects, and the captures whose stacks wait to be resolved with them."""

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from ticketbox.domain.captures.capture import Stream
from ticketbox.domain.captures.records import SourceMapRecord
from ticketbox.domain.captures.source_maps.resolution import Script
from ticketbox.domain.core.ids import Prefix, generate_id
from ticketbox.store.core import blobs
from ticketbox.store.core.blobs import PackedContent
from ticketbox.store.core.bylines import Bylines
from ticketbox.store.file.database import Read, Row, Write

QUEUED_TICKETS = 200
_CANDIDATES = 50


class NewSourceMap(msgspec.Struct, frozen=True):
    """A map to store; `name` is the path of its script."""

    release: str
    name: str
    debug_id: str | None
    packed: PackedContent


class _MapRow(NamedTuple):
    key: int
    id: str
    project_id: str
    release: str
    name: str
    debug_id: str | None
    size: int
    sha256: bytes
    created_at: int
    created_by: int


_SELECT_MAP = """
SELECT s.id, s.public_id, p.public_id, s.release, s.name, s.debug_id, b.bytes, b.sha256, s.created_at, s.created_by
FROM source_map s JOIN project p ON p.id = s.project_id JOIN blob b ON b.id = s.blob_id
"""
SELECT_MAP = f"{_SELECT_MAP} WHERE s.id = ?"
SELECT_MAPS = f"{_SELECT_MAP} WHERE s.project_id = ? AND s.id < ? ORDER BY s.id DESC LIMIT ?"
SELECT_MAPS_OF_RELEASE = f"""{_SELECT_MAP}
WHERE s.project_id = ? AND s.release = ? AND s.id < ? ORDER BY s.id DESC LIMIT ?"""
SELECT_SAME_NAME = "SELECT id FROM source_map WHERE project_id = ? AND release = ? AND name = ?"
INSERT_MAP = """
INSERT INTO source_map (public_id, project_id, release, name, file, debug_id, blob_id, created_at, created_by)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


def save_source_map(tx: Write, project: int, new: NewSourceMap, byline: int) -> SourceMapRecord:
    """Store a map; it replaces the one of the same release and script."""
    known = tx.fetch_value(SELECT_SAME_NAME, (project, new.release, new.name))
    if known is not None:
        delete_source_map(tx, known)
    file = new.name.rpartition("/")[2]
    key = tx.insert(
        INSERT_MAP,
        (generate_id(Prefix.SOURCE_MAP), project, new.release, new.name, file, new.debug_id,
         blobs.save_blob(tx, new.packed), tx.now, byline),
    )  # fmt: skip
    return load_source_map(tx, key)


def load_source_map(tx: Read, key: int) -> SourceMapRecord:
    """Load a map that exists, without its content."""
    row = tx.fetch_one(SELECT_MAP, (key,))
    assert row is not None
    return _build_records(tx, [row])[0][1]


def list_source_maps(
    tx: Read, project: int, release: str | None, before: int, limit: int
) -> list[tuple[int, SourceMapRecord]]:
    """List a project's maps before a key, newest first, each with its key."""
    if release is None:
        return _build_records(tx, tx.fetch_all(SELECT_MAPS, (project, before, limit)))
    return _build_records(tx, tx.fetch_all(SELECT_MAPS_OF_RELEASE, (project, release, before, limit)))


def _build_records(tx: Read, records: list[Row]) -> list[tuple[int, SourceMapRecord]]:
    rows = [_MapRow._make(record) for record in records]
    bylines = Bylines(tx, [row.created_by for row in rows])
    return [
        (
            row.key,
            SourceMapRecord(
                id=row.id,
                project_id=row.project_id,
                release=row.release,
                name=row.name,
                debug_id=row.debug_id,
                bytes=row.size,
                sha256=row.sha256.hex(),
                created=bylines.build(row.created_by, row.created_at),
            ),
        )
        for row in rows
    ]


COUNT_MAPS = "SELECT count(*) FROM source_map WHERE project_id = ?"


def count_source_maps(tx: Read, project: int) -> int:
    """Count a project's maps."""
    return tx.fetch_value(COUNT_MAPS, (project,))


def delete_source_map(tx: Write, key: int) -> None:
    """Delete a map, and overwrite its content unless something else uses it."""
    blob = tx.fetch_value("SELECT blob_id FROM source_map WHERE id = ?", (key,))
    tx.execute("DELETE FROM source_map WHERE id = ?", (key,))
    blobs.delete_if_unused(tx, blob)


QUEUE_CAPTURE = """
INSERT INTO unresolved_capture (capture_id, due_at)
SELECT ?, ? WHERE EXISTS (SELECT 1 FROM source_map WHERE project_id = ?)
"""
QUEUE_NEWEST = """
INSERT INTO unresolved_capture (capture_id, due_at)
SELECT capture_id, :due FROM (
  SELECT capture_id FROM ticket WHERE project_id = :project AND status = 'active' AND capture_id IS NOT NULL
  ORDER BY updated_at DESC, id DESC LIMIT :limit
) WHERE true ON CONFLICT (capture_id) DO UPDATE SET due_at = excluded.due_at
"""


def queue_capture(tx: Write, project: int, capture: int) -> None:
    """Queue a new capture, if its project has maps."""
    tx.execute(QUEUE_CAPTURE, (capture, tx.now, project))


def queue_newest_captures(tx: Write, project: int, due: int) -> None:
    """Queue the captures of a project's newest tickets, because it has a new map."""
    tx.execute(QUEUE_NEWEST, {"project": project, "due": due, "limit": QUEUED_TICKETS})


class QueuedCapture(NamedTuple):
    """A capture to resolve: its keys, its streams as they are stored, and what decides about it."""

    key: int
    id: str
    ticket: int
    project: int
    company: int
    release: str | None
    extra_redactions: list[str]
    blobs: dict[Stream, int]
    contents: dict[Stream, tuple[str, bytes]]


SELECT_DUE = "SELECT capture_id FROM unresolved_capture WHERE due_at <= ? ORDER BY due_at LIMIT 1"
SELECT_NEXT_DUE = "SELECT min(due_at) FROM unresolved_capture"
SELECT_QUEUED = """
SELECT c.id, c.public_id, c.ticket_id, t.project_id, p.company_id, c.environment ->> '$.release', p.extra_redactions,
  c.console, c.network, c.errors, c.actions
FROM capture c JOIN ticket t ON t.id = c.ticket_id JOIN project p ON p.id = t.project_id WHERE c.id = ?
"""


def find_next_due(tx: Read) -> int | None:
    """Return when the next capture is due."""
    return tx.fetch_value(SELECT_NEXT_DUE, ())


def load_due_capture(tx: Read, now: int) -> QueuedCapture | None:
    """Load the capture that has been due for longest."""
    key = tx.fetch_value(SELECT_DUE, (now,))
    row = None if key is None else tx.fetch_one(SELECT_QUEUED, (key,))
    if row is None:
        return None
    streams = {stream: blob for stream, blob in zip(Stream, row[7:], strict=True) if blob is not None}
    contents = {stream: blobs.load_packed(tx, blob) for stream, blob in streams.items()}
    key, public_id, ticket, project, company, release, rules = row[:7]
    extra_redactions = msgspec.json.decode(rules, type=list[str])
    return QueuedCapture(key, public_id, ticket, project, company, release, extra_redactions, streams, contents)


SELECT_BY_DEBUG_ID = "SELECT blob_id FROM source_map WHERE project_id = ? AND debug_id = ? ORDER BY id DESC LIMIT 1"
SELECT_BY_FILE = """
SELECT name, release, blob_id FROM source_map WHERE project_id = ? AND file = ? ORDER BY id DESC LIMIT ?
"""


def find_map_contents(
    tx: Read, project: int, release: str | None, scripts: Iterable[Script], most: int, most_bytes: int
) -> dict[Script, tuple[str, bytes]]:
    """Find the maps of scripts as they are stored, at most so many and so long: by debug id, else by address.

    Of several with the same address, that of the release wins, then the newest.
    """
    found: dict[Script, tuple[str, bytes]] = {}
    for script in scripts:
        blob = _find_map(tx, project, release, script)
        if blob is not None and (size := blobs.load_size(tx, blob)) <= most_bytes:
            most_bytes -= size
            found[script] = blobs.load_packed(tx, blob)
            if len(found) == most:
                break
    return found


def _find_map(tx: Read, project: int, release: str | None, script: Script) -> int | None:
    if script.debug_id:
        blob = tx.fetch_value(SELECT_BY_DEBUG_ID, (project, script.debug_id.lower()))
        if blob is not None:
            return blob
    rows = tx.fetch_all(SELECT_BY_FILE, (project, script.url.rpartition("/")[2], _CANDIDATES))
    matches = [row for row in rows if f"/{script.url}".endswith(f"/{row[0]}")]
    best = next((row for row in matches if row[1] == release), matches[0] if matches else None)
    return None if best is None else best[2]


REPLACE_STREAMS = """
UPDATE capture SET console = :console, errors = :errors, excerpt = :excerpt
WHERE id = :key AND console = :old_console AND errors = :old_errors
"""


def replace_streams(
    tx: Write, queued: QueuedCapture, console: PackedContent, errors: PackedContent, excerpt: PackedContent
) -> bool:
    """Replace the streams of a capture by resolved ones, unless it has changed; return whether it had not."""
    changed = tx.execute(
        REPLACE_STREAMS,
        {
            "key": queued.key,
            "console": blobs.save_blob(tx, console),
            "errors": blobs.save_blob(tx, errors),
            "excerpt": blobs.save_blob(tx, excerpt),
            "old_console": queued.blobs[Stream.CONSOLE],
            "old_errors": queued.blobs[Stream.ERRORS],
        },
    )
    return bool(changed)


def finish_capture(tx: Write, key: int) -> None:
    """Remove a capture from the queue."""
    tx.execute("DELETE FROM unresolved_capture WHERE capture_id = ?", (key,))
