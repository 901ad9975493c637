"""Identities at an OpenID Connect provider that are linked to accounts, and the roles that its groups decide."""

from ticketbox.domain.core.access.scopes import Role
from ticketbox.store.file.database import Read, Write

SELECT_LINKED_USER = "SELECT user_id FROM identity WHERE issuer = ? AND subject = ?"


def find_linked_user(tx: Read, issuer: str, subject: str) -> int | None:
    """Find the key of the account that an identity is linked to."""
    return tx.fetch_value(SELECT_LINKED_USER, (issuer, subject))


IS_LINKED = "SELECT EXISTS (SELECT 1 FROM identity WHERE user_id = ? AND issuer = ?)"


def is_linked(tx: Read, user: int, issuer: str) -> bool:
    """Whether an account is linked to an identity of an issuer."""
    return bool(tx.fetch_value(IS_LINKED, (user, issuer)))


INSERT_IDENTITY = """
INSERT INTO identity (user_id, issuer, subject, created_at, last_used_at) VALUES (:user, :issuer, :subject, :now, :now)
"""


def insert_identity(tx: Write, user: int, issuer: str, subject: str) -> None:
    """Link an identity to an account. The caller has checked that neither is linked."""
    tx.execute(INSERT_IDENTITY, {"user": user, "issuer": issuer, "subject": subject, "now": tx.now})


def record_identity_use(tx: Write, issuer: str, subject: str) -> None:
    """Record that an identity signed in."""
    tx.execute("UPDATE identity SET last_used_at = ? WHERE issuer = ? AND subject = ?", (tx.now, issuer, subject))


def delete_identities(tx: Write, user: int) -> int:
    """Unlink all identities of an account, and keep its roles; return how many there were."""
    tx.execute("DELETE FROM provider_role WHERE user_id = ?", (user,))
    return tx.execute("DELETE FROM identity WHERE user_id = ?", (user,))


SELECT_OWN_ROLE = "SELECT own_role FROM provider_role WHERE user_id = ? AND company_id = ?"


def find_own_role(tx: Read, user: int, company: int) -> tuple[Role | None] | None:
    """Find the role that a member had without groups, in a tuple; None if no group decides the role."""
    row = tx.fetch_one(SELECT_OWN_ROLE, (user, company))
    return None if row is None else (None if row[0] is None else Role(row[0]),)


def insert_provider_role(tx: Write, user: int, company: int, own: Role | None) -> None:
    """Store that groups decide a member's role, and the role without them."""
    value = None if own is None else own.value
    tx.execute("INSERT INTO provider_role (user_id, company_id, own_role) VALUES (?, ?, ?)", (user, company, value))


def delete_provider_role(tx: Write, user: int, company: int) -> None:
    """Store that no group decides a member's role."""
    tx.execute("DELETE FROM provider_role WHERE user_id = ? AND company_id = ?", (user, company))
