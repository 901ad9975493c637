"""Git hooks: a project's addresses for webhooks of repositories (docs/use/git.md)."""

from typing import NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from ticketbox.domain.core.clock import DAY, format_rfc3339
from ticketbox.domain.core.ids import Prefix, generate_id
from ticketbox.domain.git.records import GitHook
from ticketbox.store.core.bylines import Bylines
from ticketbox.store.core.updates import update_columns
from ticketbox.store.file.database import Read, Row, Write

MAX_HOOKS = 20
SECRET_OVERLAP_MS = DAY


SELECT_HOOK_KEY = """
SELECT h.id, p.public_id FROM git_hook h JOIN project p ON p.id = h.project_id WHERE h.public_id = ?
"""


def find_hook(tx: Read, public_id: str) -> tuple[int, str] | None:
    """Find a hook's key by its public id, and the public id of its project."""
    row = tx.fetch_one(SELECT_HOOK_KEY, (public_id,))
    return None if row is None else (row[0], row[1])


class AddressedHook(msgspec.Struct, frozen=True):
    """The hook that an address belongs to, with the secrets that sign its deliveries."""

    key: int
    secrets: tuple[str, ...]


SELECT_BY_ADDRESS = """
SELECT id, secret, iif(old_until > :now, old_secret, NULL) FROM git_hook WHERE address_hash = :hash
"""


def find_by_address(tx: Read, address_hash: bytes) -> AddressedHook | None:
    """Find the hook with an address."""
    row = tx.fetch_one(SELECT_BY_ADDRESS, {"hash": address_hash, "now": tx.now})
    if row is None:
        return None
    key, secret, old_secret = row
    return AddressedHook(key, (secret,) if old_secret is None else (secret, old_secret))


_SELECT_HOOK = """
SELECT h.id, h.public_id, p.public_id, h.name, h.closes_tickets, h.last_delivery_at, h.old_until, h.created_by,
  h.created_at
FROM git_hook h JOIN project p ON p.id = h.project_id
"""


class _HookRow(NamedTuple):
    """A row of `_SELECT_HOOK`."""

    key: int
    id: str
    project_id: str
    name: str
    closes_tickets: int
    last_delivery: int | None
    old_secret_until: int | None
    created_by: int
    created_at: int


SELECT_HOOKS = f"{_SELECT_HOOK} WHERE h.project_id = ? AND h.id > ? ORDER BY h.id LIMIT ?"
SELECT_HOOK = f"{_SELECT_HOOK} WHERE h.id = ?"


def list_hooks(tx: Read, project: int, after: int, limit: int) -> list[tuple[int, GitHook]]:
    """List a project's hooks, oldest first, each with its key."""
    return _build_hooks(tx, tx.fetch_all(SELECT_HOOKS, (project, after, limit)))


def load_hook(tx: Read, key: int) -> GitHook:
    """Load a hook that exists."""
    return _build_hooks(tx, tx.fetch_all(SELECT_HOOK, (key,)))[0][1]


def _build_hooks(tx: Read, records: list[Row]) -> list[tuple[int, GitHook]]:
    rows = [_HookRow._make(row) for row in records]
    bylines = Bylines(tx, [row.created_by for row in rows])
    return [
        (
            row.key,
            GitHook(
                row.id,
                row.project_id,
                row.name,
                bool(row.closes_tickets),
                None if row.last_delivery is None else format_rfc3339(row.last_delivery),
                None
                if row.old_secret_until is None or row.old_secret_until <= tx.now
                else format_rfc3339(row.old_secret_until),
                bylines.build(row.created_by, row.created_at),
            ),
        )
        for row in rows
    ]


COUNT_HOOKS = "SELECT count(*) FROM git_hook WHERE project_id = ?"


def count_hooks(tx: Read, project: int) -> int:
    """Count a project's hooks."""
    return tx.fetch_value(COUNT_HOOKS, (project,))


class NewHook(msgspec.Struct, frozen=True):
    """The fields of a new hook."""

    project: int
    name: str
    closes_tickets: bool
    address_hash: bytes
    secret: str
    byline: int


INSERT_HOOK = """
INSERT INTO git_hook (public_id, project_id, name, closes_tickets, address_hash, secret, created_at, created_by)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""


def insert_hook(tx: Write, new: NewHook) -> int:
    """Insert a hook; return its key."""
    row = (
        generate_id(Prefix.GIT_HOOK), new.project, new.name, new.closes_tickets, new.address_hash, new.secret, tx.now,
        new.byline,
    )  # fmt: skip
    return tx.insert(INSERT_HOOK, row)


def update_hook(tx: Write, key: int, name: str | UnsetType = UNSET, closes_tickets: bool | UnsetType = UNSET) -> None:
    """Update the fields that are set."""
    update_columns(tx, "git_hook", key, name=name, closes_tickets=closes_tickets)


ROTATE_SECRET = "UPDATE git_hook SET old_secret = secret, old_until = :until, secret = :secret WHERE id = :key"
DELETE_OLD_SECRETS = "UPDATE git_hook SET old_secret = NULL, old_until = NULL WHERE old_until <= ?"


def rotate_secret(tx: Write, key: int, secret: str) -> None:
    """Accept a new secret, and for a day the old one too."""
    tx.execute(ROTATE_SECRET, {"key": key, "secret": secret, "until": tx.now + SECRET_OVERLAP_MS})


def delete_old_secrets(tx: Write) -> None:
    """Delete old secrets that are no longer accepted."""
    tx.execute(DELETE_OLD_SECRETS, (tx.now,))


def delete_hook(tx: Write, key: int) -> None:
    """Delete a hook with its waiting deliveries. The links that it made stay."""
    tx.execute("DELETE FROM git_hook WHERE id = ?", (key,))


def is_there(tx: Read, key: int) -> bool:
    """Whether a hook still exists."""
    return tx.fetch_value("SELECT 1 FROM git_hook WHERE id = ?", (key,)) is not None
