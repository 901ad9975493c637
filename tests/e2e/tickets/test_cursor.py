"""The cursor is never lost: keys continue there after an edit, Undo, a filter, a dialog or an update by others."""

from playwright.async_api import Page, expect

from tests.e2e.support.app import use, wait_for_frames
from tests.e2e.support.browser import Chromium
from tests.support.server import World, ok


async def press(page: Page, *keys: str) -> None:
    for key in keys:
        await page.keyboard.press(key)
        await wait_for_frames(page)


async def expect_focus(page: Page, title: str) -> None:
    await expect(page.locator("[data-ticket]:focus .title")).to_have_text(title)


def seed(world: World, count: int) -> list[str]:
    return [world.ticket(f"Card {number}")["id"] for number in range(count, 0, -1)][::-1]


def test_j_j_j_e_e_s_changes_three_neighbours(chromium: Chromium, world: World) -> None:
    ids = seed(world, 9)

    async def triage(page: Page) -> None:
        await expect(page.get_by_role("link", name="Card 1")).to_be_visible()
        await press(page, "j", "j", "j", "e")
        await expect_focus(page, "Card 4")
        await press(page, "e")
        await expect_focus(page, "Card 5")
        await page.keyboard.press("s")
        await page.get_by_role("option", name="In progress").click()
        done = page.get_by_role("region", name="In progress").locator("[data-ticket] .title")
        await expect(done).to_have_text("Card 5")
        await expect_focus(page, "Card 6")

        await press(page, "Control+z")  # Undo leads back to what it restores
        await expect(page.get_by_role("region", name="To do").get_by_text("Card 5")).to_be_visible()
        await expect_focus(page, "Card 5")

        await press(page, "x", "j", "x")  # a selection, at the end of which the cursor is
        await page.get_by_role("toolbar").get_by_role("button", name="Archive").click()
        await expect_focus(page, "Card 7")

        ok(world.api.post(f"/tickets/{ids[6]}/archive"))  # somebody else takes the card away
        await expect_focus(page, "Card 8")
        ok(world.api.post(f"/tickets/{ids[7]}/move", json={"column_id": world.columns[1]}))  # and moves the next one
        await expect(page.get_by_role("region", name="In progress").get_by_text("Card 8")).to_be_visible()
        await expect_focus(page, "Card 8")

        await page.keyboard.press("c")
        await expect(page.get_by_role("dialog", name="New ticket")).to_be_visible()
        await page.keyboard.press("Escape")
        await expect_focus(page, "Card 8")

        await page.keyboard.press("f")
        async with page.expect_response(
            lambda response: "has_labels=false" in response.url and world.columns[1] in response.url
        ) as filtered:
            await page.get_by_role("option", name="No label").click()
        await (await filtered.value).finished()
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("combobox", name="Filter")).to_have_count(0)
        await press(page, "j")
        await expect_focus(page, "Card 8")

    use(chromium, world.owner, f"/projects/{world.project}", triage)
    left = {each["title"] for each in ok(world.api.get("/tickets"))["items"]}
    assert left == {"Card 1", "Card 2", "Card 8", "Card 9"}


def test_rows_of_a_table_keep_the_focus(chromium: Chromium, world: World) -> None:
    seed(world, 4)

    async def triage(page: Page) -> None:
        rows = page.get_by_role("row")
        await expect(rows).to_have_count(5)
        await press(page, "j", "j", "x", "e")
        await expect(rows).to_have_count(4)
        await expect(page.get_by_role("link", name="Card 3")).to_be_focused()
        await press(page, "k")
        await expect(page.get_by_role("link", name="Card 1")).to_be_focused()

    use(chromium, world.owner, f"/projects/{world.project}/table", triage)


def test_settings_focus_the_next_row_when_one_is_removed(chromium: Chromium, world: World) -> None:
    names = ["One", "Two"]
    for name in names:
        ok(world.owner.web.post(f"/companies/{world.company}/labels", json={"name": name}))

    async def remove(page: Page) -> None:
        for name in names:
            await page.get_by_role("button", name=f"Actions for {name}").press("Enter")
            await page.get_by_role("menuitem", name="Delete").press("Enter")
            await page.get_by_role("button", name="Delete label").press("Enter")
            await expect(page.get_by_role("listitem").filter(has_text=name)).to_have_count(0)
            await expect(page.locator("body")).not_to_be_focused()

    use(chromium, world.owner, f"/companies/{world.company}/labels", remove)
