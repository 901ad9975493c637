"""The chips of a card: evidence, the newest verification, the open pull request, comments."""

import asyncio

import pytest
from playwright.async_api import Locator, Page, ViewportSize, expect

from tests.e2e.support.app import EVERY, PHONE, Looks, assert_accessible, expect_value, find_still_box, use
from tests.e2e.support.browser import Chromium
from tests.e2e.support.captures import capture_on, failure, request
from tests.support.server import World, ok


def verify(world: World, ticket: str, verdict: str) -> None:
    capture = ok(world.api.get(f"/tickets/{ticket}"))["capture"]["id"]
    body = {"commit": "abcdef12", "base_url": "http://localhost:3000", "verdict": verdict, "capture_id": capture}
    ok(world.api.post(f"/tickets/{ticket}/verifications", json=body))


def capture_failing(world: World) -> str:
    """A ticket with five errors and two failed requests."""
    errors = [failure(number, "rate is undefined") for number in range(5)]
    network = [request(number, f"https://shop.example/api/{number}", 500) for number in range(2)]
    return capture_on(world, errors=errors, network=network, title="Gift card fails")["id"]


@EVERY
def test_card_follows_the_fix_of_its_bug(chromium: Chromium, world: World, looks: Looks) -> None:
    ticket = capture_failing(world)

    async def watch(page: Page) -> None:
        card = page.locator(f"article:has([data-ticket='{ticket}'])")
        foot = card.locator(".foot")
        await expect(foot).to_have_text("TypeError ×5 2 failed")
        verify(world, ticket, "flaky")
        await expect(foot).to_have_text("TypeError ×5 2 failed Flaky")
        lease = ok(world.api.post(f"/tickets/{ticket}/work", json={}))["lease"]
        link = {"kind": "pull_request", "url": "https://git.example/shop/pull/316"}
        ok(world.api.post(f"/tickets/{ticket}/work/progress", json={"lease": lease, "links": [link]}))
        ok(world.api.delete(f"/tickets/{ticket}/work", headers={"Lease": lease}))
        verify(world, ticket, "gone")
        await expect(foot).to_have_text("TypeError ×5 2 failed Unproven #316")
        verify(world, ticket, "reproduced")
        verify(world, ticket, "gone")
        await expect(foot).to_have_text("Gone #316")
        await expect(foot.get_by_label("Pull request")).to_be_visible()
        await assert_accessible(page)
        body = {"column_id": world.columns[2]}
        await asyncio.to_thread(lambda: ok(world.api.post(f"/tickets/{ticket}/move", json=body)))
        await expect(foot).to_have_text("Verified #316")

    use(chromium, world.owner, f"/projects/{world.project}", watch, looks)


SHOWN = """foot => {
  const parts = [...foot.children, ...foot.querySelectorAll('.facts > *')].filter((each) => each.offsetWidth);
  const { bottom, right } = foot.getBoundingClientRect();
  const boxes = parts.map((each) => ({ each, box: each.getBoundingClientRect() }));
  const shown = boxes.filter(({ box }) => box.top < bottom).sort((a, b) => a.box.left - b.box.left);
  const lines = new Set(shown.map(({ box }) => Math.round((box.top + box.bottom) / 2)));
  if (lines.size !== 1 || shown.some(({ box }) => box.right > right + 0.5)) return 'not in one line';
  return shown.map(({ each }) => each.innerText.replaceAll(/\\s+/g, ' ').trim());
}"""


@pytest.mark.parametrize(
    "size", [{"width": 1280, "height": 900}, {"width": 1440, "height": 900}, PHONE], ids=["1280", "1440", "phone"]
)
@pytest.mark.long
def test_chips_and_facts_of_a_card_are_on_one_line(chromium: Chromium, world: World, size: ViewportSize) -> None:
    ok(world.owner.web.post(f"/projects/{world.project}/columns", json={"name": "Review"}))
    full = capture_failing(world)
    edit = {"due_on": "2031-11-26"}
    key = ok(world.api.patch(f"/tickets/{full}", json=edit, headers={"If-Match": "*"}))["key"]
    lease = ok(world.api.post(f"/tickets/{full}/work", json={}))["lease"]
    link = {"kind": "pull_request", "url": "https://git.example/shop/pull/316"}
    ok(world.api.post(f"/tickets/{full}/work/progress", json={"lease": lease, "links": [link]}))
    ok(world.api.delete(f"/tickets/{full}/work", headers={"Lease": lease}))
    labelled = world.ticket("Labels", labels=["a label with a long name", "customer report"])["id"]
    blocked = world.ticket("Blocked", labels=["technical debt"])["id"]
    ok(world.api.post(f"/tickets/{full}/links", json={"kind": "blocks", "other": blocked}))
    for ticket in (full, labelled, blocked):
        ok(world.api.post(f"/tickets/{ticket}/comments", json={"body": "Seen"}))
    looks = Looks(size, "light")

    async def look(page: Page) -> None:
        foot = page.locator(f"article:has([data-ticket='{full}']) .foot")
        await expect(foot).to_have_text("TypeError ×5 2 failed #316 1")
        await expect(page.locator(f"article:has([data-ticket='{full}']) .top")).to_contain_text("Nov 26, 2031")
        await expect(foot.get_by_label("Pull request")).to_be_visible()
        is_narrow = size["width"] == 1280
        name = foot.locator(".cut")
        if not is_narrow:
            await expect_value(lambda: foot.evaluate(SHOWN), ["TypeError ×5", "2 failed", "#316", "1"])
        else:  # the comments don't fit
            await expect_value(lambda: foot.evaluate(SHOWN), ["TypeError ×5", "2 failed", "#316"])
        assert await name.evaluate("name => name.scrollWidth <= name.clientWidth")
        foot = page.locator(f"article:has([data-ticket='{labelled}']) .foot")
        await expect_value(lambda: foot.evaluate(SHOWN), ["a label with a long name", "customer report", "1"])
        foot = page.locator(f"article:has([data-ticket='{blocked}']) .foot")
        label = [] if is_narrow else ["technical debt"]
        await expect_value(lambda: foot.evaluate(SHOWN), [f"Blocked by {key}", "1", *label])

    use(chromium, world.owner, f"/projects/{world.project}", look, looks)


TITLE_AT = "([x, y]) => document.elementFromPoint(x, y).closest('[title]')?.title"


async def expect_title(page: Page, part: Locator, title: str | None) -> None:
    """What the browser shows for a mouse that rests on a part."""
    box = await find_still_box(part)
    at = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    await page.mouse.move(*at)
    await expect_value(lambda: page.evaluate(TITLE_AT, at), title)


def test_mouse_explains_the_chips_of_a_card_and_still_opens_it(windowed: Chromium, world: World) -> None:
    ticket = capture_failing(world)
    verify(world, ticket, "flaky")
    blockers = [world.ticket(f"Blocker {number}") for number in range(2)]
    other = world.ticket("Before that", due_on="2031-11-26", priority="high")["id"]
    for each in blockers:
        ok(world.api.post(f"/tickets/{each['id']}/links", json={"kind": "blocks", "other": other}))
    ok(world.api.post(f"/tickets/{other}/comments", json={"body": "Seen"}))
    keys = ", ".join(each["key"] for each in blockers)

    async def point(page: Page) -> None:
        card = page.locator(f"article:has([data-ticket='{ticket}'])")
        await expect_title(page, card.get_by_text("TypeError"), "TypeError")
        await expect_title(page, card.get_by_text("2 failed"), "Failed requests: 2")
        await expect_title(page, card.get_by_text("Flaky"), "The rounds had different results")
        card = page.locator(f"article:has([data-ticket='{other}'])")
        await expect_title(page, card.get_by_text("Blocked by"), f"Blocked by {keys}")
        await expect_title(page, card.locator(".title"), "")
        actions = card.get_by_role("group", name="Actions for Before that")  # they cover the due date
        due = actions.get_by_role("button", name="Due date")
        await expect(due).to_have_attribute("title", "Due date (d): Nov 26, 2031")
        await expect(actions.get_by_role("button", name="Assign")).to_have_attribute("title", "Assign (a)")
        # a chip belongs to the link, and can be dragged
        chip = card.get_by_text("Blocked by")
        lane = page.get_by_role("region", name="In progress")
        await chip.hover(force=True)
        await page.mouse.down()
        box = await find_still_box(lane)
        await page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=4)
        await page.mouse.up()
        await expect(lane.locator("[data-ticket]")).to_have_count(1)
        await chip.click(force=True)
        await expect(page.get_by_role("heading", name="Before that", level=1)).to_be_visible()

    async def look(page: Page) -> None:
        card = page.locator(f"article:has([data-ticket='{other}'])")
        await expect_title(page, card.get_by_text("Nov 26, 2031"), "Due Nov 26, 2031")
        await expect_title(page, card.locator(".top svg").first, "High")

    looks = Looks({"width": 1600, "height": 900}, "light")
    # people who can write have buttons in the place of the first line
    use(windowed, world.join("Vic", "viewer"), f"/projects/{world.project}", look, looks)
    use(windowed, world.owner, f"/projects/{world.project}", point, looks)
