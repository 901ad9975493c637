"""Authorization requests: what an app requests from a user, until its code is redeemed (docs/use/oauth.md)."""

from typing import NamedTuple

import msgspec

from ticketbox.domain.accounts.oauth import Audience
from ticketbox.domain.core.clock import DAY
from ticketbox.store.file.database import Read, Row, Write

MAX_OPEN_REQUESTS = 20

_strings = msgspec.json.Decoder(list[str])


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


def insert_request(tx: Write, request: AuthorizationRequest, handle_hash: bytes, expires_at: int) -> None:
    """Insert a request that waits for its user's decision; a user has up to 20."""
    tx.execute(
        INSERT_REQUEST,
        (
            handle_hash, request.user, request.client, request.redirect_uri, request.state, request.challenge,
            request.audience.value, " ".join(request.scopes), expires_at,
        ),
    )  # fmt: skip
    tx.execute(DELETE_SURPLUS_REQUESTS, (request.user, MAX_OPEN_REQUESTS))


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


def _build_request(record: Row | None) -> AuthorizationRequest | None:
    if record is None:
        return None
    row = _RequestRow._make(record)
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


def mark_redeemed(tx: Write, key: int, credential: int) -> None:
    """Record that a request's code was redeemed, and the credential that was issued for it."""
    tx.execute("UPDATE oauth_request SET stage = 'redeemed', credential_id = ? WHERE id = ?", (credential, key))


def delete_expired_requests(tx: Write) -> None:
    """Delete requests a day after they expired."""
    tx.execute("DELETE FROM oauth_request WHERE expires_at <= ?", (tx.now - DAY,))
