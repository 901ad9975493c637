"""A company's settings: its people, projects, columns, limits and audit log, as each role meets them."""

import csv
import re
from pathlib import Path

import pytest
from playwright.async_api import Page, ViewportSize, expect

from tests.e2e.support.app import SIZES, expect_value
from tests.e2e.support.browser import Chromium
from tests.e2e.support.webapp import PLANTED, disable_form_validation, expect_message, field_error, open_as
from tests.support.long_runs import mark_long
from tests.support.server import World, expect_error, ok


async def confirm(page: Page, action: str) -> None:
    """Press the dialog's own button."""
    await page.get_by_role("dialog").get_by_role("button", name=action, exact=True).click()


async def act_on_row(page: Page, name: str, action: str) -> None:
    """Choose an action in the menu of a row."""
    await page.get_by_role("button", name=f"Actions for {name}").click()
    await page.get_by_role("menuitem", name=action).click()


def test_a_members_role_and_projects_are_changed(chromium: Chromium, world: World) -> None:
    bob = world.join("Bob")
    second = world.new_project("Second project")

    async def visit(page: Page) -> None:
        watch = await open_as(page, world.owner, f"/companies/{world.company}/members")
        await page.get_by_role("button", name="Edit Bob").click()
        await page.get_by_role("radio", name="Viewer").check()
        await page.get_by_role("radio", name="Selected projects").check()
        await page.get_by_role("button", name="Save").click()
        await page.get_by_text("Select at least one project.").wait_for()
        await page.get_by_role("checkbox", name="Second project").check()
        await page.get_by_role("button", name="Save").click()
        await expect_message(page, "Saved Bob")
        await page.get_by_text("Viewer · Second project").wait_for()
        watch.assert_clean(world.box)

    chromium.visit(visit)
    assert [each["id"] for each in ok(bob.web.get("/projects"))["items"]] == [second]
    assert ok(bob.web.get("/me"))["companies"][0]["role"] == "viewer"


@pytest.mark.long
def test_a_member_is_removed_after_a_question(chromium: Chromium, world: World) -> None:
    bob = world.join("Bob")

    async def visit(page: Page) -> None:
        await open_as(page, world.owner, f"/companies/{world.company}/members")
        await expect(page.get_by_role("button", name="Remove")).to_have_count(0)
        await act_on_row(page, "Bob", "Remove member")
        await expect(page.get_by_role("dialog").get_by_role("button", name="Cancel")).to_be_focused()
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await act_on_row(page, "Bob", "Remove member")
        await confirm(page, "Remove member")
        await expect_message(page, "Removed Bob")
        await expect(page.get_by_text(bob.email)).to_have_count(0)

    chromium.visit(visit)
    assert ok(bob.web.get("/companies"))["items"] == []


@pytest.mark.long
def test_last_owner_cannot_leave(chromium: Chromium, world: World) -> None:
    words = "The last owner can't leave or be demoted; promote another member to owner first."

    async def visit(page: Page) -> None:
        watch = await open_as(page, world.owner, f"/companies/{world.company}/members")
        await act_on_row(page, "Ann", "Leave company")
        await confirm(page, "Leave company")
        await expect(page.get_by_role("dialog").get_by_role("alert")).to_have_text(words, use_inner_text=True)
        await confirm(page, "Cancel")
        await page.get_by_role("button", name="Edit Ann").click()
        await page.get_by_role("radio", name="Member").check()
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_role("dialog").get_by_role("alert")).to_have_text(words, use_inner_text=True)
        watch.assert_clean(world.box)

    chromium.visit(visit)


@pytest.mark.long
def test_a_member_leaves(chromium: Chromium, world: World) -> None:
    bob = world.join("Bob")

    async def visit(page: Page) -> None:
        await open_as(page, bob, f"/companies/{world.company}/members")
        await act_on_row(page, "Bob", "Leave company")
        await confirm(page, "Leave company")
        await expect_message(page, "You left Ann's company")
        await page.get_by_text("You are not in a company").wait_for()

    chromium.visit(visit)


@pytest.mark.long
@pytest.mark.parametrize("role", ["viewer", mark_long("member")])
def test_forbidden_actions_are_not_shown(chromium: Chromium, world: World, role: str) -> None:
    person = world.join("Bob", role)
    base = f"/companies/{world.company}"

    async def visit(page: Page) -> None:
        watch = await open_as(page, person, f"{base}/members")
        await page.get_by_text("Admins can change roles and invite people").wait_for()
        navigation = page.get_by_role("navigation", name="Settings of")

        async def read_sections() -> list[str]:
            return (await navigation.inner_text()).split("\n")[-5:]

        await expect_value(read_sections, ["General", "Members", "Projects", "Labels", "Agents"])
        await expect(page.get_by_role("main").get_by_role("button")).to_have_accessible_name("Actions for Bob")
        for section in ("invitations", "limits", "audit"):
            await page.goto(f"{world.box.url}{base}/{section}")
            await page.get_by_text(f"Only admins of Ann's company can open this page. Your role is {role}.").wait_for()
        for address in ("projects?new", f"projects?project={world.project}"):
            await page.goto(f"{world.box.url}{base}/{address}")
            await page.get_by_text("Admins can create and edit projects.").wait_for()
        await page.goto(f"{world.box.url}{base}/general")
        await page.get_by_text(f"Your role: {role}").wait_for()
        await expect(page.get_by_role("textbox")).to_have_count(0)
        watch.assert_clean(world.box)

    chromium.visit(visit)


@pytest.mark.long
def test_admin_cannot_create_owners_or_delete_the_company(chromium: Chromium, world: World) -> None:
    admin = world.join("Dan", "admin")
    world.join("Bob")

    async def visit(page: Page) -> None:
        await open_as(page, admin, f"/companies/{world.company}/members")
        await page.get_by_role("button", name="Edit Bob").click()
        await expect(page.get_by_role("radio", name="Owner")).to_be_disabled()
        await page.get_by_text("Only owners can grant this role.").wait_for()
        await confirm(page, "Cancel")
        await expect(page.get_by_role("button", name="Edit Ann")).to_have_count(0)
        await page.get_by_role("link", name="General").click()
        await page.get_by_label("Name", exact=True).wait_for()
        await expect(page.get_by_role("button", name="Delete")).to_have_count(0)

    chromium.visit(visit)


def test_company_of_another_owner_is_not_found(chromium: Chromium, world: World, other: World) -> None:
    async def visit(page: Page) -> None:
        await open_as(page, world.owner, f"/companies/{other.company}/general")
        await page.get_by_role("heading", name="Not found").wait_for()
        assert "Zoe's company" not in await page.content()

    chromium.visit(visit)


@pytest.mark.long
def test_a_company_is_renamed_and_deleted_by_its_name(chromium: Chromium, world: World) -> None:
    async def visit(page: Page) -> None:
        watch = await open_as(page, world.owner, f"/companies/{world.company}/general")
        await page.get_by_label("Name", exact=True).fill("Acme <b>")
        await page.get_by_role("button", name="Save").click()
        await expect_message(page, "Saved")
        await page.get_by_role("button", name="Delete Acme <b>…").click()
        sure = page.get_by_role("dialog").get_by_role("button", name="Delete company")
        await page.get_by_label("Type Acme <b> to confirm").fill("Acme")
        await expect(sure).to_be_disabled()
        await page.get_by_label("Type Acme <b> to confirm").fill("Acme <b>")
        await sure.click()
        await expect_message(page, "Deleted Acme <b>")
        await page.get_by_text("You are not in a company").wait_for()
        watch.assert_clean(world.box)

    chromium.visit(visit)
    assert ok(world.owner.web.get("/companies"))["items"] == []


@pytest.mark.long
def test_url_patterns_capture_policy_agent_label_and_gates_are_saved(chromium: Chromium, world: World) -> None:
    ci = ok(world.owner.web.post("/tokens", json={"label": "CI", "scopes": ["tickets:write"]}))["id"]

    async def visit(page: Page) -> None:
        watch = await open_as(page, world.owner, f"/companies/{world.company}/projects")
        await page.get_by_role("link", name="Settings of First project").click()
        await page.get_by_label("URL patterns").fill("https://shop.example/a b")
        await page.get_by_role("button", name="Save").click()
        assert "without spaces" in await field_error(page, "URL patterns")
        await page.get_by_label("URL patterns").fill("https://shop.example/*")
        await expect(page.get_by_text("values are replaced by stand-ins")).to_be_visible()
        await page.get_by_label("Request and response bodies").select_option(label="On")
        await expect(page.get_by_text("Bodies are stored complete")).to_be_visible()
        await page.get_by_role("switch", name="Use source maps of pages").click()
        for gate in ("Approve agents’ plans", "Accept agents’ finished tickets", "Require verified fixes"):
            await page.get_by_role("switch", name=gate).click()
        await page.get_by_role("group", name="Verifiers").get_by_role("checkbox", name="Your token CI").check()
        await page.get_by_label("Replay").select_option(label="60 seconds")
        await page.get_by_label("Agent label").fill("robot")
        await page.get_by_label("Redaction rules").fill("customer_number\ntext:hunter2")
        await page.get_by_label("Values that pages declare").fill("app.flags\nmeta:build")
        await page.get_by_label("Hidden parts of pages").fill("p::before")
        await page.get_by_role("button", name="Save").click()
        assert "CSS selectors" in await field_error(page, "Hidden parts of pages")
        await page.get_by_label("Hidden parts of pages").fill(".customer-name\n\n#orders td:nth-child(2)")
        await page.get_by_role("button", name="Save").click()
        await expect_message(page, "Saved")
        watch.assert_clean(world.box)

    chromium.visit(visit)
    project = next(each for each in ok(world.api.get("/projects"))["items"] if each["id"] == world.project)
    assert project["url_patterns"] == ["https://shop.example/*"]
    assert project["agent_label"] == "robot"
    assert [project[each] for each in ("plan_approval", "done_approval", "verification")] == [True] * 3
    assert project["verifiers"] == [ci]
    rules = ["customer_number", "text:hunter2"]
    assert project["capture_policy"] == {
        "bodies": "on", "extra_redactions": rules, "actions": "on", "replay": 60,
        "mask_selectors": [".customer-name", "#orders td:nth-child(2)"],
        "page_source_maps": "off",
        "declared_names": ["app.flags", "meta:build"],
        "storage": "shape",
    }  # fmt: skip


@pytest.mark.long
def test_a_project_is_deleted_by_its_name(chromium: Chromium, world: World) -> None:
    async def visit(page: Page) -> None:
        await open_as(page, world.owner, f"/companies/{world.company}/projects?project={world.project}")
        await page.get_by_role("button", name="Delete First project…").click()
        await page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
        navigation = page.get_by_role("navigation", name="Settings of")
        await expect(navigation.get_by_role("link", name="General", exact=True)).to_be_in_viewport()
        await page.get_by_role("button", name="Delete First project…").click()
        await page.get_by_label("Type First project to confirm").fill("First project")
        await confirm(page, "Delete project")
        await expect_message(page, "Deleted First project")
        await page.get_by_text("Create project").first.wait_for()

    chromium.visit(visit)
    expect_error(world.api.get(f"/projects/{world.project}/columns"), 404, "not_found")


@SIZES
def test_columns_are_added_renamed_moved_and_removed(chromium: Chromium, world: World, size: ViewportSize) -> None:
    ticket = world.ticket()

    async def visit(page: Page) -> None:
        watch = await open_as(page, world.owner, f"/companies/{world.company}/projects?project={world.project}")
        await page.get_by_role("button", name="Add column").click()
        await expect(page.get_by_role("dialog").get_by_label("Name")).to_be_focused()
        await page.keyboard.type("Review")
        await page.keyboard.press("Enter")
        rows = page.get_by_role("main").get_by_role("listitem").filter(has=page.get_by_title("Drag to reorder"))
        await rows.nth(3).wait_for()
        await page.get_by_role("button", name="Move Review up").press("Enter")
        await page.get_by_text("Review moved to position 3 of 4").wait_for(state="attached")
        await page.get_by_role("button", name="Edit To do").click()
        await page.get_by_role("dialog").get_by_label("Name").fill("Inbox")
        await page.get_by_role("dialog").get_by_role("button", name="Save column").click()
        await page.get_by_role("button", name="Edit Review").click()
        await page.get_by_role("dialog").get_by_label("Done", exact=True).check()
        await page.get_by_role("dialog").get_by_role("button", name="Save column").click()
        await expect(rows.nth(2)).to_contain_text("Done")
        await page.get_by_role("button", name="Actions for Inbox").click()
        await page.get_by_role("menuitem", name="Delete column").click()
        await page.get_by_label("Move tickets to").select_option(label="Review")
        await confirm(page, "Delete column")
        await expect(rows).to_contain_text(["In progress", "Review", "Done"])
        watch.assert_clean(world.box)

    chromium.visit(visit, viewport=size)
    names = {each["id"]: each["name"] for each in ok(world.api.get(f"/projects/{world.project}/columns"))["items"]}
    assert list(names.values()) == ["In progress", "Review", "Done"]
    moved = ok(world.api.get(f"/tickets/{ticket['id']}"))
    assert (names[moved["column_id"]], moved["resolved"]) == ("Review", True)


@pytest.mark.long
def test_column_is_reordered_by_drag(chromium: Chromium, world: World) -> None:
    async def visit(page: Page) -> None:
        await open_as(page, world.owner, f"/companies/{world.company}/projects?project={world.project}")
        grips = page.get_by_title("Drag to reorder")
        await grips.nth(2).wait_for()
        await grips.nth(2).scroll_into_view_if_needed()
        await grips.nth(2).drag_to(grips.nth(0), target_position={"x": 8, "y": 2})
        await page.get_by_text("Done moved to position 1 of 3").wait_for(state="attached")

    chromium.visit(visit)
    names = [each["name"] for each in ok(world.api.get(f"/projects/{world.project}/columns"))["items"]]
    assert names == ["Done", "To do", "In progress"]


@pytest.mark.long
def test_limits_apply_to_the_next_call_and_empty_means_default(chromium: Chromium, world: World) -> None:
    client = world.owner.client("read", company_id=world.company)

    async def visit(page: Page) -> None:
        watch = await open_as(page, world.owner, f"/companies/{world.company}/limits")
        await disable_form_validation(page)
        await page.get_by_label("Writes per minute").fill("0")
        await page.get_by_role("button", name="Save").click()
        assert "from 1 to 1,000,000" in await field_error(page, "Writes per minute")
        await page.get_by_label("Writes per minute").fill("")
        await page.get_by_label("Reads per minute").fill("1200")
        await page.get_by_role("button", name="Save").click()
        await expect_message(page, "Saved")
        await expect(page.get_by_text("Captures and attachments take 0 B.")).to_be_visible()
        watch.assert_clean(world.box)

    chromium.visit(visit)
    budgets = ok(client.get("/me"))["budgets"]
    assert (budgets["reads"]["limit"], budgets["writes"]["limit"]) == (1200, 60)


@pytest.mark.long
def test_audit_log_loads_more_and_downloads_as_csv(chromium: Chromium, world: World, tmp_path: Path) -> None:
    agent = world.owner.client("tickets:write", label="build agent")
    for _ in range(55):
        ok(agent.post("/tickets", json={"project_id": world.project, "title": "x"}))
    ok(world.owner.web.patch(f"/companies/{world.company}", json={"name": "=cmd()"}))

    async def visit(page: Page) -> None:
        watch = await open_as(page, world.owner, f"/companies/{world.company}/audit")
        rows = page.get_by_role("row")
        await rows.nth(50).wait_for()
        newest = page.get_by_role("row").filter(has_text="created a ticket").first
        await expect(newest).to_contain_text("build agent")
        await expect(newest).to_contain_text("for Ann · API")
        await expect(newest.get_by_role("link", name=re.compile(r"^\w+-55$"))).to_be_visible()
        await page.get_by_role("button", name="Load more").click()
        await page.get_by_role("button", name="Load more").wait_for(state="detached")
        await expect(rows.nth(56)).to_be_attached()
        async with page.expect_download() as downloading:
            await page.get_by_role("button", name="Download CSV").click()
        await (await downloading.value).save_as(tmp_path / "audit.csv")
        watch.assert_clean(world.box)

    chromium.visit(visit)
    with (tmp_path / "audit.csv").open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    assert sum(row["type"] == "ticket.created" for row in rows) == 55
    assert len({row["id"] for row in rows}) == len(rows)


@pytest.mark.long
def test_script_in_names_stays_text(chromium: Chromium, world: World) -> None:
    planted = PLANTED[:100]
    bob = world.join("Bob")
    ok(bob.web.patch("/profile", json={"name": planted}))
    ok(world.owner.web.patch(f"/companies/{world.company}", json={"name": planted}))
    project = world.new_project(planted)
    ok(world.owner.web.post(f"/projects/{project}/columns", json={"name": planted}))

    async def visit(page: Page) -> None:
        watch = await open_as(page, world.owner, f"/companies/{world.company}/members")
        for section in ("members", "projects", f"projects?project={project}", "audit", "general"):
            await page.goto(f"{world.box.url}/companies/{world.company}/{section}")
            await page.get_by_role("main").get_by_text(planted).first.wait_for()
            await expect(page.locator("img[src=x]")).to_have_count(0)
            assert "broken in ·" not in await page.title()
            assert await page.title() != "broken in"
        watch.assert_clean(world.box)

    chromium.visit(visit)


@pytest.mark.long
def test_labels_are_created_renamed_merged_and_deleted(chromium: Chromium, world: World) -> None:
    ticket = world.ticket(labels=["shop", "buy"])

    async def visit(page: Page) -> None:
        watch = await open_as(page, world.owner, f"/companies/{world.company}/labels")
        await page.get_by_role("button", name="Create label").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Name").fill("Shop")
        await dialog.get_by_role("button", name="Create label").click()
        await expect(dialog.get_by_text("to replace one by the other, merge them")).to_be_visible()
        await dialog.get_by_label("Name").fill("bug")
        await dialog.get_by_role("radio", name="Red").check()
        await dialog.get_by_label("Description").fill("It is broken")
        await dialog.get_by_role("button", name="Create label").click()
        await expect_message(page, "bug created")
        rows = page.get_by_role("list", name="Labels").get_by_role("listitem")
        await expect(rows.filter(has_text="It is broken").locator(".dot")).to_have_attribute(
            "style", "background: var(--label-red);"
        )
        await act_on_row(page, "shop", "Edit label")
        await dialog.get_by_label("Name").fill("store")
        await dialog.get_by_role("button", name="Save label").click()
        await expect(page.get_by_role("button", name="Actions for store")).to_be_visible()
        await act_on_row(page, "buy", "Merge into another label")
        await dialog.get_by_label("Merge into").select_option("store")
        await confirm(page, "Merge labels")
        await expect_message(page, "buy merged into store")
        await act_on_row(page, "bug", "Delete label")
        await confirm(page, "Delete label")
        await expect(rows).to_have_count(1)
        watch.assert_clean(world.box)

    chromium.visit(visit)
    assert ok(world.api.get(f"/tickets/{ticket['id']}"))["labels"] == ["store"]
    (left,) = ok(world.api.get(f"/companies/{world.company}/labels"))["items"]
    assert left["name"] == "store"


@pytest.mark.long
def test_member_uses_labels_and_does_not_manage_them(chromium: Chromium, world: World) -> None:
    world.ticket(labels=["shop"])
    bob = world.join("Bob")

    async def visit(page: Page) -> None:
        watch = await open_as(page, bob, f"/companies/{world.company}/labels")
        await expect(page.get_by_text("Admins can rename, merge and delete labels.")).to_be_visible()
        await expect(page.get_by_role("button", name="Create label")).to_be_visible()
        await page.get_by_role("button", name="Actions for shop").click()
        await expect(page.get_by_role("menuitem")).to_have_text(["Show tickets"])
        await page.get_by_role("menuitem", name="Show tickets").click()
        await expect(page.get_by_role("link", name="A ticket")).to_be_visible()
        watch.assert_clean(world.box)

    chromium.visit(visit)
