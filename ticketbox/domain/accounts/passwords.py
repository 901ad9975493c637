"""Password hashes: argon2id (RFC 9106; docs/operate/security.md).

A hash takes about 50 ms and 32 MiB. Call these on a worker thread.
"""

import unicodedata
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argon2 import PasswordHasher


@cache
def _get_hasher() -> "PasswordHasher":
    from argon2 import PasswordHasher

    return PasswordHasher(time_cost=3, memory_cost=32 * 1024, parallelism=1)


@cache
def _get_dummy_hash() -> str:
    return hash_password("a password that no account has")


def hash_password(password: str) -> str:
    """Hash a password with argon2id, for the database. Its form doesn't matter (NIST SP 800-63B, 3.1.1.2)."""
    return _get_hasher().hash(unicodedata.normalize("NFKC", password))


def verify_password(stored: str | None, password: str) -> bool:
    """Whether the password matches; takes as long for an account that doesn't exist (None)."""
    from argon2.exceptions import InvalidHashError, VerificationError

    try:
        _get_hasher().verify(stored or _get_dummy_hash(), unicodedata.normalize("NFKC", password))
    except (VerificationError, InvalidHashError):
        return False
    return stored is not None
