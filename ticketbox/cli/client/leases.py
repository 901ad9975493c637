"""Where the leases of claims are kept between commands: one private file for each ticket of a server.

A lease is a secret: who has it can renew, report on and finish the work. The files are in the state folder, readable
only by their owner.
"""

import contextlib
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from ticketbox.cli.client.sign_in.credentials import get_folder, write_private_file


class StoredLease(msgspec.Struct):
    """A claim that was made on this machine, in a folder. `key` also names the ticket, and times are RFC 3339."""

    ticket_id: str
    key: str | None
    lease: str
    since: str
    until: str
    folder: str


def save_lease(url: str, stored: StoredLease) -> None:
    """Keep the lease of a claim."""
    write_private_file(_get_path(url, stored.ticket_id), msgspec.json.encode(stored))


def find_lease(url: str, ticket: str) -> StoredLease | None:
    """Find the lease of a ticket by its id, key or web address."""
    name = re.split(r"[?#]", ticket.strip())[0].rstrip("/").rpartition("/")[2].lower()
    return next((each for each in list_leases(url) if name in {each.ticket_id, (each.key or "").lower()}), None)


def delete_lease(url: str, ticket_id: str) -> None:
    """Forget the lease of a claim that has ended."""
    _get_path(url, ticket_id).unlink(missing_ok=True)


def list_leases(url: str) -> Iterator[StoredLease]:
    """Yield all leases for a server."""
    for path in sorted(_get_folder(url).glob("*.json")):
        if (stored := _read(path)) is not None:
            yield stored


def _read(path: Path) -> StoredLease | None:
    with contextlib.suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode(path.read_bytes(), type=StoredLease)
    return None


def _get_folder(url: str) -> Path:
    host = re.sub(r"[^a-z0-9.-]", "_", urlsplit(url).netloc.lower())
    digest = hashlib.sha256(url.encode()).hexdigest()[:8]
    return get_folder("XDG_STATE_HOME", ".local/state") / "leases" / f"{host}-{digest}"


def _get_path(url: str, ticket_id: str) -> Path:
    return _get_folder(url) / f"{re.sub(r'[^a-z0-9-]', '_', ticket_id.lower())}.json"
