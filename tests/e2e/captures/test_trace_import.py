"""`ticketbox capture import` with a trace and a HAR file that the installed Playwright writes."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Route, sync_playwright

from tests.e2e.sites.shop_with_bug import MESSAGE, serve_shop
from ticketbox.cli.client.imports.files import read_file
from ticketbox.domain.captures.capture import NetworkEntry, Stream
from ticketbox.domain.captures.imports.recording import Recording
from ticketbox.domain.captures.imports.trace import read_trace
from ticketbox.domain.captures.steps import describe_action

CARD = '{"card": null}'
ANSWERS = {"**/cart/1729": '{"total": "12.50"}', "**/gift-cards": CARD}


@pytest.mark.long
def test_trace_and_har_of_the_installed_playwright_are_read(shell: str, tmp_path: Path) -> None:
    trace, har = tmp_path / "trace.zip", tmp_path / "shop.har"
    with serve_shop(fixed=False) as base:
        for _ in range(5):  # Playwright can end a trace before it has read the last body
            _record(shell, base, trace, har)
            if all(any(each.response.body == CARD for each in _list_requests(path)) for path in (trace, har)):
                break

    recording = _read_recording(trace)
    assert [describe_action(each) for each in recording.entries[Stream.ACTIONS].kept] == [
        "Opened /cart?id=1729",
        "Typed 1–10 characters into “Code”",
        "Clicked button “Apply gift card”",
    ]
    assert [each.message for each in recording.entries[Stream.ERRORS].kept] == [MESSAGE]
    assert recording.page_url == f"{base}/cart?id=1729"
    assert recording.screenshot is not None
    calls = [(each.method, each.url.rpartition("/")[2], each.response.body) for each in _list_requests(trace)]
    assert ("POST", "gift-cards", CARD) in calls
    assert [(each.method, each.url, each.response.body) for each in _list_requests(har)] == [
        (each.method, each.url, each.response.body) for each in _list_requests(trace)
    ]


def _record(shell: str, base: str, trace: Path, har: Path) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shell, args=["--no-sandbox"])
        context = browser.new_context(record_har_path=har)
        context.tracing.start(screenshots=True, snapshots=True)
        page = context.new_page()
        for address, body in ANSWERS.items():
            page.route(address, _answer(body))
        page.goto(f"{base}/cart?id=1729")
        page.get_by_label("Code").fill("SPRING")
        with (
            page.expect_event("pageerror"),
            page.expect_request_finished(lambda each: "gift-cards" in each.url) as finished,
        ):
            page.get_by_role("button", name="Apply gift card").click()
        response = finished.value.response()
        assert response is not None
        assert response.body()
        context.tracing.stop(path=trace)
        context.close()
        browser.close()


def _answer(body: str) -> Callable[[Route], None]:
    headers = {"Access-Control-Allow-Origin": "*"}
    return lambda route: route.fulfill(body=body, content_type="application/json", headers=headers)


def _read_recording(path: Path) -> Recording:
    if path.suffix == ".zip":
        return read_trace(path.read_bytes())
    recording = read_file(path)
    assert isinstance(recording, Recording)
    return recording


def _list_requests(path: Path) -> list[NetworkEntry]:
    return sorted(_read_recording(path).entries[Stream.NETWORK].kept, key=lambda each: each.ts)
