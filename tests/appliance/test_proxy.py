"""Behind a real nginx, with the configuration that the page tells, and on a unix socket."""

import contextlib
import os
import shutil
import signal
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.box import PASSWORD, Box, eventually, ok, refused
from tests.commands import run
from tests.docs.pages import ROOT, blocks
from tests.fault.seed import EMAIL, Seed, capture_parts

NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
NAME = "tickets.example.org"


class Socketed(Box):
    """A server on a unix socket."""

    def __init__(self, db: Path, path: Path, *arguments: str) -> None:
        self.path = path
        super().__init__(db, "--unix-socket", str(path), "--public-url", f"https://{NAME}", *arguments)

    def ask(self, path: str, **headers: str) -> httpx.Response:
        """Ask as the proxy does."""
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(self.path))) as client:
            return client.get(f"http://{NAME}{path}", headers=headers)


def test_on_a_unix_socket_the_proxys_word_is_believed(seed: Seed, tmp_path: Path) -> None:
    with Socketed(seed.copy(tmp_path), tmp_path / "http.sock") as box:
        assert box.path.stat().st_mode & 0o777 == 0o660
        assert box.ask("/healthz", X_Forwarded_For="203.0.113.9").text == "ok\n"
        assert box.ask("/healthz", **{"X-Forwarded-For": "203.0.113.9"}).text == "ok\n"
        assert "address=203.0.113.9" in box.log.read_text()
        assert box.ask("/metrics").status_code == 200
        refused(box.ask("/metrics", **{"X-Forwarded-For": "203.0.113.9"}), 401, "unauthorized")
        other = run("serve", "--db", tmp_path / "other.db", "--unix-socket", box.path, "--public-url", "https://x.org")
        assert (other.exit_code, "another server listens there" in other.stderr) == (1, True)
        assert box.ask("/healthz").text == "ok\n"
    assert not box.path.exists()
    assert not (tmp_path / "other.db").exists()


def test_a_socket_that_a_killed_server_left_is_replaced_and_other_files_arent(seed: Seed, tmp_path: Path) -> None:
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(tmp_path / "http.sock"))
    left.close()
    with Socketed(seed.copy(tmp_path), tmp_path / "http.sock") as box:
        assert box.ask("/healthz").text == "ok\n"
    (tmp_path / "file").write_bytes(b"precious")
    done = run("serve", "--db", box.db, "--unix-socket", tmp_path / "file", "--public-url", "https://x.org")
    assert (done.exit_code, (tmp_path / "file").read_bytes()) == (1, b"precious")
    done = run("serve", "--db", box.db, "--unix-socket", tmp_path / "new")
    assert (done.exit_code, "--public-url" in done.stderr) == (1, True)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate of our own, and its key."""
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


def test_tls_by_files(seed: Seed, tmp_path: Path, certificate: tuple[Path, Path]) -> None:
    flags = ["--tls-cert", str(certificate[0]), "--tls-key", str(certificate[1])]
    with Box(seed.copy(tmp_path), *flags) as box:
        assert box.url.startswith("https://localhost:")
        trusted = ssl.create_default_context(cafile=str(certificate[0]))
        answer = httpx.get(f"{box.url}/healthz", verify=trusted)
        assert (answer.text, "strict-transport-security" in answer.headers) == ("ok\n", True)
        checked = run("check", "--db", box.db, "--public-url", box.url)
        assert "a certificate that isn't trusted" in checked.stdout


@contextlib.contextmanager
def proxied(folder: Path, box: Socketed, certificate: tuple[Path, Path]) -> Iterator[httpx.Client]:
    """nginx with the page's own configuration, on a free port; a client that calls it by its public name."""
    assert NGINX is not None
    (page,) = blocks(ROOT / "docs" / "proxies.md", "nginx")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    for told, here in (
        ("listen 443", f"listen 127.0.0.1:{port}"),
        ("/run/ticketbox/http.sock", str(box.path)),
        ("/etc/nginx/tls/tickets.example.org.pem", str(certificate[0])),
        ("/etc/nginx/tls/tickets.example.org.key", str(certificate[1])),
    ):
        assert told in page
        page = page.replace(told, here)
    kept = "\n".join(
        f"{what}_temp_path {folder}/{what};" for what in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    root = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/errors; {root} worker_processes 1;\n"
        f"events {{}}\nhttp {{ access_log off;\n{kept}\n{page}\n}}\n"
    )
    process = subprocess.Popen([NGINX, "-p", folder, "-c", folder / "nginx.conf", "-e", folder / "errors"])
    trusted = ssl.create_default_context(cafile=str(certificate[0]))
    try:
        with httpx.Client(base_url=f"https://localhost:{port}", headers={"Host": NAME}, verify=trusted) as client:

            def answers() -> bool:
                with contextlib.suppress(httpx.ConnectError):
                    return client.get("/healthz").status_code == 200
                assert process.poll() is None, (folder / "errors").read_text()
                return False

            eventually(answers)
            yield client
    finally:
        process.send_signal(signal.SIGQUIT)
        process.wait(20)


@pytest.mark.skipif(NGINX is None and "CI" not in os.environ, reason="needs nginx")
def test_behind_nginx_as_the_page_tells(seed: Seed, tmp_path: Path, certificate: tuple[Path, Path]) -> None:
    bearer = {"Authorization": f"Bearer {seed.token}"}
    with (
        Socketed(seed.copy(tmp_path), tmp_path / "http.sock") as box,
        proxied(tmp_path, box, certificate) as client,
    ):
        signed_in = client.post("/api/v1/session", json={"email": EMAIL, "password": PASSWORD})
        assert signed_in.status_code == 201, signed_in.text
        assert signed_in.headers["set-cookie"].startswith("__Host-ticketbox=")
        assert "Secure" in signed_in.headers["set-cookie"]
        made = ok(client.post("/api/v1/captures", headers=bearer, files=capture_parts(seed.project, 500)))
        assert made["url"].startswith(f"https://{NAME}/")
        noise: Any = {"file": ("noise.bin", os.urandom(9_000_000))}
        ok(client.post(f"/api/v1/tickets/{made['ticket_id']}/attachments", headers=bearer, files=noise, timeout=60))
        too_much = client.post("/api/v1/captures", headers=bearer, content=bytes(34 << 20), timeout=60)
        assert too_much.status_code == 413
        client.get("/healthz", headers={"X-Forwarded-For": "203.0.113.66"})
        client.cookies.clear()
        refused(client.get("/metrics"), 401, "unauthorized")
        time.sleep(0.1)
        log = box.log.read_text()
        assert "address=127.0.0.1" in log
        assert "203.0.113.66" not in log  # what a client writes there is nobody's word
        assert client.get("/healthz", headers={"Host": "evil.example"}).status_code == 421
