"""Small faults that were reported once: each must not return."""

import pytest
from playwright.async_api import Page, expect

from tests.e2e.support.app import LOOKS, find_still_box, use
from tests.e2e.support.browser import Chromium
from tests.e2e.support.captures import action, capture_on
from tests.support.server import World, ok

SECTIONS = ("general", "members", "invitations", "projects", "labels", "agents", "limits", "webhooks", "audit")
CONTRAST = """element => {
    const canvas = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true})
    const luminance = (color) => {
        canvas.fillStyle = color
        canvas.fillRect(0, 0, 1, 1)
        const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((each) => {
            const part = each / 255
            return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
        })
        return 0.2126 * r + 0.7152 * g + 0.0722 * b
    }
    let ground = element.parentElement
    while (getComputedStyle(ground).backgroundColor === 'rgba(0, 0, 0, 0)') ground = ground.parentElement
    const [one, other] = [element, ground].map((each) => luminance(getComputedStyle(each).backgroundColor))
    return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)
}"""

# The leaf elements of a page that show a key, and how their figures are set.
FIGURES_OF_KEYS = """key => [...document.querySelectorAll('main *, dialog *')]
    .filter((element) => element.children.length === 0 && element.textContent.trim() === key)
    .map((element) => getComputedStyle(element).fontVariantNumeric)"""


@pytest.mark.long
def test_settings_keep_their_place_and_what_was_typed(chromium: Chromium, world: World) -> None:
    company = f"/companies/{world.company}"
    hook = {"name": "Chat", "url": "https://hooks.slack.com/services/T0/B0/X", "format": "slack"}
    ok(world.owner.web.post(f"{company}/webhooks", json=hook))

    async def visit(page: Page) -> None:
        navigation = page.get_by_role("navigation", name="Settings")
        places = set()
        for section in SECTIONS:
            await page.goto(f"{world.box.url}{company}/{section}")
            await page.get_by_role("main").get_by_role("heading").first.wait_for()
            link = navigation.get_by_role("link", name="General")
            await expect(link).to_be_visible()
            box = await find_still_box(link)
            places.add((box["x"], box["y"]))
        assert len(places) == 1

        await page.goto(f"{world.box.url}{company}/webhooks")
        row = page.get_by_role("listitem").filter(has_text="Chat")
        await expect(row).to_be_visible()
        await expect(row.get_by_role("button", name="secret")).to_have_count(0)

        await page.goto(f"{world.box.url}{company}/projects?project={world.project}&tab=agents")
        switch = page.get_by_role("switch", name="Require verified fixes")
        await expect(switch).not_to_be_checked()
        await expect(switch).to_be_enabled()
        assert await switch.evaluate(CONTRAST) >= 3

        await page.get_by_role("tab", name="General").click()
        name = page.get_by_label("Name", exact=True).first
        await name.fill("Another name")
        await page.get_by_role("link", name="Inbox").click()
        question = page.get_by_role("dialog", name="Save your changes?")
        await expect(question).to_be_visible()
        around = await find_still_box(question)
        last = await find_still_box(question.get_by_role("button").last)
        assert around["x"] + around["width"] - last["x"] - last["width"] < 40
        await question.get_by_role("button", name="Stay").click()
        await expect(name).to_have_value("Another name")

    use(chromium, world.owner, f"{company}/general", visit, LOOKS["desk-dark"])


@pytest.mark.long
def test_ticket_keeps_its_details_in_place(chromium: Chromium, world: World) -> None:
    label = "W" * 50
    ticket = world.ticket("One", labels=[label])

    async def visit(page: Page) -> None:
        await expect(page.get_by_role("button", name="Status")).to_be_visible()
        await expect(page.locator("details")).to_have_count(0)
        box = page.get_by_label("New comment", exact=True)
        await box.fill("text")
        preview = page.get_by_role("button", name="Preview")
        await expect(preview).to_be_visible()
        size = await find_still_box(preview)
        assert size["height"] >= 24
        await box.fill("")

        await page.goto(f"{world.box.url}/projects/{world.project}")
        card = page.get_by_role("article").filter(has_text="One")
        await expect(card.get_by_text(label)).to_be_visible()
        style = await card.evaluate("element => getComputedStyle(element).boxShadow")
        assert style.count("px") >= 8
        cut = card.locator(".label")
        assert await cut.evaluate(
            "element => [element, ...element.querySelectorAll('*')].some(each => "
            "getComputedStyle(each).textOverflow === 'ellipsis' && each.scrollWidth > each.clientWidth)"
        )

        await page.keyboard.press("Control+k")
        palette = page.get_by_role("dialog")
        await expect(palette.get_by_role("option").first).to_be_visible()
        await palette.get_by_role("combobox").fill("search")
        await expect(palette.get_by_role("option", name="Create ticket “search”")).to_be_visible()
        await expect(palette.get_by_role("option", name="Search and commands")).to_have_count(0)
        await page.keyboard.press("Escape")

    use(
        chromium,
        world.owner,
        f"/tickets/{ticket['id']}",
        visit,
        LOOKS["desk"]._replace(size={"width": 1024, "height": 768}),
    )


@pytest.mark.long
@pytest.mark.parametrize("path", ["/projects/{project}", "/companies/{company}/general", "/settings/profile"])
def test_failure_to_load_projects_is_reported_once_where_the_page_would_be(
    chromium: Chromium, world: World, path: str
) -> None:
    async def visit(page: Page) -> None:
        await page.route("**/api/v1/projects?*", lambda route: route.abort())
        await page.reload()
        await expect(page.get_by_role("main").get_by_role("button", name="Try again")).to_be_visible()
        await expect(page.get_by_text("can’t be reached")).to_have_count(1)
        await page.unroute("**/api/v1/projects?*")
        await page.get_by_role("button", name="Try again").click()
        await expect(page.get_by_role("heading", level=1)).to_be_visible()
        await expect(page.get_by_text("This couldn’t be loaded")).to_have_count(0)

    use(chromium, world.owner, path.format(project=world.project, company=world.company), visit)


@pytest.mark.long
def test_picture_that_cannot_be_loaded_is_a_sentence_until_the_browser_is_online(
    chromium: Chromium, world: World
) -> None:
    ticket = capture_on(world, actions=[action(1, "navigate", url="https://shop.example/")])

    async def visit(page: Page) -> None:
        picture = page.get_by_role("button", name="Open screenshot")
        await expect(picture.locator("img")).to_be_visible()
        await page.route("**/api/v1/assets/*/content", lambda route: route.abort())
        await page.reload()
        await expect(picture).to_contain_text("This picture couldn’t be loaded.")
        await expect(picture.locator("img")).to_have_count(0)
        await page.context.set_offline(True)
        await expect(picture).to_contain_text("This picture loads when you’re back online.")
        await page.unroute("**/api/v1/assets/*/content")
        await page.context.set_offline(False)
        await expect(picture.locator("img")).to_be_visible()
        await page.wait_for_function("document.querySelector('.frame > img')?.naturalWidth > 0")
        await expect(picture).not_to_contain_text("This picture")

    use(chromium, world.owner, f"/tickets/{ticket['id']}", visit)


@pytest.mark.long
def test_ticket_is_shown_when_the_projects_cannot_be_loaded(chromium: Chromium, world: World) -> None:
    ticket = world.ticket("Cart stays empty")

    async def visit(page: Page) -> None:
        await page.route("**/api/v1/projects?*", lambda route: route.abort())
        await page.reload()
        sidebar = page.get_by_role("navigation", name="Main")
        await expect(sidebar.get_by_role("alert")).to_contain_text("The projects couldn’t be loaded.")
        await expect(page.get_by_role("heading", level=1, name="Cart stays empty")).to_be_visible()
        await expect(page.get_by_text("can’t be reached")).to_have_count(1)
        await page.unroute("**/api/v1/projects?*")
        await sidebar.get_by_role("button", name="Try again").click()
        await expect(sidebar.get_by_role("link", name="First project")).to_be_visible()
        await expect(sidebar.get_by_role("alert")).to_have_count(0)

    use(chromium, world.owner, f"/tickets/{ticket['id']}", visit)


@pytest.mark.long
def test_hints_of_fields_and_switches_look_the_same(chromium: Chromium, world: World) -> None:
    async def visit(page: Page) -> None:
        switch = page.get_by_role("switch", name="Accept agents’ finished tickets")
        await expect(switch).to_have_accessible_description(
            "An agent can’t close a ticket. It asks, and a person accepts."
        )
        fields = (page.get_by_label("Agent label"), switch)
        for field in fields:
            hint = page.locator(f"[id='{await field.get_attribute('aria-describedby')}']")
            await expect(hint).to_have_css("font-size", "12px")

    use(chromium, world.owner, f"/companies/{world.company}/projects?project={world.project}&tab=agents", visit)


@pytest.mark.long
def test_page_of_a_missing_project_says_only_that(chromium: Chromium, world: World) -> None:
    async def visit(page: Page) -> None:
        main = page.get_by_role("main")
        await expect(main.get_by_role("heading", level=1)).to_have_text("Project not found")
        await expect(main.get_by_role("link")).to_have_text(["Go to board"])
        await expect(main.get_by_role("button")).to_have_count(0)

    use(chromium, world.owner, "/projects/proj_000000000000", visit)


@pytest.mark.long
def test_priority_is_in_the_middle_of_a_row_of_the_table(chromium: Chromium, world: World) -> None:
    world.ticket("Cart stays empty", priority="high")

    async def visit(page: Page) -> None:
        row = page.get_by_role("row").filter(has_text="Cart stays empty")
        icon, cell = await find_still_box(row.get_by_role("img", name="High")), await find_still_box(row)
        assert abs(icon["y"] + icon["height"] / 2 - cell["y"] - cell["height"] / 2) <= 1

    use(chromium, world.owner, f"/projects/{world.project}/table", visit)


@pytest.mark.long
def test_hyphen_of_a_key_has_its_own_width(chromium: Chromium, world: World) -> None:
    ticket = world.ticket("Cart total is wrong")
    key = ticket["key"]
    project = f"/projects/{world.project}"
    # tabular figures of the typeface widen the hyphen, too: "WEB - 6"
    pages = (project, f"{project}/table", f"/tickets/{ticket['id']}", "/search?q=cart")

    async def visit(page: Page) -> None:
        for path in pages:
            await page.goto(world.box.url + path)
            await expect(page.get_by_role("main").get_by_text(key, exact=True).first).to_be_visible()
            figures = await page.evaluate(FIGURES_OF_KEYS, key)
            assert figures, path
            assert set(figures) == {"normal"}, path

        await page.goto(world.box.url + project)
        await page.get_by_role("link", name="Cart total").focus()
        await page.keyboard.press("Space")
        preview = page.get_by_role("complementary", name=f"Preview of {key}")
        await expect(preview.get_by_text(key, exact=True)).to_have_css("font-variant-numeric", "normal")
        await page.keyboard.press("Space")
        await expect(preview).to_have_count(0)
        await page.keyboard.press("Control+k")
        palette = page.get_by_role("dialog", name="Search and commands")
        await palette.get_by_role("combobox").fill("cart")
        await expect(palette.get_by_text(key, exact=True).first).to_have_css("font-variant-numeric", "normal")

    use(chromium, world.owner, project, visit)
