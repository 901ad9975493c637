"""The recorder survives pages that replace built-in functions or open their document again."""

import pytest
from playwright.async_api import Page, expect

from tests.e2e.sites.hostile_site import HostileSite
from tests.e2e.support.extension_browser import ExtensionBrowser
from tests.e2e.support.reported_ticket import STREAMS, report_page
from tests.support.server import World

pytestmark = pytest.mark.long

COMPLETE = dict.fromkeys(STREAMS, ("ok", None))


def test_page_with_replaced_functions_is_recorded(recording_browser: ExtensionBrowser, reporter: World) -> None:
    async def visit(page: Page) -> None:
        async with page.expect_event("pageerror"):
            await page.goto(f"{site.url}/replaced")
        await expect(page).to_have_title("done")

    with HostileSite() as site:
        ticket = report_page(recording_browser, reporter, visit)
    lines = ticket.console_args()
    assert lines[:2] == [
        [
            "values", 'Map(1) {"a" => {b: 1}}', 'Set(2) {1, "x"}', f'URL "{site.url}/here"', 'Response 418 ""',
            '{deep: Map(1) {"a" => {b: 1}}}',
        ],
        ["odd", "(unreadable)"],
    ]  # fmt: skip
    assert "outer" in lines[2][0]
    assert "Caused by: " in lines[2][0]
    assert "inner" in lines[2][0]
    assert "all failed" in lines[3][0]
    assert "RangeError: one" in lines[3][0].partition("Error 1: ")[2]
    assert lines[4:8] == [["in a group"], ["default: 1"], ["clicks: 1"], ["clicks: 2"]]
    assert lines[8][0].startswith("work: ")
    assert lines[9:] == [["node"]]
    (error,) = ticket.streams["errors"]
    assert error["message"] == "thrown late"
    assert error["stack"].endswith("Caused by: the cause")
    assert ("fetch", "/data?from=replaced", 200) in ticket.request_summaries()
    assert ticket.stream_statuses() == COMPLETE


def test_opened_document_and_written_frame_are_recorded(recording_browser: ExtensionBrowser, reporter: World) -> None:
    async def visit(page: Page) -> None:
        async with page.expect_event("pageerror"):
            await page.goto(f"{site.url}/opened")
        await expect(page).to_have_title("opened")
        await page.get_by_role("button", name="Again").click()
        await page.evaluate("document.querySelector('button').click()")

    with HostileSite() as site:
        ticket = report_page(recording_browser, reporter, visit)
    assert {"before", "after"} <= {args[0] for args in ticket.console_args()}
    assert [each["message"] for each in ticket.streams["errors"]] == ["after opening"]
    clicks = [(each["words"], each["synthetic"]) for each in ticket.streams["actions"] if each["kind"] == "click"]
    assert clicks == [("Clicked button “Again”", False), ("Clicked button “Again” (by a script)", True)]
    assert ticket.stream_statuses() == COMPLETE
