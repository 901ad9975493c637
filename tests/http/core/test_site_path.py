"""A public URL with a path: which requests are the site's, its redirects and its cookies."""

import http.client
import json
import threading
from collections.abc import Iterator
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import httpx
import pytest
from mcp.client import Client

from tests.support.cli import run
from tests.support.mcp_client import call_tool, talk_over_stdio
from tests.support.oauth_app import App
from tests.support.server import PASSWORD, Box, World, eventually, expect_error, find_free_port, ok, run_server
from ticketbox.domain.core.problems import InvalidField
from ticketbox.edge.site import Site
from ticketbox.settings import parse_public_url

EMAIL = "root@example.org"


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """A server under a path, without a proxy."""
    port = find_free_port()
    address = f"http://localhost:{port}/my/tickets"
    arguments = ["--port", str(port), "--public-url", address, "--trusted-proxy", "127.0.0.1/32"]
    with run_server(tmp_path_factory.mktemp("path"), *arguments) as running:
        yield running


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://Www.Example.org/Tickets/", "https://www.example.org/Tickets"),
        ("https://www.example.org/a/b_c~1.2-x", "https://www.example.org/a/b_c~1.2-x"),
        ("https://www.example.org//", "https://www.example.org"),
        ("https://www.example.org:443/Tickets", "https://www.example.org/Tickets"),
        ("http://[::1]:80", "http://[::1]"),
        ("https://[::1]:8443/a", "https://[::1]:8443/a"),
        ("https://München.example", "https://xn--mnchen-3ya.example"),
        ("https://straße.example:8443", "https://xn--strae-oqa.example:8443"),
    ],
)
def test_public_url_is_written_as_browsers_send_it_and_may_have_a_path(text: str, url: str) -> None:
    assert parse_public_url(text, "", 0, tls=False) == url


@pytest.mark.parametrize("host", ["", ":443", "x:99999", "x:y", "user@x", "\u2488com", "[::1"])
def test_public_url_with_another_host_is_refused(host: str) -> None:
    with pytest.raises(InvalidField):
        parse_public_url(f"https://{host}", "", 0, tls=False)


@pytest.mark.parametrize("path", ["/a//b", "/a b", "/%74", "/../x", "/.well-known", "/é", "/a;b", "/a?b", '/"'])
def test_other_paths_are_refused(path: str) -> None:
    with pytest.raises(InvalidField):
        parse_public_url(f"https://www.example.org{path}", "", 0, tls=False)


def ask(box: Box, target: str, method: str = "GET") -> tuple[int, dict[str, str], bytes]:
    """Send a request for exactly this target."""
    url = httpx.URL(box.url)
    connection = http.client.HTTPConnection("127.0.0.1", url.port, timeout=60)
    connection.request(method, target, headers={"Host": f"localhost:{url.port}"})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, body


@pytest.mark.long
@pytest.mark.parametrize(
    "target",
    [
        "/", "/my", "/my/ticketsx", "/my/tickets%2Fhealthz", "/my/%74ickets/healthz", "/healthz", "/api/v1/me", "/mcp",
        "//my/tickets/healthz", "/x/../my/tickets/healthz", "/My/tickets/healthz", "/.well-known/my/tickets",
        "/.well-known/oauth-authorization-server", "/.well-known/oauth-authorization-server/my/ticketsx",
        "/hooks/git/githook_x", "/my/tickets/my/tickets/healthz", "/.well-known/x/y/my/tickets/healthz",
    ],
)  # fmt: skip
def test_other_addresses_do_not_exist(box: Box, target: str) -> None:
    status, headers, body = ask(box, target)
    assert (status, json.loads(body)["code"]) == (404, "not_found")
    assert headers["x-content-type-options"] == "nosniff"
    is_inside = target.startswith("/my/tickets/")
    assert json.loads(body)["detail"] == ("page not found" if is_inside else f"this ticketbox is at {box.url}")


@pytest.mark.long
def test_refusal_outside_names_the_address_and_is_limited_and_logged(box: Box) -> None:
    mark = box.log_size()
    _, headers, body = ask(box, "/api/v1/me")
    assert json.loads(body)["detail"] == f"this ticketbox is at {box.url}"
    assert headers["ratelimit-policy"].startswith('"anonymous"')
    assert eventually(lambda: "path=/api/v1/me status=404" in box.log_after(mark))
    mark = box.log_size()
    assert ask(box, "/my/tickets/healthz")[0] == 200
    assert eventually(lambda: "path=/my/tickets/healthz status=200" in box.log_after(mark))


@pytest.mark.long
def test_address_without_a_slash_redirects_to_the_app(box: Box) -> None:
    for query in ("", "?q=a%2Fb"):
        for method in ("GET", "HEAD"):
            status, headers, _ = ask(box, f"/my/tickets{query}", method)
            assert (status, headers["location"]) == (308, f"/my/tickets/{query}")
    assert ask(box, "/my/tickets", "POST")[0] == 405
    status, headers, _ = ask(box, "/my/tickets/")
    assert (status, headers["location"]) == (303, "/my/tickets/signin")
    assert ask(box, "/my/tickets/search?q=a%2Fb")[1]["location"] == "/my/tickets/signin?next=/search%3Fq%3Da%252Fb"


@pytest.mark.long
def test_oauth_metadata_is_where_the_standards_and_the_path_have_it(box: Box) -> None:
    origin, path = box.url.removesuffix("/my/tickets"), "/my/tickets"
    server = httpx.get(f"{origin}/.well-known/oauth-authorization-server{path}").json()
    assert server["issuer"] == box.url
    assert server["token_endpoint"] == f"{box.url}/oauth/token"
    assert httpx.get(f"{box.url}/.well-known/oauth-authorization-server").json() == server
    for name in ("mcp", "api"):
        resource = httpx.get(f"{origin}/.well-known/oauth-protected-resource{path}/{name}").json()
        assert (resource["resource"], resource["authorization_servers"]) == (f"{box.url}/{name}", [box.url])
        assert httpx.get(f"{box.url}/.well-known/oauth-protected-resource/{name}").json() == resource
    default = httpx.get(f"{origin}/.well-known/oauth-protected-resource{path}").json()
    assert default["resource"] == f"{box.url}/mcp"


@pytest.mark.long
def test_sign_in_returns_to_pages_of_the_site_only(box: Box) -> None:
    with httpx.Client() as browser:
        for then, target in {
            "/inbox": "/my/tickets/inbox", "/my/tickets/x": "/my/tickets/my/tickets/x",
            "//evil.example": "/my/tickets/", "https://evil.example": "/my/tickets/", "/": "/my/tickets/",
        }.items():  # fmt: skip
            form = {"email": EMAIL, "password": PASSWORD, "next": then}
            assert browser.post(f"{box.url}/signin", data=form).headers["location"] == target


@pytest.mark.long
def test_cookies_are_sent_to_the_path_only(box: Box) -> None:
    form = {"email": EMAIL, "password": PASSWORD}
    answer = httpx.post(f"{box.url}/signin", data=form)
    cookies = {
        name: each for text in answer.headers.get_list("set-cookie") for name, each in SimpleCookie(text).items()
    }
    assert {name: each["path"] for name, each in cookies.items()} == {
        box.cookie: "/my/tickets", f"{box.cookie}-device": "/my/tickets",
    }  # fmt: skip
    secret = cookies[box.cookie].value
    with httpx.Client() as browser:  # of a site whose cookie has the same name and a shorter path
        both = {"Cookie": f"{box.cookie}={secret}; {box.cookie}=tok_{'0' * 36}"}
        assert browser.get(f"{box.url}/api/v1/me", headers=both).json()["user"]["email"] == EMAIL
        ended = browser.delete(f"{box.url}/api/v1/session", headers=both)
        assert (ended.status_code, "Path=/my/tickets;" in ended.headers["set-cookie"]) == (204, True)


def test_names_of_cookies() -> None:
    def name(url: str) -> str:
        return Site(url, frozenset(), any_address=False, secure=url.startswith("https:")).cookie

    assert name("https://tickets.example.org") == "__Host-ticketbox"
    assert name("https://www.example.org/tickets") == "__Secure-ticketbox"
    assert name("http://localhost:8420/tickets") == name("http://localhost:8420") == "ticketbox-8420"


@pytest.mark.long
def test_origin_of_a_write_is_compared_without_the_path(box: Box, world: World) -> None:
    origin = box.url.removesuffix("/my/tickets")
    columns = f"/projects/{world.project}/columns"
    for sent, status in {origin: 201, box.url: 403, "http://evil.example": 403}.items():
        answer = world.owner.web.post(columns, json={"name": sent[-20:]}, headers={"Origin": sent})
        assert answer.status_code == status
        form = {"email": EMAIL, "password": PASSWORD}
        page = httpx.post(f"{box.url}/signin", data=form, headers={"Origin": sent})
        assert (page.status_code == 303) == (status == 201)
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        headers = {
            "Origin": sent,
            "Authorization": f"Bearer {world.owner.token('read')}",
            "Accept": "application/json, text/event-stream",
        }
        assert (httpx.post(f"{box.url}/mcp", json=message, headers=headers).status_code == 200) == (status == 201)


@pytest.mark.long
def test_links_in_answers_have_the_path(box: Box, world: World) -> None:
    ticket = world.ticket()
    assert ticket["url"] == f"{box.url}/tickets/{ticket['id']}"
    document = httpx.get(f"{box.url}/api/v1/openapi.json").json()
    assert document["servers"] == [{"url": f"{box.url}/api/v1"}]
    assert f"{box.url}/mcp" in httpx.get(f"{box.url}/llms.txt").text
    token = world.owner.token("read")
    found = call_tool(world, token, "get_ticket", {"ticket_id": ticket["id"]})
    assert f"{box.url}/tickets/{ticket['id']}" in json.dumps(found)
    expect_error(world.api.get("/tickets/t-00000000"), 404, "not_found")


@pytest.mark.long
def test_app_gets_a_token(box: Box, world: World) -> None:
    app = App(box)
    pair = ok(app.redeem(app.approve(world.owner)))
    assert (
        httpx.get(f"{box.url}/api/v1/me", headers={"Authorization": f"Bearer {pair['access_token']}"}).status_code
        == 401
    )
    assert ok(app.call(pair["access_token"]))["result"]["structuredContent"]["token"]["kind"] == "oauth"


@pytest.mark.long
def test_command_line_and_local_mcp_server_call_it(box: Box, world: World, tmp_path: Any) -> None:
    environment = {"TICKETBOX_URL": box.url, "SERVICE_API_TOKEN": world.owner.token("tickets:write")}
    made = run("ticket", "create", "By the command line", "--project", world.project, "--json", **environment)
    ticket = json.loads(made.stdout)
    shown = run("ticket", "show", ticket["url"], "--json", **environment)
    assert json.loads(shown.stdout)["title"] == "By the command line"
    elsewhere = run("ticket", "show", ticket["url"].replace("/my/", "/other/"), **environment)
    assert (elsewhere.exit_code, "isn't on" in elsewhere.stderr) == (1, True)

    async def read(client: Client) -> Any:
        return (await client.call_tool("whoami", {})).structured_content

    for address in (box.url, f"{box.url}/mcp"):
        found = talk_over_stdio("legacy", {**environment, "TICKETBOX_URL": address}, tmp_path / "log", read)
        assert found["user"]["email"] == world.owner.email


@pytest.mark.long
def test_check_reports_what_the_proxy_does_not_forward(box: Box) -> None:
    class Proxy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Forward the path alone."""
            self.send_response(200 if self.path == "/my/tickets/healthz" else 404)
            self.end_headers()
            self.wfile.write(b"ok\n")

    with HTTPServer(("127.0.0.1", 0), Proxy) as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        address = f"http://localhost:{proxy.server_port}"
        partial = run("check", "--db", box.db, "--public-url", f"{address}/my/tickets")
        proxy.shutdown()
    assert f"ticketbox answers at {address}/my/tickets" in partial.stdout
    assert f"{address}/.well-known/oauth-authorization-server/my/tickets isn't answered" in partial.stdout
    found = run("check", "--db", box.db, "--public-url", box.url)
    assert f"ticketbox answers at {box.url}" in found.stdout
    assert "isn't answered by ticketbox" not in found.stdout
    wrong = run("check", "--db", box.db, "--public-url", f"{box.url}x")
    assert "is answered by something other than ticketbox (404)" in wrong.stdout
