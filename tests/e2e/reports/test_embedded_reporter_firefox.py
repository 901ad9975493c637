"""The reporter on a page of another origin, in Firefox."""

from pathlib import Path

import pytest

from tests.e2e.reports.test_embedded_reporter import read_capture
from tests.e2e.sites.reporting_site import ReportingSite
from tests.e2e.support.firefox import Firefox
from tests.e2e.support.firefox_extension import require_firefox
from tests.http.reports.test_reports import AWS_KEY, Reporter
from tests.support.server import World
from ticketbox.http.extension_zip import EXTENSION

pytestmark = pytest.mark.long

ROOT = "document.querySelector('ticketbox-reporter')?.shadowRoot"
PICTURE = f"{ROOT}.querySelector('iframe')?.contentDocument"


def test_stranger_reports_from_a_page_with_a_strict_policy(world: World, tmp_path: Path) -> None:
    archive = (EXTENSION / "firefox.zip").read_bytes()
    with ReportingSite() as site, Firefox(require_firefox(), archive, tmp_path) as firefox:
        reporter = Reporter(world, origins=[site.url])
        site.embed(world.box.url, reporter.key["key"])
        page = firefox.open(f"{site.url}/cart?api_key={AWS_KEY}")
        firefox.wait_until(page, f"{ROOT}?.querySelector('.launcher')")
        firefox.click_button(page, "Add lamp")
        firefox.click(page, f"{ROOT}.querySelector('.launcher')")
        firefox.wait_until(page, f"{ROOT}.activeElement?.matches('dialog[open] input')")
        firefox.wait_until(page, f"{PICTURE}?.querySelector('h1')")
        firefox.wait_until(page, f"getComputedStyle({PICTURE}.querySelector('h1')).color === 'rgb(0, 80, 0)'")
        firefox.press_keys(page, "The cart stays empty")
        firefox.click(page, f"{ROOT}.querySelector('[type=submit]')")
        firefox.wait_until(page, f"{ROOT}.querySelector('[role=status] a[href*=\"/r/rcpt_\"]')")

    detail, streams = read_capture(world, reporter)
    assert detail["title"] == "The cart stays empty"
    assert AWS_KEY not in str((detail, streams))
    assert [each["args"] for each in streams["console"]] == [["cart is", "broken"]]
    assert ("TypeError", "no lamp") in [(each["name"], each["message"]) for each in streams["errors"]]
    refused = [each["message"] for each in streams["errors"] if each["kind"] == "csp"]
    assert not [each for each in refused if "favicon" not in each]  # Firefox asks the site for its icon
    assert [each["words"] for each in streams["actions"] if each["kind"] == "click"] == ["Clicked button “Add lamp”"]
