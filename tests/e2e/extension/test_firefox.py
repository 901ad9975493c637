"""Mozilla's linter accepts the extension for Firefox. test_firefox_entry_points.py captures pages with it."""

import json
from pathlib import Path

import pytest

from tests.e2e.support.extension_browser import unpack
from tests.support.npm import install_once, node
from ticketbox.http.extension_zip import EXTENSION

pytestmark = pytest.mark.long

LINTER = "web-ext@10.7.0"


def test_mozillas_linter_reports_nothing(tmp_path: Path) -> None:
    source = tmp_path / "extension"
    unpack((EXTENSION / "firefox.zip").read_bytes(), source)
    linter = install_once(LINTER) / "web-ext" / "bin" / "web-ext.js"
    lint = node(linter, "lint", "--no-config-discovery", "--output=json", f"--source-dir={source}", home=tmp_path)
    summary = json.loads(lint.stdout)["summary"]
    assert summary == {"errors": 0, "notices": 0, "warnings": 0}, lint.stdout
