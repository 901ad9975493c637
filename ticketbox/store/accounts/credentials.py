"""Credentials: API tokens, OAuth grants and web sessions: insert, list and revoke them."""

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from ticketbox.domain.accounts.records import Session, Token, TokenKind
from ticketbox.domain.core.access.policy import Kind
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.clock import DAY, format_rfc3339
from ticketbox.domain.core.ids import Prefix, generate_id
from ticketbox.domain.core.network.client_networks import get_client_network
from ticketbox.store.file.database import CommittedEvent, Read, Write

# Not stored: it makes listeners check whether their own credential was revoked.
CREDENTIAL_ENDED = CommittedEvent(0, "credential.ended", None, None, None, None)


KEPT_AFTER_END = 30 * DAY
FORGOTTEN_PER_ROUND = 5_000


class NewCredential(msgspec.Struct, frozen=True):
    """The fields of a new credential."""

    kind: Kind
    user: int
    label: str
    secret_hash: bytes
    shown: str
    scopes: tuple[Scope, ...] = ()
    company: int | None = None
    projects: tuple[int, ...] | None = None
    expires_at: int | None = None
    address: str | None = None
    user_agent: str | None = None
    confirmed_at: int | None = None


INSERT_CREDENTIAL = """
INSERT INTO credential (public_id, kind, user_id, label, secret_hash, shown, scopes, company_id, restricted,
  address, user_agent, created_at, expires_at, confirmed_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
INSERT_CREDENTIAL_PROJECT = "INSERT INTO credential_project (credential_id, project_id) VALUES (?, ?)"


def insert_credential(tx: Write, new: NewCredential) -> tuple[int, str]:
    """Insert a credential; return its key and its public id."""
    public_id = generate_id(Prefix.SESSION if new.kind is Kind.SESSION else Prefix.TOKEN)
    scopes = " ".join(sorted(new.scopes))
    restricted = new.projects is not None
    key = tx.insert(
        INSERT_CREDENTIAL,
        (public_id, new.kind.value, new.user, new.label, new.secret_hash, new.shown, scopes, new.company,
         restricted, new.address, new.user_agent, tx.now, new.expires_at,
         new.confirmed_at),
    )  # fmt: skip
    tx.execute_many(INSERT_CREDENTIAL_PROJECT, [(key, project) for project in new.projects or ()])
    return key, public_id


SELECT_TOKENS = """
SELECT c.public_id, c.label, c.shown, c.kind, c.scopes, co.public_id, c.restricted, c.expires_at, c.created_at,
  c.last_used_at, c.id,
  (SELECT json_group_array(p.public_id) FROM credential_project cp JOIN project p ON p.id = cp.project_id
   WHERE cp.credential_id = c.id)
FROM credential c LEFT JOIN company co ON co.id = c.company_id
WHERE c.user_id = :user AND c.kind = :kind AND c.revoked_at IS NULL AND c.id < :before
  AND (:token IS NULL OR c.public_id = :token)
ORDER BY c.id DESC LIMIT :limit
"""


class _TokenRow(NamedTuple):
    """A row of SELECT_TOKENS."""

    id: str
    label: str
    shown: str
    kind: str
    scopes: str
    company_id: str | None
    restricted: int
    expires_at: int | None
    created_at: int
    last_used_at: int | None
    key: int
    project_ids: str


def list_tokens(
    tx: Read, user: int, before: int, limit: int, token: str | None = None, kind: Kind = Kind.API
) -> list[tuple[int, Token]]:
    """List a user's tokens that aren't revoked, newest first, each with its key."""
    parameters = {"user": user, "before": before, "limit": limit, "token": token, "kind": kind.value}
    return [
        (
            row.key,
            Token(
                id=row.id,
                label=row.label,
                prefix=row.shown,
                kind=TokenKind(row.kind),
                scopes=row.scopes.split(),
                company_id=row.company_id,
                project_ids=msgspec.json.decode(row.project_ids, type=list[str]) if row.restricted else None,
                expires_at=None if row.expires_at is None else format_rfc3339(row.expires_at),
                created=format_rfc3339(row.created_at),
                last_used_at=None if row.last_used_at is None else format_rfc3339(row.last_used_at),
            ),
        )
        for row in map(_TokenRow._make, tx.fetch_all(SELECT_TOKENS, parameters))
    ]


SELECT_SESSIONS = """
SELECT id, public_id, address, user_agent, created_at, last_used_at, expires_at
FROM credential
WHERE user_id = ? AND kind = 'session' AND revoked_at IS NULL AND expires_at > ?
  AND (ifnull(last_used_at, created_at) >= ? OR id = ?)
ORDER BY id DESC LIMIT 200
"""


class _SessionRow(NamedTuple):
    """A row of SELECT_SESSIONS."""

    key: int
    id: str
    address: str | None
    user_agent: str | None
    created_at: int
    last_used_at: int | None
    expires_at: int


def list_sessions(tx: Read, user: int, current: int, used_since: int = 0) -> list[Session]:
    """List a user's valid web sessions that were used since then, and the current one, newest first."""
    return [
        Session(
            id=row.id,
            current=row.key == current,
            address=row.address,
            user_agent=row.user_agent,
            created=format_rfc3339(row.created_at),
            last_used_at=None if row.last_used_at is None else format_rfc3339(row.last_used_at),
            expires_at=format_rfc3339(row.expires_at),
        )
        for row in map(_SessionRow._make, tx.fetch_all(SELECT_SESSIONS, (user, tx.now, used_since, current)))
    ]


REVOKE_CREDENTIAL = """
UPDATE credential SET revoked_at = ?
WHERE public_id = ? AND user_id = ? AND kind = ? AND revoked_at IS NULL RETURNING id, label, company_id
"""


def revoke_credential(tx: Write, user: int, public_id: str, kind: Kind) -> tuple[int, str, int | None] | None:
    """Revoke a user's credential; return its key, label and company, or None if there is none."""
    tx.events.append(CREDENTIAL_ENDED)
    return tx.fetch_one(REVOKE_CREDENTIAL, (tx.now, public_id, user, kind.value))


REVOKE_SESSIONS = """
UPDATE credential SET revoked_at = ? WHERE user_id = ? AND kind = 'session' AND revoked_at IS NULL AND id <> ?
"""


def revoke_sessions(tx: Write, user: int, but: int = 0) -> None:
    """Revoke all of a user's web sessions except one."""
    tx.events.append(CREDENTIAL_ENDED)
    tx.execute(REVOKE_SESSIONS, (tx.now, user, but))


def revoke_all_credentials(tx: Write, user: int) -> None:
    """Revoke all of a user's sessions, tokens and grants to apps."""
    tx.events.append(CREDENTIAL_ENDED)
    tx.execute("UPDATE credential SET revoked_at = ? WHERE user_id = ? AND revoked_at IS NULL", (tx.now, user))


SELECT_RESTRICTION = """
SELECT co.public_id,
  (SELECT json_group_array(p.public_id) FROM credential_project cp JOIN project p ON p.id = cp.project_id
   WHERE cp.credential_id = c.id)
FROM credential c LEFT JOIN company co ON co.id = c.company_id WHERE c.id = ?
"""


def load_restriction(tx: Read, key: int) -> tuple[str | None, list[str]]:
    """Load the public ids of the company and the projects that a credential is restricted to."""
    row = tx.fetch_one(SELECT_RESTRICTION, (key,))
    if row is None:
        return None, []
    company_id, project_ids = row
    return company_id, msgspec.json.decode(project_ids, type=list[str])


REVOKE_IN_COMPANY = """
UPDATE credential SET revoked_at = ? WHERE user_id = ? AND company_id = ? AND revoked_at IS NULL
"""


def revoke_credentials_in_company(tx: Write, user: int, company: int) -> None:
    """Revoke a user's credentials that are restricted to a company."""
    tx.execute(REVOKE_IN_COMPANY, (tx.now, user, company))


SELECT_CREDENTIAL = "SELECT c.id, c.user_id, c.kind FROM credential c WHERE c.public_id = ? AND c.revoked_at IS NULL"


def find_credential(tx: Read, public_id: str) -> tuple[int, int, Kind] | None:
    """Find a credential that isn't revoked: its key, its user's key and its kind."""
    row = tx.fetch_one(SELECT_CREDENTIAL, (public_id,))
    if row is None:
        return None
    key, user, kind = row
    return key, user, Kind(kind)


SELECT_TOKEN_OWNER = """
SELECT u.public_id FROM credential c JOIN user u ON u.id = c.user_id
WHERE c.public_id = ? AND c.kind IN ('api', 'oauth') AND c.revoked_at IS NULL
"""


def find_token_owner(tx: Read, public_id: str) -> str | None:
    """Find the id of the user to whom a token belongs that isn't revoked."""
    return tx.fetch_value(SELECT_TOKEN_OWNER, (public_id,))


def load_credential_id(tx: Read, key: int) -> str:
    """Load the public id of a credential that exists."""
    return tx.fetch_value("SELECT public_id FROM credential WHERE id = ?", (key,))


def find_confirmation(tx: Read, key: int) -> int | None:
    """Find when the person behind a session last entered the password."""
    return tx.fetch_value("SELECT confirmed_at FROM credential WHERE id = ?", (key,))


def confirm_session(tx: Write, key: int) -> None:
    """Store that the person behind a session has entered the password."""
    tx.execute("UPDATE credential SET confirmed_at = ? WHERE id = ?", (tx.now, key))


UPDATE_LAST_USED = "UPDATE credential SET last_used_at = max(ifnull(last_used_at, 0), ?) WHERE id = ?"


def record_use(tx: Write, used: Iterable[tuple[int, int]]) -> None:
    """Record when credentials were last used: pairs of key and epoch milliseconds."""
    tx.execute_many(UPDATE_LAST_USED, [(at, key) for key, at in used])


SELECT_SESSION_ADDRESSES = """
SELECT address FROM credential WHERE user_id = ? AND kind = 'session' AND address IS NOT NULL ORDER BY id DESC LIMIT 500
"""


def has_signed_in_from(tx: Read, user: int, network: str) -> bool:
    """Whether the user signed in from this network before, as far as addresses are kept."""
    return any(get_client_network(address) == network for (address,) in tx.fetch_all(SELECT_SESSION_ADDRESSES, (user,)))


SELECT_SESSION_CLIENTS = """
SELECT address, user_agent FROM credential WHERE user_id = ? AND kind = 'session' ORDER BY id DESC LIMIT 500
"""


def has_only_signed_in_elsewhere(tx: Read, user: int, address: str, user_agent: str) -> bool:
    """Whether the user has signed in, but never with this browser from this network, as far as these are kept."""
    network = get_client_network(address)
    clients = tx.fetch_all(SELECT_SESSION_CLIENTS, (user,))
    return bool(clients) and not any(
        agent == user_agent and known is not None and get_client_network(known) == network for known, agent in clients
    )


SELECT_LAST_CREDENTIAL = "SELECT ifnull(max(id), 0) FROM credential"
FORGET_ENDED_SESSIONS = """
UPDATE credential SET address = NULL, user_agent = NULL
WHERE id > :after AND id <= :last AND kind = 'session' AND address IS NOT NULL
  AND min(ifnull(revoked_at, expires_at), expires_at) < :ended_before
"""


def forget_ended_sessions(tx: Write, after: int) -> int:
    """Remove address and browser of sessions that ended 30 days ago; return the key up to which it looked, or 0."""
    last = after + FORGOTTEN_PER_ROUND
    tx.execute(FORGET_ENDED_SESSIONS, {"after": after, "last": last, "ended_before": tx.now - KEPT_AFTER_END})
    return last if last < tx.fetch_value(SELECT_LAST_CREDENTIAL) else 0
