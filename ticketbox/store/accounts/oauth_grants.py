"""OAuth: clients, authorization requests, grants and their secrets (docs/use/oauth.md)."""

from typing import NamedTuple

import msgspec

from ticketbox.domain.accounts.oauth import Audience, format_host
from ticketbox.domain.accounts.records import ConnectedApp
from ticketbox.domain.core.clock import DAY, format_rfc3339
from ticketbox.store.file.database import Read, Row, Write

MAX_UNUSED_CLIENTS = 1_000
MAX_OPEN_REQUESTS = 20

_strings = msgspec.json.Decoder(list[str])


class OAuthClient(msgspec.Struct, frozen=True):
    """A registered app. `fetched_at` is None unless its metadata document was fetched."""

    key: int
    client_id: str
    name: str
    redirect_uris: list[str]
    fetched_at: int | None


_SELECT_CLIENT = "SELECT id, client_id, name, redirect_uris, fetched_at FROM oauth_client"


def find_client(tx: Read, client_id: str) -> OAuthClient | None:
    """Find a client by its id."""
    return _build_client(tx.fetch_one(f"{_SELECT_CLIENT} WHERE client_id = ?", (client_id,)))


def load_client(tx: Read, key: int) -> OAuthClient:
    """Load a client that exists."""
    found = _build_client(tx.fetch_one(f"{_SELECT_CLIENT} WHERE id = ?", (key,)))
    assert found is not None
    return found


def _build_client(row: Row | None) -> OAuthClient | None:
    if row is None:
        return None
    key, client_id, name, redirect_uris, fetched_at = row
    return OAuthClient(key, client_id, name, _strings.decode(redirect_uris), fetched_at)


UPSERT_CLIENT = """
INSERT INTO oauth_client (client_id, name, redirect_uris, created_at, fetched_at)
VALUES (:client_id, :name, :redirect_uris, :now, :fetched_at)
ON CONFLICT (client_id) DO UPDATE SET
  name = excluded.name, redirect_uris = excluded.redirect_uris, fetched_at = excluded.fetched_at
"""


def save_client(tx: Write, client_id: str, name: str, redirect_uris: list[str], *, fetched: bool) -> None:
    """Insert or update a client. Deletes the oldest unused clients above the limit."""
    tx.execute(
        UPSERT_CLIENT,
        {
            "client_id": client_id,
            "name": name,
            "redirect_uris": msgspec.json.encode(redirect_uris).decode(),
            "now": tx.now,
            "fetched_at": tx.now if fetched else None,
        },
    )
    tx.execute(DELETE_SURPLUS_CLIENTS, (MAX_UNUSED_CLIENTS,))


_CLIENT_IS_UNUSED = """
NOT EXISTS (SELECT 1 FROM oauth_grant g WHERE g.client_id = c.id)
AND NOT EXISTS (SELECT 1 FROM oauth_request r WHERE r.client_id = c.id)
"""
DELETE_SURPLUS_CLIENTS = f"""
DELETE FROM oauth_client WHERE id IN (
  SELECT c.id FROM oauth_client c WHERE {_CLIENT_IS_UNUSED} ORDER BY c.created_at DESC, c.id DESC LIMIT -1 OFFSET ?)
"""


class AuthorizationRequest(msgspec.Struct, frozen=True):
    """What a client requests from a user. Once granted, `scopes`, `company` and `projects` are the user's choice."""

    user: int
    client: int
    redirect_uri: str
    state: str | None
    challenge: str
    audience: Audience
    scopes: list[str]
    company: str | None = None
    projects: list[str] | None = None
    key: int = 0
    expires_at: int = 0
    credential: int | None = None


INSERT_REQUEST = """
INSERT INTO oauth_request (stage, secret_hash, user_id, client_id, redirect_uri, state, challenge, audience, scopes,
  expires_at)
VALUES ('asked', ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
DELETE_SURPLUS_REQUESTS = """
DELETE FROM oauth_request WHERE id IN (
  SELECT id FROM oauth_request WHERE user_id = ? AND stage = 'asked' ORDER BY id DESC LIMIT -1 OFFSET ?)
"""


def insert_request(tx: Write, asked: AuthorizationRequest, handle_hash: bytes, expires_at: int) -> None:
    """Insert a request that waits for its user's decision; a user has up to 20."""
    tx.execute(
        INSERT_REQUEST,
        (handle_hash, asked.user, asked.client, asked.redirect_uri, asked.state, asked.challenge, asked.audience.value,
         " ".join(asked.scopes), expires_at),
    )  # fmt: skip
    tx.execute(DELETE_SURPLUS_REQUESTS, (asked.user, MAX_OPEN_REQUESTS))


_SELECT_REQUEST = """
SELECT user_id, client_id, redirect_uri, state, challenge, audience, scopes, company, projects, id, expires_at,
  credential_id
FROM oauth_request
"""


class _RequestRow(NamedTuple):
    """A row of `_SELECT_REQUEST`."""

    user: int
    client: int
    redirect_uri: str
    state: str | None
    challenge: str
    audience: str
    scopes: str
    company: str | None
    projects: str | None
    key: int
    expires_at: int
    credential: int | None


SELECT_OPEN_REQUEST = f"{_SELECT_REQUEST} WHERE secret_hash = ? AND stage = 'asked' AND user_id = ? AND expires_at > ?"
SELECT_REQUEST_BY_CODE = f"{_SELECT_REQUEST} WHERE secret_hash = ? AND stage IN ('granted', 'redeemed')"


def find_open_request(tx: Read, handle_hash: bytes, user: int) -> AuthorizationRequest | None:
    """Find the open request of a consent page's handle, if it is this user's."""
    return _build_request(tx.fetch_one(SELECT_OPEN_REQUEST, (handle_hash, user, tx.now)))


def find_request_by_code(tx: Read, code_hash: bytes) -> AuthorizationRequest | None:
    """Find the request that a code was issued for, redeemed or not."""
    return _build_request(tx.fetch_one(SELECT_REQUEST_BY_CODE, (code_hash,)))


def _build_request(found: Row | None) -> AuthorizationRequest | None:
    if found is None:
        return None
    row = _RequestRow._make(found)
    return AuthorizationRequest(
        user=row.user,
        client=row.client,
        redirect_uri=row.redirect_uri,
        state=row.state,
        challenge=row.challenge,
        audience=Audience(row.audience),
        scopes=row.scopes.split(),
        company=row.company,
        projects=None if row.projects is None else _strings.decode(row.projects),
        key=row.key,
        expires_at=row.expires_at,
        credential=row.credential,
    )


GRANT_REQUEST = """
UPDATE oauth_request
SET stage = 'granted', secret_hash = ?, scopes = ?, company = ?, projects = ?, expires_at = ? WHERE id = ?
"""


def grant_request(
    tx: Write, key: int, code_hash: bytes, scopes: list[str], company: str | None, projects: list[str] | None, end: int
) -> None:
    """Grant a request: its code replaces the handle, and the user's choice the request's."""
    listed = None if projects is None else msgspec.json.encode(projects).decode()
    tx.execute(GRANT_REQUEST, (code_hash, " ".join(scopes), company, listed, end, key))


def delete_request(tx: Write, key: int) -> None:
    """Delete a request that was denied."""
    tx.execute("DELETE FROM oauth_request WHERE id = ?", (key,))


INSERT_GRANT = "INSERT INTO oauth_grant (credential_id, client_id, redirect_uri, audience) VALUES (?, ?, ?, ?)"


def redeem_code(tx: Write, request: AuthorizationRequest, credential: int) -> None:
    """Mark a code as redeemed and insert its grant."""
    tx.execute("UPDATE oauth_request SET stage = 'redeemed', credential_id = ? WHERE id = ?", (credential, request.key))
    tx.execute(INSERT_GRANT, (credential, request.client, request.redirect_uri, request.audience.value))


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


SELECT_APPS = """
SELECT c.id, c.public_id, c.label, g.redirect_uri, cl.client_id, cl.fetched_at, c.scopes, co.public_id, c.restricted,
  c.created_at, c.last_used_at, c.expires_at,
  (SELECT json_group_array(p.public_id) FROM credential_project cp JOIN project p ON p.id = cp.project_id
   WHERE cp.credential_id = c.id)
FROM credential c
JOIN oauth_grant g ON g.credential_id = c.id
JOIN oauth_client cl ON cl.id = g.client_id
LEFT JOIN company co ON co.id = c.company_id
WHERE c.user_id = :user AND c.kind = 'oauth' AND c.revoked_at IS NULL AND c.expires_at > :now AND c.id < :before
ORDER BY c.id DESC LIMIT :limit
"""


class _AppRow(NamedTuple):
    """A row of SELECT_APPS."""

    key: int
    id: str
    label: str
    redirect_uri: str
    client_id: str
    fetched_at: int | None
    scopes: str
    company_id: str | None
    restricted: int
    created_at: int
    last_used_at: int | None
    expires_at: int
    project_ids: str


def list_connected_apps(tx: Read, user: int, before: int, limit: int) -> list[tuple[int, ConnectedApp]]:
    """List a user's valid grants, newest first, each with its key."""
    rows = tx.fetch_all(SELECT_APPS, {"user": user, "now": tx.now, "before": before, "limit": limit})
    return [
        (
            row.key,
            ConnectedApp(
                id=row.id,
                name=row.label,
                client_host=None if row.fetched_at is None else format_host(row.client_id),
                redirect_host=format_host(row.redirect_uri),
                scopes=row.scopes.split(),
                company_id=row.company_id,
                project_ids=_strings.decode(row.project_ids) if row.restricted else None,
                created=format_rfc3339(row.created_at),
                last_used_at=None if row.last_used_at is None else format_rfc3339(row.last_used_at),
                expires_at=format_rfc3339(row.expires_at),
            ),
        )
        for row in map(_AppRow._make, rows)
    ]


DELETE_UNUSED_CLIENTS = f"DELETE FROM oauth_client AS c WHERE c.created_at < ? AND {_CLIENT_IS_UNUSED}"


def delete_expired(tx: Write) -> None:
    """Delete expired secrets, requests a day after they expired, and clients unused for a day."""
    tx.execute("DELETE FROM oauth_secret WHERE expires_at <= ?", (tx.now,))
    tx.execute("DELETE FROM oauth_request WHERE expires_at <= ?", (tx.now - DAY,))
    tx.execute(DELETE_UNUSED_CLIENTS, (tx.now - DAY,))
