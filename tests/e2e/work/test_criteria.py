"""Criteria on the ticket's page: added, accepted and waived by a person, checked by agents (docs/use/criteria.md)."""

from typing import Any

from playwright.async_api import Page, expect

from tests.e2e.support.app import EVERY, Looks, assert_accessible, assert_fits, use
from tests.e2e.support.browser import Chromium
from tests.support.server import World, ok


@EVERY
def test_person_adds_accepts_and_waives_what_agents_prove(chromium: Chromium, world: World, looks: Looks) -> None:
    ticket = world.ticket("The total is wrong")["id"]
    agent = world.owner.client("tickets:write", label="Claude Code")

    def prove(criterion: str, **given: Any) -> None:
        evidence = {"kind": "command", "text": "npm test -- total", "exit_status": 0, "commit": "9fceb02d", **given}
        ok(agent.post(f"/criteria/{criterion}/evidence", json=evidence))

    async def visit(page: Page) -> None:
        section = page.get_by_role("region", name="Criteria")
        await expect(page.get_by_role("heading", level=1)).to_have_text("The total is wrong")
        await expect(section).to_have_count(0)
        await page.get_by_role("button", name="More", exact=True).click()
        await page.get_by_role("menuitem", name="Add criterion").click()
        await page.get_by_label("What must be true").fill("The total has the discount")
        await page.get_by_role("dialog").get_by_role("button", name="Add criterion").click()
        total = section.get_by_role("listitem", name="The total has the discount")
        await expect(section).to_contain_text("0/1 met")
        first = ok(agent.get(f"/tickets/{ticket}/criteria"))["criteria"][0]["id"]
        second = ok(agent.post(f"/tickets/{ticket}/criteria", json={"text": "Prices have two digits"}))["id"]
        prices = section.get_by_role("listitem", name="Prices have two digits")
        await expect(prices).to_contain_text("Proposed")
        prove(first, exit_status=1, output=["expected 80.00, received 40.00"])
        await expect(total).to_contain_text("Failed")
        await total.get_by_text("Output").click()
        await expect(total).to_contain_text("expected 80.00, received 40.00")
        ok(agent.post(f"/criteria/{second}/evidence", json={"text": "I looked at the cart"}))
        await expect(prices).to_contain_text("Stated")
        prove(first, duration_ms=4200, dirty=True)
        await expect(total).to_contain_text("Passed")
        await expect(total).to_contain_text("9fceb02 with changes")
        await expect(section).to_contain_text("1/2 met")
        await assert_accessible(page)
        await assert_fits(page)
        await prices.get_by_role("button", name="Accept").click()
        await expect(prices).to_contain_text("Accepted")
        await expect(prices).not_to_contain_text("Proposed")
        await total.get_by_role("button", name="Actions").click()
        await page.get_by_role("menuitem", name="Edit criterion").click()
        await page.get_by_label("What must be true").fill("The total has both discounts")
        await page.get_by_role("button", name="Save criterion").click()
        total = section.get_by_role("listitem", name="The total has both discounts")
        await expect(total).to_contain_text("Stale")
        await total.get_by_role("button", name="Actions").click()
        await page.get_by_role("menuitem", name="Waive criterion").click()
        await expect(section).to_contain_text("2/2 met")
        await assert_accessible(page)
        await page.goto(f"{world.box.url}/projects/{world.project}")
        await expect(page.get_by_title("Criteria that are met")).to_have_text("2/2")

    use(chromium, world.owner, f"/tickets/{ticket}", visit, looks)
