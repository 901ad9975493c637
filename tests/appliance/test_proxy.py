"""Behind a real nginx and a real Caddy, with the configurations that the page tells, and on a unix socket."""

import contextlib
import os
import shutil
import signal
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.docs.pages import ROOT, blocks
from tests.support.cli import run
from tests.support.event_stream import EventStream
from tests.support.seed import EMAIL, Seed, capture_parts
from tests.support.server import PASSWORD, Box, eventually, expect_error, find_free_port, ok

PROXIES = {name: shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin") for name in ("nginx", "caddy")}
NAME = "tickets.example.org"


class SocketServer(Box):
    """A server on a unix socket."""

    def __init__(self, db: Path, path: Path, path_of_site: str = "") -> None:
        self.path, self.path_of_site = path, path_of_site
        super().__init__(db, "--unix-socket", str(path), "--public-url", f"https://{NAME}{path_of_site}")

    def ask(self, path: str, **headers: str) -> httpx.Response:
        """Ask as the proxy does."""
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(self.path))) as client:
            return client.get(f"http://{NAME}{path}", headers=headers)


@pytest.mark.long
def test_proxy_headers_are_trusted_on_a_unix_socket(seed: Seed, tmp_path: Path) -> None:
    with SocketServer(seed.copy(tmp_path), tmp_path / "http.sock") as box:
        assert box.path.stat().st_mode & 0o777 == 0o660
        assert box.ask("/healthz", X_Forwarded_For="203.0.113.9").text == "ok\n"
        assert box.ask("/healthz", **{"X-Forwarded-For": "203.0.113.9"}).text == "ok\n"
        assert eventually(lambda: "address=203.0.113.9" in box.log.read_text())
        assert box.ask("/metrics").status_code == 200
        expect_error(box.ask("/metrics", **{"X-Forwarded-For": "203.0.113.9"}), 401, "unauthorized")
        other = run("serve", "--db", tmp_path / "other.db", "--unix-socket", box.path, "--public-url", "https://x.org")
        assert (other.exit_code, "another server listens there" in other.stderr) == (1, True)
        assert box.ask("/healthz").text == "ok\n"
    assert not box.path.exists()
    assert not (tmp_path / "other.db").exists()


@pytest.mark.long
def test_stale_socket_is_replaced_but_other_files_are_not(seed: Seed, tmp_path: Path) -> None:
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(tmp_path / "http.sock"))
    left.close()
    with SocketServer(seed.copy(tmp_path), tmp_path / "http.sock") as box:
        assert box.ask("/healthz").text == "ok\n"
    (tmp_path / "file").write_bytes(b"precious")
    done = run("serve", "--db", box.db, "--unix-socket", tmp_path / "file", "--public-url", "https://x.org")
    assert (done.exit_code, (tmp_path / "file").read_bytes()) == (1, b"precious")
    done = run("serve", "--db", box.db, "--unix-socket", tmp_path / "new")
    assert (done.exit_code, "--public-url" in done.stderr) == (1, True)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A self-signed certificate and its key."""
    if shutil.which("openssl") is None and "CI" not in os.environ:
        pytest.skip("needs openssl")
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={NAME}",
         "-addext", f"subjectAltName=DNS:{NAME},DNS:localhost",
         "-keyout", folder / "key.pem", "-out", folder / "cert.pem"],
        check=True, capture_output=True,
    )  # fmt: skip
    return folder / "cert.pem", folder / "key.pem"


def test_tls_from_certificate_files(seed: Seed, tmp_path: Path, certificate: tuple[Path, Path]) -> None:
    flags = ["--tls-cert", str(certificate[0]), "--tls-key", str(certificate[1])]
    with Box(seed.copy(tmp_path), *flags) as box:
        assert box.url.startswith("https://localhost:")
        trusted = ssl.create_default_context(cafile=str(certificate[0]))
        answer = httpx.get(f"{box.url}/healthz", verify=trusted)
        assert (answer.text, "strict-transport-security" in answer.headers) == ("ok\n", True)
        checked = run("check", "--db", box.db, "--public-url", box.url)
        assert "a certificate that isn't trusted" in checked.stdout


def nginx(folder: Path, page: str, port: int, key: Path, certificate: Path) -> list[str]:
    """nginx with the page's configuration."""
    replacements = {
        "listen 443": f"listen 127.0.0.1:{port}",
        "/etc/nginx/tls/tickets.example.org.pem": str(certificate),
        "/etc/nginx/tls/tickets.example.org.key": str(key),
    }
    page = adapt_configuration(page, replacements)
    kept = "\n".join(
        f"{what}_temp_path {folder}/{what};" for what in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    root = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/errors; {root} worker_processes 1;\n"
        f"events {{}}\nhttp {{ access_log off;\n{kept}\n{page}\n}}\n"
    )
    return [str(PROXIES["nginx"]), "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "errors")]


def caddy(folder: Path, page: str, port: int, key: Path, certificate: Path) -> list[str]:
    """Caddy with the page's configuration, and a self-signed certificate instead of one that it requests."""
    name = f"{NAME} {{"
    page = adapt_configuration(page, {name: f"{NAME}:{port} {{\n    bind 127.0.0.1\n    tls {certificate} {key}"})
    options = f"{{\n    admin off\n    auto_https disable_redirects\n    storage file_system {folder}\n}}\n"
    (folder / "Caddyfile").write_text(options + page)
    return [str(PROXIES["caddy"]), "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]


def adapt_configuration(page: str, places: dict[str, str]) -> str:
    """A configuration with this machine's places in it."""
    for value, here in places.items():
        assert value in page
        page = page.replace(value, here)
    return page


@contextlib.contextmanager
def run_proxy(kind: str, folder: Path, box: SocketServer, certificate: tuple[Path, Path]) -> Iterator[httpx.Client]:
    """A proxy with the page's own configuration, on a free port; a client that calls it by its public name."""
    page = blocks(ROOT / "docs" / "operate" / "proxies.md", kind)[1 if box.path_of_site else 0]
    page = page.replace("www.example.org", NAME)
    page = adapt_configuration(page, {"/run/ticketbox/http.sock": str(box.path)})
    port = find_free_port()
    command = {"nginx": nginx, "caddy": caddy}[kind](folder, page, port, certificate[1], certificate[0])
    with (folder / "errors").open("w") as errors:
        process = subprocess.Popen(command, stderr=errors, env={**os.environ, "HOME": str(folder)})
    trusted = ssl.create_default_context(cafile=str(certificate[0]))
    try:
        with httpx.Client(base_url=f"https://localhost:{port}", headers={"Host": NAME}, verify=trusted) as client:

            def answers() -> bool:
                with contextlib.suppress(httpx.ConnectError):
                    return client.get(f"{box.path_of_site}/healthz").status_code == 200
                assert process.poll() is None, (folder / "errors").read_text()
                return False

            eventually(answers)
            yield client
    finally:
        process.send_signal(signal.SIGQUIT)
        process.wait(60)


EACH_PROXY = pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=pytest.mark.skipif(there is None and "CI" not in os.environ, reason=f"needs {kind}"))
        for kind, there in PROXIES.items()
    ],
)


@pytest.mark.long
@EACH_PROXY
def test_documented_proxy_configurations_work(
    seed: Seed, tmp_path: Path, certificate: tuple[Path, Path], kind: str
) -> None:
    bearer = {"Authorization": f"Bearer {seed.token}"}
    with (
        SocketServer(seed.copy(tmp_path), tmp_path / "http.sock") as box,
        run_proxy(kind, tmp_path, box, certificate) as client,
    ):
        signed_in = client.post("/api/v1/session", json={"email": EMAIL, "password": PASSWORD})
        assert signed_in.status_code == 201, signed_in.text
        assert signed_in.headers["set-cookie"].startswith("__Host-ticketbox=")
        assert "Secure" in signed_in.headers["set-cookie"]
        capture = ok(client.post("/api/v1/captures", headers=bearer, files=capture_parts(seed.project, 500)))
        assert capture["url"].startswith(f"https://{NAME}/")
        noise: Any = {"file": ("noise.bin", os.urandom(9_000_000))}
        ok(client.post(f"/api/v1/tickets/{capture['ticket_id']}/attachments", headers=bearer, files=noise, timeout=60))
        form = {**bearer, "Content-Type": "multipart/form-data; boundary=b"}
        too_much = client.post("/api/v1/captures", headers=form, content=bytes(34 << 20), timeout=60)
        assert too_much.status_code == 413
        check_event_stream(client, bearer, seed.project)
        client.get("/healthz", headers={"X-Forwarded-For": "203.0.113.66"})
        client.cookies.clear()
        expect_error(client.get("/metrics"), 401, "unauthorized")
        log = eventually(lambda: "path=/metrics" in box.log.read_text() and box.log.read_text())
        assert "address=127.0.0.1" in log
        assert "203.0.113.66" not in log  # what a client writes there is nobody's word
        stranger = client.get("/signin", headers={"Host": "evil.example"})
        assert stranger.status_code == 421 or not stranger.content  # Caddy keeps other names to itself


@pytest.mark.long
@EACH_PROXY
def test_documented_configurations_under_a_path_work(
    seed: Seed, tmp_path: Path, certificate: tuple[Path, Path], kind: str
) -> None:
    bearer = {"Authorization": f"Bearer {seed.token}"}
    with (
        SocketServer(seed.copy(tmp_path), tmp_path / "http.sock", "/tickets") as box,
        run_proxy(kind, tmp_path, box, certificate) as client,
    ):
        signed_in = client.post("/tickets/api/v1/session", json={"email": EMAIL, "password": PASSWORD})
        (session, *_) = signed_in.headers.get_list("set-cookie")
        assert session.startswith("__Secure-ticketbox=")
        assert {"Path=/tickets", "Secure", "HttpOnly"} <= set(session.split("; "))
        client.cookies.clear()
        parts = capture_parts(seed.project, 501)
        capture = ok(client.post("/tickets/api/v1/captures", headers=bearer, files=parts))
        assert capture["url"] == f"https://{NAME}/tickets/tickets/{capture['ticket_id']}"
        assert client.get("/tickets").headers["location"] == "/tickets/"
        assert client.get("/tickets/").headers["location"] == "/tickets/signin"
        metadata = client.get("/.well-known/oauth-authorization-server/tickets").json()
        assert metadata["issuer"] == f"https://{NAME}/tickets"
        eventually(lambda: "path=/.well-known/oauth-authorization-server" in box.log_after(0))
        mark = box.log_size()
        for path in ("/", "/ticketsx", "/healthz", "/api/v1/me", "/.well-known/oauth-authorization-server"):
            assert not client.get(path).content.startswith(b"{")  # it is the proxy that answers
        assert ok(client.get("/tickets/api/v1/me", headers=bearer))["user"]["email"] == EMAIL
        log = eventually(lambda: "path=/tickets/api/v1/me " in box.log_after(mark) and box.log_after(mark))
        assert log.count(" request ") == 1


def check_event_stream(client: httpx.Client, bearer: dict[str, str], project: str) -> None:
    """An event reaches its listener through the proxy while the stream stays open."""
    client.headers.update(bearer)
    client.base_url = client.base_url.join("/api/v1")
    with EventStream(client).open() as listening:
        ticket = ok(client.post("/tickets", json={"project_id": project, "title": "Streamed"}))["id"]
        eventually(lambda: any(event["ticket_id"] == ticket for event in listening.heard))
    client.base_url = client.base_url.join("/")
    del client.headers["Authorization"]
