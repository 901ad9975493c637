"""Accounts and their password hashes."""

import msgspec
from msgspec import UNSET, UnsetType

from ticketbox.domain.accounts.records import User
from ticketbox.domain.core.ids import Prefix, generate_id
from ticketbox.store.core.updates import update_columns
from ticketbox.store.file.database import Read, Row, Write


class Account(msgspec.Struct, frozen=True):
    """An account with its key and its password's argon2id hash."""

    key: int
    user: User
    password_hash: str | None
    disabled: bool


_SELECT_ACCOUNT = "SELECT id, public_id, name, email, password_hash, disabled_at FROM user"


def find_account_by_email(tx: Read, email: str) -> Account | None:
    """Find an account by email address, ignoring case."""
    return _build_account(tx.fetch_one(f"{_SELECT_ACCOUNT} WHERE email = ?", (email,)))


def find_account_by_key(tx: Read, key: int) -> Account | None:
    """Find an account by its internal key."""
    return _build_account(tx.fetch_one(f"{_SELECT_ACCOUNT} WHERE id = ?", (key,)))


def find_account_by_id(tx: Read, public_id: str) -> Account | None:
    """Find an account by its public id."""
    return _build_account(tx.fetch_one(f"{_SELECT_ACCOUNT} WHERE public_id = ?", (public_id,)))


def list_accounts(tx: Read) -> list[Account]:
    """List all accounts, oldest first."""
    accounts = [_build_account(row) for row in tx.fetch_all(f"{_SELECT_ACCOUNT} ORDER BY id")]
    return [account for account in accounts if account is not None]


def _build_account(row: Row | None) -> Account | None:
    if row is None:
        return None
    key, public_id, name, email, password_hash, disabled_at = row
    return Account(key, User(public_id, name, email), password_hash, disabled_at is not None)


HAS_ACCOUNTS = "SELECT EXISTS (SELECT 1 FROM user)"


def has_accounts(tx: Read) -> bool:
    """Whether there is an account, so that setup is done."""
    return bool(tx.fetch_value(HAS_ACCOUNTS))


INSERT_ACCOUNT = "INSERT INTO user (public_id, email, name, password_hash, created_at) VALUES (?, ?, ?, ?, ?)"


def insert_account(tx: Write, email: str, name: str, password_hash: str | None) -> Account:
    """Insert an account. The caller has checked that the address is free."""
    public_id = generate_id(Prefix.USER)
    key = tx.insert(INSERT_ACCOUNT, (public_id, email, name, password_hash, tx.now))
    return Account(key, User(public_id, name, email), password_hash, disabled=False)


def set_password(tx: Write, key: int, password_hash: str | None) -> None:
    """Set the password's hash; None for an account that doesn't sign in with a password."""
    tx.execute("UPDATE user SET password_hash = ? WHERE id = ?", (password_hash, key))


def update_account(tx: Write, key: int, *, name: str | UnsetType = UNSET, email: str | UnsetType = UNSET) -> None:
    """Update the name or the email address, whichever is set."""
    update_columns(tx, "user", key, name=name, email=email)


def set_disabled(tx: Write, key: int, disabled: bool) -> None:
    """Disable an account, or enable it again."""
    tx.execute("UPDATE user SET disabled_at = ? WHERE id = ?", (tx.now if disabled else None, key))


def replace_setup_key(tx: Write, secret_hash: bytes, expires_at: int) -> None:
    """Store the hash of the only valid setup link, in place of the last."""
    tx.execute("DELETE FROM setup_key")
    tx.execute("INSERT INTO setup_key (secret_hash, expires_at) VALUES (?, ?)", (secret_hash, expires_at))


def is_setup_key_valid(tx: Read, secret_hash: bytes) -> bool:
    """Whether a setup link is the current one and hasn't expired."""
    return (
        tx.fetch_one("SELECT 1 FROM setup_key WHERE secret_hash = ? AND expires_at > ?", (secret_hash, tx.now))
        is not None
    )


def delete_setup_key(tx: Write) -> None:
    """Invalidate the setup link."""
    tx.execute("DELETE FROM setup_key")
