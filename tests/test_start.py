"""What a start loads, and what waits until it is asked for."""

import time
from pathlib import Path

import httpx
import pytest

from tests.box import Box, eventually, ok
from tests.contract.agents import ACCEPT, MESSAGE
from tests.fault.seed import Launched, Seed, planted

LISTING = """
import atexit, sys
from ticketbox.mcp import endpoint as mcp
mcp.WARM_SECONDS = 600
atexit.register(lambda: print("loaded", *sys.modules, file=sys.stderr))
from ticketbox.cli import main
main()
"""
BROKEN = """
import os, sys
from ticketbox.mcp import endpoint as mcp
mcp.WARM_SECONDS, mcp.RETRY_SECONDS = {warm}, 0.5
class Breaking:
    def find_spec(self, name, path=None, target=None):
        if name == "mcp" and os.path.exists({marker!r}):
            raise ImportError("there is no room to unpack it")
sys.meta_path.insert(0, Breaking())
from ticketbox.cli import main
main()
"""


@pytest.fixture(scope="module")
def seed(tmp_path_factory: pytest.TempPathFactory) -> Seed:
    """A file that is copied, never changed."""
    return planted(tmp_path_factory.mktemp("seed"))


def test_what_is_large_is_loaded_when_it_is_asked_for(seed: Seed, tmp_path: Path) -> None:
    with Launched(LISTING, seed.copy(tmp_path)) as box, box.client(seed.token) as client:
        assert httpx.get(f"{box.url}/healthz").text == "ok\n"
        ok(client.get("/me"))
        ok(client.get("/tickets"))
        assert box.stop() == 0
    (line,) = [line for line in box.log.read_text().splitlines() if line.startswith("loaded ")]
    loaded = {name.partition(".")[0] for name in line.split()}
    assert {"litestar", "uvicorn", "msgspec"} < loaded
    assert loaded & {"mcp", "pydantic", "PIL", "cryptography", "httpx2", "jinja2", "webbrowser"} == set()


def asked(box: Box, **headers: str) -> httpx.Response:
    """The MCP endpoint's answer to a plain request."""
    return httpx.post(f"{box.url}/mcp", json=MESSAGE, headers={**ACCEPT, **headers}, timeout=20)


@pytest.mark.parametrize("warm", [0, 600])
def test_a_server_that_cant_load_mcp_says_so_at_once_and_tries_again(seed: Seed, tmp_path: Path, warm: int) -> None:
    marker = tmp_path / "broken"
    marker.touch()
    with Launched(BROKEN.format(warm=warm, marker=str(marker)), seed.copy(tmp_path)) as box:
        bearer = {"Authorization": f"Bearer {seed.token}"}
        for _ in range(2):
            started = time.monotonic()
            answer = asked(box, **bearer)
            assert time.monotonic() - started < 5
            assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
            assert answer.headers["content-type"] == "application/problem+json"
            assert "no room" not in answer.text
        assert "no room to unpack it" in box.log.read_text()
        assert asked(box).status_code == 401
        with box.client(seed.token) as client:
            ok(client.get("/me"))
        marker.unlink()
        eventually(lambda: asked(box, **bearer).status_code == 200)
