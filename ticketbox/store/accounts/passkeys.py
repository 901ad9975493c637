"""Passkeys of accounts."""

from typing import NamedTuple

from ticketbox.domain.accounts.passkeys import NewPasskey
from ticketbox.domain.accounts.records import Passkey
from ticketbox.domain.core.clock import format_rfc3339
from ticketbox.domain.core.ids import Prefix, generate_id
from ticketbox.store.file.database import Read, Write


class StoredPasskey(NamedTuple):
    """A passkey with what its check needs, and the key of its account."""

    key: int
    user: int
    name: str
    credential: bytes
    sign_count: int


HAS_PASSKEY = "SELECT EXISTS (SELECT 1 FROM passkey WHERE user_id = ?)"


def has_passkey(tx: Read, user: int) -> bool:
    """Whether an account has a passkey."""
    return bool(tx.fetch_value(HAS_PASSKEY, (user,)))


SELECT_PASSKEY = "SELECT id, user_id, name, credential, sign_count FROM passkey WHERE credential_id = ?"


def find_passkey(tx: Read, credential_id: bytes) -> StoredPasskey | None:
    """Find a passkey by the id that its authenticator chose."""
    row = tx.fetch_one(SELECT_PASSKEY, (credential_id,))
    return None if row is None else StoredPasskey._make(row)


SELECT_PASSKEYS = "SELECT public_id, name, created_at, last_used_at FROM passkey WHERE user_id = ? ORDER BY id"


def list_passkeys(tx: Read, user: int) -> list[Passkey]:
    """List an account's passkeys, oldest first."""
    return [
        Passkey(public_id, name, format_rfc3339(created_at), None if used_at is None else format_rfc3339(used_at))
        for public_id, name, created_at, used_at in tx.fetch_all(SELECT_PASSKEYS, (user,))
    ]


SELECT_CREDENTIAL_IDS = "SELECT credential_id FROM passkey WHERE user_id = ? ORDER BY id"


def list_credential_ids(tx: Read, user: int) -> list[bytes]:
    """List the ids that authenticators chose for an account's passkeys."""
    return [credential_id for (credential_id,) in tx.fetch_all(SELECT_CREDENTIAL_IDS, (user,))]


INSERT_PASSKEY = """
INSERT INTO passkey (public_id, user_id, credential_id, credential, sign_count, name, created_at)
VALUES (?, ?, ?, ?, ?, ?, ?)
"""


def insert_passkey(tx: Write, user: int, name: str, new: NewPasskey) -> Passkey:
    """Insert a passkey."""
    public_id = generate_id(Prefix.PASSKEY)
    values = public_id, user, new.credential_id, new.credential, new.sign_count, name, tx.now
    tx.insert(INSERT_PASSKEY, values)
    return Passkey(public_id, name, format_rfc3339(tx.now), None)


RECORD_USE = "UPDATE passkey SET sign_count = ?, last_used_at = ? WHERE id = ? AND sign_count = ?"


def record_passkey_use(tx: Write, passkey: StoredPasskey, sign_count: int) -> bool:
    """Store a passkey's new count; return False if it was used or deleted since it was read."""
    return bool(tx.execute(RECORD_USE, (sign_count, tx.now, passkey.key, passkey.sign_count)))


def rename_passkey(tx: Write, user: int, public_id: str, name: str) -> bool:
    """Rename a passkey of an account; return whether there is one."""
    return bool(tx.execute("UPDATE passkey SET name = ? WHERE public_id = ? AND user_id = ?", (name, public_id, user)))


DELETE_PASSKEY = "DELETE FROM passkey WHERE public_id = ? AND user_id = ? RETURNING name"


def delete_passkey(tx: Write, user: int, public_id: str) -> str | None:
    """Delete a passkey of an account; return its name, or None if there is none."""
    row = tx.fetch_one(DELETE_PASSKEY, (public_id, user))
    return None if row is None else row[0]
