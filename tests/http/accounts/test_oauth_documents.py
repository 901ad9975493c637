"""Apps that publish a metadata document, and the checks of outgoing requests, with a real https server."""

import asyncio
import contextlib
import datetime
import http.server
import ipaddress
import json
import os
import ssl
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.support.long_runs import mark_long
from tests.support.oauth_app import CALLBACK, App, browser_of, challenge_of, handle_in
from tests.support.operation_cases import update_row
from tests.support.server import Box, World, ok, run_server
from ticketbox.edge import outbound
from ticketbox.edge.outbound import Fetcher
from ticketbox.operations.core.services import FetchError


class Publisher(http.server.ThreadingHTTPServer):
    """A site that publishes descriptions of apps; `asked` counts, `answers` maps a path to what it answers."""

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[str] = []
        self.answers: dict[str, tuple[int, dict[str, str], bytes, float]] = {}
        self.certificate = _certificate(folder)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate)
        self.socket = context.wrap_socket(self.socket, server_side=True)
        self.url = f"https://localhost:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients go away here on purpose."""

    def publish(
        self, path: str, document: Any = None, status: int = 200, kind: str = "application/json", wait: float = 0,
        **headers: str,
    ) -> str:  # fmt: skip
        """Answer a path with a document (bytes as they are); returns its address."""
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        self.answers[path] = (status, {"Content-Type": kind, **headers}, body, wait)
        return self.url + path

    def describe(self, path: str, **changes: Any) -> str:
        """Publish a sound description of an app, but for the changes."""
        address = self.url + path
        return self.publish(
            path, {"client_id": address, "client_name": "DescribedApp", "redirect_uris": [CALLBACK], **changes}
        )  # fmt: skip


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers with what was published."""

    def do_GET(self) -> None:
        """Answer, perhaps late."""
        publisher = self.server
        assert isinstance(publisher, Publisher)
        publisher.asked.append(self.path)
        status, headers, body, wait = publisher.answers.get(self.path, (404, {}, b"", 0.0))
        time.sleep(wait)  # a slow site: the time itself is what the server must not wait for
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(body)

    def log_message(self, *_: Any, **__: Any) -> None:
        """Say nothing."""


def _certificate(folder: Path) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    path = folder / "publisher.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(secret + certificate.public_bytes(serialization.Encoding.PEM))
    return path


@pytest.fixture(scope="module")
def publisher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Publisher]:
    """A site on this machine whose certificate the servers of this module trust."""
    site = Publisher(tmp_path_factory.mktemp("publisher"))
    thread = threading.Thread(target=site.serve_forever, daemon=True)
    thread.start()
    before = os.environ.get("SSL_CERT_FILE")
    os.environ["SSL_CERT_FILE"] = str(site.certificate)
    outbound._load_tls_context.cache_clear()  # other tests of this process fetch too
    yield site
    outbound._load_tls_context.cache_clear()
    os.environ.pop("SSL_CERT_FILE")
    if before is not None:
        os.environ["SSL_CERT_FILE"] = before
    site.shutdown()
    site.server_close()


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory, publisher: Publisher) -> Iterator[Box]:
    """A server that may fetch from this machine."""
    flags = ("--trusted-proxy", "127.0.0.1/32", "--allow-private-addresses", "--client-metadata", "on")
    with run_server(tmp_path_factory.mktemp("documents"), *flags) as running:
        yield running


class DescribedApp(App):
    """An app whose id is an address."""

    def __init__(self, world: World, client_id: str) -> None:
        self.box, self.client_id, self.redirect_uri = world.box, client_id, CALLBACK
        self.http = world.box.client()
        self.http.base_url = self.box.url
        self.verifier = "v" * 64
        assert challenge_of(self.verifier)


def test_app_with_a_metadata_document_connects_without_registering(world: World, publisher: Publisher) -> None:
    app = DescribedApp(world, publisher.describe("/sound.json", logo_uri="https://elsewhere.example/x.png"))
    page = app.ask(browser_of(world.owner))
    assert handle_in(page)
    assert f"<code>localhost:{publisher.server_port}</code>" in page.text
    assert "elsewhere.example" not in page.text
    pair = app.connect(world.owner)
    assert app.call(pair["access_token"]).status_code == 200
    assert app.call(ok(app.refresh(pair["refresh_token"]))["access_token"]).status_code == 200
    (listed,) = ok(world.owner.web.get("/connected-apps"))["items"]
    assert (listed["name"], listed["client_host"]) == ("DescribedApp", f"localhost:{publisher.server_port}")
    assert listed["redirect_host"] == "127.0.0.1:33418"


def test_document_is_fetched_once_an_hour_and_only_for_signed_in_people(world: World, publisher: Publisher) -> None:
    app = DescribedApp(world, publisher.describe("/counted.json"))
    stranger = world.box.client()
    stranger.base_url = world.box.url
    assert 'name="password"' in app.ask(stranger).text
    assert "/counted.json" not in publisher.asked
    for _ in range(3):
        assert handle_in(app.ask(browser_of(world.owner)))
    assert publisher.asked.count("/counted.json") == 1
    publisher.describe("/counted.json", client_name="Renamed", redirect_uris=["https://new.example/"])
    older = "UPDATE oauth_client SET fetched_at = fetched_at - 3600000 WHERE client_id = ?"
    update_row(world.box.db, older, app.client_id)
    assert app.ask(browser_of(world.owner)).status_code == 400
    assert "Renamed" in app.ask(browser_of(world.owner), redirect_uri="https://new.example/").text
    assert publisher.asked.count("/counted.json") == 2


WRONG: dict[str, Any] = {
    "another id": lambda p: p.describe("/wrong1", client_id="https://other.example/a"),
    "a secret": lambda p: p.describe("/wrong2", token_endpoint_auth_method="client_secret_basic"),
    "no redirect": lambda p: p.describe("/wrong3", redirect_uris=[]),
    "bad redirect": lambda p: p.describe("/wrong4", redirect_uris=[CALLBACK, "http://evil.example/"]),
    "no JSON": lambda p: p.publish("/wrong5", b"<html>"),
    "a list": lambda p: p.publish("/wrong6", []),
    "another type": lambda p: p.publish("/wrong7", {"client_id": p.url + "/wrong7"}, kind="text/html"),
    "not there": lambda p: p.url + "/wrong8",
    "a redirect": lambda p: p.publish("/wrong9", b"", 302, Location=p.describe("/target.json")),
    "an error with a body": lambda p: p.publish("/wrong10", {"client_id": p.url + "/wrong10"}, 500),
    "too much": lambda p: p.describe("/wrong11", client_name="x" * 70_000),
    "endless nesting": lambda p: p.publish("/wrong12", b"[" * 60_000),
    "closed port": lambda _: "https://localhost:1/client.json",
    "no such name": lambda _: "https://nothing.invalid/client.json",
    "wrong certificate": lambda p: p.describe("/wrong13").replace("localhost", "localhost.localdomain"),
}


@pytest.mark.parametrize("publish", WRONG.values(), ids=WRONG)
def test_invalid_document_is_reported_to_the_person(world: World, publisher: Publisher, publish: Any) -> None:
    page = DescribedApp(world, publish(publisher)).ask(browser_of(world.owner))
    assert (page.status_code, "location" in page.headers) == (400, False), page.text
    assert "The app can’t be connected" in page.text
    assert 'name="handle"' not in page.text
    assert "/target.json" not in publisher.asked


def test_document_cannot_describe_another_app(world: World, publisher: Publisher) -> None:
    app = DescribedApp(world, publisher.describe("/victim.json"))
    assert handle_in(app.ask(browser_of(world.owner)))
    liar = publisher.describe("/liar.json", client_id=app.client_id, redirect_uris=["https://evil.example/"])
    assert DescribedApp(world, liar).ask(browser_of(world.owner)).status_code == 400
    assert app.ask(browser_of(world.owner), redirect_uri="https://evil.example/").status_code == 400
    assert handle_in(app.ask(browser_of(world.owner)))


@pytest.mark.long
def test_slow_document_server_does_not_block_others(world: World, publisher: Publisher) -> None:
    publisher.publish("/slow.json", {}, wait=40)
    started = time.monotonic()
    page = DescribedApp(world, publisher.url + "/slow.json").ask(browser_of(world.owner))
    assert (page.status_code, time.monotonic() - started < 30) == (400, True)


def test_fetching_is_throttled_per_person(world: World, publisher: Publisher) -> None:
    statuses = [
        DescribedApp(world, f"{publisher.url}/many{number}.json").ask(browser_of(world.owner)).status_code
        for number in range(13)
    ]
    assert statuses[:10] == [400] * 10
    assert statuses[-1] == 429


def is_offered(box: Box) -> bool:
    """What the discovery document says."""
    answer = ok(box.client().get(f"{box.url}/.well-known/oauth-authorization-server"))
    return answer["client_id_metadata_document_supported"]


CLAUDE_CODE = "https://claude.ai/oauth/claude-code-client-metadata"


@pytest.mark.long
@pytest.mark.parametrize("mode", ["auto", mark_long("on"), "off"])
def test_documents_are_offered_and_common_clients_connect_without_internet_access(
    publisher: Publisher, mode: str, tmp_path: Path
) -> None:
    """The server trusts only the publisher's certificate, so it can fetch nothing from the internet."""
    flags = ("--trusted-proxy", "127.0.0.1/32", "--allow-private-addresses", "--client-metadata", mode)
    with run_server(tmp_path, *flags) as box:
        world = World(box)
        assert is_offered(box) == (mode == "on")
        app = DescribedApp(world, CLAUDE_CODE)
        app.redirect_uri = "http://localhost:50123/callback"
        page = app.ask(browser_of(world.owner))
        assert handle_in(page)
        assert "Claude Code" in page.text
        assert app.ask(browser_of(world.owner), redirect_uri="https://evil.example/callback").status_code == 400
        unknown = DescribedApp(world, publisher.describe("/unknown.json"))
        assert unknown.ask(browser_of(world.owner)).status_code == (400 if mode == "off" else 200)
        registered = App(box)
        assert registered.call(registered.connect(world.owner)["access_token"]).status_code == 200


def fetch(url: str, *, allow_private: bool = False, **options: Any) -> Any:
    """Fetch in a separate event loop."""
    return asyncio.run(Fetcher(allow_private=allow_private)(url, **options))


def test_loopback_addresses_are_blocked_unless_allowed(publisher: Publisher) -> None:
    publisher.publish("/inside", {})
    port = publisher.server_port
    for host in ("localhost", "127.0.0.1", "127.1", "2130706433", "0x7f.1", "0.0.0.0", "[::ffff:127.0.0.1]"):
        with pytest.raises(FetchError, match=r"public internet|resolved"):
            fetch(f"https://{host}:{port}/inside")
    assert "/inside" not in publisher.asked
    assert fetch(f"https://localhost:{port}/inside", allow_private=True).status == 200
    with pytest.raises(FetchError, match="only https"):
        fetch(f"http://localhost:{port}/inside", allow_private=True)


def test_host_name_is_resolved_once_and_every_address_is_checked(
    publisher: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rebinding: the second answer of a resolver is never asked for; a public address doesn't excuse a private one."""
    publisher.publish("/rebound", {})
    asked: list[str] = []

    async def run(answers: list[list[str]], *, allow_private: bool) -> Any:
        loop = asyncio.get_running_loop()

        async def resolve(host: str, port: int, **_: Any) -> list[Any]:
            asked.append(host)
            return [(2, 1, 6, "", (address, port)) for address in answers.pop(0)]

        monkeypatch.setattr(loop, "getaddrinfo", resolve)
        return await Fetcher(allow_private=allow_private)(f"https://localhost:{publisher.server_port}/rebound")

    with pytest.raises(FetchError, match="public internet"):
        asyncio.run(run([["1.1.1.1", "127.0.0.1"]], allow_private=False))
    assert asyncio.run(run([["127.0.0.1"], ["192.0.2.1"]], allow_private=True)).status == 200
    assert asked == ["localhost", "localhost"]
