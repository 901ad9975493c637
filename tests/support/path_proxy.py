"""A ticketbox under a path, behind a real nginx with the documented configuration, on this machine."""

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.docs.pages import ROOT, blocks
from tests.support.seed import PatchedServer
from tests.support.server import Box, copy_initialized_file, eventually, find_free_port

NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
PATH = "/tickets"


@contextlib.contextmanager
def run_under_path(
    folder: Path, *arguments: str, patch: str = "", certificate: tuple[Path, Path] | None = None
) -> Iterator[Box]:
    """A server on a new file, whose address is that of the proxy, with the path.

    With a certificate and its key, it is at https. `patch` is the script that starts it (PatchedServer).
    """
    if NGINX is None and "CI" not in os.environ:
        pytest.skip("needs nginx")
    port = find_free_port()
    site = f"{'https' if certificate else 'http'}://localhost:{port}{PATH}"
    listener = folder / "http.sock"
    flags = ["--unix-socket", str(listener), "--public-url", site, *arguments]
    db = copy_initialized_file(folder)
    with (
        PatchedServer(patch, db, *flags) if patch else Box(db, *flags) as box,
        _run_nginx(folder, port, listener, certificate),
    ):
        yield box


@contextlib.contextmanager
def _run_nginx(folder: Path, port: int, listener: Path, certificate: tuple[Path, Path] | None) -> Iterator[None]:
    (_, page) = blocks(ROOT / "docs" / "operate" / "proxies.md", "nginx")
    ssl, cert, key = (" ssl", *certificate) if certificate else ("", "", "")
    for documented, here in (
        ("listen 443 ssl", f"listen 127.0.0.1:{port}{ssl}"),
        ("www.example.org;", "localhost;"),
        ("ssl_certificate /etc/nginx/tls/www.example.org.pem;", f"ssl_certificate {cert};" if cert else ""),
        ("ssl_certificate_key /etc/nginx/tls/www.example.org.key;", f"ssl_certificate_key {key};" if key else ""),
        ("/run/ticketbox/http.sock", str(listener)),
    ):
        assert documented in page
        page = page.replace(documented, here)
    kept = "\n".join(
        f"{what}_temp_path {folder}/{what};" for what in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    root = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/errors; {root} worker_processes 1;\n"
        f"events {{}}\nhttp {{ access_log off;\n{kept}\n{page}\n}}\n"
    )
    command = [str(NGINX), "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "errors")]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)

    def answers() -> bool:
        assert process.poll() is None, (folder / "errors").read_text()
        with contextlib.suppress(httpx.TransportError):
            scheme = "https" if certificate else "http"
            return httpx.get(f"{scheme}://localhost:{port}{PATH}/healthz", verify=False).status_code == 200
        return False

    try:
        eventually(answers)
        yield
    finally:
        process.send_signal(signal.SIGQUIT)
        process.wait(60)
