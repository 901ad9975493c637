"""A ticket beside the inbox: what its agent asks and plans, and what the last verification found."""

import asyncio
import re

import pytest
from playwright.async_api import Page, ViewportSize, expect

from tests.e2e.support.app import PHONE, Looks, assert_accessible, assert_fits, expect_value, use
from tests.e2e.support.browser import Chromium
from tests.e2e.support.captures import HEIGHT, WIDTH, capture_on
from tests.e2e.work.test_agents_at_work import CHOICES, PLAN, QUESTION, Agent
from tests.support.pictures import png
from tests.support.server import World, ok

IS_LOADED = "(image) => image.complete && image.naturalWidth > 0"
WIDE: ViewportSize = {"width": 1440, "height": 900}
NARROW: ViewportSize = {"width": 1024, "height": 768}


@pytest.mark.long
def test_question_plan_and_verification_are_separate(chromium: Chromium, world: World) -> None:
    agent = Agent(world, "Gift card fails")
    agent.report(plan=PLAN)
    path = f"/tickets/{agent.ticket['id']}"
    shot = ok(agent.client.post(f"{path}/attachments", files={"file": ("gone.png", png())}))["id"]
    run = {"commit": "abcdef12", "base_url": "http://localhost:3000", "rounds": 3}
    ok(agent.client.post(f"{path}/verifications", json={**run, "verdict": "reproduced"}))
    ok(agent.client.post(f"{path}/verifications", json={**run, "verdict": "gone", "screenshot": shot}))
    agent.ask(*CHOICES)

    async def look(page: Page) -> None:
        details = page.get_by_role("article", name="Gift card fails")
        asked = details.get_by_role("group", name="Claude Code", exact=True)
        await expect(asked.get_by_role("button", name="Fix it here")).to_be_visible()
        await expect(details.get_by_role("list", name="Plan")).to_contain_text(
            "Verify the fix in three runs: In progress"
        )
        await expect(asked.get_by_role("list", name="Plan")).to_have_count(0)
        verification = details.get_by_role("region", name="Verification")
        await expect(verification).to_contain_text("Unproven")
        await expect(verification).to_contain_text("abcdef1")
        await expect(verification).to_contain_text("3 rounds")
        await expect(verification).not_to_contain_text("Reproduced")
        await expect(verification.locator("img")).to_be_visible()
        await assert_accessible(page)
        await assert_fits(page)
        await verification.get_by_role("link", name="Open ticket with verifications").click()
        await expect(page.get_by_role("heading", name="Gift card fails", level=1)).to_be_visible()

    use(chromium, world.owner, "/inbox", look, Looks(WIDE, "light"))


def test_question_says_when_it_was_asked_beside_what_is_marked(chromium: Chromium, world: World) -> None:
    agent = Agent(world, "Gift card fails")
    agent.report(plan=PLAN)
    capture_on(world, ticket_id=agent.ticket["id"])
    marked = ok(world.api.get(agent.page))["capture"]["screenshot_id"]
    agent.ask(*CHOICES)

    async def look(page: Page) -> None:
        details = page.get_by_role("article", name="Gift card fails")
        asked = details.get_by_role("group", name="Claude Code", exact=True)
        await expect(asked).to_contain_text(re.compile(r"Asked \d+ s ago · step 2 of 3 · works for Ann"))
        await expect(asked).not_to_contain_text("last seen")
        picture = asked.get_by_role("img", name="Screenshot")
        await expect_value(lambda: picture.evaluate(IS_LOADED), expected=True)
        await expect(details.get_by_role("img", name="Screenshot")).to_have_count(1)
        question = await asked.get_by_text(QUESTION).bounding_box()
        beside = await asked.get_by_role("link", name="Screenshot").bounding_box()
        assert question
        assert beside
        assert beside["height"] == 92  # as on a card
        assert beside["x"] >= question["x"] + question["width"]
        assert abs(beside["y"] - question["y"]) < 8
        answers = await asked.get_by_role("button").all()
        rows = {box["y"] for box in [await each.bounding_box() for each in answers] if box}
        assert len(rows) == 1, "the answers need more than one line"
        before = await picture.get_attribute("src")
        geometry = {"x": 10, "y": HEIGHT / 2, "width": WIDTH / 10, "height": HEIGHT / 10}
        body = {"annotations": [{"kind": "rectangle", "geometry": geometry}]}
        await asyncio.to_thread(lambda: ok(world.api.put(f"/assets/{marked}/annotations", json=body)))
        assert before
        await expect(picture).to_have_attribute("src", before.replace("version=1", "version=2"))
        await expect_value(lambda: picture.evaluate(IS_LOADED), expected=True)
        await picture.click()
        await expect(page).to_have_url(f"{world.box.url}{agent.page}/screenshot")

    use(chromium, world.owner, "/inbox", look, Looks(WIDE, "light"))


@pytest.mark.parametrize("size", [NARROW, pytest.param(PHONE, marks=pytest.mark.long)], ids=["tablet", "phone"])
def test_question_in_the_list_says_when_it_was_asked_and_shows_the_picture(
    chromium: Chromium, world: World, size: ViewportSize
) -> None:
    agent = Agent(world, "Gift card fails")
    agent.report(plan=PLAN)
    capture_on(world, ticket_id=agent.ticket["id"])
    agent.ask(*CHOICES)

    async def look(page: Page) -> None:
        item = page.get_by_role("list", name="Needs your answer").get_by_role("listitem")
        asked = item.get_by_role("group", name="Claude Code", exact=True)
        await expect(asked).to_contain_text(re.compile(r"Asked \d+ s ago · step 2 of 3 · works for Ann"))
        await expect(item.get_by_text(QUESTION)).to_have_count(1)  # and not once more as the excerpt
        await expect(item.get_by_role("link", name="Gift card fails")).to_be_visible()
        picture = asked.get_by_role("img", name="Screenshot")
        await expect_value(lambda: picture.evaluate(IS_LOADED), expected=True)
        await assert_accessible(page)
        await assert_fits(page)
        await picture.click()
        await expect(page).to_have_url(f"{world.box.url}{agent.page}/screenshot")

    use(chromium, world.owner, "/inbox", look, Looks(size, "light"))


@pytest.mark.long
def test_ticket_without_an_agent_shows_neither_plan_nor_verification(chromium: Chromium, world: World) -> None:
    bea = world.join("Bea")
    ticket = world.ticket("Broken link")["id"]
    body = {"body": f"Can you look, @{world.owner.name}?"}
    ok(bea.client("comments").post(f"/tickets/{ticket}/comments", json=body))

    async def look(page: Page) -> None:
        details = page.get_by_role("article", name="Broken link")
        await expect(details.get_by_role("heading", name="Notifications")).to_be_visible()
        await expect(details.get_by_text("To do")).to_be_visible()
        await expect(details.get_by_role("heading", name="Plan")).to_have_count(0)
        await expect(details.get_by_role("heading", name="Verification")).to_have_count(0)

    use(chromium, world.owner, "/inbox", look, Looks(WIDE, "light"))
