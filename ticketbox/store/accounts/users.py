"""Accounts and their passwords' hashes."""

import msgspec

from ticketbox.domain.accounts.records import User
from ticketbox.domain.core.ids import Prefix, new_id
from ticketbox.store.file.database import Read, Row, Write


class Account(msgspec.Struct, frozen=True):
    """An account with its key and its password's argon2id hash."""

    key: int
    user: User
    password_hash: str | None
    disabled: bool


_ACCOUNT = "SELECT id, public_id, name, email, password_hash, disabled_at FROM user"


def by_email(tx: Read, email: str) -> Account | None:
    """The account with an e-mail address, in any case."""
    return _account(tx.one(f"{_ACCOUNT} WHERE email = ?", (email,)))


def by_key(tx: Read, key: int) -> Account | None:
    """The account with an internal key."""
    return _account(tx.one(f"{_ACCOUNT} WHERE id = ?", (key,)))


def by_id(tx: Read, public_id: str) -> Account | None:
    """The account with a public id."""
    return _account(tx.one(f"{_ACCOUNT} WHERE public_id = ?", (public_id,)))


def everyone(tx: Read) -> list[Account]:
    """All accounts, oldest first."""
    accounts = [_account(row) for row in tx.all(f"{_ACCOUNT} ORDER BY id")]
    return [account for account in accounts if account is not None]


def _account(row: Row | None) -> Account | None:
    return None if row is None else Account(row[0], User(row[1], row[2], row[3]), row[4], row[5] is not None)


ANY = "SELECT EXISTS (SELECT 1 FROM user)"


def any_exist(tx: Read) -> bool:
    """Whether the file is set up."""
    return bool(tx.value(ANY))


ADD = "INSERT INTO user (public_id, email, name, password_hash, created_at) VALUES (?, ?, ?, ?, ?)"


def add(tx: Write, email: str, name: str, password_hash: str | None) -> Account:
    """Store an account. The caller has made sure that the address is free."""
    public_id = new_id(Prefix.USER)
    key = tx.insert(ADD, (public_id, email, name, password_hash, tx.now))
    return Account(key, User(public_id, name, email), password_hash, disabled=False)


def set_password(tx: Write, key: int, password_hash: str) -> None:
    """Replace a password's hash."""
    tx.run("UPDATE user SET password_hash = ? WHERE id = ?", (password_hash, key))


def rename(tx: Write, key: int, name: str | None, email: str | None) -> None:
    """Change the name or the address, whichever is given."""
    tx.run("UPDATE user SET name = ifnull(?, name), email = ifnull(?, email) WHERE id = ?", (name, email, key))


def set_disabled(tx: Write, key: int, disabled: bool) -> None:
    """Disable an account, or enable it again."""
    tx.run("UPDATE user SET disabled_at = ? WHERE id = ?", (tx.now if disabled else None, key))


def set_setup_key(tx: Write, secret_hash: bytes, expires_at: int) -> None:
    """Keep the hash of the one set-up address that holds."""
    tx.run("DELETE FROM setup_key")
    tx.run("INSERT INTO setup_key (secret_hash, expires_at) VALUES (?, ?)", (secret_hash, expires_at))


def setup_key_holds(tx: Read, secret_hash: bytes) -> bool:
    """Whether a set-up address is the current one and not too old."""
    return tx.one("SELECT 1 FROM setup_key WHERE secret_hash = ? AND expires_at > ?", (secret_hash, tx.now)) is not None


def drop_setup_key(tx: Write) -> None:
    """End the set-up address."""
    tx.run("DELETE FROM setup_key")
