"""What people see of agents at work: on the ticket page, the board and the table, while real agents call the API."""

import asyncio
import re
import time
from typing import Any

import httpx
import pytest
from playwright.async_api import Page, Route, expect

from tests.e2e.support.app import EVERY, LOOKS, Looks, assert_accessible, assert_fits, expect_stored, use
from tests.e2e.support.browser import Chromium
from tests.http.events.test_waiting import count_waiting
from tests.http.git.test_git_hooks import Repository
from tests.support.git_payloads import GITHUB, build_check_suite, build_pull_request
from tests.support.mcp_client import call_tool
from tests.support.operation_cases import update_row
from tests.support.server import World, eventually, ok


def start_work(client: httpx.Client, ticket: dict[str, str], run: str | None = "studio, worktree 3") -> str:
    """Start work on a ticket as an agent; return the lease."""
    return ok(client.post(f"/tickets/{ticket['id']}/work", json={"run": run}))["lease"]


@EVERY
def test_ticket_page_shows_the_agent_at_work(chromium: Chromium, world: World, looks: Looks) -> None:
    ticket = world.ticket("Cart total shows NaN")
    agent = world.owner.client("tickets:write", label="Claude Code")

    async def watch(page: Page) -> None:
        await expect(page.get_by_role("heading", level=1)).to_have_text("Cart total shows NaN")
        panel = page.get_by_role("region", name="Claude Code")
        await expect(panel).to_have_count(0)
        lease = start_work(agent, ticket)
        await expect(panel).to_be_visible()
        await expect(panel).to_contain_text("studio, worktree 3")
        await expect(panel).to_contain_text(re.compile(r"At work for\s*\d+ s"))
        await expect(page.get_by_role("button", name="Start work", exact=True)).to_have_count(0)
        await assert_accessible(page)
        await assert_fits(page)
        ok(agent.delete(f"/tickets/{ticket['id']}/work", headers={"Lease": lease}))
        await expect(panel).to_have_count(0)

    use(chromium, world.owner, f"/tickets/{ticket['id']}", watch, looks)


@pytest.mark.long
@pytest.mark.parametrize("role", ["owner", "admin"])
def test_person_behind_the_token_and_admins_release_the_ticket(chromium: Chromium, world: World, role: str) -> None:
    ticket, bob = world.ticket(), world.join("Bob")
    start_work(bob.client("tickets:write", label="Codex"), ticket)
    person = bob if role == "owner" else world.owner

    async def release(page: Page) -> None:
        panel = page.get_by_role("region", name="Codex")
        await panel.get_by_role("button", name="Release ticket").press("Enter")
        await expect(page.get_by_role("region", name="Messages")).to_contain_text("Ticket released")
        await expect(panel).to_have_count(0)
        await expect(page.get_by_role("button", name="Start work", exact=True)).to_be_visible()

    use(chromium, person, f"/tickets/{ticket['id']}", release)
    assert ok(world.api.get(f"/tickets/{ticket['id']}"))["claim"] is None


@pytest.mark.long
def test_other_members_cannot_release_the_ticket(chromium: Chromium, world: World) -> None:
    ticket, mia = world.ticket(), world.join("Mia")
    start_work(world.owner.client("tickets:write", label="Codex"), ticket, None)

    async def look(page: Page) -> None:
        panel = page.get_by_role("region", name="Codex")
        await expect(panel).to_contain_text("Works for Ann")
        await expect(panel.get_by_role("button", name="Release ticket")).to_have_count(0)

    use(chromium, mia, f"/tickets/{ticket['id']}", look)


@pytest.mark.long
@EVERY
def test_board_and_table_show_who_works_since_when(chromium: Chromium, world: World, looks: Looks) -> None:
    ticket, other = world.ticket("Cart total shows NaN"), world.ticket("Nobody works on this")
    agent = world.owner.client("tickets:write", label="Claude Code")

    async def watch(page: Page) -> None:
        card = page.get_by_role("main").locator(".card, tr", has_text="Cart total shows NaN")
        await expect(card).to_be_visible()
        await expect(card).not_to_contain_text("Claude Code")
        lease = start_work(agent, ticket)
        await expect(card).to_contain_text(re.compile(r"Claude Code\s*For \d+ s"))
        await expect(page.locator(".card, tr", has_text="Nobody works on this")).not_to_contain_text("Claude Code")
        await assert_accessible(page)
        await assert_fits(page)
        await page.goto(f"{world.box.url}/projects/{world.project}/table")
        row = page.get_by_role("row").filter(has_text="Cart total")
        await expect(row).to_contain_text(re.compile(r"Claude Code\s*For \d+ s"))
        await assert_accessible(page)
        await page.go_back()
        await expect(card).to_contain_text("Claude Code")
        ok(agent.delete(f"/tickets/{ticket['id']}/work", headers={"Lease": lease}))
        await expect(card).not_to_contain_text("Claude Code")

    assert other["claim"] is None
    use(chromium, world.owner, f"/projects/{world.project}", watch, looks)


QUESTION = "The receipt email also shows “0.00 EUR”. Fix it in this pull request?"
CHOICES = ["Fix it here", "Create another ticket"]
QUESTION_SECONDS = 2.0  # to the screen, and from the answer to the agent, together
PLAN = [
    {"text": "Find the cause in totals.ts", "state": "done"},
    {"text": "Verify the fix in three runs", "state": "active"},
    {"text": "Ask for review"},
]
LINKS = [
    {"kind": "pull_request", "url": "https://git.example/shop/pulls/318", "state": "open"},
    {"kind": "preview", "url": "https://pr-318.shop.example/cart", "state": "ready"},
]


class Agent:
    """A run of an agent that works on a ticket of Ann's."""

    def __init__(self, world: World, title: str = "Cart total shows NaN", label: str = "Claude Code") -> None:
        self.secret = world.owner.token("tickets:write", label=label)
        self.world = world
        self.client = world.box.client(self.secret)
        self.ticket = world.ticket(title)
        self.page = f"/tickets/{self.ticket['id']}"
        self.lease = start_work(self.client, self.ticket)

    def report(self, **given: Any) -> None:
        """Report progress over MCP."""
        arguments = {"ticket_id": self.ticket["id"], "lease": self.lease, **given}
        assert not call_tool(self.world, self.secret, "report_progress", arguments).get("isError")

    def ask(self, *choices: str) -> None:
        """Ask a person."""
        given = {"lease": self.lease, "question": QUESTION, "choices": choices}
        ok(self.client.post(f"{self.page}/work/questions", json=given))

    def read_answer(self) -> str | None:
        """The answer that reached the agent."""
        return ok(self.client.get(f"{self.page}/work/answer", headers={"Lease": self.lease}))["answer"]

    def finish(self, **given: Any) -> None:
        """Finish the work."""
        ok(self.client.post(f"{self.page}/work/finish", json={"lease": self.lease, **given}))


@pytest.mark.long
@EVERY
def test_plan_note_links_and_usage_appear_as_the_agent_reports(chromium: Chromium, world: World, looks: Looks) -> None:
    agent = Agent(world)

    async def watch(page: Page) -> None:
        panel = page.get_by_role("region", name="Claude Code")
        await expect(panel).to_contain_text(re.compile(r"Working · last seen \d+ s ago"))
        await expect(panel.get_by_role("list", name="Plan")).to_have_count(0)
        agent.report(
            plan=PLAN, note="The `price` is null.", links=LINKS, usage={"input_tokens": 412_000, "cost_usd": 1.84}
        )
        if looks.size["width"] < 1080:
            await expect(panel.locator("summary")).to_have_text("Verify the fix in three runs · 1 of 3 steps done")
            await panel.locator("summary").click()
        steps = panel.get_by_role("list", name="Plan").get_by_role("listitem")
        await expect(steps).to_have_text(
            [
                "Find the cause in totals.ts: Done",
                "Verify the fix in three runs: In progress",
                "Ask for review: Not started",
            ]
        )
        await expect(panel).to_contain_text("The price is null.")
        await expect(panel.locator("code", has_text="price")).to_be_visible()
        await expect(panel).to_contain_text("412k tokens · $1.84")
        pull = panel.get_by_role("link", name="Pull request #318")
        await expect(pull).to_have_attribute("href", "https://git.example/shop/pulls/318")
        await expect(pull).to_have_attribute("rel", "noopener nofollow")
        await expect(panel.get_by_role("listitem").filter(has_text="pr-318.shop.example")).to_contain_text("ready")
        await assert_accessible(page)
        await assert_fits(page)
        agent.finish(release=True)
        await expect(panel).to_contain_text(re.compile(r"Finished \d+ s ago"))
        await expect(panel.get_by_role("button", name="Release ticket")).to_have_count(0)

    use(chromium, world.owner, agent.page, watch, looks)


def test_pull_request_of_the_agent_shows_its_title_and_checks(chromium: Chromium, world: World) -> None:
    repository, agent = Repository(world), Agent(world)
    agent.report(links=[{"kind": "pull_request", "url": f"{GITHUB}/pull/7", "state": "open"}])

    async def watch(page: Page) -> None:
        panel = page.get_by_role("region", name="Claude Code")
        line = panel.get_by_role("list", name="Links").get_by_role("listitem")
        await expect(line).to_have_text(re.compile(r"^\s*Pull request\s*#7\s*open\s*$"))
        named = build_pull_request("Use the value of the gift card", agent.ticket["key"])
        await asyncio.to_thread(repository.queue, named)
        await expect(line.get_by_role("link", name="Pull request #7 Use the value of the gift card")).to_be_visible()
        await asyncio.to_thread(repository.queue, build_check_suite("success"))
        await page.reload()  # a check alone is no event of the ticket
        await expect(line).to_contain_text("12 checks")
        await expect(line).not_to_contain_text("open")
        box = await line.bounding_box()
        assert box
        assert box["height"] <= 28  # one line
        await panel.get_by_role("button", name="Actions for Claude Code").click()
        await expect(page.get_by_role("menuitem")).to_have_text(["Copy run name", "Show all agents"])
        await page.get_by_role("menuitem", name="Show all agents").click()
        await expect(page.get_by_role("heading", name="Agents", level=1)).to_be_visible()

    use(chromium, world.owner, agent.page, watch, LOOKS["desk"])


def test_end_of_the_rail_says_in_one_line_who_created_the_ticket(chromium: Chromium, world: World) -> None:
    agent = world.owner.client("tickets:write", label="Ann's helper " + "with a long name " * 4)
    ticket = ok(agent.post("/tickets", json={"column_id": world.columns[0], "title": "Cart total shows NaN"}))
    ok(agent.patch(f"/tickets/{ticket['id']}", json={"priority": "high"}))

    async def look(page: Page) -> None:
        rail = page.get_by_role("complementary", name="Properties")
        dates = rail.locator("p", has_text="Created")
        await expect(dates).to_contain_text(re.compile(r"Created .* by Ann's helper.*·\s+Updated"))
        height, wide = await dates.evaluate(
            "(each) => [each.clientHeight, each.lastElementChild.getBoundingClientRect().right < innerWidth]"
        )
        assert height < 24  # one line
        assert wide, "the time of the update is cut off"

    use(chromium, world.owner, f"/tickets/{ticket['id']}", look)


@pytest.mark.long
@EVERY
def test_repository_of_the_agent_is_shown_and_follows_its_reports(
    chromium: Chromium, world: World, looks: Looks
) -> None:
    agent = Agent(world)
    commit = "3f2a91c0d5e84b6f7a1c2d3e4f5061728394a5b6"
    branch = "fix/" + "a-branch-with-a-long-name-" * 4

    async def watch(page: Page) -> None:
        panel = page.get_by_role("region", name="Claude Code")
        await expect(panel).to_contain_text("Working")
        if looks.size["width"] < 1080:
            await panel.locator("summary").click()
        line = panel.get_by_role("list", name="Session").get_by_role("listitem").filter(has_text="Repository")
        await expect(line).to_have_count(0)
        agent.report(repository={"branch": "main", "commit": commit, "remote": "git@git.example:shop/web.git"})
        await expect(line).to_have_text(re.compile(r"^\s*Repository\s*main · 3f2a91c · git\.example:shop/web\s*$"))
        await expect(line).to_have_attribute("title", commit)
        agent.report(repository={"branch": branch, "commit": commit, "remote": "https://git.example/shop/web.git"})
        await expect(line).to_contain_text(f"{branch} · 3f2a91c · git.example/shop/web")
        await assert_accessible(page)
        await assert_fits(page)
        assert await panel.evaluate("(each) => each.scrollWidth <= each.clientWidth"), "the line is cut off"

    use(chromium, world.owner, agent.page, watch, looks)


@pytest.mark.long
def test_question_appears_and_its_answer_reaches_the_waiting_agent_within_two_seconds(
    chromium: Chromium, world: World
) -> None:
    """The person's own time isn't counted (docs/use/work-sessions.md, "Questions")."""
    agent = Agent(world)
    given = {"ticket_id": agent.ticket["id"], "lease": agent.lease}

    async def ask_and_answer(page: Page) -> float:
        """The seconds that the question and its answer took."""
        await expect(page.get_by_role("region", name="Claude Code")).to_contain_text("Working")
        asked_at = time.monotonic()
        assert not call_tool(world, agent.secret, "ask_human", {**given, "question": QUESTION}).get("isError")
        field = page.get_by_label("Your answer")
        await field.wait_for()
        shown_at = time.monotonic()
        waiting = asyncio.create_task(
            asyncio.to_thread(call_tool, world, agent.secret, "wait_for_answer", {**given, "wait_seconds": 50})
        )
        await field.fill("Fix it here")
        await asyncio.to_thread(eventually, lambda: count_waiting(world.box) == 1)
        assert not waiting.done()
        answered_at = time.monotonic()
        await field.press("Control+Enter")
        await page.get_by_role("button", name="Send now").click()
        result = await waiting
        took = shown_at - asked_at + time.monotonic() - answered_at
        assert result["structuredContent"]["answer"] == "Fix it here"
        await expect(field).to_have_count(0)
        await expect_stored(lambda: count_waiting(world.box), 0)
        return took

    async def answer(page: Page) -> None:
        took = [await ask_and_answer(page) for _ in range(5)]
        assert min(took) < QUESTION_SECONDS, took  # other tests have the machine as well

    use(chromium, world.owner, agent.page, answer)


@pytest.mark.long
def test_silent_agent_is_shown_as_not_responding(chromium: Chromium, world: World) -> None:
    agent = Agent(world, label="Codex")
    update_row(world.box.db, "UPDATE work_session SET last_seen_at = last_seen_at - 540000 WHERE ended_at IS NULL"
               " AND ticket_id = (SELECT id FROM ticket WHERE public_id = ?)", agent.ticket["id"])  # fmt: skip

    async def look(page: Page) -> None:
        panel = page.get_by_role("region", name="Codex")
        await expect(panel).to_contain_text("Stopped responding 9 min ago")
        await expect(panel.locator(".dot.alive")).to_have_count(0)
        agent.report(note="Back")
        await expect(panel).to_contain_text("Working · last seen")
        await expect(panel.locator(".dot.alive")).to_have_count(1)

    use(chromium, world.owner, agent.page, look)


@pytest.mark.parametrize(
    "looks", [LOOKS["desk"], pytest.param(LOOKS["phone"], marks=pytest.mark.long)], ids=["desk", "phone"]
)
def test_question_is_answered_with_a_button(chromium: Chromium, world: World, looks: Looks) -> None:
    agent, is_phone = Agent(world), looks.size["width"] < 1080

    async def answer(page: Page) -> None:
        panel = page.get_by_role("region", name="Claude Code")
        await expect(panel).to_be_visible()
        agent.ask(*CHOICES)
        button = panel.get_by_role("button", name="Create another ticket")
        await expect(button).to_be_in_viewport()
        await expect(panel).to_contain_text("Waiting · last seen")
        await assert_accessible(page)
        await assert_fits(page)
        if is_phone:
            for each in await panel.get_by_role("group").get_by_role("button").all():
                box = await each.bounding_box()
                assert box
                assert box["height"] >= 44
            await button.tap()
        else:
            await page.get_by_role("button", name="Claude Code has a question").press("Enter")
            await expect(panel.get_by_role("button", name="Fix it here")).to_be_focused()
            await button.click()
        await page.get_by_role("button", name="Send now").click()
        await expect(button).to_have_count(0)
        await expect(panel).to_contain_text("Working · last seen")

    use(chromium, world.owner, agent.page, answer, looks, **({"has_touch": True} if is_phone else {}))
    assert agent.read_answer() == "Create another ticket"


@pytest.mark.long
def test_agent_that_asks_between_two_answers_is_listed_once(chromium: Chromium, world: World) -> None:
    agent = Agent(world)

    async def look(page: Page) -> None:
        has_asked = asyncio.Event()

        async def hold(route: Route) -> None:
            await has_asked.wait()
            await route.continue_()

        await page.route("**/work-sessions?state=awaiting_input&*", hold)
        async with page.expect_response("**/work-sessions?state=active&*"):
            await page.reload()
        await asyncio.to_thread(agent.ask, *CHOICES)
        has_asked.set()
        await expect(page.get_by_role("navigation").get_by_text("Has a question")).to_have_count(1)

    use(chromium, world.owner, f"/projects/{world.project}", look)


@pytest.mark.long
@EVERY
def test_plan_is_declined_and_approved_and_work_is_accepted(chromium: Chromium, world: World, looks: Looks) -> None:
    ok(world.owner.web.patch(f"/projects/{world.project}", json={"plan_approval": True, "done_approval": True}))
    agent = Agent(world)

    async def decide(page: Page) -> None:
        panel = page.get_by_role("region", name="Claude Code")
        await expect(panel).to_contain_text("Plan is missing")
        agent.report(plan=PLAN)
        await expect(panel).to_contain_text("Plan to approve")
        await assert_accessible(page)
        await assert_fits(page)
        await panel.get_by_role("button", name="Add a note").click()
        await panel.get_by_label("Note for the agent").fill("Test first")
        await panel.get_by_role("button", name="Decline").click()
        await page.get_by_role("button", name="Send now").click()
        await expect(panel).to_contain_text("Plan was declined")
        await expect_stored(agent.read_answer, "declined")
        agent.report(plan=PLAN[:1])
        await panel.get_by_role("button", name="Approve plan").click()
        await page.get_by_role("button", name="Send now").click()
        await expect(panel).to_contain_text("Working · last seen")
        await expect_stored(agent.read_answer, "approved")
        agent.finish(resolved=True)
        await panel.get_by_role("button", name="Accept").click()
        await page.get_by_role("button", name="Send now").click()
        await expect(panel).to_contain_text("Finished")

    use(chromium, world.owner, agent.page, decide, looks)
    assert ok(world.api.get(agent.page))["resolved"]
    notes = [each["data"].get("note") for each in ok(world.api.get(f"{agent.page}/history"))["items"]]
    assert "Test first" in notes


@pytest.mark.long
def test_question_is_answered_with_keys(chromium: Chromium, world: World) -> None:
    agent = Agent(world)
    agent.ask(*CHOICES)

    async def press(page: Page) -> None:
        await expect(page.get_by_role("button", name="Fix it here")).to_be_visible()
        await page.keyboard.press("1")
        await expect(page.get_by_role("status").filter(has_text="Fix it here")).to_be_visible()
        await page.keyboard.press("Control+z")
        await expect(page.get_by_role("status").filter(has_text="Fix it here")).to_have_count(0)
        await page.keyboard.press("1")
        await page.get_by_role("button", name="Send now").click()
        await expect(page.get_by_role("button", name="Fix it here")).to_have_count(0)
        await expect_stored(agent.read_answer, "Fix it here")
        agent.ask()
        await page.get_by_label("Your answer").wait_for()
        await page.keyboard.press("r")
        await expect(page.get_by_label("Your answer")).to_be_focused()
        await page.keyboard.type("Use the card's value")
        await page.keyboard.press("Control+Enter")
        await page.get_by_role("button", name="Send now").click()
        await expect(page.get_by_label("Your answer")).to_have_count(0)

    use(chromium, world.owner, agent.page, press)
    assert agent.read_answer() == "Use the card's value"


@pytest.mark.long
def test_answer_that_came_too_late_is_refused_with_the_accepted_one(chromium: Chromium, world: World) -> None:
    agent, bob = Agent(world), world.join("Bob")
    agent.ask(*CHOICES)

    async def answer(page: Page) -> None:
        button = page.get_by_role("button", name="Fix it here")
        await expect(button).to_be_visible()
        await page.route("**/events/stream?*", lambda route: route.abort())  # who doesn't know of the answer yet
        await page.reload()
        question = ok(world.api.get("/work-sessions", params={"ticket_id": agent.ticket["id"]}))["items"][0]["question"]
        await expect(button).to_be_visible()
        ok(bob.web.post(f"/questions/{question['id']}/answer", json={"answer": "Create another ticket"}))
        await button.click()
        await page.get_by_role("button", name="Send now").click()
        await expect(page.get_by_role("region", name="Messages")).to_contain_text(
            "Bob answered this question: Create another ticket"
        )
        await expect(button).to_have_count(0)

    use(chromium, world.owner, agent.page, answer)


def test_viewers_see_the_question_without_answers(chromium: Chromium, world: World) -> None:
    agent, vera = Agent(world), world.join("Vera", "viewer")
    agent.ask(*CHOICES)

    async def look(page: Page) -> None:
        panel = page.get_by_role("region", name="Claude Code")
        await expect(panel).to_contain_text(QUESTION)
        await expect(panel.get_by_role("group").get_by_role("button")).to_have_count(0)
        await expect(panel.get_by_role("button", name="Release ticket")).to_have_count(0)

    use(chromium, vera, agent.page, look)


@pytest.mark.long
@EVERY
def test_board_shows_steps_and_a_waiting_question(chromium: Chromium, world: World, looks: Looks) -> None:
    agent = Agent(world)

    async def watch(page: Page) -> None:
        card = page.get_by_role("main").locator(".card, tr", has_text="Cart total shows NaN")
        agent.report(plan=[PLAN[0], {"text": "Verify `totals.ts` in three runs", "state": "active"}, PLAN[2]])
        await expect(card).to_contain_text(re.compile(r"Verify totals\.ts in three runs · \d+ s ago"))
        for code in await page.locator("code:visible").all():  # on the card, and in the sidebar if there is one
            await expect(code).to_have_text("totals.ts")
        await expect(card.locator("code")).to_be_visible()
        await expect(card.get_by_role("img", name="1 of 3 steps done")).to_be_visible()
        agent.ask(*CHOICES)
        await expect(card).to_contain_text("Has a question")
        await assert_accessible(page)
        await assert_fits(page)

    use(chromium, world.owner, f"/projects/{world.project}", watch, looks)


@pytest.mark.long
@EVERY
def test_question_is_answered_in_the_inbox(chromium: Chromium, world: World, looks: Looks) -> None:
    agent = Agent(world)

    async def answer(page: Page) -> None:
        await expect(page.get_by_role("heading", name="No notifications")).to_be_visible()
        agent.ask(*CHOICES)
        item = page.get_by_role("list", name="Needs your answer").get_by_role("listitem")
        await expect(item).to_contain_text(re.compile(r"Claude Code.*has a question", re.DOTALL))
        await expect(item).to_contain_text(QUESTION)
        await assert_accessible(page)
        await assert_fits(page)
        await page.get_by_role("button", name="Fix it here").click()
        await expect(page.get_by_role("region", name="Messages")).to_contain_text("Answer: Fix it here")
        await page.get_by_role("button", name="Send now").click()
        await expect(page.get_by_role("button", name="Fix it here")).to_have_count(0)

    use(chromium, world.owner, "/inbox", answer, looks)
    assert agent.read_answer() == "Fix it here"


def test_answer_is_held_and_the_next_question_is_not_armed(chromium: Chromium, world: World) -> None:
    ok(world.owner.web.patch(f"/projects/{world.project}", json={"done_approval": True}))
    agent, other = Agent(world), Agent(world, "Discount is applied twice", "Codex")
    other.ask(*CHOICES)
    agent.finish(resolved=True)

    async def answer(page: Page) -> None:
        asked = page.get_by_role("list", name="Needs your answer").get_by_role("listitem")
        await expect(asked).to_have_count(2)
        await expect(page.get_by_role("article").get_by_role("button", name="Accept")).to_be_visible()
        await expect(page.get_by_text("No run has tried the work yet.")).to_be_visible()  # what is accepted
        await page.keyboard.press("1")
        await page.keyboard.press("1")
        await page.get_by_role("status").get_by_role("button", name="Undo").click()
        await expect(page.get_by_role("button", name="Accept")).to_be_enabled()
        await page.keyboard.press("1")
        await page.keyboard.press("1")
        await expect(asked).to_have_count(1, timeout=20_000)  # it is sent after six seconds
        await expect(page.get_by_role("article", name="Cart total shows NaN")).to_be_visible()
        await expect(page.get_by_role("region", name="Answer")).to_contain_text("Accepted")

    use(chromium, world.owner, "/inbox", answer, LOOKS["desk"])
    assert other.read_answer() is None


@pytest.mark.long
@EVERY
def test_agents_page_lists_running_and_ended_sessions(chromium: Chromium, world: World, looks: Looks) -> None:
    agent, other = Agent(world), Agent(world, "Discount is applied twice", "Codex")
    company = ok(world.owner.web.get("/companies"))["items"][0]["id"]

    async def look(page: Page) -> None:
        running = page.get_by_role("main").get_by_role("list", name="At work").get_by_role("listitem")
        await expect(running).to_have_count(2)
        agent.ask(*CHOICES)
        waiting = running.filter(has_text="Cart total shows NaN")
        await expect(waiting).to_contain_text("Waiting · last seen")
        await expect(waiting.get_by_role("link", name="Answer question")).to_have_attribute("href", agent.page)
        other.report(plan=PLAN)
        other.finish(release=True)
        recent = page.get_by_role("list", name="Recent")
        await expect(recent).to_contain_text("Discount is applied twice")
        await expect(recent).to_contain_text("1 of 3 steps · studio, worktree 3 · works for Ann")
        await expect(running).to_have_count(1)
        await assert_accessible(page)
        await assert_fits(page)

    use(chromium, world.owner, f"/companies/{company}/agents", look, looks)
