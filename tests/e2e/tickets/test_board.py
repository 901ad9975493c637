"""The board in a real browser: seen, filtered, filled, and rearranged by mouse and by keyboard."""

import asyncio
import re
from typing import Any

import pytest
from playwright.async_api import Page, Route, expect

from tests.e2e.support.app import (
    EVERY,
    PHONE,
    Looks,
    assert_accessible,
    assert_fits,
    drag_card,
    expect_stored,
    find_still_box,
    hold_messages,
    use,
    wait_for_frames,
)
from tests.e2e.support.browser import Chromium, wait_for_writes
from tests.support.server import World, eventually, ok


def titles(world: World, column: int) -> list[str]:
    """What the server says lists in a column, from the top."""
    query = {"column_id": world.columns[column], "sort": "position"}
    return [each["title"] for each in ok(world.api.get("/tickets", params=query))["items"]]


async def expect_titles(page: Page, column: str, titles: list[str]) -> None:
    """Wait until a column has the cards with these titles, in this order."""
    await expect(page.get_by_role("region", name=column).locator("[data-ticket] .title")).to_have_text(titles)


def seed(world: World) -> None:
    for title in ("Three", "Two", "One"):
        world.ticket(title)


@EVERY
def test_board_shows_every_ticket_in_its_column(chromium: Chromium, world: World, looks: Looks) -> None:
    seed(world)
    world.ticket("Elsewhere", column_id=world.columns[2], priority="urgent", labels=["ui", "cart"])

    async def look(page: Page) -> None:
        await expect(page.get_by_role("link", name="Elsewhere")).to_be_attached()
        await expect_titles(page, "To do", ["One", "Two", "Three"])
        await expect_titles(page, "Done", ["Elsewhere"])
        await assert_accessible(page)
        await assert_fits(page)

    use(chromium, world.owner, "/", look, looks)


def test_a_card_is_dragged_to_another_column(chromium: Chromium, world: World) -> None:
    seed(world)
    world.ticket("There", column_id=world.columns[1])

    async def drag(page: Page) -> None:
        card = page.locator("[data-ticket]", has_text="Two")
        target = page.locator("[data-ticket]", has_text="There")
        box = await find_still_box(target)
        await drag_card(card, target, target_position={"x": 20, "y": box["height"] - 3})
        await expect(page.get_by_role("region", name="In progress").locator("[data-ticket]")).to_have_count(2)
        await expect_titles(page, "In progress", ["There", "Two"])
        await wait_for_writes(page)
        await page.reload()
        await expect(page.locator("[data-ticket]", has_text="Two")).to_be_visible()
        await expect_titles(page, "In progress", ["There", "Two"])

    use(chromium, world.owner, f"/projects/{world.project}", drag)
    assert titles(world, 1) == ["There", "Two"]


def test_card_is_moved_by_keyboard_and_escape_cancels(chromium: Chromium, world: World) -> None:
    seed(world)

    async def carry(page: Page) -> None:
        await page.locator("[data-ticket]", has_text="One").focus()
        for key in ("m", "ArrowDown", "ArrowRight"):
            await page.keyboard.press(key)
            await wait_for_frames(page)  # the moved card gets the focus back
        await expect_titles(page, "In progress", ["One"])
        await page.keyboard.press("Escape")
        await expect_titles(page, "To do", ["One", "Two", "Three"])
        for key in ("m", "ArrowDown", " "):
            await wait_for_frames(page)
            await page.keyboard.press(key)
        await expect(page.locator("[aria-live=assertive]")).to_have_text("Dropped in To do.")
        await expect_titles(page, "To do", ["Two", "One", "Three"])

    use(chromium, world.owner, f"/projects/{world.project}", carry)
    assert titles(world, 0) == ["Two", "One", "Three"]


@pytest.mark.long
def test_refused_move_is_undone_and_shows_the_error(chromium: Chromium, world: World) -> None:
    seed(world)
    gone = next(each for each in ok(world.api.get("/tickets"))["items"] if each["title"] == "One")

    async def carry(page: Page) -> None:
        await page.route("**/api/v1/events/stream?*", lambda route: route.abort())  # or it would know already
        await page.reload()
        await page.locator("[data-ticket]", has_text="One").focus()
        ok(world.owner.web.post(f"/tickets/{gone['id']}/archive"))
        for key in ("m", "ArrowRight", " "):
            await page.keyboard.press(key)
            await wait_for_frames(page)
        await expect(page.get_by_text("archived", exact=False).first).to_be_visible()

    use(chromium, world.owner, f"/projects/{world.project}", carry)
    assert titles(world, 1) == []


def test_tickets_are_created_in_a_column(chromium: Chromium, world: World) -> None:
    async def add(page: Page) -> None:
        await page.get_by_role("button", name="Create ticket in In progress").click()
        for title in ("Alpha", "<img src=x onerror=alert(1)>"):
            await page.get_by_label("Title of the new ticket").fill(title)
            await page.keyboard.press("Enter")
            await expect(page.get_by_role("link", name=title)).to_be_visible()
            await expect(page.get_by_label("Title of the new ticket")).to_have_value("")

    use(chromium, world.owner, f"/projects/{world.project}", add)
    assert titles(world, 1) == ["<img src=x onerror=alert(1)>", "Alpha"]


@pytest.mark.long
def test_next_title_can_be_typed_before_the_answer(chromium: Chromium, world: World) -> None:
    async def add(page: Page) -> None:
        held: asyncio.Queue[Route] = asyncio.Queue()

        async def hold(route: Route) -> None:
            await (held.put(route) if route.request.method == "POST" else route.fallback())

        await page.route("**/api/v1/tickets", hold)
        await page.get_by_role("button", name="Create ticket in In progress").click()
        field = page.get_by_label("Title of the new ticket")
        submit = page.locator("form", has=field).get_by_role("button", name="Create ticket")
        await field.fill("Alpha")
        for answer, next_title, shown in ((Route.continue_, "Beta", "Beta"), (Route.abort, "Gamma", "Beta\nGamma")):
            await field.press("Enter")
            route = await held.get()
            await expect(field).to_have_value("")
            await field.fill(next_title)
            await answer(route)
            await expect(submit).to_be_enabled()
            await expect(field).to_have_value(shown)
        await expect(page.locator("form", has=field).get_by_role("alert")).to_be_visible()

    use(chromium, world.owner, f"/projects/{world.project}", add)
    assert titles(world, 1) == ["Alpha"]


def test_dialog_creates_a_ticket_with_all_fields(chromium: Chromium, world: World) -> None:
    earlier = world.ticket("Cart stays empty on phones")["id"]
    ok(world.api.post(f"/tickets/{earlier}/archive", json={}))

    async def write(page: Page) -> None:
        await expect(page.get_by_role("heading", name="First project")).to_be_visible()
        dialog = page.get_by_role("dialog", name="New ticket")
        title = dialog.get_by_label("Title")
        await page.keyboard.press("c")
        await title.fill("The cart stays empty")
        similar = dialog.get_by_role("region", name="Similar tickets").get_by_role("link")
        await expect(similar).to_have_text(re.compile(r"\S+-1 Cart stays empty on phones Archived"))
        await expect(similar).to_have_attribute("target", "_blank")
        await expect(dialog.get_by_role("status").filter(has_text="1 similar ticket")).to_be_attached()
        await dialog.get_by_label("Description").fill("Put *anything* in.")
        small = await find_still_box(dialog)
        await dialog.get_by_role("button", name="Full screen", exact=True).click()
        await expect(dialog.get_by_role("button", name="Close full screen")).to_be_focused()
        large = await find_still_box(dialog)
        assert large["width"] > small["width"] + 200
        assert large["height"] > small["height"] + 200
        await assert_accessible(page)
        await page.keyboard.press("Enter")
        assert await find_still_box(dialog) == small
        await page.mouse.click(5, 5)
        await expect(dialog).to_have_count(0)
        await expect(page.get_by_role("region", name="Messages")).to_contain_text("Draft kept in First project")
        await page.reload()
        await expect(page.get_by_role("heading", name="First project")).to_be_visible()
        await page.keyboard.press("c")
        await expect(title).to_have_value("The cart stays empty")
        await dialog.get_by_role("button", name="Priority").click()
        await page.get_by_role("option", name="High").click()
        await dialog.get_by_role("button", name="Labels").click()
        for label in ("cart", "ui"):
            await page.get_by_role("combobox").fill(label)
            await page.get_by_role("option", name=f"Add “{label}”").click()
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("option")).to_have_count(0)
        await dialog.get_by_role("button", name="Assign").click()
        await page.get_by_role("option", name="Ann").click()
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("option")).to_have_count(0)
        await dialog.get_by_role("button", name="Due date").click()
        await page.get_by_role("combobox").fill("2031-03-04")
        await page.get_by_role("option", name="Add “2031-03-04”").click()
        await expect(dialog.get_by_role("button", name="Due date: Mar 4, 2031")).to_be_visible()
        await assert_accessible(page)
        file = {"name": "note.txt", "mimeType": "text/plain", "buffer": b"see"}
        await dialog.locator("input[type=file]").set_input_files([file])  # type: ignore[list-item]
        await title.press("Control+Enter")
        await expect(dialog).to_have_count(0)
        await expect(page.get_by_role("link", name="The cart stays empty")).to_be_visible()
        await page.keyboard.press("c")
        await expect(title).to_have_value("")
        await title.fill("Not this one")
        await dialog.get_by_role("button", name="Discard draft").click()
        await expect(dialog).to_have_count(0)
        await page.keyboard.press("c")
        await expect(title).to_have_value("")
        await page.keyboard.press("Escape")
        await expect(dialog).to_have_count(0)

    use(chromium, world.owner, f"/projects/{world.project}", write)
    (made,) = ok(world.api.get("/tickets"))["items"]
    assert (made["priority"], made["due_on"], sorted(made["labels"]), made["description"]) == (
        "high",
        "2031-03-04",
        ["cart", "ui"],
        "Put *anything* in.",
    )
    assert made["created"]["via"] == "web"
    assert [person["name"] for person in made["assignees"]] == ["Ann"]
    attached = eventually(lambda: ok(world.api.get(f"/tickets/{made['id']}"))["attachments"])
    assert [each["name"] for each in attached] == ["note.txt"]


@pytest.mark.long
def test_filters_apply_and_are_in_the_address(chromium: Chromium, world: World) -> None:
    world.ticket("Mine", priority="high")
    world.ticket("Other", labels=["ui"])

    async def narrow(page: Page) -> None:
        await page.get_by_role("button", name="Filter", exact=True).click()
        await page.get_by_role("combobox", name="Filter").fill("hi")
        await page.get_by_role("option", name="High").click()
        await expect(page.get_by_role("link", name="Other")).to_have_count(0)
        await expect(page).to_have_url(re.compile(r"\?priority=high$"))
        await page.reload()
        await expect(page.get_by_role("link", name="Mine")).to_be_visible()
        await page.get_by_role("button", name="Remove filter: Priority is High").click()
        await expect(page.get_by_role("link", name="Other")).to_be_visible()
        await page.keyboard.press("f")
        await page.get_by_role("combobox", name="Filter").fill("ui")
        await page.get_by_role("option", name="ui").click()
        await expect(page.get_by_role("link", name="Mine")).to_have_count(0)
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("combobox", name="Filter")).to_have_count(0)
        await expect(page.get_by_role("button", name="Filter", exact=True)).to_be_focused()
        await expect(page.get_by_role("link", name="Other")).to_be_visible()
        await page.keyboard.press("f")
        await page.get_by_role("option", name="High").click()
        await page.get_by_role("option", name="Medium").click()
        await page.keyboard.press("Escape")
        await expect(page.get_by_text("No tickets match")).to_be_visible()
        await page.get_by_role("button", name="Remove filter: Label is ui").click()
        await expect(page.get_by_role("link", name="Mine")).to_be_visible()
        await expect(page.get_by_role("link", name="Other")).to_have_count(0)
        await page.get_by_role("button", name="Remove filter: Priority is High or Medium").click()
        await expect(page.get_by_role("link", name="Other")).to_be_visible()
        await page.keyboard.press("f")
        await page.get_by_role("option", name="No label").click()
        await expect(page.get_by_role("link", name="Other")).to_have_count(0)
        await page.keyboard.press("Escape")
        await page.get_by_role("button", name="Remove filter: No label").click()
        await expect(page.get_by_role("link", name="Other")).to_be_visible()

    use(chromium, world.owner, f"/projects/{world.project}", narrow)


@pytest.mark.long
def test_selected_cards_are_edited_by_key_and_undone(chromium: Chromium, world: World) -> None:
    seed(world)

    def priorities() -> list[str]:
        query = {"column_id": world.columns[0], "sort": "position"}
        return [each["priority"] for each in ok(world.api.get("/tickets", params=query))["items"]]

    def labels() -> list[list[str]]:
        query = {"column_id": world.columns[0], "sort": "position"}
        return [each["labels"] for each in ok(world.api.get("/tickets", params=query))["items"]]

    async def pick(page: Page, key: str, choice: str) -> None:
        await page.keyboard.press(key)
        await page.get_by_role("option", name=choice).click()

    async def edit(page: Page) -> None:
        await expect(page.get_by_role("link", name="One")).to_be_visible()
        for key in ("j", "x", "j", "x"):
            await page.keyboard.press(key)
            await wait_for_frames(page)
        bar = page.get_by_role("toolbar", name="Actions for selected tickets")
        await expect(bar).to_contain_text("2 selected")
        await pick(page, "p", "High")
        await expect(page.get_by_text("2 tickets set to High")).to_be_visible()
        await hold_messages(page)  # it offers to undo, also after the checks
        await expect(page.get_by_role("img", name="High")).to_have_count(2)
        await assert_accessible(page)
        await expect_stored(priorities, ["high", "high", "none"])
        await page.keyboard.press("Control+z")
        await expect(page.get_by_text("2 tickets restored")).to_be_visible()
        await expect_stored(priorities, ["none", "none", "none"])
        await bar.get_by_role("button", name="Send to agent").click()
        await expect(page.get_by_text("2 tickets sent to agents")).to_be_visible()
        await expect_stored(labels, [["agent"], ["agent"], []])
        await page.keyboard.press("Control+z")
        await expect(page.get_by_text("2 tickets restored")).to_be_visible()
        await expect_stored(labels, [[], [], []])
        await pick(page, "d", "Today")
        await expect(page.locator(".chip", has_text="Today")).to_have_count(2)
        await assert_accessible(page)
        await pick(page, "s", "Done")
        await expect(page.get_by_text("2 tickets moved to Done")).to_be_visible()
        await expect_titles(page, "Done", ["One", "Two"])
        await page.keyboard.press("Escape")
        await expect(bar).to_have_count(0)
        await page.get_by_role("link", name="Three").hover()
        await page.get_by_role("button", name="Archive Three").click()
        await expect(page.get_by_text(" archived", exact=False).first).to_be_visible()
        await page.get_by_role("button", name="Undo").click()
        await expect(page.get_by_role("link", name="Three")).to_be_visible()

    use(chromium, world.owner, f"/projects/{world.project}", edit)
    assert (titles(world, 0), titles(world, 2)) == (["Three"], ["One", "Two"])


@pytest.mark.long
def test_back_restores_scroll_focus_and_filters(chromium: Chromium, world: World) -> None:
    for number in reversed(range(40)):
        world.ticket(f"Number {number}", priority="high")

    async def leave_and_return(page: Page) -> None:
        card = page.get_by_role("link", name="Number 30", exact=True)
        lane = page.get_by_role("region", name="To do").locator(".scroll")
        await expect(page.get_by_role("link", name="Number 0", exact=True)).to_be_visible()
        await lane.evaluate("lane => { lane.scrollTop = 30 * 80 }")
        await card.click()
        await expect(page.get_by_role("heading", name="Number 30")).to_be_focused()
        await page.go_back()
        await expect(card).to_be_focused()
        await expect(card).to_be_in_viewport()
        assert await lane.evaluate("lane => lane.scrollTop") > 1000
        await expect(page).to_have_url(re.compile(r"\?priority=high$"))

    use(chromium, world.owner, f"/projects/{world.project}?priority=high", leave_and_return)


@pytest.mark.long
@EVERY
def test_table_moves_several_tickets_and_archive_restores(chromium: Chromium, world: World, looks: Looks) -> None:
    seed(world)

    async def work(page: Page) -> None:
        await page.get_by_label("Select One").check()
        await page.get_by_label("Select Three").check()
        toolbar = page.get_by_role("toolbar", name="Actions for selected tickets")
        await toolbar.get_by_role("button", name="Status").click()
        await page.get_by_role("option", name="Done").click()
        await expect(page.get_by_text("2 tickets moved to Done")).to_be_visible()
        await expect(page.get_by_text("2 selected")).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(toolbar).to_have_count(0)
        await page.get_by_label("Select Two").check()
        await assert_accessible(page)
        await assert_fits(page)
        await toolbar.get_by_role("button", name="Archive").click()
        await expect(page.get_by_text(re.compile(r"^\w+-\d+ archived$"))).to_be_visible()
        await expect(page.get_by_label("Select Two")).to_have_count(0)
        if looks.size == PHONE:
            await page.get_by_role("button", name="View and display").click()
            await page.get_by_role("menuitemcheckbox", name="Archive").click()
        else:
            await page.get_by_role("button", name="Display").click()
            await page.get_by_role("menuitem", name="Archived tickets").click()
        await page.get_by_label("Select Two").check()
        await page.get_by_role("button", name="Restore").click()
        await expect(page.get_by_text("No archived tickets")).to_be_visible()
        await page.get_by_role("button", name="Undo").click()
        await page.get_by_label("Select Two").check()
        await page.get_by_role("button", name="Restore").click()
        await expect(page.get_by_text("No archived tickets")).to_be_visible()

    use(chromium, world.owner, f"/projects/{world.project}/table", work, looks)
    assert (titles(world, 0), titles(world, 2)) == (["Two"], ["One", "Three"])


@pytest.mark.long
def test_undo_in_the_table_restores_status_and_place(chromium: Chromium, world: World) -> None:
    seed(world)

    async def work(page: Page) -> None:
        for title in ("Two", "One"):
            await page.get_by_label(f"Select {title}").check()
        toolbar = page.get_by_role("toolbar", name="Actions for selected tickets")
        await toolbar.get_by_role("button", name="Status").click()
        await page.get_by_role("option", name="Done").click()
        await expect(page.get_by_text("2 tickets moved to Done")).to_be_visible()
        await expect_stored(lambda: (titles(world, 0), titles(world, 2)), (["Three"], ["Two", "One"]))
        await page.get_by_role("button", name="Undo").click()
        await expect(page.get_by_text("2 tickets restored")).to_be_visible()

    before = titles(world, 0)
    use(chromium, world.owner, f"/projects/{world.project}/table", work)
    assert (titles(world, 0), titles(world, 2)) == (before, [])


@pytest.mark.long
def test_archived_tickets_are_deleted_together_after_confirmation(chromium: Chromium, world: World) -> None:
    seed(world)
    for ticket in ok(world.api.get("/tickets"))["items"]:
        ok(world.api.post(f"/tickets/{ticket['id']}/archive"))

    async def delete(page: Page) -> None:
        await page.get_by_label("Select One").check()
        await page.get_by_label("Select Three").check()
        toolbar = page.get_by_role("toolbar", name="Bulk actions")
        await toolbar.get_by_role("button", name="Delete").click()
        dialog = page.get_by_role("dialog", name="Delete 2 tickets?")
        await expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
        await assert_accessible(page)
        await page.keyboard.press("Escape")
        await expect(dialog).to_have_count(0)
        await expect(page.get_by_label("Select One")).to_be_checked()
        await toolbar.get_by_role("button", name="Delete").click()
        await dialog.get_by_role("button", name="Delete 2 tickets").click()
        await expect(page.get_by_text("Deleted 2 tickets")).to_be_visible()
        await expect(page.locator(".what a")).to_have_text(["Two"])

    archive = f"/projects/{world.project}/archive"
    use(chromium, world.owner, archive, delete)
    assert [each["title"] for each in ok(world.api.get("/tickets", params={"status": "all"}))["items"]] == ["Two"]

    async def look(page: Page) -> None:
        await page.get_by_label("Select Two").check()
        toolbar = page.get_by_role("toolbar", name="Bulk actions")
        await expect(toolbar.get_by_role("button", name="Restore")).to_be_visible()
        await expect(toolbar.get_by_role("button", name="Delete")).to_have_count(0)

    use(chromium, world.join("Bob"), archive, look)


@pytest.mark.long
def test_selected_rows_are_edited_and_the_edits_are_undone(chromium: Chromium, world: World) -> None:
    seed(world)
    world.join("Bob")

    def look(field: str) -> list[Any]:
        query = {"column_id": world.columns[0], "sort": "position"}
        return [each[field] for each in ok(world.api.get("/tickets", params=query))["items"]]

    def assignees() -> list[list[str]]:
        return [sorted(who["name"] for who in each) for each in look("assignees")]

    async def work(page: Page) -> None:
        async def edit(key: str, choice: str, message: str, *titles: str) -> None:
            for title in titles:
                await page.get_by_label(f"Select {title}").check()
            await page.keyboard.press(key)
            await page.get_by_role("option", name=choice).click()
            await expect(page.get_by_text(message)).to_be_visible()

        async def undo(message: str) -> None:
            await page.get_by_role("button", name="Undo").click()
            await expect(page.get_by_text(message)).to_be_visible()

        await edit("a", "Bob", "2 tickets assigned to Bob", "One", "Two")
        await expect_stored(assignees, [["Bob"], ["Bob"], []])
        await undo("2 tickets restored")
        await expect_stored(assignees, [[], [], []])
        await edit("p", "Urgent", "2 tickets set to Urgent")
        await expect_stored(lambda: look("priority"), ["urgent", "urgent", "none"])
        await undo("2 tickets restored")
        await expect_stored(lambda: look("priority"), ["none", "none", "none"])
        await edit("s", "Done", "2 tickets moved to Done")
        await expect_stored(lambda: titles(world, 0), ["Three"])
        await undo("2 tickets restored")
        await expect(page.get_by_text("2 selected")).to_be_visible()
        await expect_stored(lambda: sorted(titles(world, 0)), ["One", "Three", "Two"])
        await edit("a", "Ann", "3 tickets assigned to Ann", "Three")
        await expect_stored(assignees, [["Ann"]] * 3)
        await edit("a", "Ann", "3 tickets unassigned from Ann")
        await expect_stored(assignees, [[], [], []])
        await page.keyboard.press("e")
        await expect(page.get_by_text("3 tickets archived")).to_be_visible()
        await expect(page.get_by_text("No tickets yet")).to_be_visible()
        await undo("3 tickets restored")
        await expect(page.get_by_label("Select Three")).to_be_visible()

    use(chromium, world.owner, f"/projects/{world.project}/table", work)


@pytest.mark.long
def test_table_reports_changes_and_updates_on_request(chromium: Chromium, world: World) -> None:
    seed(world)

    async def watch(page: Page) -> None:
        told = page.get_by_role("status").filter(has_text="Tickets have changed")
        await page.get_by_label("Select One").check()
        await expect(told).to_have_count(0)
        world.ticket("Four")
        await expect(told).to_be_visible()
        await expect(page.get_by_role("link", name="Four")).to_have_count(0)
        await expect(page.get_by_label("Select One")).to_be_checked()
        await told.get_by_role("button", name="Refresh list").click()
        await expect(page.get_by_role("link", name="Four")).to_be_visible()
        await expect(told).to_have_count(0)

    use(chromium, world.owner, f"/projects/{world.project}/table", watch)


@pytest.mark.long
def test_forced_colors_show_cards_and_the_current_page(chromium: Chromium, world: World) -> None:
    world.ticket("Cart stays empty")

    async def look(page: Page) -> None:
        current = page.get_by_role("navigation").locator("a[aria-current]")
        card = page.locator(".card").filter(has_text="Cart stays empty")
        for edge, width in ((card, "1px"), (current.first, "2px")):
            outline = (
                "each => { const s = getComputedStyle(each); return [s.outlineStyle, s.outlineWidth, s.outlineColor]; }"
            )
            style, drawn, color = await edge.evaluate(outline)
            assert (style, drawn) == ("solid", width)
            assert color != "rgba(0, 0, 0, 0)"

    use(chromium, world.owner, f"/projects/{world.project}", look, forced_colors="active")


@pytest.mark.long
def test_viewer_sees_the_board_without_controls(chromium: Chromium, world: World) -> None:
    seed(world)
    viewer = world.join("Vic", role="viewer")

    async def look(page: Page) -> None:
        await expect(page.get_by_role("link", name="One")).to_be_visible()
        await expect(page.get_by_role("button", name="ticket")).to_have_count(0)
        assert await page.locator("[data-ticket]").first.evaluate("card => card.closest('li').draggable") is False
        await page.locator("[data-ticket]").first.focus()
        await page.keyboard.press("x")
        await expect(page.get_by_role("checkbox")).to_have_count(0)
        await expect(page.get_by_role("toolbar")).to_have_count(0)

    use(chromium, viewer, f"/projects/{world.project}", look)


@pytest.mark.long
def test_empty_board_links_to_ways_to_create_tickets(chromium: Chromium, world: World) -> None:
    async def look(page: Page) -> None:
        for name, path in (("Invite people", "invitations?new"), ("Connect agent", "/settings/tokens")):
            link = page.get_by_role("main").get_by_role("link", name=name)
            assert str(await link.get_attribute("href")).endswith(path)
        await assert_accessible(page)
        await page.get_by_role("button", name="Add sample tickets").click()
        samples = ["Cart total is NaN when", "3-D Secure payments fail", "Half of the product images"]
        await expect(page.locator("[data-ticket]")).to_contain_text(samples)
        await expect(page.locator("[data-ticket]").first.locator("..")).to_contain_text("TypeError ×5")
        await assert_accessible(page)
        await page.get_by_role("button", name="Remove sample tickets").click()
        await expect(page.get_by_text("Catch your first bug")).to_be_visible()
        await page.get_by_role("main").get_by_role("link", name="Install browser extension").click()
        await expect(page.get_by_role("heading", name="Browser extension")).to_be_visible()
        world.ticket("One")
        await page.goto(f"{world.box.url}/projects/{world.project}?priority=high")
        await expect(page.get_by_role("heading", name="To do")).to_be_visible()
        await expect(page.get_by_text("Catch your first bug")).to_have_count(0)
        await page.get_by_role("button", name="Clear filters").click()
        await expect(page.get_by_role("link", name="One")).to_be_visible()
        await expect(page.get_by_text("No tickets match these filters")).to_have_count(0)

    use(chromium, world.owner, f"/projects/{world.project}", look)


@pytest.mark.long
def test_leaving_the_board_sends_no_failing_request_and_home_returns_to_it(chromium: Chromium, world: World) -> None:
    second = ok(world.owner.web.post(f"/companies/{world.company}/projects", json={"name": "Second"}))["id"]

    async def leave(page: Page) -> None:
        refused: list[str] = []
        page.on("response", lambda answer: refused.append(answer.url) if answer.status >= 400 else None)
        await expect(page.get_by_role("heading", name="Second")).to_be_visible()
        await page.get_by_role("link", name="Inbox").click()
        await expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
        await page.wait_for_load_state("networkidle")
        assert refused == []
        await page.goto(f"{world.box.url}/nowhere/%E0%A4%A")
        await page.get_by_role("heading", name="Page not found").wait_for()
        await page.get_by_role("link", name="Go to board").click()
        await page.wait_for_url(f"**/projects/{second}")

    use(chromium, world.owner, f"/projects/{second}", leave)


def test_board_of_another_company_is_not_found(chromium: Chromium, world: World, other: World) -> None:
    async def look(page: Page) -> None:
        await expect(page.get_by_role("alert")).to_contain_text("Project not found")

    use(chromium, other.owner, f"/projects/{world.project}", look)


@pytest.mark.long
def test_sign_in_returns_to_the_board(chromium: Chromium, world: World) -> None:
    path = f"/projects/{world.project}?priority=high"

    async def sign_in(page: Page) -> None:
        await page.goto("about:blank")  # or the app would notice, and leave for the sign-in page
        await page.context.clear_cookies()
        await page.goto(world.box.url + path)
        await page.fill("#email", world.owner.email)
        await page.fill("#password", "correct horse battery")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", name="First project")).to_be_visible()
        await expect(page).to_have_url(world.box.url + path)

    use(chromium, world.owner, "/", sign_in)
