"""What the test of `ticketbox verify` gets from the machine, and what its results say (docs/use/verifications.md)."""

import json
import os
import sys
from pathlib import Path

import pytest

from ticketbox.cli.client.verify.playwright import Runner, prepare_runner, run_rounds

WRITE = """
import json, os
seen = {"verdict": "gone", "stopped_at": None, "reason": None, "errors": [], "screenshot": None}
open(os.environ["REPRODUCTION_RESULT"], "w").write(json.dumps(seen | {"console_errors": sorted(os.environ)}))
"""


def read_environment(folder: Path, *, offline: bool = False) -> set[str]:
    """The names of the variables that a test gets."""
    runner = Runner("Node", [sys.executable, "-S", "-c", WRITE], runs_all=False)
    (seen,) = run_rounds(runner, folder, "http://localhost:9", 1, offline=offline)
    return set(seen.console_errors)


def test_secrets_of_the_environment_do_not_reach_the_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = (
        "SERVICE_API_TOKEN", "TICKETBOX_LEASE", "TICKETBOX_OIDC_CLIENT_SECRET", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY",
        "NPM_CONFIG__AUTH", "PLAYWRIGHT_SERVICE_ACCESS_TOKEN", "NODE_OPTIONS", "DATABASE_URL", "XDG_SECRET",
    )  # fmt: skip
    for name in (*secrets, "LANG", "PLAYWRIGHT_BROWSERS_PATH"):
        monkeypatch.setenv(name, "x")
    found = read_environment(tmp_path)
    assert not found & set(secrets)
    assert {"PATH", "HOME", "LANG", "PLAYWRIGHT_BROWSERS_PATH", "BASE_URL"} <= found
    known = {"BASE_URL", "REPRODUCTION_RESULT", "REPRODUCTION_RESULTS", "PATH", "HOME", "LC_CTYPE"}
    assert found - known <= set(os.environ)
    assert "REPRODUCTION_OFFLINE" not in found
    assert "REPRODUCTION_OFFLINE" in read_environment(tmp_path, offline=True)


@pytest.mark.parametrize("sandboxed", [True, False])
def test_browser_has_its_sandbox_unless_it_is_turned_off(tmp_path: Path, sandboxed: bool) -> None:
    prepare_runner(tmp_path, "/usr/bin/chromium", sandboxed=sandboxed)
    written = "".join(
        path.read_text() for path in tmp_path.rglob("*") if path.suffix in (".js", ".mjs") and path.is_file()
    )
    assert json.dumps({"chromiumSandbox": sandboxed, "executablePath": "/usr/bin/chromium"}) in written
