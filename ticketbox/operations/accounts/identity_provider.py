"""The client of the OpenID Connect provider: its metadata and keys, and the exchange of codes.

Its requests obey the rules for outgoing requests (docs/operate/security.md, "Outgoing requests").
"""

import base64
import logging
import secrets
import time
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from ticketbox.domain.accounts.id_tokens import InvalidIdToken, TokenExpectation, UnknownKey, verify_id_token
from ticketbox.domain.accounts.identity_provider import (
    SCOPES,
    Identity,
    Provider,
    ProviderMetadata,
    read_identity,
)
from ticketbox.domain.accounts.oauth import compute_challenge
from ticketbox.domain.core.problems import Forbidden, NotFound, Unavailable
from ticketbox.operations.core.services import FetchedResponse, FetchError, Services

METADATA_SECONDS = 3600.0
SECONDS = 10.0
MAX_BYTES = 512 * 1024

log = logging.getLogger("ticketbox.provider")


class _Keys(msgspec.Struct, frozen=True):
    """The provider's public keys (RFC 7517, 5)."""

    keys: list[dict[str, Any]]


class _Tokens(msgspec.Struct, frozen=True):
    """The fields used from the response to a code (OpenID Connect Core 1.0, 3.1.3.3)."""

    id_token: str
    access_token: str


class SignInRequest(msgspec.Struct, frozen=True):
    """A sign-in that waits for the provider. `then` is the page that it continues to.

    `fresh` asks the provider to identify the person again. `link` adds the identity to the signed-in account.
    """

    nonce: str
    verifier: str
    then: str
    fresh: bool = False
    link: bool = False


def require_provider(services: Services) -> Provider:
    """Return the provider. Raises NotFound if the operator set none."""
    if services.provider is None:
        raise NotFound("provider", "this server has no identity provider")
    return services.provider


class PreparedStart(msgspec.Struct, frozen=True):
    """A sign-in that starts, its state, and the address at the provider."""

    request: SignInRequest
    state: str
    url: str


class StartedSignIn(msgspec.Struct, frozen=True):
    """The address at the provider where the person continues."""

    url: str


async def prepare_start(services: Services, then: str, *, fresh: bool = False, link: bool = False) -> PreparedStart:
    """Create a sign-in with a new state, nonce and verifier. Raises NotFound without a provider, and Unavailable."""
    state = secrets.token_urlsafe(32)
    request = SignInRequest(secrets.token_urlsafe(32), secrets.token_urlsafe(48), then, fresh, link)
    return PreparedStart(request, state, await ProviderClient(services).build_authorization_url(request, state))


class ProviderClient:
    """The client of the provider. Every method that talks to it raises Unavailable if it can't be reached."""

    def __init__(self, services: Services) -> None:
        self._provider = require_provider(services)
        self._settings = self._provider.settings
        self._fetch = services.fetch
        self._redirect_uri = f"{services.public_url}/signin/callback"

    async def load_metadata(self) -> ProviderMetadata:
        """Return the provider's metadata, at most an hour old."""
        known = self._provider
        metadata = known.metadata
        if metadata is None or time.monotonic() > known.stale_at:
            url = f"{self._settings.issuer.rstrip('/')}/.well-known/openid-configuration"
            metadata = await self._get(url, ProviderMetadata)
            if metadata.issuer != self._settings.issuer:
                raise self._fail(f"its metadata is that of another issuer, {metadata.issuer[:200]}")
            known.metadata, known.keys, known.stale_at = metadata, [], time.monotonic() + METADATA_SECONDS
        return metadata

    async def build_authorization_url(self, request: SignInRequest, state: str) -> str:
        """Return the address at the provider where the person signs in."""
        metadata = await self.load_metadata()
        scopes = [*SCOPES, "groups"] if "groups" in metadata.scopes_supported and self._settings.roles else SCOPES
        fields = {
            "response_type": "code",
            "client_id": self._settings.client_id,
            "redirect_uri": self._redirect_uri,
            "scope": " ".join(scopes),
            "state": state,
            "nonce": request.nonce,
            "code_challenge": compute_challenge(request.verifier),
            "code_challenge_method": "S256",
        }
        if request.fresh:
            fields |= {"prompt": "login", "max_age": "0"}
        endpoint = metadata.authorization_endpoint
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(fields)}"

    async def identify(self, request: SignInRequest, code: str, issuer: str | None) -> Identity:
        """Exchange the code that the browser brought, and return who it is for. Raises Forbidden."""
        metadata = await self.load_metadata()
        # RFC 9207: an answer of another provider isn't sent to this one.
        if issuer != metadata.issuer and (issuer or metadata.authorization_response_iss_parameter_supported):
            raise self._refuse("the answer is from another provider")
        tokens = await self._exchange_code(metadata, code, request.verifier)
        expected = TokenExpectation(metadata.issuer, self._settings.client_id, request.nonce)
        try:
            claims = await self._verify(metadata, tokens.id_token, expected)
        except InvalidIdToken as error:
            raise self._refuse(str(error)) from None
        wanted = {"email", "email_verified"}
        if self._settings.roles:
            wanted.add(self._settings.groups_claim)
        if metadata.userinfo_endpoint is not None and not wanted <= claims.keys():
            headers = {"Authorization": f"Bearer {tokens.access_token}"}
            more = await self._get(metadata.userinfo_endpoint, dict[str, Any], headers)
            if more.get("sub") != claims["sub"]:  # OpenID Connect Core 1.0, 5.3.2
                raise self._refuse("its details are about another person")
            claims = {**more, **claims}
        return read_identity(claims, self._settings)

    async def _verify(self, metadata: ProviderMetadata, token: str, expected: TokenExpectation) -> dict[str, Any]:
        """Check an ID token with the known keys, then with the provider's present ones, which may be new."""
        try:
            return verify_id_token(token, self._provider.keys, expected)
        except UnknownKey:
            self._provider.keys = (await self._get(metadata.jwks_uri, _Keys)).keys
        return verify_id_token(token, self._provider.keys, expected)

    async def _exchange_code(self, metadata: ProviderMetadata, code: str, verifier: str) -> _Tokens:
        settings = self._settings
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._redirect_uri,
            "code_verifier": verifier,
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        methods = metadata.token_endpoint_auth_methods_supported
        if settings.client_secret is not None and "client_secret_basic" in methods:
            pair = f"{quote(settings.client_id, safe='')}:{quote(settings.client_secret, safe='')}"  # RFC 6749, 2.3.1
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        else:
            form["client_id"] = settings.client_id
            if settings.client_secret is not None:
                form["client_secret"] = settings.client_secret
        body = urlencode(form).encode()
        answer = await self._send(metadata.token_endpoint, headers, body)
        if answer.status in {400, 401, 403}:
            log.warning("%s refused a code: %s", settings.issuer, answer.body[:300].decode("utf-8", "replace"))
            raise self._refuse("it doesn't accept the answer that the browser brought")
        return self._decode(answer, _Tokens)

    async def _get(self, url: str, kind: type[Any], headers: dict[str, str] | None = None) -> Any:
        return self._decode(await self._send(url, {"Accept": "application/json", **(headers or {})}), kind)

    async def _send(self, url: str, headers: dict[str, str], body: bytes = b"") -> FetchedResponse:
        method = "POST" if body else "GET"
        try:
            return await self._fetch(
                url, method=method, headers=headers, body=body, most=MAX_BYTES, seconds=SECONDS, plain=True
            )
        except FetchError as error:
            raise self._fail(str(error)) from None

    def _decode(self, answer: FetchedResponse, kind: type[Any]) -> Any:
        if answer.status != 200:
            raise self._fail(f"it answers with status {answer.status}")
        try:
            return msgspec.json.decode(answer.body, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise self._fail("its answer can't be read") from None

    def _fail(self, why: str) -> Unavailable:
        log.warning("the identity provider %s can't be used: %s", self._settings.issuer, why)
        return Unavailable(f"{self._settings.name} can't be reached at the moment")

    def _refuse(self, why: str) -> Forbidden:
        log.warning("a sign-in with the identity provider %s was refused: %s", self._settings.issuer, why)
        return Forbidden(f"{self._settings.name} didn't confirm who you are: {why}")
