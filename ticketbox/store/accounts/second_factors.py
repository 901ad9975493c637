"""Second factors: an account's authenticator app, passkeys and recovery codes. Recovery codes are stored as hashes."""

from collections.abc import Iterable

import msgspec

from ticketbox.store.accounts import passkeys
from ticketbox.store.file.database import Read, Write


class SecondFactor(msgspec.Struct, frozen=True):
    """An authenticator app. `last_step` is the time step of the last code used, `failures` wrong codes in a row."""

    secret: bytes
    last_step: int
    enabled_at: int | None
    failures: int
    failed_at: int


SELECT_FACTOR = "SELECT secret, last_step, enabled_at, failures, failed_at FROM second_factor WHERE user_id = ?"


def find_second_factor(tx: Read, user: int) -> SecondFactor | None:
    """Find an account's authenticator app, also one whose first code wasn't entered yet."""
    row = tx.fetch_one(SELECT_FACTOR, (user,))
    return None if row is None else SecondFactor(*row)


HAS_APP = "SELECT EXISTS (SELECT 1 FROM second_factor WHERE user_id = ? AND enabled_at IS NOT NULL)"


def has_app(tx: Read, user: int) -> bool:
    """Whether an account has an authenticator app whose first code was entered."""
    return bool(tx.fetch_value(HAS_APP, (user,)))


def has_second_factor(tx: Read, user: int) -> bool:
    """Whether an account needs a code or a passkey to sign in with its password."""
    return has_app(tx, user) or passkeys.has_passkey(tx, user)


LIST_WITH_FACTOR = "SELECT user_id FROM second_factor WHERE enabled_at IS NOT NULL UNION SELECT user_id FROM passkey"


def list_users_with_factor(tx: Read) -> set[int]:
    """List the keys of all accounts that need a second factor to sign in with their password."""
    return {user for (user,) in tx.fetch_all(LIST_WITH_FACTOR)}


IS_REQUIRED = """
SELECT EXISTS (SELECT 1 FROM member m JOIN company co ON co.id = m.company_id
  WHERE m.user_id = ? AND co.second_factor_required)
"""


def is_second_factor_required(tx: Read, user: int) -> bool:
    """Whether a company of an account requires a second factor."""
    return bool(tx.fetch_value(IS_REQUIRED, (user,)))


def insert_second_factor(tx: Write, user: int, secret: bytes) -> None:
    """Insert an app in place of one whose first code wasn't entered."""
    tx.execute("DELETE FROM second_factor WHERE user_id = ?", (user,))
    tx.execute("INSERT INTO second_factor (user_id, secret) VALUES (?, ?)", (user, secret))


ENABLE_FACTOR = "UPDATE second_factor SET enabled_at = ?, last_step = ?, failures = 0 WHERE user_id = ?"


def enable_second_factor(tx: Write, user: int, step: int) -> None:
    """Require the app's codes from now on."""
    tx.execute(ENABLE_FACTOR, (tx.now, step, user))


def record_code(tx: Write, user: int, step: int) -> None:
    """Store that the code of a time step was used."""
    tx.execute("UPDATE second_factor SET last_step = ?, failures = 0 WHERE user_id = ?", (step, user))


def record_wrong_code(tx: Write, user: int) -> None:
    """Count a wrong code."""
    tx.execute("UPDATE second_factor SET failures = failures + 1, failed_at = ? WHERE user_id = ?", (tx.now, user))


def delete_app(tx: Write, user: int) -> None:
    """Delete an account's app, and the recovery codes if it has no other second factor."""
    tx.execute("DELETE FROM second_factor WHERE user_id = ?", (user,))
    delete_unneeded_recovery_codes(tx, user)


def delete_second_factor(tx: Write, user: int) -> bool:
    """Delete an account's app, passkeys and recovery codes; return whether it had a second factor."""
    had = has_second_factor(tx, user)
    tx.execute("DELETE FROM passkey WHERE user_id = ?", (user,))
    delete_app(tx, user)
    return had


def delete_unneeded_recovery_codes(tx: Write, user: int) -> None:
    """Delete the recovery codes of an account that has no second factor left."""
    if not has_second_factor(tx, user):
        tx.execute("DELETE FROM recovery_code WHERE user_id = ?", (user,))


def replace_recovery_codes(tx: Write, user: int, hashes: Iterable[bytes]) -> None:
    """Insert recovery codes in place of the earlier ones."""
    tx.execute("DELETE FROM recovery_code WHERE user_id = ?", (user,))
    tx.execute_many("INSERT INTO recovery_code (user_id, code_hash) VALUES (?, ?)", [(user, each) for each in hashes])


def take_recovery_code(tx: Write, user: int, code_hash: bytes) -> bool:
    """Delete a recovery code; return whether there was one."""
    return bool(tx.execute("DELETE FROM recovery_code WHERE user_id = ? AND code_hash = ?", (user, code_hash)))


def count_recovery_codes(tx: Read, user: int) -> int:
    """Count an account's unused recovery codes."""
    return tx.fetch_value("SELECT count(*) FROM recovery_code WHERE user_id = ?", (user,))
