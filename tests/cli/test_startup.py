"""What a start loads, and what waits until it is asked for."""

import json
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.support.long_runs import mark_long
from tests.support.mcp_client import ACCEPT, MESSAGE
from tests.support.seed import PatchedServer, Seed
from tests.support.server import Box, eventually, ok

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


def test_heavy_modules_are_loaded_on_first_use(seed: Seed, tmp_path: Path) -> None:
    with PatchedServer(LISTING, seed.copy(tmp_path)) as box, box.client(seed.token) as client:
        assert httpx.get(f"{box.url}/healthz", timeout=60).text == "ok\n"
        ok(client.get("/me"))
        ok(client.get("/tickets"))
        assert box.stop() == 0
    (line,) = [line for line in box.log.read_text().splitlines() if line.startswith("loaded ")]
    loaded = {name.partition(".")[0] for name in line.split()}
    assert {"litestar", "uvicorn", "msgspec"} < loaded
    assert loaded & {"mcp", "pydantic", "PIL", "cryptography", "httpx2", "jinja2", "webbrowser"} == set()


def post_to_mcp(box: Box, **headers: str) -> httpx.Response:
    """The MCP endpoint's answer to a plain request."""
    return httpx.post(f"{box.url}/mcp", json=MESSAGE, headers={**ACCEPT, **headers}, timeout=60)


@pytest.mark.long
@pytest.mark.parametrize("warm", [mark_long(0), 600])
def test_failed_mcp_import_is_reported_and_retried(seed: Seed, tmp_path: Path, warm: int) -> None:
    marker = tmp_path / "broken"
    marker.touch()
    with PatchedServer(BROKEN.format(warm=warm, marker=str(marker)), seed.copy(tmp_path)) as box:
        bearer = {"Authorization": f"Bearer {seed.token}"}
        for _ in range(2):
            answer = post_to_mcp(box, **bearer)
            assert (answer.status_code, answer.json()["error"]["data"]["code"]) == (503, "unavailable")
            assert answer.headers["content-type"] == "application/json"
            assert "no room" not in answer.text
        eventually(lambda: "no room to unpack it" in box.log.read_text())
        assert post_to_mcp(box).status_code == 401
        with box.client(seed.token) as client:
            ok(client.get("/me"))
        marker.unlink()
        eventually(lambda: post_to_mcp(box, **bearer).status_code == 200)


def test_every_line_of_a_server_with_json_is_json(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ticketbox", "serve", "--db", str(tmp_path / "new.db"), "--port", "0", "--no-open"]
    command += ["--log-format", "json", "--public-url", "http://tickets.example.org"]
    lines: list[dict[str, str]] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(json.loads(line))
            if "/setup/" in line:
                break
        refused = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        process.terminate()
        lines += [json.loads(line) for line in process.stdout]
        assert process.wait(60) == 0
    messages = [line["message"] for line in lines]
    assert f"ticketbox serves {tmp_path / 'new.db'} at http://tickets.example.org" in messages
    assert any(re.fullmatch(r"set it up .*: http://tickets.example.org/setup/\w{20,}", each) for each in messages)
    assert any(line["level"] == "warning" and "without https" in line["message"] for line in lines)
    assert (refused.returncode, refused.stdout) == (1, "")
    (error,) = [json.loads(line) for line in refused.stderr.splitlines()]
    assert (error["level"], "another ticketbox server" in error["message"]) == ("error", True)
