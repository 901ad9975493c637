"""Run the commands of the pages unchanged, with a real server, shell and curl."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, blocks, page_path
from tests.support.server import Box

README = ROOT / "README.md"
QUICKSTART = ROOT / "docs" / "use" / "quickstart.md"
ADDRESS = "http://localhost:8420"
# `uv run` would resolve and install; the environment already exists.
SHELL = 'set -euo pipefail\nuv() { shift; "$@"; }\ncurl() { command curl --fail "$@" && echo; }\n'

pytestmark = pytest.mark.skipif(shutil.which("curl") is None and "CI" not in os.environ, reason="needs curl")


def run(page: Path, box: Box, folder: Path) -> str:
    """Run the blocks of a page as one script in the given folder. Returns the output."""
    script = "\n".join(blocks(page, "sh test"))
    assert ADDRESS in script
    (folder / "docs").symlink_to(ROOT / "docs")
    done = subprocess.run(
        ["bash", "-c", SHELL + script.replace(ADDRESS, box.url)],
        cwd=folder,
        env={
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "TICKETBOX_DB": str(box.db),
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, f"{page_path(page)}: {done.stdout}\n{done.stderr}"
    return done.stdout


def records(printed: str) -> list[dict[str, object]]:
    """Return the JSON objects in the output, one per line."""
    return [json.loads(line) for line in printed.splitlines() if line.startswith("{")]


@pytest.mark.long
def test_quickstart_commands_work(tmp_path: Path) -> None:
    with Box(tmp_path / "new.db") as box:
        printed = run(QUICKSTART, box, tmp_path)
    printed_records = records(printed)
    assert printed_records[0].keys() == {"user_id", "company_id", "project_id", "columns"}
    tickets = {str(record["title"]): record for record in printed_records if "assignees" in record}
    ticket, report = tickets["The cart stays empty"], tickets["The total is NaN"]
    assert ticket["column_id"] != printed_records[0]["columns"][0]["id"]  # type: ignore[index]
    assert str(ticket["branch"]).endswith("-the-cart-stays-empty")
    counts = {"console": 1, "network": 1, "errors": 1, "failed_requests": 1, "actions": 0}
    assert report["capture"]["counts"] == counts  # type: ignore[index]
    assert report["capture"]["console"]["items"][0]["args"] == ["cart total is NaN"]  # type: ignore[index]
    assert report["source_url"] == "https://shop.example/cart?token=[redacted]"
    assert "s3cr3t" not in printed
    assert (tmp_path / "screenshot.png").read_bytes().startswith(b"\x89PNG")
    members = next(each["items"] for each in reversed(printed_records) if "items" in each)
    assert [member["name"] for member in members] == ["Ann", "Bob"]  # type: ignore[union-attr]
    assert json.loads((tmp_path / "requests.har").read_text())["log"]["version"] == "1.2"


@pytest.mark.parametrize("page", [README, ROOT / "CONTRIBUTING.md"], ids=page_path)
def test_readme_and_contributing_have_the_same_commands(page: Path) -> None:
    commands = "\n".join(blocks(page, "sh"))
    assert "uv run --group dev pytest" in commands
    assert "uv run ticketbox serve" in commands
