"""Finding in a real browser: the palette, the search page, the help sheet and the inbox."""

import asyncio
import re

import pytest
from playwright.async_api import Locator, Page, Route, expect

from tests.docs.pages import ROOT, table, words
from tests.e2e.support.app import EVERY, LOOKS, Looks, assert_accessible, assert_fits, find_still_box, use
from tests.e2e.support.browser import Chromium
from tests.e2e.support.captures import capture_on, line
from tests.e2e.support.webapp import open_as
from tests.support.operation_cases import make_capture
from tests.support.server import World, ok

PLANTED = "<img src=x onerror=alert(1)> needle"


async def ask(page: Page, text: str) -> None:
    await expect(page.get_by_role("heading", level=1)).to_be_visible()
    await page.keyboard.press("Control+k")
    await page.get_by_role("combobox").fill(text)


def completions(page: Page, **state: bool) -> Locator:
    """What the search page offers to go on with."""
    return page.get_by_role("listbox", name="Completions").get_by_role("option", **state)  # type: ignore[arg-type]


@EVERY
def test_the_palette_finds_tickets_projects_and_commands(chromium: Chromium, world: World, looks: Looks) -> None:
    ticket = world.ticket("The cart stays empty")
    world.ticket(PLANTED)

    async def find(page: Page) -> None:
        await ask(page, "cart sta")
        option = page.get_by_role("option", name="The cart stays empty")
        await expect(option).to_be_visible()
        await expect(option.locator("mark")).to_have_text(["cart", "stays"])
        preview = page.get_by_role("dialog").locator(".preview")
        await expect(preview).to_contain_text(f"{ticket['key']} · First project")
        assert await preview.is_visible() == ((await page.evaluate("innerWidth")) > 760)
        await assert_accessible(page)
        await assert_fits(page)
        await page.keyboard.press("Enter")
        await expect(page).to_have_url(f"{world.box.url}/tickets/{ticket['id']}")
        await ask(page, "needle")
        await expect(page.get_by_role("option", name=PLANTED)).to_be_visible()
        await page.get_by_role("combobox").fill("Nothing is like this")
        await expect(page.get_by_role("dialog")).to_contain_text("No results")
        await page.get_by_role("option", name="Create ticket “Nothing is like this”").click()
        await expect(page.get_by_label("Title")).to_have_value("Nothing is like this")
        await page.keyboard.press("Escape")
        await ask(page, "first pro")
        await expect(page.get_by_role("option", selected=True)).to_contain_text("First project")
        await page.keyboard.press("Enter")
        await expect(page).to_have_url(f"{world.box.url}/projects/{world.project}")
        await ask(page, "archive")
        await expect(page.get_by_role("option", selected=True)).to_contain_text("Go to archive")
        await page.keyboard.press("Enter")
        await expect(page).to_have_url(f"{world.box.url}/projects/{world.project}/archive")

    use(chromium, world.owner, f"/projects/{world.project}", find, looks)


@EVERY
@pytest.mark.long
def test_palette_filters_the_board_and_shows_saved_views(chromium: Chromium, world: World, looks: Looks) -> None:
    world.ticket("The cart stays empty", labels=["bug"], priority="high")
    world.ticket("Pay later", labels=["bug"])
    world.ticket("An idea")
    body = {"name": "High bugs", "shared": True, "filters": {"label": ["bug"], "priority": ["high"]}}
    ok(world.api.post(f"/projects/{world.project}/views", json=body))
    cards = "[data-ticket]"

    async def find(page: Page) -> None:
        await expect(page.locator(cards)).to_have_count(3)
        await ask(page, "bug")
        filters = page.get_by_role("option", name="Filter board by")
        await expect(filters).to_have_text(["Filter board by “bug” Label"])
        await assert_accessible(page)
        await assert_fits(page)
        await filters.click()
        await expect(page).to_have_url(re.compile(r"\?label=bug$"))
        await expect(page.locator(cards)).to_have_count(2)
        await ask(page, "high")
        await page.get_by_role("option", name="Filter board by “High” Priority").click()
        await expect(page).to_have_url(re.compile(r"\?label=bug&priority=high$"))
        await expect(page.locator(cards)).to_have_count(1)
        await page.goto(f"{world.box.url}/inbox")
        await ask(page, "ann")
        await page.get_by_role("option", name="Filter board by “Ann” Assignee").click()
        await expect(page).to_have_url(f"{world.box.url}/projects/{world.project}?assignee={world.owner.id}")
        await ask(page, "high b")
        await page.get_by_role("option", name="Show “High bugs” First project").click()
        await expect(page.get_by_role("heading", name="High bugs", level=1)).to_be_visible()

    use(chromium, world.owner, f"/projects/{world.project}", find, looks)


def test_palette_finds_messages_in_captures(chromium: Chromium, world: World) -> None:
    world.ticket("The price is missing")
    capture = capture_on(
        world, console=[line(1, "error", "first line"), line(2, "error", "price missing for sku GIFT-50")]
    )

    async def find(page: Page) -> None:
        await ask(page, "missing")
        captures = page.get_by_role("group", name="In captures")
        message = captures.get_by_role("option", name="price missing for sku GIFT-50")
        await expect(message).to_contain_text(ok(world.api.get(f"/tickets/{capture['id']}"))["key"])
        await expect(message.locator("mark")).to_have_text("missing")
        tickets = page.get_by_role("group", name="Tickets").get_by_role("option")
        await expect(tickets).to_have_text([re.compile("The price is missing")])
        await expect(page.get_by_role("option", selected=True)).to_contain_text("The price is missing")
        await message.hover()
        await expect(page.get_by_role("dialog").locator(".preview")).to_contain_text("Cart")
        await assert_accessible(page)
        await page.keyboard.press("Enter")
        await expect(page).to_have_url(f"{world.box.url}/tickets/{capture['id']}/console")
        await expect(page.get_by_role("tab", name="Console", selected=True)).to_be_visible()

    use(chromium, world.owner, f"/projects/{world.project}", find)


@EVERY
def test_palette_searches_all_projects_or_one(chromium: Chromium, world: World, looks: Looks) -> None:
    world.ticket("Gift cards have no price")
    there = {"title": "Gift wrap is free"}
    ok(world.api.post("/tickets", json={"project_id": world.new_project('A "second"'), **there}))

    async def find(page: Page) -> None:
        await ask(page, "gift")
        found = page.get_by_role("group", name="Tickets").get_by_role("option")
        both = [re.compile("Gift"), re.compile("Gift"), "All results for “gift”"]
        one = [re.compile("Gift cards"), "All results for “gift” in First project"]
        await expect(found).to_have_text(both)
        await assert_accessible(page)
        await page.get_by_role("button", name="Search in All projects").click()
        await expect(found).to_have_text(one)
        await expect(page.get_by_role("combobox")).to_be_focused()
        await assert_accessible(page)
        await assert_fits(page)
        await page.keyboard.press("Control+/")
        await expect(found).to_have_text(both)
        await page.keyboard.press("Tab")
        scope = page.get_by_role("button", name="Search in All projects")
        await expect(scope).to_be_focused()
        await expect(scope).to_have_attribute("title", "Search only First project (Ctrl /)")
        await page.keyboard.press("Enter")
        await found.filter(has_text="All results for “gift” in First project").click()
        results = page.get_by_role("main").get_by_role("link", name="Gift")
        await expect(results).to_have_text([re.compile("Gift cards")])

    use(chromium, world.owner, f"/projects/{world.project}", find, looks)


def test_palette_of_one_project_has_no_choice(chromium: Chromium, world: World) -> None:
    async def find(page: Page) -> None:
        await ask(page, "gift")
        await expect(page.get_by_role("button", name="Close")).to_be_visible()
        await expect(page.get_by_role("button", name="Search in")).to_have_count(0)

    use(chromium, world.owner, f"/projects/{world.project}", find)


def test_fingers_show_the_actions_of_each_result(chromium: Chromium, world: World) -> None:
    for title in ("The cart stays empty", "The cart is slow"):
        world.ticket(title)

    async def act(page: Page) -> None:
        await page.get_by_role("button", name="Search", exact=True).tap()
        await page.get_by_role("combobox").fill("cart")
        rows, buttons = page.get_by_role("option", name="The cart"), page.locator("#palette-list .actions")
        await expect(buttons).to_have_count(2)
        row, button = await find_still_box(rows.nth(1)), await find_still_box(buttons.nth(1))
        assert (button["width"], button["height"]) == (44, 44)
        assert (button["y"], button["x"] + 44) == (row["y"], row["x"] + row["width"])
        await assert_accessible(page)
        await assert_fits(page)
        key = await rows.nth(1).locator(".key").inner_text()
        await buttons.nth(1).tap()
        await expect(page.get_by_role("combobox", name="Search actions")).to_be_focused()
        await expect(page.get_by_role("option", name=f"Copy key {key}")).to_be_visible()
        back = page.get_by_role("button", name="Back")
        assert (await find_still_box(back))["height"] == 44
        await back.tap()
        await rows.nth(1).tap()
        await expect(page.get_by_role("heading", level=1, name="The cart")).to_be_visible()

    use(chromium, world.owner, f"/projects/{world.project}", act, LOOKS["phone"], has_touch=True, is_mobile=True)


@EVERY
@pytest.mark.long
def test_palette_shows_the_actions_of_a_ticket(chromium: Chromium, world: World, looks: Looks) -> None:
    ticket = world.ticket("The cart stays empty")

    async def read(field: str) -> object:
        return ok(world.api.get(f"/tickets/{ticket['id']}"))[field]

    async def show_actions(page: Page, after: str = "") -> None:
        await expect(page.get_by_role("region", name="Messages")).to_contain_text(after)
        await ask(page, "cart")
        await expect(page.get_by_role("option", selected=True)).to_contain_text("The cart stays empty")
        await page.keyboard.press("Control+k")
        await expect(page.get_by_role("combobox", name="Search actions")).to_be_focused()

    async def act(page: Page) -> None:
        await show_actions(page)
        await expect(page.get_by_role("option")).to_contain_text(["Open ticket", "Open in new tab", "Copy link"])
        await assert_accessible(page)
        await assert_fits(page)
        await page.keyboard.type("priority")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("combobox", name="Set priority")).to_be_focused()
        await assert_accessible(page)
        await page.keyboard.press("Escape")
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("combobox")).to_have_value("cart")
        await expect(page.get_by_role("combobox")).to_be_focused()
        await page.keyboard.press("Control+k")
        await page.get_by_role("option", name="Set priority").click()
        await page.get_by_role("option", name="High").click()
        await show_actions(page, after=f"{ticket['key']} set to High")
        assert await read("priority") == "high"
        await page.get_by_role("option", name="Add or remove label").click()
        await page.get_by_role("combobox").fill("checkout")
        await page.get_by_role("option", name="Add “checkout”").click()
        await show_actions(page, after="labelled checkout")
        assert await read("labels") == ["checkout"]
        await page.keyboard.type("archive")
        await page.keyboard.press("Enter")
        await show_actions(page, after=f"{ticket['key']} archived")
        await expect(page.get_by_role("option")).to_contain_text([f"Copy key {ticket['key']}", "Restore ticket"])
        await expect(page.get_by_role("option", name="Set priority")).to_have_count(0)

    use(chromium, world.owner, f"/projects/{world.project}", act, looks)


@pytest.mark.long
def test_palette_reports_the_error_in_a_query(chromium: Chromium, world: World) -> None:
    async def err(page: Page) -> None:
        await ask(page, "cart priority:asap")
        await expect(page.get_by_role("alert")).to_contain_text(
            "priority must be one of none, low, medium, high, urgent"
        )
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_have_count(0)

    use(chromium, world.owner, f"/projects/{world.project}", err)


@pytest.mark.long
@EVERY
def test_search_page_highlights_matches(chromium: Chromium, world: World, looks: Looks) -> None:
    world.ticket("Payment fails", description="The *bank* asks back, and nothing happens.")
    ok(world.api.post(f"/tickets/{world.ticket('Gone for now')['id']}/archive"))

    async def search(page: Page) -> None:
        await expect(page.get_by_role("combobox", name="Search query")).to_be_focused()
        await page.keyboard.type("bank")
        await page.keyboard.press("Enter")
        await expect(page.locator("mark")).to_have_text("bank")
        await expect(page).to_have_url(re.compile(r"/search\?q=bank$"))
        await page.reload()
        await expect(page.locator("mark")).to_have_text("bank")
        await expect(page.get_by_role("combobox", name="Search query")).not_to_be_focused()
        await assert_accessible(page)
        await assert_fits(page)
        await page.get_by_role("combobox", name="Search query").fill("gone")
        await page.keyboard.press("Enter")
        await expect(page.get_by_text("No results")).to_be_visible()
        await page.get_by_role("group", name="Status").get_by_role("link", name="Archived").click()
        await expect(page.get_by_role("link", name="Gone for now")).to_be_visible()
        async with page.expect_download() as downloading:
            await page.get_by_role("button", name="Download CSV").click()
        assert "Gone for now,archived" in (await (await downloading.value).path()).read_text()
        await page.get_by_role("combobox", name="Search query").fill("labl:ui")
        await page.keyboard.press("Enter")
        await expect(page.get_by_text("did you mean label:?")).to_be_visible()

    use(chromium, world.owner, "/search", search, looks)


@pytest.mark.long
def test_excerpts_show_no_markdown_markup(chromium: Chromium, world: World) -> None:
    filler = "nothing to see here " * 12
    shown = {
        "## Steps\n\n- [ ] open the **beetle one**, see `beetle_two()`\n\n```js\nbeetle * 3\n```": (
            "Steps open the beetle one, see beetle_two() beetle * 3",
            ["beetle", "beetle", "beetle"],
        ),
        f"**{filler}beetle {filler}**": (None, ["beetle"]),
        f"{filler}[so it says](https://example.org/a) beetle": (None, ["beetle"]),
        "[where](https://example.org/beetle)": ("[where](https://example.org/beetle)", ["beetle"]),
        "<b>beetle</b> costs 2 * 3 * 4 and is some_beetle_name": (
            "<b>beetle</b> costs 2 * 3 * 4 and is some_beetle_name",
            ["beetle", "beetle"],
        ),
    }
    for number, text in enumerate(shown):
        world.ticket(f"Ticket {number}", description=text)

    async def search(page: Page) -> None:
        await page.get_by_role("link", name="Ticket 0").wait_for()
        for number, (whole, marked) in enumerate(shown.values()):
            excerpt = page.get_by_role("listitem").filter(has_text=f"Ticket {number}").locator(".excerpt")
            await expect(excerpt.locator("mark")).to_have_text(marked)
            said = await excerpt.inner_text()
            assert said == whole if whole else not set(said) & set("*[]()"), said

    use(chromium, world.owner, "/search?q=beetle", search)


@EVERY
def test_the_search_page_completes_filters_and_their_values(chromium: Chromium, world: World, looks: Looks) -> None:
    world.ticket("Payment fails", labels=["check out"], priority="high")
    world.join("Bob")

    async def search(page: Page) -> None:
        field, options = page.get_by_role("combobox", name="Search query"), completions(page)
        await field.press_sequentially("pay pri")
        await expect(options).to_have_text(["priority: Priority"])
        await expect(field).to_have_attribute("aria-expanded", "true")
        await assert_accessible(page)
        await assert_fits(page)
        await page.keyboard.press("Tab")
        await expect(field).to_have_value("pay priority:")
        await expect(options).to_have_text(["none", "low", "medium", "high", "urgent"])
        await expect(completions(page, selected=True)).to_have_text("none")
        await page.keyboard.press("ArrowUp")
        await page.keyboard.press("ArrowUp")
        await page.keyboard.press("Enter")
        await expect(field).to_have_value("pay priority:high ")
        await field.press_sequentially("-assignee:bo")
        await expect(options).to_contain_text(["Bob"])
        await page.keyboard.press("Enter")
        await expect(field).to_have_value("pay priority:high -assignee:Bob ")
        await field.press_sequentially("label:out")
        await options.get_by_text("check out").click()
        await expect(field).to_have_value('pay priority:high -assignee:Bob label:"check out" ')
        await page.keyboard.press("Escape")
        await expect(options).to_have_count(0)
        await expect(field).to_be_focused()
        await field.press_sequentially("project:")
        await expect(options).to_have_text(["First project"])
        await page.keyboard.press("Escape")
        for _ in "project:":
            await page.keyboard.press("Backspace")
        await expect(field).to_have_value('pay priority:high -assignee:Bob label:"check out" ')
        await page.keyboard.press("Escape")
        await expect(options).to_have_count(0)
        await page.keyboard.press("Enter")
        await expect(page.get_by_text("No results")).to_be_visible()  # "pay" is no whole word
        await field.fill('payment priority:high -assignee:Bob label:"check out"')
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("link", name="Payment fails")).to_be_visible()

    use(chromium, world.owner, "/search", search, looks)


@pytest.mark.long
def test_word_that_starts_a_filter_can_be_searched(chromium: Chromium, world: World) -> None:
    world.ticket("Has a label")

    async def search(page: Page) -> None:
        field = page.get_by_role("combobox", name="Search query")
        await field.press_sequentially("label")
        await expect(completions(page)).to_have_text(["label: Label"])
        await expect(completions(page, selected=True)).to_have_count(0)
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("link", name="Has a label")).to_be_visible()
        await expect(completions(page)).to_have_count(0)
        await field.fill("")
        await page.keyboard.press("Escape")
        await page.keyboard.press("Tab")
        await expect(page.get_by_role("button", name="Search", exact=True)).to_be_focused()

    use(chromium, world.owner, "/search", search)


@pytest.mark.long
def test_search_page_selects_the_wrong_part_of_a_query(chromium: Chromium, world: World) -> None:
    async def search(page: Page) -> None:
        field = page.get_by_role("combobox", name="Search query")
        await field.fill("\U0001f9fa cart priority:asap is:open")
        await page.keyboard.press("Escape")
        await page.keyboard.press("Enter")
        await expect(page.get_by_text("priority must be one of none, low")).to_be_visible()
        await expect(field).to_have_attribute("aria-invalid", "true")
        await expect(page.locator("u")).to_have_text("priority:asap")
        await assert_accessible(page)
        await page.keyboard.type("is:resolved")  # it was selected
        await expect(field).to_have_value("\U0001f9fa cart is:resolved is:open")
        await expect(page.locator("u")).to_have_count(0)

    use(chromium, world.owner, "/search", search)


@pytest.mark.long
@EVERY
def test_the_palette_completes_filters_and_their_values(chromium: Chromium, world: World, looks: Looks) -> None:
    world.ticket("The cart stays empty", labels=["checkout"])
    world.ticket("The cart is red")

    async def complete(page: Page) -> None:
        await ask(page, "cart lab")
        field, filters = page.get_by_role("combobox"), page.get_by_role("group", name="Filters")
        await expect(filters.get_by_role("option")).to_have_text(["label: Label"])
        await page.keyboard.press("Tab")
        await expect(field).to_have_value("cart label:")
        await expect(filters.get_by_role("option", selected=True)).to_have_text("checkout")
        await expect(page.get_by_role("alert")).to_have_count(0)
        await assert_accessible(page)
        await assert_fits(page)
        await page.keyboard.press("Enter")
        await expect(field).to_have_value("cart label:checkout ")
        await expect(page.get_by_role("group", name="Tickets").get_by_role("option")).to_contain_text(
            ["The cart stays empty", "All results"]
        )
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", level=1)).to_have_text("The cart stays empty")

    use(chromium, world.owner, f"/projects/{world.project}", complete, looks)


@pytest.mark.long
def test_palette_shows_no_error_while_a_value_is_incomplete(chromium: Chromium, world: World) -> None:
    async def complete(page: Page) -> None:
        await ask(page, "cart priority:hi")
        await page.wait_for_timeout(400)
        await expect(page.get_by_role("alert")).to_have_count(0)
        await page.get_by_role("combobox").press_sequentially("p ")
        await expect(page.get_by_role("alert")).to_contain_text("priority must be one of")
        await expect(page.locator("u")).to_have_text("priority:hip")

    use(chromium, world.owner, f"/projects/{world.project}", complete)


def keys_in_docs(place: str) -> set[str]:
    """The shortcuts that docs/use/web-app.md gives for a page."""
    rows = [row for row in table(ROOT / "docs/use/web-app.md", "Keyboard") if row[1] == "everywhere" or place in row[1]]
    return {keys.lower().replace("mod", "ctrl") for keys in words([row[0] for row in rows])}


@pytest.mark.long
def test_shortcut_help_matches_the_documentation(chromium: Chromium, world: World) -> None:
    ticket = world.ticket("Look at this")

    async def list_keys(page: Page) -> set[str]:
        await page.keyboard.press("?")
        await expect(page.get_by_text("Go to inbox")).to_be_visible()
        keys = await page.get_by_role("dialog").locator("h3:not(:has-text('On the board')) + dl dt").all()
        result = {
            " ".join([(await key.inner_text()).lower() for key in await each.locator("kbd").all()]) for each in keys
        }
        await assert_accessible(page)
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_have_count(0)  # which keeps the next keys to itself
        return result

    async def ask_for_help(page: Page) -> None:
        await expect(page.get_by_role("heading", name="Look at this")).to_be_visible()
        assert await list_keys(page) == keys_in_docs("ticket")
        await page.goto(f"{world.box.url}/projects/{world.project}")
        await expect(page.get_by_role("link", name="Look at this")).to_be_visible()
        assert await list_keys(page) == keys_in_docs("board")
        await page.keyboard.press("g")
        await page.keyboard.press("i")
        await expect(page.get_by_role("heading", name="Inbox")).to_be_visible()

    use(chromium, world.owner, f"/tickets/{ticket['id']}", ask_for_help)


@pytest.mark.long
@EVERY
def test_mention_appears_in_the_inbox_on_another_page(chromium: Chromium, world: World, looks: Looks) -> None:
    bob = world.join("Bob")
    ticket = world.ticket("Look at this")

    async def hear(page: Page) -> None:
        await expect(page.get_by_role("heading", level=1)).to_be_visible()
        ok(world.api.post(f"/tickets/{ticket['id']}/comments", json={"body": "@Bob what do you think?"}))
        navigation = page.get_by_role("navigation", name="Tabs" if looks.size["width"] < 700 else "Main")
        link = navigation.get_by_role("link", name="Inbox")
        await expect(link).to_contain_text("1")
        await link.click()
        item = page.locator("li[data-row]")
        await expect(item).to_contain_text(re.compile(r"^\s*a token\s*via the API for Ann mentioned you"))
        await expect(item).to_contain_text("@Bob what do you think?")
        await expect(item.locator("[data-kind=mention]")).to_be_visible()
        # another notification about the same ticket joins it
        ok(world.api.post(f"/tickets/{ticket['id']}/comments", json={"body": "**Well?**"}))
        await expect(item).to_contain_text("+1")
        await expect(item.locator("[data-kind=reply]")).to_be_visible()
        await expect(item).to_contain_text("Well?")
        await expect(item).not_to_contain_text("**")
        await assert_accessible(page)
        await assert_fits(page)
        await page.get_by_role("button", name="Actions for Look at this").click()
        await page.get_by_role("menuitem", name="Mute ticket").click()
        await expect(page.get_by_role("list", name="Muted")).to_contain_text(ticket["id"])
        await page.get_by_role("button", name="Unmute").click()
        await expect(page.get_by_role("list", name="Muted")).to_have_count(0)
        await page.keyboard.press("e")
        await expect(page.get_by_role("button", name="Mark all as read")).to_have_count(0)
        if looks.size["width"] < 1100:
            await page.keyboard.press("h")
        else:
            await page.get_by_role("button", name="Snooze", exact=True).click()
        await expect(page.get_by_text(f"Snoozed {ticket['key']} until")).to_be_visible()
        await expect(item).to_have_count(0)
        await page.get_by_role("link", name="Snoozed", exact=True).click()
        await page.get_by_role("button", name="Actions for Look at this").click()
        await page.get_by_role("menuitem", name="End snooze").click()
        await expect(page.get_by_role("heading", name="No snoozed notifications")).to_be_visible()
        await page.get_by_role("link", name="All", exact=True).click()
        await expect(item).to_be_visible()
        await page.get_by_role("button", name="Mark all as read").click()
        await expect(page.get_by_role("button", name="Mark all as read")).to_have_count(0)
        await page.get_by_role("link", name="Done", exact=True).click()
        await expect(page).to_have_url(re.compile(r"show=done$"))
        await expect(item).to_be_visible()
        await assert_fits(page)
        await page.keyboard.press("o")
        await expect(page).to_have_url(f"{world.box.url}/tickets/{ticket['id']}")

    use(chromium, bob, f"/projects/{world.project}", hear, looks)


def test_board_shows_changes_of_others(chromium: Chromium, world: World) -> None:
    ticket = world.ticket("Moved by an agent")

    async def watch(page: Page) -> None:
        await expect(page.get_by_role("link", name="Moved by an agent")).to_be_visible()
        ok(world.api.post(f"/tickets/{ticket['id']}/move", json={"column_id": world.columns[2]}))
        await expect(page.get_by_role("region", name="Done").locator("[data-ticket]")).to_have_count(1)
        world.ticket("New from an agent")
        await expect(page.get_by_role("link", name="New from an agent")).to_be_visible()
        ok(world.api.post(f"/tickets/{ticket['id']}/archive"))
        await expect(page.get_by_role("link", name="Moved by an agent")).to_have_count(0)

    use(chromium, world.owner, f"/projects/{world.project}", watch)


@pytest.mark.long
@pytest.mark.parametrize("path", ["/projects/{project}", "/tickets/{ticket}"])
def test_change_between_loading_and_the_event_stream_is_shown(chromium: Chromium, world: World, path: str) -> None:
    ticket = world.ticket("Look at this")["id"]
    may_open = asyncio.Event()

    async def hold(route: Route) -> None:
        await may_open.wait()
        await route.continue_()

    async def look(page: Page) -> None:
        await page.route("**/events/stream?*", hold)
        await page.reload()
        await expect(page.get_by_text("Look at this").first).to_be_visible()
        ok(world.api.patch(f"/tickets/{ticket}", json={"title": "Look at that"}))
        may_open.set()
        await expect(page.get_by_text("Look at that").first).to_be_visible()

    use(chromium, world.owner, path.format(project=world.project, ticket=ticket), look)


@pytest.mark.long
def test_ticket_shows_similar_tickets(chromium: Chromium, world: World) -> None:
    first = make_capture(world, title="Broken cart", page={"url": "https://shop.example/cart/17", "title": "Cart"})
    second = make_capture(world, title="Cart again", page={"url": "https://shop.example/cart/18", "title": "Cart"})

    async def look(page: Page) -> None:
        similar = page.get_by_role("region", name="Similar tickets")
        await expect(similar).to_contain_text("Same message: no cart")
        await assert_accessible(page)
        await similar.get_by_role("link", name="Broken cart").click()
        await expect(page).to_have_url(f"{world.box.url}/tickets/{first['ticket_id']}")
        await expect(page.get_by_role("region", name="Similar tickets")).to_contain_text("Cart again")

    use(chromium, world.owner, f"/tickets/{second['ticket_id']}", look)


@pytest.mark.long
def test_a_ticket_is_muted_from_its_page(chromium: Chromium, world: World) -> None:
    ticket = world.ticket("Too loud")["id"]

    async def mute(page: Page) -> None:
        await page.get_by_role("button", name="More", exact=True).click()
        await page.get_by_role("menuitem", name="Mute").click()
        await expect(page.get_by_text("Ticket muted. You get no notifications for it.")).to_be_visible()
        await page.reload()
        await page.get_by_role("button", name="More", exact=True).click()
        await expect(page.get_by_role("menuitem", name="Unmute")).to_be_visible()

    use(chromium, world.owner, f"/tickets/{ticket}", mute)
    assert ok(world.owner.web.get("/mutes"))["ticket_ids"] == [ticket]


@pytest.mark.long
def test_what_is_typed_while_the_palette_loads_is_in_it(chromium: Chromium, world: World) -> None:
    """Also `c`, which creates a ticket elsewhere."""

    async def look(page: Page) -> None:
        asked, answered = asyncio.Event(), asyncio.Event()

        async def hold(route: Route) -> None:
            asked.set()
            await answered.wait()
            await route.continue_()

        await page.route(re.compile(r"/assets/Palette-[^/]*\.js$"), hold)
        await open_as(page, world.owner, "/")
        await page.get_by_role("region", name="To do").wait_for()
        await page.keyboard.press("ControlOrMeta+k")
        await asked.wait()
        await page.keyboard.type("car")
        answered.set()
        field = page.get_by_role("combobox", name="Search tickets, or type a command")
        await expect(field).to_be_focused()
        await page.keyboard.type("t")
        await expect(field).to_have_value("cart")
        await expect(page.get_by_role("dialog")).to_have_count(1)

    chromium.visit(look)
