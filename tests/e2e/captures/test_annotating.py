"""Marks on a screenshot in a real browser: drawn, moved, undone, saved, and permanently redacted."""

import asyncio
import io
import re
from typing import Any

import pytest
from PIL import Image
from playwright.async_api import FloatRect, Locator, Page, expect

from tests.e2e.support.app import LOOKS, PHONE, assert_accessible, assert_fits, find_still_box, use, wait_for_frames
from tests.e2e.support.browser import Chromium
from tests.e2e.support.captures import HEIGHT, WIDTH, capture_on
from tests.support.long_runs import mark_long
from tests.support.server import World, ok

READ_PIXEL = """(image) => {
  const canvas = Object.assign(document.createElement('canvas'), {width: 800, height: 500});
  canvas.getContext('2d').drawImage(image, 0, 0);
  return [...canvas.getContext('2d').getImageData(300, 200, 1, 1).data];
}"""


def asset_of(world: World, ticket: dict[str, str]) -> str:
    return ok(world.api.get(f"/tickets/{ticket['id']}"))["capture"]["screenshot_id"]


def marks(world: World, ticket: dict[str, str]) -> list[dict[str, Any]]:
    """The marks as the server holds them."""
    return ok(world.api.get(f"/assets/{asset_of(world, ticket)}/annotations"))["items"]


async def frame_of(page: Page) -> Locator:
    frame = page.get_by_role("group", name="Screenshot")
    await expect(frame.get_by_role("img")).to_be_visible()
    await frame.scroll_into_view_if_needed()
    return frame


async def find_box_wider_than(frame: Locator, width: float) -> FloatRect:
    """Wait until the picture is wider, and stays where it is."""
    async with asyncio.timeout(30):
        while (box := await find_still_box(frame.get_by_role("img")))["width"] <= width:
            pass
    return box


async def start_drawing(page: Page) -> None:
    """Show the drawing tools, if they aren't."""
    start = page.get_by_role("button", name="Annotate screenshot")
    tools = page.get_by_role("toolbar", name="Drawing tools")
    await expect(start.or_(tools)).to_be_visible()
    if await start.count() > 0:
        await start.click()
    await expect(tools).to_be_visible()


async def draw(page: Page, tool: str, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Draw a mark; points are parts of the picture's width and height."""
    await start_drawing(page)
    await page.get_by_role("radio", name=tool).click()
    box = await find_still_box((await frame_of(page)).get_by_role("img"))
    at = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in (start, end)]
    await page.mouse.move(*at[0])
    await page.mouse.down()
    await page.mouse.move((at[0][0] + at[1][0]) / 2, (at[0][1] + at[1][1]) / 2)
    await page.mouse.move(*at[1])
    await page.mouse.up()


async def save(page: Page) -> None:
    await page.get_by_role("button", name="Save annotations").click()


@pytest.mark.long
def test_every_annotation_tool_draws_and_saves(chromium: Chromium, world: World) -> None:
    ticket = capture_on(world)

    async def annotate(page: Page) -> None:
        await start_drawing(page)
        kinds = ["Arrow", "Rectangle", "Ellipse", "Pen", "Highlight"]
        for place, kind in enumerate(kinds):
            await page.get_by_role("radio", name="Blue").click()
            await draw(page, kind, (0.1, 0.1 + place * 0.15), (0.4, 0.2 + place * 0.15))
        await draw(page, "Text", (0.6, 0.5), (0.6, 0.5))
        await page.get_by_label("Annotation text").fill("Look\nhere")
        await page.keyboard.press("Enter")
        frame = await frame_of(page)
        await expect(frame.get_by_role("button", name="Text: Look")).to_be_visible()
        await assert_accessible(page)
        await save(page)
        await expect(page.get_by_role("region", name="Messages")).to_contain_text("Annotations saved.")
        await expect(page.get_by_role("button", name="Save annotations")).to_have_count(0)
        await page.reload()
        frame = await frame_of(page)
        await expect(frame.get_by_text("here")).to_be_visible()
        await expect(frame.locator("[data-mark]")).to_have_count(0)  # without the tools, nothing can be moved
        await start_drawing(page)
        await expect(frame.locator("[data-mark]")).to_have_count(6)

    use(chromium, world.owner, f"/tickets/{ticket['id']}", annotate)
    saved = marks(world, ticket)
    assert [each["kind"] for each in saved] == ["arrow", "rectangle", "ellipse", "pen", "highlight", "text"]
    assert {each["color"] for each in saved} == {"#3b82f6"}
    box = saved[1]["geometry"]
    assert box["x"] == pytest.approx(0.1 * WIDTH, abs=4)
    assert box["width"] == pytest.approx(0.3 * WIDTH, abs=4)
    assert box["height"] == pytest.approx(0.1 * HEIGHT, abs=4)
    assert saved[5]["text"] == "Look\nhere"


@pytest.mark.long
def test_annotations_are_moved_coloured_deleted_and_undone(chromium: Chromium, world: World) -> None:
    ticket = capture_on(world)

    async def annotate(page: Page) -> None:
        await draw(page, "Rectangle", (0.1, 0.1), (0.3, 0.3))
        frame = await frame_of(page)
        await draw(page, "Select", (0.2, 0.2), (0.5, 0.2))
        await page.get_by_role("radio", name="Blue").click()
        mark = frame.get_by_role("button", name="Rectangle")
        await mark.dblclick(force=True)
        await page.get_by_label("Annotation text").fill("this")
        await page.keyboard.press("Enter")
        await expect(frame.get_by_role("button", name="Rectangle: this")).to_be_visible()
        await page.get_by_role("button", name="Delete annotation").click()
        await expect(frame.locator("[data-mark]")).to_have_count(0)
        await page.get_by_role("button", name="Undo").click()
        await expect(frame.locator("[data-mark]")).to_have_count(1)
        await page.get_by_role("button", name="Redo").click()
        await expect(frame.locator("[data-mark]")).to_have_count(0)
        await page.get_by_role("button", name="Undo").click()
        await save(page)
        await expect(page.get_by_role("region", name="Messages")).to_contain_text("Annotations saved.")

    use(chromium, world.owner, f"/tickets/{ticket['id']}", annotate)
    (saved,) = marks(world, ticket)
    assert (saved["text"], saved["color"]) == ("this", "#3b82f6")
    assert saved["geometry"]["x"] == pytest.approx(0.4 * WIDTH, abs=4)


@pytest.mark.long
def test_annotations_are_created_by_keyboard(chromium: Chromium, world: World) -> None:
    ticket = capture_on(world)

    async def annotate(page: Page) -> None:
        frame = await frame_of(page)
        await start_drawing(page)
        await page.get_by_role("radio", name="Select").focus()
        await page.keyboard.press("ArrowRight")
        await page.keyboard.press("ArrowRight")
        await expect(page.get_by_role("radio", name="Rectangle")).to_be_checked()
        await frame.focus()
        await page.keyboard.press("Enter")
        await expect(frame.get_by_role("button", name="Rectangle")).to_be_visible()
        for key in ("ArrowLeft", "ArrowLeft", "ArrowUp", "Shift+ArrowRight", "Shift+ArrowDown"):
            await page.keyboard.press(key)
        await page.keyboard.press("Enter")
        await expect(page.get_by_label("Annotation text")).to_be_focused()
        await page.keyboard.type("by keys")
        await page.keyboard.press("Enter")
        await expect(frame.get_by_role("button", name="Rectangle: by keys")).to_be_visible()
        await wait_for_frames(page)  # the focus returns from the field
        await page.keyboard.press("Control+z")
        await expect(frame.get_by_role("button", name="Rectangle: by keys")).to_have_count(0)
        await page.keyboard.press("Control+Shift+z")
        await expect(frame.get_by_role("button", name="Rectangle: by keys")).to_be_visible()
        await page.keyboard.press("Control+s")
        await expect(page.get_by_role("region", name="Messages")).to_contain_text("Annotations saved.")
        await page.keyboard.press("Delete")
        await expect(frame.locator("[data-mark]")).to_have_count(1)  # nothing is selected after saving

    use(chromium, world.owner, f"/tickets/{ticket['id']}", annotate)
    (saved,) = marks(world, ticket)
    reach = HEIGHT / 8
    assert saved["text"] == "by keys"
    assert saved["geometry"] == {
        "x": pytest.approx(WIDTH / 2 - reach - 20, abs=1),
        "y": pytest.approx(HEIGHT / 2 - reach / 2 - 10, abs=1),
        "width": pytest.approx(2 * reach + 10, abs=1),
        "height": pytest.approx(reach + 10, abs=1),
    }


@pytest.mark.long
def test_redaction_asks_for_confirmation_and_removes_the_pixels(chromium: Chromium, world: World) -> None:
    ticket = capture_on(world)

    async def annotate(page: Page) -> None:
        await draw(page, "Redact", (0.25, 0.2), (0.5, 0.6))
        await save(page)
        dialog = page.get_by_role("dialog")
        await expect(dialog).to_contain_text("This can’t be undone.")
        await assert_accessible(page)
        await dialog.get_by_role("button", name="Cancel").click()
        assert marks(world, ticket) == []
        await save(page)
        await page.get_by_role("dialog").get_by_role("button", name="Redact image").click()
        await expect(page.get_by_role("region", name="Messages")).to_contain_text("permanently removed")
        frame = await frame_of(page)
        await expect(frame.locator("[data-mark]")).to_have_count(0)  # it can't be taken hold of any more
        async with asyncio.timeout(30):
            while await frame.get_by_role("img").evaluate(READ_PIXEL) != [0, 0, 0, 255]:
                await wait_for_frames(page)  # until the redacted image has loaded

    use(chromium, world.owner, f"/tickets/{ticket['id']}", annotate)
    content = world.api.get(f"/assets/{asset_of(world, ticket)}/content").content
    stored = Image.open(io.BytesIO(content)).convert("RGB")
    assert stored.getpixel((300, 200)) == (0, 0, 0)
    assert stored.getpixel((100, 200)) != (0, 0, 0)


@pytest.mark.long
def test_annotations_of_two_people_are_merged(chromium: Chromium, world: World) -> None:
    ticket = capture_on(world)
    asset = asset_of(world, ticket)
    box = {"x": 10, "y": 10, "width": 50, "height": 50}

    async def annotate(page: Page) -> None:
        await draw(page, "Arrow", (0.5, 0.5), (0.7, 0.7))
        given = {"annotations": [{"kind": "ellipse", "geometry": box, "text": "theirs"}]}
        ok(world.api.put(f"/assets/{asset}/annotations", json=given))
        await save(page)
        await expect(page.get_by_role("region", name="Messages")).to_contain_text("Annotations saved.")

    use(chromium, world.owner, f"/tickets/{ticket['id']}", annotate)
    assert sorted(each["kind"] for each in marks(world, ticket)) == ["arrow", "ellipse"]


@pytest.mark.long
def test_annotations_are_saved_when_the_page_is_left(chromium: Chromium, world: World) -> None:
    ticket = capture_on(world)

    async def annotate(page: Page) -> None:
        await draw(page, "Highlight", (0.1, 0.1), (0.5, 0.5))
        await page.get_by_role("tab", name="Network").click()
        await page.get_by_role("tab", name="Screenshot").click()
        await expect(page.get_by_role("button", name="Save annotations")).to_be_visible()
        await page.get_by_role("link", name="First project").first.click()
        question = page.get_by_role("dialog", name="Save annotations before you leave?")
        await assert_accessible(page)
        await question.get_by_role("button", name="Stay").click()
        await expect(page.get_by_role("button", name="Save annotations")).to_be_visible()
        await page.get_by_role("link", name="First project").first.click()
        await question.get_by_role("button", name="Save annotations").click()
        await expect(page.get_by_role("region", name="Messages")).to_contain_text("Annotations saved.")
        await expect(page.get_by_role("region", name="To do")).to_be_visible()
        await page.go_back()
        await draw(page, "Redact", (0.6, 0.6), (0.9, 0.9))
        await page.get_by_role("link", name="First project").first.click()
        await question.get_by_role("button", name="Leave without saving").click()
        await expect(page.get_by_role("region", name="To do")).to_be_visible()
        await page.go_back()
        await draw(page, "Rectangle", (0.6, 0.6), (0.9, 0.9))
        await page.keyboard.press("g")
        await page.keyboard.press("i")
        await question.get_by_role("button", name="Stay").click()
        await expect(page.get_by_role("region", name="Messages")).not_to_contain_text("Annotations saved.")
        await page.go_forward()  # the browser leaves without a question, so the marks are saved
        await expect(page.get_by_role("region", name="Messages")).to_contain_text("Annotations saved.")

    use(chromium, world.owner, f"/tickets/{ticket['id']}", annotate)
    assert [each["kind"] for each in marks(world, ticket)] == ["highlight", "rectangle"]


@pytest.mark.long
def test_image_is_zoomed_and_panned(chromium: Chromium, world: World) -> None:
    ticket = capture_on(world)

    async def zoom(page: Page) -> None:
        frame = await frame_of(page)
        whole = await find_still_box(frame.get_by_role("img"))
        await frame.get_by_role("button", name="Zoom in").click()
        await frame.focus()
        await page.keyboard.press("+")
        await page.mouse.move(whole["x"] + 100, whole["y"] + 100)
        await page.keyboard.down("Control")
        await page.mouse.wheel(0, -200)
        await page.keyboard.up("Control")
        larger = await find_box_wider_than(frame, 2 * whole["width"])
        await page.mouse.move(whole["x"] + 200, whole["y"] + 200)
        await page.mouse.down()
        await page.mouse.move(whole["x"] + 150, whole["y"] + 160)
        await page.mouse.up()
        panned = await find_still_box(frame.get_by_role("img"))
        assert (panned["x"], panned["y"]) == (
            pytest.approx(larger["x"] - 50, abs=1),
            pytest.approx(larger["y"] - 40, abs=1),
        )
        await page.keyboard.press("0")
        assert await find_still_box(frame.get_by_role("img")) == whole

    use(chromium, world.owner, f"/tickets/{ticket['id']}", zoom)


@pytest.mark.long
@pytest.mark.parametrize("touch", [mark_long(False), True], ids=["narrow", "touched"])
def test_key_hints_are_hidden_on_touch_screens(chromium: Chromium, world: World, touch: bool) -> None:
    ticket = capture_on(world)

    async def look(page: Page) -> None:
        await frame_of(page)
        await start_drawing(page)
        hint = page.get_by_text("adds an annotation with the selected tool")
        if not touch:
            await expect(hint).to_be_visible()
            await page.set_viewport_size({"width": PHONE["width"], "height": PHONE["height"]})
        await expect(hint).to_be_hidden()

    use(chromium, world.owner, f"/tickets/{ticket['id']}", look, has_touch=touch, is_mobile=touch)


@pytest.mark.long
def test_two_fingers_zoom_and_one_draws(chromium: Chromium, world: World) -> None:
    ticket = capture_on(world)

    async def touch(page: Page) -> None:
        frame = await frame_of(page)
        await start_drawing(page)
        whole = await find_still_box(frame.get_by_role("img"))
        devtools = await page.context.new_cdp_session(page)

        async def fingers(kind: str, *at: tuple[float, float]) -> None:
            points = [{"x": whole["x"] + x, "y": whole["y"] + y, "id": n} for n, (x, y) in enumerate(at)]
            await devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

        await page.get_by_role("radio", name="Rectangle").tap()
        await fingers("touchStart", (40, 40))
        await fingers("touchMove", (80, 70))
        await fingers("touchMove", (120, 100))
        await fingers("touchEnd")
        await expect(frame.locator("[data-mark]")).to_have_count(1)
        await fingers("touchStart", (100, 80))
        await fingers("touchStart", (100, 80), (160, 80))
        await fingers("touchMove", (60, 80), (200, 80))
        await fingers("touchMove", (40, 80), (220, 80))
        await fingers("touchEnd")
        await find_box_wider_than(frame, 1.5 * whole["width"])
        await expect(frame.locator("[data-mark]")).to_have_count(1)
        await assert_fits(page)

    looks = LOOKS["phone"]
    assert looks.size == PHONE
    use(chromium, world.owner, f"/tickets/{ticket['id']}", touch, looks, has_touch=True, is_mobile=True)


READ_PICTURE = """(image) => {
  if (!image.complete || !image.naturalWidth) return null;
  const canvas = Object.assign(document.createElement('canvas'), {width: 64, height: 20});
  canvas.getContext('2d').drawImage(image, 0, 0, 64, 20);
  return canvas.toDataURL();
}"""


def test_card_shows_the_part_that_is_marked_now(chromium: Chromium, world: World) -> None:
    """Browsers keep a card's picture permanently, so its address changes with the marks."""
    ticket = capture_on(world)
    asset = asset_of(world, ticket)

    def mark(x: float, y: float) -> None:
        geometry = {"x": x, "y": y, "width": 40, "height": 40}
        body = {"annotations": [{"kind": "rectangle", "geometry": geometry}]}
        ok(world.api.put(f"/assets/{asset}/annotations", json=body))

    async def look(page: Page) -> None:
        picture = page.locator(".card img")
        seen: list[str | None] = [None]
        for x, y in ((0, 0), (WIDTH / 2, HEIGHT / 2), (WIDTH - 50, HEIGHT - 50)):
            async with asyncio.timeout(30):
                while (drawn := await picture.evaluate(READ_PICTURE)) in seen:
                    await asyncio.sleep(0.02)
            seen.append(drawn)
            await asyncio.to_thread(mark, x, y)
        await expect(picture).to_have_attribute("src", re.compile(r"version=4$"))

    use(chromium, world.owner, f"/projects/{world.project}", look)
