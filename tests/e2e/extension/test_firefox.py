"""The extension in Firefox: accepted by Mozilla's linter, and capturing a page."""

import json
from pathlib import Path

import pytest

from tests.e2e.sites.varied_site import VariedSite
from tests.e2e.support.extension_browser import unpack
from tests.e2e.support.firefox import Firefox
from tests.e2e.support.firefox_extension import connect_with_token, create_ticket, require_firefox
from tests.e2e.support.reported_ticket import STREAMS, ReportedTicket
from tests.support.npm import install, node
from tests.support.server import World
from ticketbox.http.extension_zip import EXTENSION

pytestmark = pytest.mark.long

LINTER = "web-ext@10.7.0"


@pytest.fixture
def archive() -> bytes:
    """The zip for Firefox."""
    return (EXTENSION / "firefox.zip").read_bytes()


def test_mozillas_linter_reports_nothing(archive: bytes, tmp_path: Path) -> None:
    source = tmp_path / "extension"
    unpack(archive, source)
    linter = install(LINTER, tmp_path) / "bin" / "web-ext.js"
    lint = node(linter, "lint", "--no-config-discovery", "--output=json", f"--source-dir={source}", home=tmp_path)
    summary = json.loads(lint.stdout)["summary"]
    assert summary == {"errors": 0, "notices": 0, "warnings": 0}, lint.stdout


def test_firefox_captures_what_the_page_did(world: World, archive: bytes, tmp_path: Path) -> None:
    secret = world.owner.token("tickets:write")
    with VariedSite() as varied_site, Firefox(require_firefox(), archive, tmp_path) as firefox:
        options = connect_with_token(firefox, world.box.url, secret)
        page = firefox.open(f"{varied_site.url}/plain")
        firefox.wait_until(page, "document.title === 'plain'")
        firefox.open_popup(page)
        key = create_ticket(firefox, options)

    ticket = ReportedTicket(world, key)
    assert ticket.stream_statuses() == dict.fromkeys(STREAMS, ("ok", None))
    assert ticket.record["created"]["via"] == "extension"
    assert "Firefox" in ticket.capture["environment"]["browser"]
    assert ticket.console_args() == [["from plain", "/plain"]]
    assert ticket.request_summaries() == [("document", "/plain", 200), ("fetch", "/data.json?from=plain", 200)]
    (error,) = ticket.streams["errors"]
    assert (error["kind"], error["name"], error["message"]) == ("error", "RangeError", "broken in plain")
    assert "extension://" not in json.dumps(ticket.streams)
    assert ticket.screenshot.headers["content-type"] == "image/png"
