"""What people see of agents at work: on the ticket page, the board and the table, while real agents call the API."""

import re

import httpx
import pytest
from playwright.async_api import Page, expect

from tests.e2e.app import EVERY, LOOKS, Looks, assert_accessible, assert_fits, use
from tests.e2e.browser import Chromium
from tests.support.server import World, ok


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


def test_other_members_cannot_release_the_ticket(chromium: Chromium, world: World) -> None:
    ticket, mia = world.ticket(), world.join("Mia")
    start_work(world.owner.client("tickets:write", label="Codex"), ticket, None)

    async def look(page: Page) -> None:
        panel = page.get_by_role("region", name="Codex")
        await expect(panel).to_contain_text("Works for Ann")
        await expect(panel.get_by_role("button", name="Release ticket")).to_have_count(0)

    use(chromium, mia, f"/tickets/{ticket['id']}", look)


@pytest.mark.parametrize("looks", [LOOKS["desk"], LOOKS["phone"]], ids=["desk", "phone"])
def test_board_and_table_show_who_works_since_when(chromium: Chromium, world: World, looks: Looks) -> None:
    ticket, other = world.ticket("Cart total shows NaN"), world.ticket("Nobody works on this")
    agent = world.owner.client("tickets:write", label="Claude Code")

    async def watch(page: Page) -> None:
        card = page.get_by_role("link", name="Cart total shows NaN")
        await expect(card).to_be_visible()
        await expect(card).not_to_contain_text("Claude Code")
        lease = start_work(agent, ticket)
        await expect(card).to_contain_text(re.compile(r"Claude Code\s*for \d+ s"))
        await expect(page.get_by_role("link", name="Nobody works on this")).not_to_contain_text("Claude Code")
        await assert_accessible(page)
        await assert_fits(page)
        await page.goto(f"{world.box.url}/projects/{world.project}/table")
        row = page.get_by_role("row").filter(has_text="Cart total")
        await expect(row).to_contain_text(re.compile(r"Claude Code\s*for \d+ s"))
        await assert_accessible(page)
        await page.go_back()
        await expect(card).to_contain_text("Claude Code")
        ok(agent.delete(f"/tickets/{ticket['id']}/work", headers={"Lease": lease}))
        await expect(card).not_to_contain_text("Claude Code")

    assert other["claim"] is None
    use(chromium, world.owner, f"/projects/{world.project}", watch, looks)
