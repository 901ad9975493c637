"""Actors: the caller that a credential belongs to. Resolving one takes one query, or two for OAuth."""

import hmac
from typing import NamedTuple

import msgspec

from ticketbox.domain.core.access.policy import Actor, Kind, Membership, Via
from ticketbox.domain.core.access.scopes import ALL_SCOPES, Scope, expand_scopes
from ticketbox.domain.core.clock import MINUTE
from ticketbox.store.file.database import Read

CONFIRMED_MS = 15 * MINUTE

_memberships = msgspec.json.Decoder(tuple[Membership, ...])
_SCOPES_BY_TEXT: dict[str, frozenset[Scope]] = {}

_LACKS_FACTOR = """
EXISTS (SELECT 1 FROM member m JOIN company co ON co.id = m.company_id
  WHERE m.user_id = u.id AND co.second_factor_required)
AND NOT EXISTS (SELECT 1 FROM second_factor f WHERE f.user_id = u.id AND f.enabled_at IS NOT NULL)
AND NOT EXISTS (SELECT 1 FROM passkey k WHERE k.user_id = u.id)
"""
_SELECT_ACTOR = """
SELECT c.id, c.public_id, c.kind, c.label, {scopes}, c.company_id, c.restricted, {end}, {hash}, c.confirmed_at,
  ifnull(c.last_used_at, c.created_at), iif(c.kind = 'session', {lacks_factor}, 0),
  u.id, u.public_id, u.name, u.email,
  (SELECT json_group_array(json_array(
     m.company_id, co.public_id, co.name, m.role, co.reads_per_minute, co.writes_per_minute,
     json(iif(m.all_projects, 'true', 'false'))))
   FROM member m JOIN company co ON co.id = m.company_id WHERE m.user_id = u.id)
FROM {table} JOIN user u ON u.id = c.user_id
WHERE {hash} = :hash AND c.revoked_at IS NULL AND (c.expires_at IS NULL OR c.expires_at > :now)
  AND u.disabled_at IS NULL
"""


class _ActorRow(NamedTuple):
    """A row of `_SELECT_ACTOR`."""

    key: int
    token_id: str
    kind: str
    label: str
    scopes: str
    company: int | None
    restricted: int
    expires_at: int | None
    secret_hash: bytes
    confirmed_at: int | None
    used_at: int
    lacks_factor: int
    user: int
    user_id: str
    name: str
    email: str
    memberships: str


SELECT_ACTOR = _SELECT_ACTOR.format(
    scopes="c.scopes", end="c.expires_at", hash="c.secret_hash", table="credential c", lacks_factor=_LACKS_FACTOR
)
# A grant's access tokens are in a separate table; each is valid only for the grant's audience (RFC 8707).
SELECT_ACTOR_BY_ACCESS_TOKEN = (
    _SELECT_ACTOR.format(
        scopes="ifnull(s.scopes, c.scopes)",
        end="s.expires_at",
        hash="s.secret_hash",
        lacks_factor="0",
        table="oauth_secret s JOIN credential c ON c.id = s.credential_id JOIN oauth_grant g ON g.credential_id = c.id",
    )
    + "AND s.opens = 'access' AND s.expires_at > :now AND g.audience = :audience"
)


def resolve_actor(tx: Read, secret_hash: bytes, via: Via) -> Actor | None:
    """Resolve a secret's hash to an actor; None if it is unknown, expired or revoked, or its user is disabled."""
    parameters = {"hash": secret_hash, "now": tx.now, "audience": "mcp" if via is Via.MCP else "api"}
    record = tx.fetch_one(SELECT_ACTOR, parameters) or tx.fetch_one(SELECT_ACTOR_BY_ACCESS_TOKEN, parameters)
    if record is None:
        return None
    row = _ActorRow._make(record)
    if not hmac.compare_digest(row.secret_hash, secret_hash):
        return None
    kind = Kind(row.kind)
    session = kind is Kind.SESSION
    return Actor(
        user=row.user,
        user_id=row.user_id,
        name=row.name,
        email=row.email,
        credential=row.key,
        token_id=row.token_id,
        token_label=None if session else row.label,
        kind=kind,
        scopes=ALL_SCOPES if session else _expand_stored_scopes(row.scopes),
        company=row.company,
        restricted=bool(row.restricted),
        expires_at=row.expires_at,
        memberships=_memberships.decode(row.memberships),
        via=Via.WEB if session else via,
        confirmed=row.confirmed_at is not None and abs(tx.now - row.confirmed_at) < CONFIRMED_MS,
        used_at=row.used_at,
        lacks_factor=bool(row.lacks_factor),
    )


SELECT_ENDED_CREDENTIAL = """
SELECT 1 FROM credential WHERE secret_hash = :hash
UNION ALL SELECT 1 FROM oauth_secret WHERE secret_hash = :hash
LIMIT 1
"""


def has_ended(tx: Read, secret_hash: bytes) -> bool:
    """Whether a secret that resolves to no actor was issued by this server."""
    return tx.fetch_one(SELECT_ENDED_CREDENTIAL, {"hash": secret_hash}) is not None


LACKS_FACTOR = f"SELECT {_LACKS_FACTOR} FROM user u WHERE u.id = ?"


def lacks_required_factor(tx: Read, user: int) -> bool:
    """Whether a company of the user requires a second factor, and the user has none."""
    return bool(tx.fetch_value(LACKS_FACTOR, (user,)))


SELECT_USER = """
SELECT u.id, u.public_id, u.name, u.email,
  (SELECT json_group_array(json_array(
     m.company_id, co.public_id, co.name, m.role, co.reads_per_minute, co.writes_per_minute,
     json(iif(m.all_projects, 'true', 'false'))))
   FROM member m JOIN company co ON co.id = m.company_id WHERE m.user_id = u.id)
FROM user u WHERE u.id = ?
"""


def load_user_as_actor(tx: Read, user: int, via: Via) -> Actor:
    """Load a user that exists as an actor without a credential: for setup and for the command line."""
    row = tx.fetch_one(SELECT_USER, (user,))
    assert row is not None
    key, user_id, name, email, memberships = row
    return Actor(
        user=key,
        user_id=user_id,
        name=name,
        email=email,
        credential=0,
        token_id=None,
        token_label=None,
        kind=None,
        scopes=ALL_SCOPES,
        company=None,
        restricted=False,
        expires_at=None,
        memberships=_memberships.decode(memberships),
        via=via,
    )


def _expand_stored_scopes(text: str) -> frozenset[Scope]:
    """Expand stored scopes to all that they include; computed once for each combination."""
    effective = _SCOPES_BY_TEXT.get(text)
    if effective is None:
        effective = _SCOPES_BY_TEXT[text] = expand_scopes(frozenset(Scope(word) for word in text.split()))
    return effective
