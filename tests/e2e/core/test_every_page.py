"""Every page of the app with the demo's tickets, in all colours: axe finds nothing, nothing is wider than a phone."""

from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.demo import Demo
from tests.e2e.core.test_pages import Watch
from tests.e2e.support.browser import Chromium
from tests.e2e.support.webapp import faults
from tests.support.server import ok

ACCOUNT = ("profile", "notifications", "tokens", "apps", "extension", "sign-in", "appearance", "new-company")
COMPANY = ("general", "members", "invitations", "projects", "labels", "agents", "limits", "webhooks", "audit")
PROJECT = ("general", "capture", "agents", "columns", "git", "reports")
CAPTURE = ("timeline", "screenshot", "steps", "console", "network", "errors", "environment")


PARTS = ("project", "ticket", "search", "account", "company")


def list_paths(demo: Demo, part: str) -> list[str]:
    """The addresses of a part's pages: the project, a ticket with each part of its capture, or settings."""
    client = demo.client(demo.token)
    projects = {each["name"]: each for each in ok(client.get("/projects"))["items"]}
    shop = projects["Web shop"]
    found = ok(client.get("/search", params={"q": 'title:"contains a gift card"'}))["items"]
    ticket, company = f"/tickets/{found[0]['id']}", f"/companies/{shop['company_id']}"
    project = f"/projects/{shop['id']}"
    views = (
        "",
        "?group=assignee",
        "/table",
        "/table?group=assignee",
        "/archive",
        "?priority=urgent",
        "?density=compact",
    )
    return {
        "project": [*(f"{project}{view}" for view in views), f"/projects/{projects['Back office']['id']}"],
        "ticket": [ticket, *(f"{ticket}/{each}" for each in CAPTURE)],
        "search": [
            *("/inbox", "/inbox?show=snoozed", "/inbox?show=done"),
            *("/search", "/search?q=cart", "/search?q=nothing", "/nowhere"),
        ],
        "account": [f"/settings/{section}" for section in ACCOUNT],
        "company": [
            *(f"{company}/{section}" for section in (*COMPANY, "nowhere", "projects?new")),
            *(f"{company}/projects?project={shop['id']}&tab={each}" for each in PROJECT),
        ],
    }[part]


@pytest.mark.long
@pytest.mark.parametrize("part", PARTS)
def test_every_page_of_the_demo_is_accessible(chromium: Chromium, demo: Demo, part: str) -> None:
    cookie = {"name": demo.cookie, "value": demo.sign_in(), "url": demo.url}

    async def visit(page: Page) -> dict[str, Any]:
        watch = Watch(page)
        await page.context.add_cookies([cookie])  # type: ignore[list-item]
        result: dict[str, Any] = {}
        for path in list_paths(demo, part):
            await page.goto(demo.url + path)
            await page.get_by_role("main").get_by_role("heading").first.wait_for()
            await expect(page.get_by_text("Loading…", exact=True)).to_have_count(0)
            if found := await faults(page, "dark", "forced-colors"):
                result[path] = found
        watch.assert_clean(demo)
        return result

    assert chromium.visit(visit) == {}
