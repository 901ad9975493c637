"""The discovery documents of OAuth, as an MCP client in a web page reads them."""

import pytest

from tests.support.server import World, ok

DOCUMENTS = [
    "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/mcp",
    "/.well-known/oauth-protected-resource/api",
]
PAGE = {"Origin": "https://inspector.example", "Sec-Fetch-Site": "cross-site"}


@pytest.mark.parametrize("path", DOCUMENTS)
def test_page_of_any_site_reads_the_discovery_documents(world: World, path: str) -> None:
    """The protocol's version is a header that needs a preflight (Fetch Standard, "CORS-preflight fetch")."""
    client = world.box.client(**PAGE)
    asked = {"Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "mcp-protocol-version"}
    preflight = client.options(f"{world.box.url}{path}", headers=asked)
    assert preflight.status_code == 204
    assert preflight.headers["access-control-allow-headers"] == "*"
    assert preflight.headers["access-control-allow-methods"] == "GET"
    answer = client.get(f"{world.box.url}{path}", headers={"Mcp-Protocol-Version": "2025-11-25"})
    assert ok(answer)["scopes_supported"]
    for each in (preflight, answer):
        assert each.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in each.headers


@pytest.mark.parametrize("path", ["/mcp", "/api/v1/me", "/oauth/token", "/oauth/authorize"])
def test_pages_of_other_sites_read_nothing_else(world: World, path: str) -> None:
    client = world.box.client(**PAGE)
    for method in ("GET", "OPTIONS", "POST"):
        answer = client.request(method, f"{world.box.url}{path}")
        assert "access-control-allow-origin" not in answer.headers
