"""Links that sign an account in once. Only the operator creates them; their secrets are stored as hashes."""

from ticketbox.store.file.database import Read, Write


def insert_sign_in_link(tx: Write, user: int, secret_hash: bytes, expires_at: int) -> None:
    """Insert a link in place of an earlier one of the account."""
    tx.execute("DELETE FROM sign_in_link WHERE user_id = ?", (user,))
    tx.execute(
        "INSERT INTO sign_in_link (secret_hash, user_id, expires_at) VALUES (?, ?, ?)", (secret_hash, user, expires_at)
    )


SELECT_LINK = "SELECT user_id FROM sign_in_link WHERE secret_hash = ? AND expires_at > ?"


def find_sign_in_link(tx: Read, secret_hash: bytes) -> int | None:
    """Find the key of the account that a link signs in."""
    return tx.fetch_value(SELECT_LINK, (secret_hash, tx.now))


def delete_sign_in_link(tx: Write, secret_hash: bytes) -> None:
    """Delete a link that was used."""
    tx.execute("DELETE FROM sign_in_link WHERE secret_hash = ?", (secret_hash,))
