"""The edge: what is refused before any routing, and input that no client of ours sends. Never a 5xx."""

import asyncio
import json
import logging
import re
import secrets
import socket
import sys
import time
import uuid
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import psutil
import pytest

from tests.support.long_runs import sample_cases
from tests.support.operation_cases import WRITING, Stage, check_common_headers, draw_address, operations, read_only
from tests.support.server import Box, Person, World, eventually, expect_error, ok
from ticketbox import logs
from ticketbox.domain.core.fairness.limits import RateLimiter
from ticketbox.edge.asgi import Receive, Scope, Send
from ticketbox.edge.edge import MAX_HEADERS, MAX_TARGET, Edge
from ticketbox.edge.site import Site
from ticketbox.operations.core.registry import MAX_JSON, Body, Operation
from ticketbox.settings import Settings, parse_public_url


@pytest.fixture
def world(stage: Stage) -> Stage:
    """One for all: hardly anything of this gets as far as a row."""
    return stage


def count(world: World) -> int:
    """How many tickets there are."""
    connection = read_only(world.box.db)
    try:
        query = "SELECT count(*) FROM ticket WHERE project_id = (SELECT id FROM project WHERE public_id = ?)"
        return connection.execute(query, (world.project,)).fetchone()[0]
    finally:
        connection.close()


def raw(box: Box, request: bytes) -> tuple[int, bytes]:
    """Send bytes as they are; the status and the whole answer."""
    parts = urlsplit(box.url)
    with socket.create_connection((parts.hostname or "", parts.port or 80), timeout=60) as connection:
        connection.sendall(request)
        answer = b""
        while chunk := connection.recv(65_536):
            answer += chunk
    return int(answer.split(b" ", 2)[1]), answer


def get(box: Box, target: str, *headers: str, host: str | None = None) -> tuple[int, bytes]:
    """A GET with just these header lines."""
    lines = [f"GET {target} HTTP/1.1", "Connection: close", *headers]
    if host is None:
        lines.insert(1, f"Host: {urlsplit(box.url).netloc}")
    elif host:
        lines.insert(1, f"Host: {host}")
    return raw(box, "\r\n".join([*lines, "", ""]).encode("latin-1"))


@pytest.mark.parametrize(
    "host",
    ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "[::2]", "10.0.0.1", "localhost:1", "", "@", "x"],
)
def test_foreign_host_is_misdirected(world: World, host: str) -> None:
    """A name that was made to point here (DNS rebinding) isn't ours; that comes before the credential."""
    sent = [] if host else ["Host: "]
    status, answer = get(
        world.box, "/api/v1/me", f"Authorization: Bearer {world.owner.token('read')}", *sent, host=host
    )
    assert status in ({421} if host else {400, 421})
    assert b"Ann" not in answer
    if status == 421:
        assert b'"code":"misdirected_request"' in answer


def test_own_host_names_are_accepted(world: World) -> None:
    port = urlsplit(world.box.url).port
    token = f"Authorization: Bearer {world.owner.token('read')}"
    for host in (f"localhost:{port}", f"127.0.0.1:{port}", f"LOCALHOST:{port}", "localhost", "127.0.0.1"):
        assert get(world.box, "/api/v1/me", token, host=host)[0] == 200, host


@pytest.mark.parametrize(
    ("given", "accepted"),
    [
        ("https://tickets.example.org:443", ("tickets.example.org", "tickets.example.org:443")),
        ("https://tickets.example.org", ("Tickets.example.org", "tickets.example.org:443")),
        ("http://tickets.example.org", ("tickets.example.org", "tickets.example.org:80")),
        ("https://münchen.example", ("xn--mnchen-3ya.example", "xn--mnchen-3ya.example:443")),
        ("https://tickets.example.org:8443", ("tickets.example.org:8443",)),
    ],
)
def test_host_may_have_the_default_port_or_leave_it_out(given: str, accepted: tuple[str, ...]) -> None:
    settings = Settings(db=Path("x.db"), public_url=parse_public_url(given, "", 8420, tls=False))
    assert set(accepted) <= {*settings.hosts, "Tickets.example.org"}
    assert settings.hosts.isdisjoint({"tickets.example.org:8420", "tickets.example.org:443x"})


def test_health_needs_no_host(box: Box) -> None:
    assert raw(box, b"GET /healthz HTTP/1.0\r\n\r\n")[0] == 200
    assert get(box, "/healthz", host="10.1.2.3:8420")[0] == 200
    assert get(box, "/healthz", host="evil.example")[0] == 200
    assert get(box, "/signin", host="10.1.2.3:8420")[0] == 421


PAGES = (
    "/", "/signin", "/setup", "/healthz", "/static/pages.css", "/.well-known/oauth-authorization-server", "/llms.txt",
    "/api/v1/openapi.json", "/reporter.js", "/replay", "/nowhere", "/extension/chromium.zip", "/api/v1/me", "/api",
)  # fmt: skip


def test_head_is_answered_as_get_without_a_body(box: Box) -> None:
    def ask(client: httpx.Client, method: str, path: str) -> tuple[int, dict[str, str], bytes]:
        answer = client.request(method, f"{box.url}{path}", headers={"X-Forwarded-For": draw_address()})
        own = {"date", "x-request-id", "ratelimit", "content-encoding", "content-length", "transfer-encoding", "vary"}
        return answer.status_code, {k: v for k, v in answer.headers.items() if k not in own}, answer.content

    with httpx.Client() as client:
        for path in PAGES:
            status, headers, body = ask(client, "HEAD", path)
            assert (status, headers) == ask(client, "GET", path)[:2], path
            assert (body, status != 405) == (b"", True), path
        refused = client.post(f"{box.url}/healthz")
        assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD, OPTIONS")


def test_duplicate_or_missing_host_is_rejected(world: World) -> None:
    status, _ = get(world.box, "/api/v1/me", f"Host: {urlsplit(world.box.url).netloc}")
    assert status in {400, 421}
    status, _ = raw(world.box, b"GET /api/v1/me HTTP/1.1\r\nConnection: close\r\n\r\n")
    assert status in {400, 421}
    status, _ = raw(world.box, b"GET /api/v1/me HTTP/1.0\r\n\r\n")
    assert status in {400, 421}


def test_several_authorization_headers_are_unauthorized(world: World) -> None:
    good = world.owner.token("read")
    for second in (good, "tok_x"):
        for pair in ((good, second), (second, good)):
            headers = [("Authorization", f"Bearer {secret}") for secret in pair]
            expect_error(world.box.client().get("/me", headers=headers), 401, "unauthorized")


@pytest.mark.parametrize("scheme", ["bearer", "BEARER", "Bearer ", "Bearer  "])
def test_authorization_scheme_is_case_insensitive(world: World, scheme: str) -> None:
    """Case doesn't matter, and neither does space around."""
    secret = world.owner.token("read")
    status, _ = get(world.box, "/api/v1/me", f"Authorization:   {scheme} {secret}  ")
    assert status == 200


@pytest.mark.parametrize("scheme", ["Basic", "Token", "Digest", "Bearer:", "Bearer,", "OAuth", "Bearer Bearer", ""])
def test_other_authorization_schemes_are_unauthorized(world: World, scheme: str) -> None:
    secret = world.owner.token("read")
    expect_error(world.box.client(Authorization=f"{scheme} {secret}".strip()).get("/me"), 401, "unauthorized")


@pytest.mark.parametrize("path", ["/me", "/nowhere", "/tickets", "/../../healthz"])
@pytest.mark.parametrize("name", ["token", "access_token", "q"])
def test_token_in_the_query_is_unauthorized_before_routing(world: World, path: str, name: str) -> None:
    secret = world.owner.token("read")
    for client in (world.box.client(), world.box.client(secret)):
        answer = client.get(path, params={name: secret})
        expect_error(answer, 401, "unauthorized")
        assert secret not in answer.text
    assert secret not in whole_log(world)


@pytest.mark.parametrize(
    "path", ["/nowhere", "/projects", "/%E0%A4%A", "/tickets/../../nowhere", "/extension/nothing.zip"]
)
def test_unknown_address_is_a_page_for_browsers_only(world: World, path: str) -> None:
    url, web = world.box.url + path, {"Accept": "text/html,application/xhtml+xml"}
    answer = world.owner.web.get(url, headers=web)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert 'id="boot"' in answer.text
    check_common_headers(answer)
    stranger = httpx.get(url, headers=web)
    assert (stranger.status_code, stranger.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "Page not found" in stranger.text
    assert 'id="boot"' not in stranger.text
    check_common_headers(stranger)
    expect_error(httpx.get(url), 404, "not_found")
    expect_error(world.owner.web.get(url, headers={"Accept": "*/*"}), 404, "not_found")
    expect_error(world.box.client(world.owner.token("read")).get(url, headers=web), 404, "not_found")
    expect_error(world.owner.web.get(f"/nowhere{path}", headers=web), 404, "not_found")
    assert world.owner.web.post(url, headers=web).status_code in {404, 405}


def test_refusal_is_a_page_for_browsers_only(world: World) -> None:
    form = {"email": world.owner.email, "password": "wrong password"}
    elsewhere = {"Sec-Fetch-Site": "cross-site"}
    web = {"Accept": "text/html,application/xhtml+xml"}
    answer = httpx.post(f"{world.box.url}/signin", data=form, headers=web | elsewhere)
    assert (answer.status_code, answer.headers["content-type"]) == (403, "text/html; charset=utf-8")
    assert "<h1>This isn’t allowed</h1>" in answer.text
    assert "This form must be sent from a ticketbox page." in answer.text
    check_common_headers(answer)
    expect_error(httpx.post(f"{world.box.url}/signin", data=form, headers=elsewhere), 403, "forbidden")
    secret = world.owner.token("read")
    leaked = httpx.get(world.box.url, params={"token": secret}, headers=web)
    assert (leaked.status_code, leaked.headers["content-type"]) == (401, "text/html; charset=utf-8")
    assert leaked.headers["www-authenticate"].startswith("Bearer")
    assert secret not in leaked.text
    expect_error(httpx.get(f"{world.box.api}/me", headers=web), 401, "unauthorized")


def test_page_of_a_refusal_needs_no_other_file(world: World) -> None:
    web = {"Accept": "text/html,application/xhtml+xml"}
    answer = httpx.get(world.box.url, headers=web | {"Host": "elsewhere.example"})
    assert (answer.status_code, answer.headers["content-type"]) == (421, "text/html; charset=utf-8")
    check_common_headers(answer)
    (style,) = re.findall("<style>(.*?)</style>", answer.text, re.DOTALL)
    allowed = f"'sha256-{b64encode(sha256(style.encode()).digest()).decode()}'"
    assert f"style-src {allowed};" in answer.headers["content-security-policy"]
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert set(re.findall(r"var\((--[\w-]+)\)", style)) <= set(re.findall(r"(--[\w-]+): ", style))
    addresses = re.findall(r'(?:src|href)="([^",]*)', answer.text)
    assert set(addresses) == {"data:image/svg+xml"}  # no link either: it would be refused, too
    assert len(answer.content) < 4096


def test_request_target_is_bounded(world: World) -> None:
    room = MAX_TARGET - len("/api/v1/search?q=")
    expect_error(world.api.get("/search?q=" + "x" * room), 400, "invalid_request")  # q itself is too long
    answer = world.api.get("/search?q=" + "x" * (room + 1))
    assert "longer than" in expect_error(answer, 400, "invalid_request")["detail"]
    status, _ = get(world.box, "/" + "x" * 200_000)
    assert 400 <= status < 500


def test_headers_are_bounded(world: World) -> None:
    many = [(f"X-{number}", "x") for number in range(MAX_HEADERS)]
    expect_error(world.api.get("/me", headers=many), 400, "invalid_request")
    ok(world.api.get("/me", headers=many[:80]))
    for lines in ([f"X-Long: {'x' * 200_000}"], [f"X-{number}: {'x' * 1000}" for number in range(500)]):
        status, _ = get(world.box, "/api/v1/me", *lines)
        assert 400 <= status < 500


@pytest.mark.parametrize(
    "request_",
    [
        b"GARBAGE\r\n\r\n",
        b"GET /api/v1/me HTTP/9.9\r\nHost: localhost\r\n\r\n",
        b"GET /api/v1/me\r\n\r\n",
        b"GET /api/v1/me HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\nConnection: close\r\n\r\n",
        b"GET /api/v1/me HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: nonsense\r\n\r\n{}",
        b"POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET /api/v1/me HTTP/1.1\r\nHost: localhost\r\nX: a\x00b\r\nConnection: close\r\n\r\n",
        b"GET /api/v1/me HTTP/1.1\r\nHost : localhost\r\nConnection: close\r\n\r\n",
        b"GET http://evil.example/api/v1/me HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        b"GET /api/v1/%zz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        b"GET /api/v1/\xff\xfe HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ],
)
def test_malformed_requests_are_rejected_and_the_server_keeps_running(world: World, request_: bytes) -> None:
    parts = urlsplit(world.box.url)
    with socket.create_connection((parts.hostname or "", parts.port or 80), timeout=60) as connection:
        connection.sendall(request_)
        connection.shutdown(socket.SHUT_WR)
        answer = connection.recv(65_536)
    if answer:
        assert 400 <= int(answer.split(b" ", 2)[1]) < 500
    ok(world.api.get("/me"))


def test_get_with_a_body_is_rejected(world: World) -> None:
    bodies: tuple[dict[str, Any], ...] = ({"content": b"{}"}, {"content": iter([b"{}"])}, {"json": {}})
    for sent in bodies:
        expect_error(world.api.request("GET", "/me", **sent), 400, "invalid_request")
    expect_error(world.api.request("DELETE", "/tickets/t-00000000/work", content=b"{}"), 400, "invalid_request")
    ok(world.api.request("GET", "/me", headers={"Content-Length": "0"}))


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("surprise=1", "surprise"), ("limit=1&limit=2", None), ("limit=1&limit=1", None), ("Limit=1", "Limit"),
        ("limit[]=1", "limit[]"), ("ticket_id=t-1", "ticket_id"), ("expected_version=1", "expected_version"),
        ("idempotency_key=x", "idempotency_key"), ("=x", ""), ("status=%00", "status"), ("label=%ff", None),
        ("label=%ed%a0%80", None), ("status=Active", "status"), ("resolved=yes", "resolved"), ("resolved=", "resolved"),
        ("sort=position", "sort"), ("sort=name", "sort"), ("priority=0", "priority[0]"), ("assignee=", "assignee"),
        ("updated_since=99999999999999999999", "updated_since"),
        ("updated_since=0.5", "updated_since"), ("updated_since=null", "updated_since"), ("resolved=NULL", "resolved"),
        ("company_id=" + "x" * 65, "company_id"),
        ("&".join(f"a{number}=1" for number in range(101)), None), (";;;", ";;;"), ("limit=1;status=all", "limit"),
    ],
)  # fmt: skip
def test_invalid_query_is_rejected_and_names_its_key(world: World, query: str, field: str | None) -> None:
    problem = expect_error(world.api.get(f"/tickets?{query}"), 400, "invalid_request")
    if field is not None:
        assert problem["errors"][0]["field"] == field


def test_query_on_a_write_is_rejected(world: World) -> None:
    answer = world.api.post("/tickets?title=x", json={"project_id": world.project, "title": "x"})
    assert expect_error(answer, 400, "invalid_request")["errors"][0]["field"] == "title"


def send(world: World, body: bytes, kind: str | None = "application/json") -> httpx.Response:
    """A ticket's creation with any body."""
    headers = {} if kind is None else {"Content-Type": kind}
    return world.api.post("/tickets", content=body, headers=headers)


@pytest.mark.parametrize(
    "kind",
    [
        None, "", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "json",
        "application/xml", "application/json5", "application/merge-patch+json",
    ],
)  # fmt: skip
def test_unsupported_content_type_is_rejected(world: World, kind: str | None) -> None:
    body = json.dumps({"project_id": world.project, "title": "x"}).encode()
    before = count(world)
    assert expect_error(send(world, body, kind), 415, "unsupported_media_type")["valid"] == ["application/json"]
    assert count(world) == before


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "Application/JSON", "application/json ;x=y"])
def test_json_content_type_is_accepted_in_any_spelling(world: World, kind: str) -> None:
    assert send(world, json.dumps({"project_id": world.project, "title": "x"}).encode(), kind).status_code == 201


@pytest.mark.parametrize(
    "body",
    [
        b"{", b"}", b"null", b"[]", b'"x"', b"1", b"true", b"nul", b"{}{}", b"{} x", b'{"title": "x",}',
        b"\xef\xbb\xbf{}",
        b"{'title': 'x'}", b'{"title": x}', b'{"title": "x" "y"}', b"{\x00}", b"\x00", b"\xff\xfe{\x00}\x00", b"NaN",
        b'{"title": "\xff"}', b'{"title": "\xed\xa0\x80"}', b'{"title": "\\ud800"}', b'{"title": "\\udc00\\ud800"}',
        b'{"title": "\\x"}', b'{"title": "a\nb"}', b'{"title": Infinity}', b"[" * 100_000, b'{"a":' * 100_000,
        b'{"title":' + b"[" * 10_000 + b"]" * 10_000 + b"}", b'{"x": ' + b"9" * 100_000 + b"}",
        b'{"title": 1e999999}', b"-", b"// x\n{}", b" " * 100_000,
    ],
    ids=range(34),
)  # fmt: skip
def test_body_that_is_not_a_json_object_is_rejected(world: World, body: bytes) -> None:
    before = count(world)
    answer = send(world, body)
    expect_error(answer, 400, "invalid_request")
    check_common_headers(answer)
    assert count(world) == before


VALUES: list[Any] = [
    None, True, 0, -1, 1.5, 2**53 + 1, 2**63, -(2**63) - 1, 10**400, 1e308, "", "\u0000", "\ud800",
    "\u202e", "x" * 200_000, [],
    [None], [[]], {}, {"a": {}}, ["x"] * 1_000, "' OR 1=1 --", "\r\nSet-Cookie: x=y", "\ufeff", "\U0001f600" * 200,
]  # fmt: skip
# These are throttled, and have separate tests.
SLOW = {"create_session", "accept_invitation", "change_password"}
JSON = [each for each in operations() if each.body is Body.JSON and each.name not in SLOW]


def fields(declared: Operation) -> list[str]:
    """What an operation takes in its body."""
    in_path = declared.routes[0].parameters
    names = declared.arguments.__struct_fields__
    return [name for name in names if name not in {*in_path, "idempotency_key", "expected_version"}]


@pytest.mark.parametrize("declared", sample_cases(JSON, 4), ids=[each.name for each in JSON])
def test_any_value_in_any_field_is_handled_without_a_server_error(world: Stage, declared: Operation) -> None:
    """In bodies that are otherwise valid, so that the value gets as far as it can."""
    client = world.owner.web if declared.scope not in {"tickets:write", "tickets:assign", "comments"} else world.api
    route = declared.routes[0]
    valid = world.arguments(declared)
    path = route.path.format(**valid)
    body = {name: value for name, value in valid.items() if name not in route.parameters}
    if declared.name in {"update_profile", "update_company", "add_passkey"}:
        client = Person(world.box, "Stranger").web  # what succeeds would be in the others' way
    headers = {"Content-Type": "application/json"}
    for name in fields(declared):
        for value in VALUES:
            sent = json.dumps({**body, name: value}, ensure_ascii=True)
            answer = client.request(route.method, path, content=sent, headers=headers)
            assert answer.status_code < 500, (name, str(value)[:50], answer.text)


IDS = [
    "x", "..", "%2e%2e", "%00", "%ff", "%ed%a0%80", "t-%00aaaaaa", "T-AAAAAAAA", "null", "0", "-1", "x" * 5000,
    "%F0%9F%98%80", "%22", "'", ";", "a%0d%0ab", "{ticket_id}", "*", "%", "%zz", "t-" + "9" * 13,
]  # fmt: skip
PATHS = sorted({(route.method, route.path) for each in operations() for route in each.routes if route.parameters})


@pytest.mark.parametrize(("method", "path"), sample_cases(PATHS, 6), ids=[" ".join(line) for line in PATHS])
def test_any_text_in_a_path_is_handled_without_a_server_error(world: Stage, method: str, path: str) -> None:
    for text in IDS:
        address = re.sub(r"{\w+}", lambda _: text, path)  # noqa: B023 (called immediately)
        answer = world.owner.web.request(method, httpx.URL(world.box.api + address))
        assert 400 <= answer.status_code < 500, (address, answer.status_code, answer.text)
        check_common_headers(answer)


def test_too_large_body_is_rejected_early(world: World) -> None:
    """By its declared length before it is read, or as soon as it has grown too large."""
    head = (
        f"POST /api/v1/tickets HTTP/1.1\r\nHost: {urlsplit(world.box.url).netloc}\r\nConnection: close\r\n"
        f"Authorization: Bearer {world.owner.token(*WRITING)}\r\nContent-Type: application/json\r\n"
    )
    status, answer = raw(world.box, f"{head}Content-Length: {MAX_JSON + 1}\r\n\r\n".encode())
    assert (status, b"payload_too_large" in answer) == (413, True)
    status, _ = raw(world.box, f"{head}Content-Length: 99999999999999999999999\r\n\r\n".encode())
    assert 400 <= status < 500

    def endless() -> Iterator[bytes]:
        for _ in range(5000):
            yield b" " * 65_536

    try:
        response = world.api.post("/tickets", content=endless(), headers={"Content-Type": "application/json"})
    except (httpx.WriteError, httpx.ReadError, httpx.RemoteProtocolError):
        pass  # the server hung up in the middle
    else:
        expect_error(response, 413, "payload_too_large")
    ok(world.api.get("/me"))


def test_hostile_bodies_use_little_memory(world: World) -> None:
    server = psutil.Process(world.box.process.pid)
    bodies = [
        b"[" * (MAX_JSON - 1),
        b'{"a":' * 800_000,
        b'{"title": "' + b"x" * (MAX_JSON - 20) + b'"}',
        b" " * MAX_JSON,
    ]
    for body in bodies:
        assert send(world, body).status_code == 400
    before = server.memory_info().rss
    for _ in range(5):
        for body in bodies:
            assert send(world, body).status_code == 400
    assert server.memory_info().rss - before < 64 * 1024 * 1024


def test_large_valid_body_is_accepted(world: World) -> None:
    text = "é" * 100_000
    ticket = ok(world.api.post("/tickets", json={"project_id": world.project, "title": "x", "description": text}))
    assert ok(world.api.get(f"/tickets/{ticket['id']}"))["description"] == text


@pytest.mark.parametrize(
    "text",
    ["%", "_", "\\", "a%b_c\\d", "' OR 1=1 --", '"', "*", "NEAR(", "AND OR NOT", "{scope} : x", "^", "x" * 200, "ÄÖ"],
)
def test_search_text_is_never_index_syntax(world: World, text: str) -> None:
    world.ticket("Something else altogether")
    word = secrets.token_hex(8)
    ticket = world.ticket(f"Before {text} {word}")["id"]
    answer = world.api.get("/search", params={"q": f"before {text} {word}"})
    assert [each["id"] for each in ok(answer)["items"]] == [ticket]


@pytest.mark.parametrize("query", ["", "q=", "q=*", "q=%20%20%20", "q=%00%00", "q=" + "x" * 501, "q=a%0Ab"])
def test_search_requires_a_query(world: World, query: str) -> None:
    expect_error(world.api.get(f"/search?{query}"), 400, "invalid_request")


def test_server_error_reveals_only_an_id_that_is_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async def raise_fault(scope: Scope, receive: Receive, send: Send) -> None:
        raise RuntimeError("the innermost secret")

    site = Site(public_url="http://localhost", hosts=frozenset({"localhost"}), any_address=False, secure=False)
    edge = Edge(raise_fault, site, RateLimiter(time.monotonic))

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(edge)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.get("/api/v1/me")

    answer = asyncio.run(ask())
    problem = expect_error(answer, 500, "internal")
    check_common_headers(answer)
    assert "innermost" not in answer.text
    assert problem["request_id"] == answer.headers["x-request-id"]
    assert problem["request_id"] in caplog.text
    assert "the innermost secret" in caplog.text


def whole_log(world: World) -> str:
    """The log with a line for every request before this; lines are written after their answers."""
    last = f"/nowhere/{uuid.uuid4()}"
    world.box.client().get(last)
    assert eventually(lambda: last in world.box.log.read_text())
    return world.box.log.read_text()


def test_log_contains_no_secret_of_this_worker(world: World) -> None:
    secrets = [world.owner.token("read"), world.owner.session]
    for secret in secrets:
        world.box.client(secret).get("/me")
        world.box.client().get(f"/invitations/accept/{secret}")
        world.box.client().get(f"/nowhere/{secret}?x={secret}")
        world.box.client(**{"User-Agent": secret, "Referer": secret}).get("/me")
    log = whole_log(world)
    assert "/nowhere/tok_…" in log
    for secret in secrets:
        assert secret not in log
        assert secret[4:] not in log


def test_log_lines_cannot_be_forged(world: World) -> None:
    unique = uuid.uuid4().hex
    world.box.client().get(f"/{unique}%0A2026-01-01T00:00:00.000Z%20info%20request%20status=200%1B[31m%C2%9B%E2%80%AE")
    world.box.client().get(f"/{unique}%20user=usr_root")
    lines = [line for line in whole_log(world).splitlines() if unique in line]
    assert len(lines) == 2
    assert (
        rf'path="/api/v1/{unique}\n2026-01-01T00:00:00.000Z info request status=200\u001b[31m\u009b\u202e"' in lines[0]
    )
    assert f'path="/api/v1/{unique} user=usr_root" ' in lines[1]


@pytest.mark.parametrize("form", ["text", "json"])
def test_every_field_of_a_log_line_is_escaped(form: str) -> None:
    hostile = "a\nb\r\x1b[31m\x9b\u202e\u2028"
    (line,) = logs._Lines(as_json=form == "json").line(0, "info", "x", "request", {"path": hostile}).splitlines()
    assert line.isprintable()
    record = logging.LogRecord("x", logging.ERROR, "", 0, "failed", None, None)
    record.exc_text = None
    try:
        raise ValueError("one\n2026-01-01T00:00:00.000Z info forged")
    except ValueError:
        record.exc_info = sys.exc_info()
    first, *rest = logs._Lines(as_json=form == "json").format(record).splitlines()
    assert "failed" in first
    assert not any(each.startswith("20") for each in rest)


@pytest.mark.parametrize("text", ["tiktok_ads", "tok_visa", "tok_", "tok_" + "x" * 36, "mastok_abcdefghijklmnop"])
def test_word_that_resembles_a_token_is_accepted_in_a_query(world: World, text: str) -> None:
    ok(world.owner.web.get("/tickets", params={"label": text}))


def test_whole_token_in_a_query_is_refused(world: World) -> None:
    secret = world.owner.token("read")
    expect_error(world.owner.web.get("/tickets", params={"q": f"xtok_tok_{secret}"}), 401, "unauthorized")


def test_longest_names_of_files_are_not_found(world: World) -> None:
    for length in (200, 201, 256, 4_000):
        expect_error(httpx.get(f"{world.box.url}/assets/{'a' * length}"), 404, "not_found")


@pytest.mark.parametrize("part", [b"x" * 400_000 + b"\r\n\r\n", b"x" * 1_000])
def test_endless_request_head_is_cut_off(world: World, part: bytes) -> None:
    """In one piece or in many: no client fills the memory before its request has begun."""
    host, _, port = world.box.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(b"GET /api/v1/me HTTP/1.1\r\nHost: localhost\r\nX-Long: ")
        try:
            for _ in range(3_000):
                connection.sendall(part)
            answer = connection.recv(100)
        except ConnectionError:
            return
    assert answer.startswith(b"HTTP/1.1 400")
