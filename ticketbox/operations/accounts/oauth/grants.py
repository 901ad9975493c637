"""OAuth grants: exchange a code for tokens, refresh tokens, and revoke grants (docs/use/oauth.md).

A grant is a credential of the kind `oauth` with separate secrets: access tokens that are valid for an hour, and
refresh tokens that are replaced at every use. Its id, label and budgets never change.
"""

from typing import Annotated, Any

import msgspec

from ticketbox.domain.accounts import oauth, secrets
from ticketbox.domain.accounts.oauth import ACCESS_LIFETIME, REFRESH_GRACE, REFRESH_LIFETIME, VERIFIER, OAuthError
from ticketbox.domain.core.access.policy import Actor, Kind, Via
from ticketbox.domain.core.access.scopes import Access, Scope, expand_scopes
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import Problem
from ticketbox.operations.accounts.oauth.authorizations import Parameter, parse_audience
from ticketbox.operations.accounts.tokens import record_token_event, resolve_restriction
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.registry import operation
from ticketbox.operations.core.services import Services
from ticketbox.store.accounts import actors, credentials, users
from ticketbox.store.accounts.credentials import NewCredential
from ticketbox.store.accounts.oauth import authorizations as oauth_authorizations
from ticketbox.store.accounts.oauth import clients as oauth_clients
from ticketbox.store.accounts.oauth import grants as oauth_grants
from ticketbox.store.accounts.oauth.authorizations import AuthorizationRequest
from ticketbox.store.accounts.oauth.grants import GrantSecret
from ticketbox.store.file.database import Read, Write

WRONG_CODE = "the code is wrong, was already used, has expired, or belongs to another request"
WRONG_REFRESH = "the refresh token is wrong, was already used, has expired, or its grant was revoked"


class RedeemCode(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """An authorization code and its PKCE verifier (RFC 6749, 4.1.3; RFC 7636, 4.5)."""

    client_id: Parameter
    code: Parameter
    code_verifier: Annotated[str, VERIFIER]
    redirect_uri: Parameter | None = None
    resource: Parameter | None = None


class RefreshGrant(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A refresh token (RFC 6749, 6); `scope` may narrow the new access token."""

    client_id: Parameter
    refresh_token: Parameter
    scope: Parameter | None = None
    resource: Parameter | None = None


class IssuedPair(msgspec.Struct, frozen=True):
    """A new access token and refresh token (RFC 6749, 5.1)."""

    access_token: str
    token_type: str
    expires_in: int
    refresh_token: str
    scope: str


class Refusal(msgspec.Struct, frozen=True):
    """A refusal whose transaction must be committed, because it revoked a grant."""

    error: str
    detail: str


async def limit_token_requests(services: Services, actor: Actor, args: Any, context: RequestContext) -> str:
    """Limit token requests per address, and return the server's public URL. Raises RateLimited."""
    services.limit(context.network, "oauth-token", 60, "too many requests for tokens from this address")
    return services.public_url


async def raise_if_refused(services: Services, actor: Actor, args: Any, result: IssuedPair | Refusal) -> IssuedPair:
    """Return the result, or raise the OAuthError of a committed refusal."""
    if isinstance(result, Refusal):
        raise OAuthError(result.error, result.detail)
    return result


@operation(
    "redeem_code", scope=Access.PUBLIC, budget=Budget.NONE, prepare=limit_token_requests, finish=raise_if_refused
)
def redeem_code(tx: Write, actor: Actor, args: RedeemCode, public_url: str) -> IssuedPair | Refusal:
    """Exchange a code for the first pair of tokens. Using a code twice revokes its grant (RFC 6749, 4.1.2)."""
    client = _find_client(tx, args.client_id)
    request = oauth_authorizations.find_request_by_code(tx, secrets.hash_secret(args.code))
    if request is None:
        raise OAuthError("invalid_grant", WRONG_CODE)
    if request.credential is not None:
        _revoke_grant(tx, request.credential, request.user, "code used twice")
        return Refusal("invalid_grant", WRONG_CODE)
    if (
        request.client != client
        or request.expires_at <= tx.now
        or (args.redirect_uri or request.redirect_uri) != request.redirect_uri
        or not oauth.matches_challenge(args.code_verifier, request.challenge)
    ):
        raise OAuthError("invalid_grant", WRONG_CODE)
    _require_same_resource(args.resource, request.audience, public_url)
    credential = _insert_grant(tx, request)
    return _issue_pair(tx, credential, request.scopes)


def _find_client(tx: Read, client_id: str) -> int:
    client = oauth_clients.find_client(tx, client_id)
    if client is None:
        raise OAuthError("invalid_client", "this client_id isn't registered any more; register again")
    return client.key


def _require_same_resource(resource: str | None, audience: oauth.Audience, public_url: str) -> None:
    if resource is not None and parse_audience(resource, public_url) is not audience:
        raise OAuthError("invalid_target", f"this grant is for {public_url}/{audience.value}")


def _insert_grant(tx: Write, request: AuthorizationRequest) -> int:
    """Insert the credential of a grant, and return its key. Raises OAuthError if its user can't grant it any more."""
    account = users.find_account_by_key(tx, request.user)
    if account is None or account.disabled:
        raise OAuthError("invalid_grant", WRONG_CODE)
    owner = actors.load_user_as_actor(tx, request.user, Via.WEB)
    try:
        company, projects = resolve_restriction(tx, owner, request.company, request.projects)
    except Problem as problem:
        raise OAuthError("invalid_grant", f"this access can't be granted any more: {problem.detail}") from None
    label = oauth_clients.load_client(tx, request.client).name
    new = NewCredential(
        kind=Kind.OAUTH,
        user=request.user,
        label=label,
        secret_hash=secrets.hash_secret(oauth.generate_code()),  # unused: the secrets of a grant are in another table
        shown="",
        scopes=tuple(Scope(scope) for scope in request.scopes),
        company=company,
        projects=projects,
        expires_at=tx.now + REFRESH_LIFETIME,
    )
    key, public_id = credentials.insert_credential(tx, new)
    oauth_grants.redeem_code(tx, request, key)
    data: dict[str, Any] = {
        "token_id": public_id,
        "label": label,
        "scopes": request.scopes,
        "user_id": owner.user_id,
        "kind": Kind.OAUTH.value,
    }
    record_token_event(tx, owner, "token.created", key, company, data)
    return key


def _issue_pair(tx: Write, credential: int, scopes: list[str], narrowed: list[str] | None = None) -> IssuedPair:
    access, refresh = secrets.generate_secret(), secrets.generate_secret()
    oauth_grants.insert_secret(
        tx, credential, "access", secrets.hash_secret(access), tx.now + ACCESS_LIFETIME, narrowed
    )
    oauth_grants.insert_secret(tx, credential, "refresh", secrets.hash_secret(refresh), tx.now + REFRESH_LIFETIME)
    granted = " ".join(scope for scope in Scope if scope in (scopes if narrowed is None else narrowed))
    return IssuedPair(access, "Bearer", ACCESS_LIFETIME // 1000, refresh, granted)


@operation(
    "refresh_grant", scope=Access.PUBLIC, budget=Budget.NONE, prepare=limit_token_requests, finish=raise_if_refused
)
def refresh_grant(tx: Write, actor: Actor, args: RefreshGrant, public_url: str) -> IssuedPair | Refusal:
    """Exchange a refresh token for a new pair of tokens. It stays valid for an hour: agents share a stored sign-in.

    Using it later, or after a token that replaced it was exchanged too, revokes the grant, because then two parties
    have the token (RFC 9700, 4.14.2).
    """
    _find_client(tx, args.client_id)
    secret_hash = secrets.hash_secret(args.refresh_token)
    secret = oauth_grants.find_secret(tx, secret_hash)
    if secret is None or secret.opens != "refresh" or secret.client_id != args.client_id or not secret.live:
        raise OAuthError("invalid_grant", WRONG_REFRESH)
    if secret.rotated_at is not None and (
        abs(tx.now - secret.rotated_at) > REFRESH_GRACE
        or oauth_grants.has_later_exchange(tx, secret_hash, secret.credential, secret.rotated_at)
    ):
        _revoke_grant(tx, secret.credential, secret.user, "refresh token used twice")
        return Refusal("invalid_grant", WRONG_REFRESH)
    if secret.expires_at <= tx.now:
        raise OAuthError("invalid_grant", WRONG_REFRESH)
    _require_same_resource(args.resource, secret.audience, public_url)
    narrowed = _narrow_scopes(secret, args.scope)
    oauth_grants.rotate_refresh_token(tx, secret_hash, secret.credential, tx.now + REFRESH_LIFETIME)
    return _issue_pair(tx, secret.credential, secret.scopes, narrowed)


def _narrow_scopes(secret: GrantSecret, scope: str | None) -> list[str] | None:
    """Return the scopes of one access token if they are fewer than the grant's, or None (RFC 6749, 6)."""
    words = [each.value for each in Scope if each in (scope or "").split()]  # others are ignored, as when it was asked
    if not words or set(words) == set(secret.scopes):
        return None
    allowed = expand_scopes(frozenset(map(Scope, secret.scopes)))
    if not set(words) <= allowed:
        raise OAuthError("invalid_scope", "a grant can't get more scopes; start a new authorization request")
    return words


class RevokeGrant(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A grant's access token or refresh token (RFC 7009, 2.1)."""

    token: Parameter
    client_id: Parameter | None = None


@operation("revoke_grant", scope=Access.PUBLIC, budget=Budget.NONE, prepare=limit_token_requests)
def revoke_grant(tx: Write, actor: Actor, args: RevokeGrant, _: str) -> None:
    """Revoke a grant by its access token or refresh token. An unknown token is no error (RFC 7009, 2.2)."""
    secret = oauth_grants.find_secret(tx, secrets.hash_secret(args.token))
    if secret is None:
        return
    if args.client_id is not None and args.client_id != secret.client_id:
        raise OAuthError("invalid_grant", "this token belongs to another client")
    _revoke_grant(tx, secret.credential, secret.user, "ended by the app")


def _revoke_grant(tx: Write, credential: int, user: int, why: str) -> None:
    revoke_app_grant(
        tx, actors.load_user_as_actor(tx, user, Via.MCP), credentials.load_credential_id(tx, credential), why=why
    )


def revoke_app_grant(tx: Write, actor: Actor, token_id: str, **more: str) -> bool:
    """Revoke one of the actor's grants and record it. Returns False if there is no such active grant."""
    revoked = credentials.revoke_credential(tx, actor.user, token_id, Kind.OAUTH)
    if revoked is None:
        return False
    key, label, company = revoked
    data = {"token_id": token_id, "label": label, "user_id": actor.user_id, "kind": Kind.OAUTH.value, **more}
    record_token_event(tx, actor, "token.revoked", key, company, data)
    return True
