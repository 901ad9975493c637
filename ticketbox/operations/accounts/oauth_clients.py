"""OAuth's clients: apps that register, and apps that describe themselves at an address (docs/use/oauth.md)."""

from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.accounts import oauth
from ticketbox.domain.accounts.oauth import OAuthError
from ticketbox.domain.core.ids import Prefix, generate_id
from ticketbox.domain.core.limits import Budget
from ticketbox.domain.core.policy import Actor
from ticketbox.domain.core.scopes import Access
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.registry import operation
from ticketbox.operations.core.services import FetchError, Services
from ticketbox.store.accounts import oauth_grants
from ticketbox.store.file.database import Write

_SECRET_METHODS = {"client_secret_post", "client_secret_basic", "client_secret_jwt"}

Address = Annotated[str, Meta(min_length=1, max_length=oauth.MAX_ADDRESS)]
Addresses = Annotated[list[Address], Meta(min_length=1, max_length=20)]


class RegisterClient(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What is taken of a registration (RFC 7591, 2); the surface leaves the rest out."""

    redirect_uris: Addresses
    client_name: Annotated[str, Meta(max_length=1_000)] | None = None


class RegisteredClient(msgspec.Struct, frozen=True):
    """A client as it is registered: public, so there is no secret (RFC 7591, 3.2.1)."""

    client_id: str
    client_id_issued_at: int
    client_name: str
    redirect_uris: list[str]
    grant_types: list[str]
    response_types: list[str]
    token_endpoint_auth_method: str


async def limit_registrations(services: Services, actor: Actor, args: RegisterClient, context: RequestContext) -> None:
    """Let an address register so many clients a minute. Raises RateLimited."""
    services.limit(context.address, "oauth-register", 20, "too many registrations from this address")


@operation("register_client", scope=Access.PUBLIC, budget=Budget.NONE, prepare=limit_registrations)
def register_client(tx: Write, actor: Actor, args: RegisterClient, _: None) -> RegisteredClient:
    """Register an app that wants to ask. Raises OAuthError for an address that won't do."""
    for address in args.redirect_uris:
        if problem := oauth.find_redirect_problem(address):
            raise OAuthError("invalid_redirect_uri", f"redirect_uris: {address[:200]}: {problem}")
    name = oauth.sanitize_name(args.client_name, oauth.format_host(args.redirect_uris[0]))
    client_id = generate_id(Prefix.CLIENT)
    oauth_grants.save_client(tx, client_id, name, args.redirect_uris, fetched=False)
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
    """What is read of a client-id metadata document (draft-ietf-oauth-client-id-metadata-document, 4)."""

    client_id: str
    redirect_uris: Addresses
    client_name: str | None = None
    token_endpoint_auth_method: str = "none"  # noqa: S105 (a method, not a secret)


async def fetch_document(services: Services, asked: str) -> ClientDocument:
    """Fetch and check the description of an app at its address. Raises OAuthError."""
    try:
        answer = await services.fetch(asked, headers={"Accept": "application/json"})
    except FetchError as error:
        raise OAuthError("invalid_client", f"the app's description at {asked[:200]} can't be had: {error}") from None
    is_json = answer.media_type == "application/json" or answer.media_type.endswith("+json")
    if answer.status != 200 or not is_json:
        raise OAuthError("invalid_client", f"there is no description of an app at {asked[:200]}")
    try:
        document = msgspec.json.decode(answer.body, type=ClientDocument)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise OAuthError("invalid_client", f"the app's description at {asked[:200]} can't be read") from None
    if document.client_id != asked:
        raise OAuthError("invalid_client", f"the app's description at {asked[:200]} is of another app")
    if document.token_endpoint_auth_method in _SECRET_METHODS:
        raise OAuthError("invalid_client", "an app that is described at an address has no secret to share")
    if problem := next(filter(None, map(oauth.find_redirect_problem, document.redirect_uris)), None):
        raise OAuthError("invalid_client", f"one of the app's redirect_uris won't do: {problem}")
    return document


def store_document(tx: Write, document: ClientDocument) -> None:
    """Store what an app's description says now."""
    name = oauth.sanitize_name(document.client_name, oauth.format_host(document.client_id))
    oauth_grants.save_client(tx, document.client_id, name, document.redirect_uris, fetched=True)
