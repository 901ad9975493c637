"""What is compressed on its way out, and what never is (docs/operate/security.md, "Compression")."""

import gzip
import zlib

import httpx
import pytest

from tests.support.operation_cases import make_capture
from tests.support.server import World, ok

LONG = "needle " + "hay " * 2_000


def send_request(client: httpx.Client, path: str, taken: str = "gzip", **headers: str) -> tuple[httpx.Response, bytes]:
    """An answer, and its body as it came over the line, or decoded for a refusal, which the client looks into."""
    with client.stream("GET", path, headers={"Accept-Encoding": taken, **headers}) as answer:
        return answer, answer.content if answer.is_stream_consumed else b"".join(answer.iter_raw())


@pytest.mark.parametrize("path", ["/tickets", "/search?q=needle", "/openapi.json"])
def test_long_read_is_gzipped_for_clients_that_accept_it(world: World, path: str) -> None:
    for _ in range(4):
        world.ticket(description=LONG)
    plain, text = send_request(world.api, path, "identity")
    packed, body = send_request(world.api, path)
    assert gzip.decompress(body) == text
    assert len(body) < len(text) / 2
    assert int(packed.headers["content-length"]) == len(body)
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert plain.headers["vary"] == packed.headers["vary"] == "accept-encoding"
    kept = ("x-content-type-options", "content-security-policy", "content-type")
    assert [plain.headers[name] for name in kept] == [packed.headers[name] for name in kept]


def test_short_read_is_not_compressed(world: World) -> None:
    answer, body = send_request(world.api, "/projects")
    assert len(body) < 1_000
    assert answer.headers.keys().isdisjoint({"content-encoding", "vary"})


@pytest.mark.parametrize("taken", ["", "br", "gzip;q=0", "GZIP;q=0.000, br", "deflate, identity"])
def test_client_without_gzip_gets_plain_text(world: World, taken: str) -> None:
    world.ticket(description=LONG)
    answer, body = send_request(world.api, "/tickets", taken)
    assert "content-encoding" not in answer.headers
    assert b"needle" in body


@pytest.mark.parametrize("taken", ["gzip, br", "br;q=1.0, gzip;q=0.8", "GZip"])
def test_gzip_is_found_anywhere_in_accept_encoding(world: World, taken: str) -> None:
    world.ticket(description=LONG)
    assert send_request(world.api, "/tickets", taken)[0].headers["content-encoding"] == "gzip"


def test_very_long_response_is_complete(world: World) -> None:
    for _ in range(20):
        world.ticket(description="".join(chr(33 + number * 7919 % 90) for number in range(9_000)))
    answer = world.api.get("/tickets")
    assert answer.headers["content-encoding"] == "gzip"
    assert len(answer.content) > 150_000
    assert len(answer.json()["items"]) == 20
    plain = world.api.get("/tickets", headers={"Accept-Encoding": "identity"})
    assert plain.content == answer.content
    assert int(plain.headers["content-length"]) == len(plain.content)


def test_response_with_an_etag_is_not_compressed(world: World) -> None:
    ticket = world.ticket(description=LONG)
    answer, body = send_request(world.api, f"/tickets/{ticket['id']}")
    assert answer.headers["etag"] == '"1"'
    assert "content-encoding" not in answer.headers
    assert LONG.encode() in body
    changed = world.api.patch(f"/tickets/{ticket['id']}", json={"title": "T"}, headers={"If-Match": '"1"'})
    assert ok(changed)["version"] == 2


def test_secrets_are_never_compressed(world: World) -> None:
    """Their answers are those of writes, and of what needs a session."""
    web = world.owner.web
    token = web.post("/tokens", json={"label": "x" * 100, "scopes": ["read"]}, headers={"Accept-Encoding": "gzip"})
    assert ok(token)["secret"]
    assert "content-encoding" not in token.headers
    for number in range(12):
        given = {
            "name": f"Hook {number}",
            "url": "https://198.51.100.9.invalid/T0/B0",
            "types": ["ticket.moved"],
        }
        ok(web.post(f"/companies/{world.company}/webhooks", json=given))
    for path in (f"/companies/{world.company}/webhooks", f"/companies/{world.company}/audit", "/tokens"):
        answer, body = send_request(web, path)
        assert len(body) > 1_000 or path == "/tokens"
        assert "content-encoding" not in answer.headers, path


@pytest.mark.parametrize(("site", "packed"), [("cross-site", False), ("same-site", False), ("same-origin", True)])
def test_response_length_reveals_nothing_to_other_sites(world: World, site: str, packed: bool) -> None:
    world.ticket(description=LONG)
    answer, _ = send_request(world.owner.web, "/tickets", **{"Sec-Fetch-Site": site})
    assert ("content-encoding" in answer.headers) == packed


def test_errors_heads_streams_and_images_are_not_compressed(world: World) -> None:
    world.ticket(description=LONG)
    refusal, _ = send_request(world.api, "/search?q=" + "-" * 1_200)
    assert refusal.status_code == 400
    head = world.api.head("/tickets", headers={"Accept-Encoding": "gzip"})
    shot, picture = send_request(world.api, f"/tickets/{make_capture(world)['ticket_id']}/screenshot")
    with world.api.stream("GET", "/events/stream", headers={"Accept-Encoding": "gzip"}) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
    for answer in (refusal, head, shot, stream):
        assert "content-encoding" not in answer.headers
    assert int(head.headers["content-length"]) > 8_000
    assert picture.startswith(b"\x89PNG")


def test_app_page_is_compressed_but_sign_in_page_is_not(world: World) -> None:
    start, body = send_request(world.owner.web, f"{world.box.url}/projects/{world.project}")
    assert start.headers["content-encoding"] == "gzip"
    assert b'id="boot"' in zlib.decompress(body, 31)
    signin, body = send_request(world.box.client(), f"{world.box.url}/signin")
    assert "content-encoding" not in signin.headers
    assert b"<form" in body


def test_app_files_are_served_in_an_accepted_encoding(world: World) -> None:
    page = world.owner.web.get(f"{world.box.url}/projects/{world.project}").text
    script = world.box.url + page.partition('src="')[2].partition('"')[0]
    encodings = [
        send_request(world.owner.web, script, taken)[0].headers.get("content-encoding")
        for taken in ("gzip, br", "gzip, br;q=0", "identity")
    ]
    assert encodings == ["br", "gzip", None]
