"""OAuth grants and their secrets: access tokens and refresh tokens (docs/use/oauth.md)."""

import msgspec

from ticketbox.domain.accounts.oauth import Audience
from ticketbox.store.accounts.oauth import authorizations as oauth_authorizations
from ticketbox.store.accounts.oauth.authorizations import AuthorizationRequest
from ticketbox.store.file.database import Read, Write

INSERT_GRANT = "INSERT INTO oauth_grant (credential_id, client_id, redirect_uri, audience) VALUES (?, ?, ?, ?)"


def redeem_code(tx: Write, request: AuthorizationRequest, credential: int) -> None:
    """Mark a request's code as redeemed and insert its grant."""
    oauth_authorizations.mark_redeemed(tx, request.key, credential)
    tx.execute(INSERT_GRANT, (credential, request.client, request.redirect_uri, request.audience.value))


def is_granted_to(tx: Read, credential: int, redirect_uri: str) -> bool:
    """Whether a credential is of a grant whose client signed in at this address."""
    sql = "SELECT 1 FROM oauth_grant WHERE credential_id = ? AND redirect_uri = ?"
    return tx.fetch_one(sql, (credential, redirect_uri)) is not None


INSERT_SECRET = """
INSERT INTO oauth_secret (secret_hash, credential_id, opens, scopes, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)
"""


def insert_secret(
    tx: Write, credential: int, opens: str, secret_hash: bytes, expires_at: int, scopes: list[str] | None = None
) -> None:
    """Insert a secret of a grant; `scopes` narrows it."""
    narrowed = None if scopes is None else " ".join(scopes)
    tx.execute(INSERT_SECRET, (secret_hash, credential, opens, narrowed, tx.now, expires_at))


class GrantSecret(msgspec.Struct, frozen=True):
    """A secret of a grant, with the grant. `live` is true while the grant is valid."""

    credential: int
    opens: str
    expires_at: int
    rotated_at: int | None
    client_id: str
    audience: Audience
    user: int
    token_id: str
    scopes: list[str]
    live: bool


SELECT_SECRET = """
SELECT s.credential_id, s.opens, s.expires_at, s.rotated_at, cl.client_id, g.audience, c.user_id, c.public_id, c.scopes,
  c.revoked_at IS NULL AND (c.expires_at IS NULL OR c.expires_at > :now) AND u.disabled_at IS NULL
FROM oauth_secret s
JOIN credential c ON c.id = s.credential_id
JOIN oauth_grant g ON g.credential_id = c.id
JOIN oauth_client cl ON cl.id = g.client_id
JOIN user u ON u.id = c.user_id
WHERE s.secret_hash = :hash
"""


def find_secret(tx: Read, secret_hash: bytes) -> GrantSecret | None:
    """Find a secret by its hash, valid or not."""
    row = tx.fetch_one(SELECT_SECRET, {"hash": secret_hash, "now": tx.now})
    if row is None:
        return None
    credential, opens, expires_at, rotated_at, client_id, audience, user, token_id, scopes, live = row
    return GrantSecret(
        credential, opens, expires_at, rotated_at, client_id, Audience(audience), user, token_id, scopes.split(),
        bool(live),
    )  # fmt: skip


def rotate_refresh_token(tx: Write, secret_hash: bytes, credential: int, end: int) -> None:
    """Record the first exchange of a refresh token; the grant now expires at `end`."""
    tx.execute(
        "UPDATE oauth_secret SET rotated_at = ? WHERE secret_hash = ? AND rotated_at IS NULL", (tx.now, secret_hash)
    )
    tx.execute("UPDATE credential SET expires_at = ? WHERE id = ?", (end, credential))


SELECT_LATER_EXCHANGE = """
SELECT EXISTS (SELECT 1 FROM oauth_secret
  WHERE credential_id = ? AND opens = 'refresh' AND created_at >= ? AND rotated_at IS NOT NULL AND secret_hash != ?)
"""


def has_later_exchange(tx: Read, secret_hash: bytes, credential: int, rotated_at: int) -> bool:
    """Whether a refresh token that was issued since another one's first exchange was exchanged too."""
    return bool(tx.fetch_value(SELECT_LATER_EXCHANGE, (credential, rotated_at, secret_hash)))


def delete_expired_secrets(tx: Write) -> None:
    """Delete access tokens and refresh tokens that have expired."""
    tx.execute("DELETE FROM oauth_secret WHERE expires_at <= ?", (tx.now,))
