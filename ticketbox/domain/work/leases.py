"""Leases: the secret that lets one run, and nobody else, continue a work session (docs/use/work-sessions.md)."""

import hashlib
import re
import secrets

from ticketbox.domain.core.clock import MINUTE
from ticketbox.domain.core.ids import ALPHABET, Prefix

# How long a start can be repeated with its idempotency key.
REPEAT_MS = MINUTE
# How long a claim lasts that was made by a call that waited, until its caller calls again: it may be gone.
PROVISIONAL_MS = 5 * MINUTE
_SECRET_LENGTH = 32
_LEASE = re.compile(rf"lease_([0-9a-z]{{6,12}})[0-9a-z]{{{_SECRET_LENGTH}}}")


def generate_lease(ticket: str) -> str:
    """Generate a lease: the ticket's id, and random characters of the operating system (160 bits)."""
    secret = "".join(ALPHABET[byte & 31] for byte in secrets.token_bytes(_SECRET_LENGTH))
    return f"lease_{ticket.removeprefix(Prefix.TICKET)}{secret}"


def parse_ticket(lease: str) -> str | None:
    """Return the id of the ticket that a lease names; None for a text of another form, such as an earlier lease."""
    match = _LEASE.fullmatch(lease)
    return None if match is None else f"{Prefix.TICKET.value}{match[1]}"


def hash_lease(lease: str) -> bytes:
    """Hash a lease with SHA-256, for the database."""
    return hashlib.sha256(lease.encode()).digest()


def hash_start_key(credential: int, key: str) -> bytes:
    """Hash the idempotency key of a start together with the caller's credential, whose key it is."""
    return hashlib.sha256(b"%d\0" % credential + key.encode()).digest()
