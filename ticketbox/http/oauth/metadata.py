"""Metadata of the authorization server (RFC 8414) and of the protected resources (RFC 9728)."""

from typing import Any

from litestar import HttpMethod, Request, route
from litestar.handlers import HTTPRouteHandler

from ticketbox.domain.accounts.client_metadata import ClientMetadata
from ticketbox.domain.accounts.oauth import Audience
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.edge.responses import Answer, build_json_answer
from ticketbox.edge.site import METADATA, Site

# Web pages read these documents, too, such as an MCP client in the browser. They are public and the same for everyone.
_CORS = [(b"access-control-allow-origin", b"*"), (b"cross-origin-resource-policy", b"cross-origin")]
_PREFLIGHT = [
    (b"access-control-allow-methods", b"GET"),
    (b"access-control-allow-headers", b"*"),
    (b"access-control-max-age", b"86400"),
]
_METHODS = [HttpMethod.GET, HttpMethod.OPTIONS]


def build_routes(site: Site, client_metadata: ClientMetadata) -> list[HTTPRouteHandler]:
    """Create the routes of the metadata documents."""

    @route("/.well-known/oauth-authorization-server", http_method=_METHODS)
    async def show_server_metadata(request: Request[Any, Any, Any]) -> Answer:
        """Show the metadata of the authorization server (RFC 8414)."""
        if request.method == "OPTIONS":
            return _allow_all_origins()
        return _render_metadata(_describe_server(site.public_url, client_metadata))

    @route([METADATA, f"{METADATA}/mcp", f"{METADATA}/api"], http_method=_METHODS)
    async def show_resource_metadata(request: Request[Any, Any, Any]) -> Answer:
        """Show the metadata of a resource (RFC 9728).

        The URL without a path describes the MCP endpoint, for clients that read no other.
        """
        if request.method == "OPTIONS":
            return _allow_all_origins()
        path: str = request.scope["path"]
        return _render_metadata(
            _describe_resource(site.public_url, Audience.API if path.endswith("/api") else Audience.MCP)
        )

    return [show_server_metadata, show_resource_metadata]


def _allow_all_origins() -> Answer:
    return Answer(204, b"", "text/plain", [*_CORS, *_PREFLIGHT])


def _describe_server(url: str, client_metadata: ClientMetadata) -> dict[str, Any]:
    return {
        "issuer": url,
        "authorization_endpoint": f"{url}/oauth/authorize",
        "token_endpoint": f"{url}/oauth/token",
        "registration_endpoint": f"{url}/oauth/register",
        "revocation_endpoint": f"{url}/oauth/revoke",
        # Some clients use refresh tokens only if they can ask for them by this scope, which no resource has.
        "scopes_supported": [*(scope.value for scope in Scope), "offline_access"],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": client_metadata.is_offered,
    }


def _describe_resource(url: str, audience: Audience) -> dict[str, Any]:
    return {
        "resource": f"{url}/{audience.value}",
        "authorization_servers": [url],
        "scopes_supported": [scope.value for scope in Scope],
        "bearer_methods_supported": ["header"],
        "resource_name": "ticketbox",
    }


def _render_metadata(value: dict[str, Any]) -> Answer:
    answer = build_json_answer(value)
    answer.headers = [(b"cache-control", b"max-age=300"), *_CORS]
    return answer
