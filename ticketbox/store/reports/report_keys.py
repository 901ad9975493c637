"""Report keys: what lets people without an account report to a project (docs/use/reports.md)."""

from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET

from ticketbox.domain.core.clock import DAY, format_rfc3339
from ticketbox.domain.core.ids import Prefix, generate_id
from ticketbox.domain.reports.records import ReportKey, ReportKind
from ticketbox.store.core.bylines import Bylines
from ticketbox.store.core.updates import update_columns
from ticketbox.store.file.database import Read, Row, Write

MAX_KEYS = 20
KEY_OVERLAP_MS = DAY

SELECT_KEY_ROW = """
SELECT k.id, p.public_id FROM report_key k JOIN project p ON p.id = k.project_id WHERE k.public_id = ?
"""


def find_key(tx: Read, public_id: str) -> tuple[int, str] | None:
    """Find the row of a key by its public id, and the public id of its project."""
    row = tx.fetch_one(SELECT_KEY_ROW, (public_id,))
    return None if row is None else (row[0], row[1])


class AddressedKey(msgspec.Struct, frozen=True):
    """The key that a report was sent with, and the person who created it, for whom it reports."""

    key: int
    public_id: str
    name: str
    kind: ReportKind
    origins: list[str]
    identity_secrets: tuple[str, ...]
    per_minute: int
    per_day: int
    today: int
    project: int
    project_id: str
    company: int
    user: int
    user_id: str
    user_name: str


SELECT_BY_TEXT = """
SELECT k.id, k.public_id, k.name, k.kind, k.origins, k.identity_secret,
  iif(k.old_identity_until > :now, k.old_identity_secret, NULL), k.per_minute, k.per_day,
  iif(k.day = :day, k.day_reports, 0), p.id, p.public_id, p.company_id, u.id, u.public_id, u.name
FROM report_key k JOIN project p ON p.id = k.project_id
JOIN byline b ON b.id = k.created_by JOIN user u ON u.id = b.user_id
WHERE k.id = ifnull(
  (SELECT id FROM report_key WHERE key = :text),
  (SELECT id FROM report_key WHERE old_key = :text AND old_until > :now)) AND k.enabled
"""


def find_by_text(tx: Read, text: str) -> AddressedKey | None:
    """Find the key that is turned on, by its text or its former one."""
    row = tx.fetch_one(SELECT_BY_TEXT, {"text": text, "now": tx.now, "day": tx.now // DAY})
    if row is None:
        return None
    key, public_id, name, kind, origins, secret, old_secret, *rest = row
    secrets = tuple(each for each in (secret, old_secret) if each is not None)
    return AddressedKey(
        key, public_id, name, ReportKind(kind), msgspec.json.decode(origins, type=list[str]), secrets, *rest
    )


_SELECT_KEY = """
SELECT k.id, k.public_id, p.public_id, k.kind, k.name, k.key, k.origins, k.enabled, k.per_minute, k.per_day,
  k.last_report_at, k.old_until, k.identity_secret IS NOT NULL, k.old_identity_until, k.created_by, k.created_at
FROM report_key k JOIN project p ON p.id = k.project_id
"""


class _KeyRow(NamedTuple):
    """A row of `_SELECT_KEY`."""

    row: int
    id: str
    project_id: str
    kind: str
    name: str
    key: str
    origins: str
    enabled: int
    per_minute: int
    per_day: int
    last_report: int | None
    old_until: int | None
    has_identity_secret: int
    old_identity_until: int | None
    created_by: int
    created_at: int


SELECT_KEYS = f"{_SELECT_KEY} WHERE k.project_id = ? AND k.id > ? ORDER BY k.id LIMIT ?"
SELECT_KEY = f"{_SELECT_KEY} WHERE k.id = ?"


def list_keys(tx: Read, project: int, after: int, limit: int) -> list[tuple[int, ReportKey]]:
    """List a project's keys, oldest first, each with its row's key."""
    return _build_keys(tx, tx.fetch_all(SELECT_KEYS, (project, after, limit)))


def load_key(tx: Read, row: int) -> ReportKey:
    """Load a key that exists."""
    return _build_keys(tx, tx.fetch_all(SELECT_KEY, (row,)))[0][1]


def _build_keys(tx: Read, records: list[Row]) -> list[tuple[int, ReportKey]]:
    rows = [_KeyRow._make(row) for row in records]
    bylines = Bylines(tx, [row.created_by for row in rows])
    return [
        (
            row.row,
            ReportKey(
                row.id,
                row.project_id,
                ReportKind(row.kind),
                row.name,
                row.key,
                f"{tx.public_url}/r/{row.key}" if row.kind == ReportKind.LINK else None,
                msgspec.json.decode(row.origins, type=list[str]),
                bool(row.enabled),
                row.per_minute,
                row.per_day,
                None if row.last_report is None else format_rfc3339(row.last_report),
                _format_future(row.old_until, tx.now),
                bool(row.has_identity_secret),
                _format_future(row.old_identity_until, tx.now),
                bylines.build(row.created_by, row.created_at),
            ),
        )
        for row in rows
    ]


def _format_future(at: int | None, now: int) -> str | None:
    return None if at is None or at <= now else format_rfc3339(at)


COUNT_KEYS = "SELECT count(*) FROM report_key WHERE project_id = ?"


def count_keys(tx: Read, project: int) -> int:
    """Count a project's keys."""
    return tx.fetch_value(COUNT_KEYS, (project,))


class NewKey(msgspec.Struct, frozen=True):
    """The fields of a new key."""

    project: int
    kind: ReportKind
    name: str
    key: str
    origins: list[str]
    per_minute: int
    per_day: int
    byline: int


INSERT_KEY = """
INSERT INTO report_key (public_id, project_id, kind, name, key, origins, enabled, per_minute, per_day, created_at,
  created_by)
VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?)
"""


def insert_key(tx: Write, new: NewKey) -> int:
    """Insert a key, turned on; return its row's key."""
    row = (
        generate_id(Prefix.REPORT_KEY), new.project, new.kind.value, new.name, new.key,
        msgspec.json.encode(new.origins).decode(), new.per_minute, new.per_day, tx.now, new.byline,
    )  # fmt: skip
    return tx.insert(INSERT_KEY, row)


def update_key(tx: Write, row: int, **fields: Any) -> None:
    """Update the fields that are set."""
    if fields.get("origins", UNSET) is not UNSET:
        fields["origins"] = msgspec.json.encode(fields["origins"]).decode()
    update_columns(tx, "report_key", row, **fields)


ROTATE_KEY = "UPDATE report_key SET old_key = key, old_until = :until, key = :text WHERE id = :row"
DELETE_OLD_KEYS = "UPDATE report_key SET old_key = NULL, old_until = NULL WHERE old_until <= ?"
DELETE_OLD_IDENTITY_SECRETS = """
UPDATE report_key SET old_identity_secret = NULL, old_identity_until = NULL WHERE old_identity_until <= ?
"""


def rotate_key(tx: Write, row: int, text: str) -> None:
    """Accept a new key, and for a day the former one too."""
    tx.execute(ROTATE_KEY, {"row": row, "text": text, "until": tx.now + KEY_OVERLAP_MS})


def delete_old_keys(tx: Write) -> None:
    """Delete former keys and old identity secrets that are no longer accepted."""
    tx.execute(DELETE_OLD_KEYS, (tx.now,))
    tx.execute(DELETE_OLD_IDENTITY_SECRETS, (tx.now,))


SET_IDENTITY_SECRET = """
UPDATE report_key SET old_identity_secret = identity_secret,
  old_identity_until = iif(identity_secret IS NULL, NULL, :until), identity_secret = :secret
WHERE id = :row
"""
DELETE_IDENTITY_SECRETS = """
UPDATE report_key SET identity_secret = NULL, old_identity_secret = NULL, old_identity_until = NULL WHERE id = ?
"""


def set_identity_secret(tx: Write, row: int, secret: str) -> None:
    """Accept identities that a new secret signs, and for a day those of the old one too."""
    tx.execute(SET_IDENTITY_SECRET, {"row": row, "secret": secret, "until": tx.now + KEY_OVERLAP_MS})


def delete_identity_secrets(tx: Write, row: int) -> None:
    """Accept no signed identities any more."""
    tx.execute(DELETE_IDENTITY_SECRETS, (row,))


def delete_key(tx: Write, row: int) -> None:
    """Delete a key. The tickets that it reported stay."""
    tx.execute("DELETE FROM report_key WHERE id = ?", (row,))


COUNT_REPORT = """
UPDATE report_key SET day_reports = iif(day = :day, day_reports + 1, 1), day = :day, last_report_at = :now
WHERE id = :row
"""


def count_report(tx: Write, row: int) -> None:
    """Count a report of today."""
    tx.execute(COUNT_REPORT, {"row": row, "day": tx.now // DAY, "now": tx.now})
