"""Leases: the secret that lets one run, and nobody else, continue a work session (docs/use/work-sessions.md)."""

import hashlib
import secrets

from ticketbox.domain.core.clock import MINUTE
from ticketbox.domain.core.ids import ALPHABET

LEASE_PREFIX = "lease_"
# How long a start can be repeated with its idempotency key.
REPEAT_MS = MINUTE
_LEASE_LENGTH = 32


def generate_lease() -> str:
    """Generate a lease from the operating system's random numbers (160 bits)."""
    return LEASE_PREFIX + "".join(ALPHABET[byte & 31] for byte in secrets.token_bytes(_LEASE_LENGTH))


def hash_lease(lease: str) -> bytes:
    """Hash a lease with SHA-256, for the database."""
    return hashlib.sha256(lease.encode()).digest()


def hash_start_key(credential: int, key: str) -> bytes:
    """Hash the idempotency key of a start together with the caller's credential, whose key it is."""
    return hashlib.sha256(b"%d\0" % credential + key.encode()).digest()
