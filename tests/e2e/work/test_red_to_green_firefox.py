"""A bug in the demo's sample shop, captured in Firefox: people and agents see the steps, the replay and the stack."""

import json
from pathlib import Path

import pytest

from tests.demo import Demo
from tests.e2e.sites.sample_shop import STEPS
from tests.e2e.sites.shop_evidence import check_agent_reads, expect_evidence
from tests.e2e.support.browser import Chromium
from tests.e2e.support.firefox import Firefox
from tests.e2e.support.firefox_extension import connect_with_token, create_ticket, require_firefox
from tests.support.server import ok
from ticketbox.http.extension_zip import EXTENSION

pytestmark = pytest.mark.long


def break_shop(firefox: Firefox, address: str) -> str:
    """Break the gift cards of the shop, and run into it; return the tab."""
    page = firefox.open(address)
    # The choice loads the page again, which would end a request that still runs with an error.
    firefox.wait_until(page, "document.querySelector('#faults input') && document.querySelector('article button')")
    firefox.click(page, "document.querySelector('#faults input[value=gift-card]')")
    firefox.wait_until(page, "document.querySelector('#faults.gift-card') && document.querySelector('article button')")
    firefox.click(page, "document.querySelector('article button')")
    firefox.wait_until(page, "document.querySelector('#bag').innerText.includes('1')")
    firefox.click(page, "document.querySelector('#bag')")
    firefox.wait_until(page, "location.pathname === '/cart' && document.querySelector('#lines article')")
    firefox.evaluate(page, "document.querySelector('#gift-card input').focus()")
    firefox.press_keys(page, "AUTUMN40")
    firefox.click_button(page, "Apply gift card")
    firefox.wait_until(page, "document.querySelector('#gift-card button').disabled")
    return page


def test_bug_in_the_shop_is_captured_with_steps_replay_and_stack(
    demo: Demo, chromium: Chromium, tmp_path: Path
) -> None:
    agent, archive = demo.client(demo.token), (EXTENSION / "firefox.zip").read_bytes()
    (project,) = (each for each in ok(agent.get("/projects"))["items"] if each["name"] == "Web shop")
    owner = demo.client()
    ok(owner.post("/session", json={"email": "demo@example.org", "password": demo.password}))
    ok(owner.patch(f"/projects/{project['id']}", json={"url_patterns": [f"{demo.shop}/*"]}))
    with Firefox(require_firefox(), archive, tmp_path) as firefox:
        options = connect_with_token(firefox, demo.url, demo.token)
        firefox.evaluate(options, "chrome.runtime.sendMessage({kind: 'load-projects'}).then(() => 1)")
        page = break_shop(firefox, demo.shop)
        firefox.open_popup(page)
        key = create_ticket(firefox, options)

    ticket = ok(agent.get(f"/tickets/{key}"))
    assert ticket["title"] == "TypeError after clicking “Apply gift card”"
    capture = f"/captures/{ticket['capture']['id']}"
    steps = ok(agent.get(f"{capture}/actions"))["items"]
    assert [each["words"] for each in steps if each["kind"] != "scroll"] == STEPS
    (error,) = ok(agent.get(f"{capture}/errors"))["items"]
    assert error["name"] == "TypeError"
    assert error["frames"][0]["function"] == "readAmount"
    assert error["frames"][0]["url"].endswith("/cart.js")
    events = json.dumps(ok(agent.get(f"{capture}/replay")))
    assert "Please wait" in events
    assert "AUTUMN40" not in events
    check_agent_reads(demo, ticket, "AUTUMN40")
    chromium.visit(lambda page: expect_evidence(page, demo, ticket), fresh=True)
