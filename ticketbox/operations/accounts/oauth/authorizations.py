"""OAuth authorization requests: an app asks for access, and a signed-in person decides (docs/use/oauth.md).

These operations have no REST route and no tool; the pages and endpoints of the authorization server call them.
"""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from ticketbox.domain.accounts import oauth, secrets
from ticketbox.domain.accounts.oauth import CHALLENGE, CODE_LIFETIME, CONSENT_LIFETIME, Audience, OAuthError
from ticketbox.domain.core.access.policy import Actor, Kind
from ticketbox.domain.core.access.scopes import Access, Role, Scope
from ticketbox.domain.core.clock import HOUR
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import Forbidden, InvalidField, NotFound
from ticketbox.operations.accounts.oauth.clients import ClientDocument, find_document, store_document
from ticketbox.operations.accounts.tokens import Scopes, resolve_restriction
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.inputs import Secret
from ticketbox.operations.core.lookups import Id
from ticketbox.operations.core.registry import operation
from ticketbox.operations.core.services import Services
from ticketbox.store.accounts.oauth import authorizations as oauth_authorizations
from ticketbox.store.accounts.oauth import clients as oauth_clients
from ticketbox.store.accounts.oauth.authorizations import AuthorizationRequest
from ticketbox.store.accounts.oauth.clients import OAuthClient
from ticketbox.store.companies import projects
from ticketbox.store.file.database import Read, Write

DOCUMENT_LIFETIME = HOUR
MAX_PROJECTS = 1_000

Parameter = Annotated[str, Meta(max_length=oauth.MAX_ADDRESS)]


class Authorize(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """An authorization request (RFC 6749, 4.1.1; RFC 7636, 4.3; RFC 8707, 2.1)."""

    client_id: Parameter | None = None
    redirect_uri: Parameter | None = None
    response_type: Parameter | None = None
    code_challenge: Parameter | None = None
    code_challenge_method: Parameter | None = None
    scope: Parameter | None = None
    state: Parameter | None = None
    resource: Parameter | None = None


class ClientLookup(msgspec.Struct, frozen=True):
    """What was loaded before the transaction: the app's document, if it was fetched, and the server's public URL."""

    document: ClientDocument | None
    public_url: str


async def look_up_client(services: Services, actor: Actor, args: Authorize, context: RequestContext) -> ClientLookup:
    """Fetch the app's metadata document if its client id is a URL, at most once an hour, and only for a signed-in user.

    Raises RateLimited, and OAuthError for a document that can't be fetched or isn't valid.
    """
    services.limit(context.network, "oauth-authorize", 120, "too many authorization requests from this address")
    client_id = args.client_id or ""
    if actor.kind is not Kind.SESSION or not oauth.is_metadata_address(client_id):
        return ClientLookup(None, services.public_url)
    now = services.database.clock.now()
    known = await services.read(lambda tx: oauth_clients.find_client(tx, client_id), actor.fair_share)
    if known is not None and known.fetched_at is not None and now - DOCUMENT_LIFETIME < known.fetched_at <= now:
        return ClientLookup(None, services.public_url)
    services.limit(actor.user, "oauth-documents", 10, "too many new apps in a minute")
    return ClientLookup(await find_document(services, client_id), services.public_url)


class ProjectChoice(msgspec.Struct, frozen=True):
    """A project that a grant can be restricted to."""

    id: str
    name: str


class CompanyChoice(msgspec.Struct, frozen=True):
    """A company that a grant can be restricted to, and its projects."""

    id: str
    name: str
    projects: list[ProjectChoice]


class Consent(msgspec.Struct, frozen=True):
    """What the consent page shows, and the handle that the person's decision is sent with.

    `preselected` are the scopes that the app asks for; for one that names none, the person adds to `read`.
    """

    handle: str
    client_name: str
    client_host: str | None
    redirect_uri: str
    scopes: list[Scope]
    preselected: list[Scope]
    companies: list[CompanyChoice]
    name: str
    email: str


class SignInFirst(msgspec.Struct, frozen=True):
    """Sign in, then repeat the request. `redirect_uri` is registered for the client, or None.

    `email` is the address of a person who is signed in, but entered the password too long ago.
    """

    redirect_uri: str | None
    email: str


class Rejection(msgspec.Struct, frozen=True):
    """A rejected request whose transaction is committed: the fetched document stays stored and isn't fetched again."""

    error: OAuthError


async def raise_if_rejected(
    services: Services, actor: Actor, args: Authorize, result: Consent | SignInFirst | Rejection
) -> Consent | SignInFirst:
    """Return the result, or raise the OAuthError of a rejection."""
    if isinstance(result, Rejection):
        raise result.error
    return result


@operation("authorize", scope=Access.PUBLIC, budget=Budget.NONE, prepare=look_up_client, finish=raise_if_rejected)
def authorize(tx: Write, actor: Actor, args: Authorize, lookup: ClientLookup) -> Consent | SignInFirst | Rejection:
    """Check an authorization request, and return what to ask the person. Only a web session can answer it.

    Raises OAuthError. An error without a `redirect_uri` is shown to the person, because the address isn't known to be
    the client's. Nobody is redirected before they sign in, which makes the address useless for phishing (RFC 9700,
    4.11.2).
    """
    if lookup.document is not None:
        store_document(tx, lookup.document)
    try:
        return _answer_request(tx, actor, args, lookup.public_url)
    except OAuthError as error:
        return Rejection(error)


def _answer_request(tx: Write, actor: Actor, args: Authorize, public_url: str) -> Consent | SignInFirst:
    signed_in = actor.kind is Kind.SESSION and actor.confirmed
    client = oauth_clients.find_client(tx, args.client_id or "")
    if client is None and not signed_in and oauth.is_metadata_address(args.client_id or ""):
        return SignInFirst(None, actor.email)
    if client is None:
        raise OAuthError("invalid_client", "this app isn't registered any more")
    redirect_uri = _resolve_redirect_uri(client, args.redirect_uri)
    if not signed_in:
        return SignInFirst(redirect_uri, actor.email)
    request = _check_request(actor, client, redirect_uri, args, public_url)
    handle = oauth.generate_code()
    oauth_authorizations.insert_request(tx, request, secrets.hash_secret(handle), tx.now + CONSENT_LIFETIME)
    consent = _build_consent(tx, actor, request, handle)
    asks = any(word in set(Scope) for word in (args.scope or "").split())
    return consent if asks else msgspec.structs.replace(consent, preselected=[Scope.READ])


def _resolve_redirect_uri(client: OAuthClient, requested: str | None) -> str:
    """Return the redirect URI of a request. It is optional if the client registered only one. Raises OAuthError."""
    if requested is None and len(client.redirect_uris) == 1:
        return client.redirect_uris[0]
    if requested is None or not any(oauth.matches_redirect(known, requested) for known in client.redirect_uris):
        raise OAuthError("invalid_request", f"{client.name} sent a redirect_uri that isn't registered for it")
    return requested


def _check_request(
    actor: Actor, client: OAuthClient, redirect_uri: str, args: Authorize, public_url: str
) -> AuthorizationRequest:
    def build_error(error: str, detail: str) -> OAuthError:
        return OAuthError(error, detail, redirect_uri, args.state)

    if args.response_type != "code":
        raise build_error("unsupported_response_type", "response_type must be code")
    if args.code_challenge is None or args.code_challenge_method != "S256":
        raise build_error("invalid_request", "PKCE is required: send code_challenge, with code_challenge_method S256")
    try:
        msgspec.convert(args.code_challenge, Annotated[str, CHALLENGE])
    except msgspec.ValidationError:
        raise build_error("invalid_request", "code_challenge must be a SHA-256 in base64url (43 characters)") from None
    audience = parse_audience(args.resource, public_url)
    if audience is None:
        raise build_error("invalid_target", f"resource must be {public_url}/mcp")
    # Others are ignored (RFC 6749, 3.3), such as `openid`, or `offline_access` for the refresh token of each grant.
    words = (args.scope or "").split()
    scopes = [scope.value for scope in Scope if scope in words] or [scope.value for scope in Scope]
    return AuthorizationRequest(actor.user, client.key, redirect_uri, args.state, args.code_challenge, audience, scopes)


def parse_audience(resource: str | None, public_url: str) -> Audience | None:
    """Return the resource that a client names, by default the MCP endpoint; None for another server's (RFC 8707, 2)."""
    if resource is None:
        return Audience.MCP
    return next((each for each in Audience if resource == f"{public_url}/{each.value}"), None)


def _build_consent(tx: Read, actor: Actor, request: AuthorizationRequest, handle: str) -> Consent:
    client = oauth_clients.load_client(tx, request.client)
    listed = [project for _, project in projects.list_projects(tx, actor.viewer, None, 0, MAX_PROJECTS)]
    companies = [
        CompanyChoice(
            membership.company_id,
            membership.company_name,
            [ProjectChoice(each.id, each.name) for each in listed if each.company_id == membership.company_id],
        )
        for membership in actor.memberships
        if membership.role >= Role.MEMBER
    ]
    if not companies:
        raise Forbidden("connecting an app requires the role member in a company")
    return Consent(
        handle=handle,
        client_name=client.name,
        client_host=None if client.fetched_at is None else oauth.format_host(client.client_id),
        redirect_uri=request.redirect_uri,
        scopes=[Scope(scope) for scope in request.scopes],
        preselected=[Scope(scope) for scope in request.scopes],
        companies=companies,
        name=actor.name,
        email=actor.email,
    )


class ConsentHandle(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The handle of a consent page."""

    handle: Secret


@operation("show_consent", scope=Access.SESSION, budget=Budget.NONE)
def show_consent(tx: Read, actor: Actor, args: ConsentHandle) -> Consent:
    """Return what a pending request asks of the caller. Raises NotFound."""
    return _build_consent(tx, actor, _find_open_request(tx, actor, args.handle), args.handle)


def _find_open_request(tx: Read, actor: Actor, handle: str) -> AuthorizationRequest:
    request = oauth_authorizations.find_open_request(tx, secrets.hash_secret(handle), actor.user)
    if request is None:
        raise NotFound("request", "this request was already answered, has expired, or belongs to another account")
    return request


class ApproveRequest(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What the person grants; without a company, the grant covers all of their companies."""

    handle: Secret
    scopes: Scopes
    company_id: Annotated[Id, Meta(description="A company's id.")] | None = None
    project_ids: Annotated[list[Id], Meta(min_length=1, max_length=100)] | None = None


class ConsentAnswer(msgspec.Struct, frozen=True):
    """Where the person is redirected: to the client's address, with a code if access was granted."""

    redirect_uri: str
    state: str | None
    code: str | None
    client_name: str


@operation("approve_request", scope=Access.SESSION, budget=Budget.NONE)
def approve_request(tx: Write, actor: Actor, args: ApproveRequest) -> ConsentAnswer:
    """Grant a request: at most the scopes that it asks for, and what the caller can do. The result has the code.

    Raises NotFound for a handle that isn't pending for the caller, and what `resolve_restriction` raises.
    """
    request = _find_open_request(tx, actor, args.handle)
    if not set(args.scopes) <= set(request.scopes):
        raise InvalidField("scopes", "the app didn't ask for all of these scopes")
    resolve_restriction(tx, actor, args.company_id, args.project_ids)
    code = oauth.generate_code()
    scopes: list[Any] = [scope for scope in request.scopes if scope in args.scopes]
    end = tx.now + CODE_LIFETIME
    oauth_authorizations.grant_request(
        tx, request.key, secrets.hash_secret(code), scopes, args.company_id, args.project_ids, end
    )
    return _build_answer(tx, request, code)


@operation("deny_request", scope=Access.SESSION, budget=Budget.NONE)
def deny_request(tx: Write, actor: Actor, args: ConsentHandle) -> ConsentAnswer:
    """Deny a request. Raises NotFound."""
    request = _find_open_request(tx, actor, args.handle)
    oauth_authorizations.delete_request(tx, request.key)
    return _build_answer(tx, request, None)


def _build_answer(tx: Read, request: AuthorizationRequest, code: str | None) -> ConsentAnswer:
    return ConsentAnswer(request.redirect_uri, request.state, code, oauth_clients.load_client(tx, request.client).name)
