"""OAuth clients: apps that register, and apps with a metadata document at a URL (docs/use/oauth.md)."""

import contextlib
from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.accounts import oauth
from ticketbox.domain.accounts.client_metadata import KNOWN_CLIENTS, ClientMetadataMode, KnownClient
from ticketbox.domain.accounts.oauth import OAuthError
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Access
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.ids import Prefix, generate_id
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.registry import operation
from ticketbox.operations.core.services import FetchError, Services
from ticketbox.store.accounts.oauth import clients as oauth_clients
from ticketbox.store.file.database import Write

_SECRET_METHODS = {"client_secret_post", "client_secret_basic", "client_secret_jwt"}

Address = Annotated[str, Meta(min_length=1, max_length=oauth.MAX_ADDRESS)]
Addresses = Annotated[list[Address], Meta(min_length=1, max_length=20)]


class RegisterClient(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The metadata of a registration (RFC 7591, 2). The endpoint drops all other fields."""

    redirect_uris: Addresses
    client_name: Annotated[str, Meta(max_length=1_000)] | None = None


class RegisteredClient(msgspec.Struct, frozen=True):
    """A registered client. It is a public client, so it has no secret (RFC 7591, 3.2.1)."""

    client_id: str
    client_id_issued_at: int
    client_name: str
    redirect_uris: list[str]
    grant_types: list[str]
    response_types: list[str]
    token_endpoint_auth_method: str


async def limit_registrations(services: Services, actor: Actor, args: RegisterClient, context: RequestContext) -> None:
    """Limit registrations per address. Raises RateLimited."""
    services.limit(context.network, "oauth-register", 20, "too many registrations from this address")


@operation("register_client", scope=Access.PUBLIC, budget=Budget.NONE, prepare=limit_registrations, max_body=32 * 1024)
def register_client(tx: Write, actor: Actor, args: RegisterClient, _: None) -> RegisteredClient:
    """Register an app. Raises OAuthError for a redirect URI that isn't allowed."""
    for address in args.redirect_uris:
        if problem := oauth.find_redirect_problem(address):
            raise OAuthError("invalid_redirect_uri", f"redirect_uris: {address[:200]}: {problem}")
    name = oauth.sanitize_name(args.client_name, oauth.format_host(args.redirect_uris[0]))
    client_id = generate_id(Prefix.CLIENT)
    oauth_clients.save_client(tx, client_id, name, args.redirect_uris, fetched=False)
    return RegisteredClient(
        client_id=client_id,
        client_id_issued_at=tx.now // 1000,
        client_name=name,
        redirect_uris=args.redirect_uris,
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
        token_endpoint_auth_method="none",  # noqa: S106 (a method, not a secret)
    )


class ClientDocument(msgspec.Struct, frozen=True):
    """The fields used from a client-id metadata document (draft-ietf-oauth-client-id-metadata-document, 4)."""

    client_id: str
    redirect_uris: Addresses
    client_name: str | None = None
    token_endpoint_auth_method: str = "none"  # noqa: S105 (a method, not a secret)


async def find_document(services: Services, url: str) -> ClientDocument:
    """Fetch and check an app's metadata document, or use the known one of a common client. Raises OAuthError."""
    state = services.client_metadata
    known = KNOWN_CLIENTS.get(url)
    if known is not None and not state.is_offered:
        return _use_known(known)
    if state.mode is ClientMetadataMode.OFF:
        raise OAuthError("invalid_client", "this server fetches no app's metadata; register the app (RFC 7591)")
    try:
        return await _fetch_document(services, url)
    except FetchError as error:
        if known is not None:
            return _use_known(known)
        raise OAuthError("invalid_client", f"the app's metadata at {url[:200]} can't be fetched: {error}") from None


async def can_fetch_documents(services: Services) -> bool:
    """Whether the documents of common clients can be fetched; the first two decide."""
    for url in list(KNOWN_CLIENTS)[:2]:
        with contextlib.suppress(FetchError, OAuthError):
            await _fetch_document(services, url)
            return True
    return False


def _use_known(client: KnownClient) -> ClientDocument:
    return ClientDocument(client.client_id, client.redirect_uris, client.client_name)


async def _fetch_document(services: Services, url: str) -> ClientDocument:
    """Fetch and check an app's metadata document. Raises FetchError and OAuthError."""
    answer = await services.fetch(url, headers={"Accept": "application/json"})
    is_json = answer.media_type == "application/json" or answer.media_type.endswith("+json")
    if answer.status != 200 or not is_json:
        raise OAuthError("invalid_client", f"there is no app metadata at {url[:200]}")
    try:
        document = msgspec.json.decode(answer.body, type=ClientDocument)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise OAuthError("invalid_client", f"the app's metadata at {url[:200]} can't be read") from None
    if document.client_id != url:
        raise OAuthError("invalid_client", f"the app's metadata at {url[:200]} has another client_id")
    if document.token_endpoint_auth_method in _SECRET_METHODS:
        raise OAuthError("invalid_client", "an app with a metadata document can't authenticate with a client secret")
    if problem := next(filter(None, map(oauth.find_redirect_problem, document.redirect_uris)), None):
        raise OAuthError("invalid_client", f"one of the app's redirect_uris isn't allowed: {problem}")
    return document


def store_document(tx: Write, document: ClientDocument) -> None:
    """Store an app's current metadata document."""
    name = oauth.sanitize_name(document.client_name, oauth.format_host(document.client_id))
    oauth_clients.save_client(tx, document.client_id, name, document.redirect_uris, fetched=True)
