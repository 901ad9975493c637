"""The replay in a real browser: it plays, follows the timeline, and neither runs nor fetches anything."""

from typing import Any

import msgspec
import pytest
from playwright.async_api import FrameLocator, Page, Request, expect

from tests.e2e.support.browser import Chromium
from tests.e2e.support.captures import START, action, capture_on, failure
from tests.e2e.support.webapp import open_as
from tests.support.server import World, run_beside
from ticketbox.store.core import blobs
from ticketbox.store.file.database import Write

Json = dict[str, Any]


def element(key: int, tag: str, *children: Json, **attributes: Any) -> Json:
    return {"type": 2, "id": key, "tagName": tag, "attributes": attributes, "childNodes": list(children)}


def begin(*nodes: Json) -> list[Json]:
    """A page of 1,000 × 600 pixels, 2 s after it was opened."""
    page = element(3, "html", element(4, "head"), element(5, "body", *nodes))
    root = {
        "type": 0,
        "id": 1,
        "childNodes": [{"type": 1, "id": 2, "name": "html", "publicId": "", "systemId": ""}, page],
    }
    size = {"href": "https://shop.example/cart", "width": 1000, "height": 600}
    return [
        {"type": 4, "timestamp": START + 2_000, "data": size},
        {"type": 2, "timestamp": START + 2_000, "data": {"node": root, "initialOffset": {"left": 0, "top": 0}}},
    ]


def write(at: int, text: str) -> Json:
    lists: Json = {"attributes": [], "removes": [], "adds": []}
    data = {"source": 0, "texts": [{"id": 7, "value": text}], **lists}
    return {"type": 3, "timestamp": START + at, "data": data}


CART = [
    *begin(
        element(6, "h1", {"type": 3, "id": 7, "textContent": "Your cart"}),
        element(8, "img", src="https://evil.example"),
    ),
    write(4_000, "Total: 249.00 EUR"),
    write(6_000, "Total: NaN"),
    {"type": 3, "timestamp": START + 8_000, "data": {"source": 3, "id": 1, "x": 0, "y": 0}},
]
PAY = {"role": "button", "name": "Pay", "selectors": []}


def find_page(page: Page) -> FrameLocator:
    """The recorded page, in the player's frame."""
    return page.frame_locator("iframe[title='Recorded page']").frame_locator("iframe")


@pytest.mark.long
def test_replay_follows_the_timeline_and_plays(chromium: Chromium, world: World) -> None:
    steps = [action(50, "click", target=PAY)]
    pointer = {"type": 3, "timestamp": START + 30_000, "data": {"source": 3, "id": 1, "x": 0, "y": 0}}
    ticket = capture_on(world, replay=[*CART, pointer], actions=steps, errors=[failure(65, "no total")])

    async def visit(page: Page) -> None:
        watch = await open_as(page, world.owner, f"/tickets/{ticket['id']}")
        heading = find_page(page).get_by_role("heading")
        await expect(heading).to_have_text("Total: NaN")  # at the error, which the timeline begins with
        replay = page.get_by_role("region", name="Replay")
        place = replay.get_by_role("slider", name="Replay position")
        await expect(place).to_have_attribute("aria-valuetext", "0:06.5")
        await page.get_by_role("option", name="Clicked button “Pay”").click()
        await expect(heading).to_have_text("Total: 249.00 EUR")
        await expect(place).to_have_attribute("aria-valuetext", "0:05.0")
        await expect(replay.get_by_title("Clicked button “Pay”")).to_contain_class("step")
        await expect(replay.get_by_title("TypeError: no total")).to_contain_class("problem")

        await page.get_by_role("tab", name="Replay").click()
        await expect(place).to_have_attribute("aria-valuetext", "0:05.0")
        await page.reload()
        await expect(place).to_have_attribute("aria-valuetext", "0:03.5")  # three seconds before the error
        await expect(heading).to_have_text("Your cart")
        await place.press("End")
        await expect(heading).to_have_text("Total: NaN")
        await place.press("Home")
        await expect(heading).to_have_text("Your cart")
        await place.press(" ")
        await expect(replay.get_by_role("button", name="Pause replay")).to_be_visible()
        await place.press(" ")
        await replay.get_by_role("button", name="Speed 1×").click()
        await replay.get_by_role("button", name="Speed 2×").click()
        await place.press("Home")
        await place.press(" ")
        await expect(heading).to_have_text("Total: NaN")
        await place.press("End")
        await expect(replay.get_by_role("button", name="Play replay")).to_be_visible()  # it stops at the end
        await expect(place).to_have_attribute("aria-valuetext", "0:30.0")
        watch.assert_clean(world.box)

    chromium.visit(visit)


@pytest.mark.long
def test_replay_goes_on_after_a_look_at_its_end(chromium: Chromium, world: World) -> None:
    ticket = capture_on(world, replay=CART)
    play_after_the_end = """(place) => {
      for (const value of [place.max, 0]) {
        place.value = value;
        place.dispatchEvent(new Event("input", { bubbles: true }));
      }
      place.dispatchEvent(new KeyboardEvent("keydown", { key: " ", bubbles: true }));
    }"""

    async def visit(page: Page) -> None:
        await open_as(page, world.owner, f"/tickets/{ticket['id']}/replay")
        heading = find_page(page).get_by_role("heading")
        await expect(heading).to_be_visible()
        place = page.get_by_role("slider", name="Replay position")
        await place.evaluate(play_after_the_end)
        await expect(heading).to_have_text("Total: 249.00 EUR")

    chromium.visit(visit)


@pytest.mark.long
def test_ended_replay_shows_its_end_on_a_page_that_draws_rarely(chromium: Chromium, world: World) -> None:
    ticket = capture_on(world, replay=CART)
    rarely = """if (window === top) {
      window.requestAnimationFrame = (draw) => setTimeout(() => draw(performance.now()), 700);
      window.cancelAnimationFrame = clearTimeout;
    }"""

    async def visit(page: Page) -> None:
        await page.add_init_script(rarely)
        await open_as(page, world.owner, f"/tickets/{ticket['id']}/replay")
        await expect(find_page(page).get_by_role("heading")).to_be_visible()
        await page.get_by_role("button", name="Play replay").click()
        place = page.get_by_role("slider", name="Replay position")
        await expect(place).to_have_attribute("aria-valuetext", "0:08.0")
        await expect(page.get_by_role("button", name="Play replay")).to_be_visible()

    chromium.visit(visit)


RUN = "window.top.hit = 1; fetch('http://evil.example/run')"
HOSTILE = [
    element(10, "script", {"type": 3, "id": 11, "textContent": RUN}),
    element(12, "img", src="http://evil.example/img", srcset="http://evil.example/set 2x", onerror=RUN),
    element(13, "iframe", src="http://evil.example/frame", srcdoc=f"<script>{RUN}</script>"),
    element(14, "object", data="http://evil.example/object"),
    element(15, "embed", src="http://evil.example/embed"),
    element(16, "link", rel="stylesheet", href="http://evil.example/css"),
    element(17, "style", {"type": 3, "id": 18, "textContent": "@import 'http://evil.example/import';"}),
    element(19, "div", style="background: url(http://evil.example/style)"),
    element(20, "video", src="http://evil.example/video", poster="http://evil.example/poster", autoplay=True),
    element(21, "meta", content="0;url=http://evil.example/refresh", **{"http-equiv": "refresh"}),
    element(22, "details", {"type": 3, "id": 23, "textContent": "x"}, ontoggle=RUN, open=True),
    {
        **element(24, "svg", {**element(25, "image", href="http://evil.example/svg"), "isSVG": True}, onload=RUN),
        "isSVG": True,
    },
    {
        **element(26, "svg", {**element(27, "script", {"type": 3, "id": 28, "textContent": RUN}), "isSVG": True}),
        "isSVG": True,
    },
    element(29, "body", background="http://evil.example/body", onload=RUN),
    element(30, "input", type="image", src="http://evil.example/input", autofocus=True, onfocus=RUN),
    element(31, "a", {"type": 3, "id": 32, "textContent": "Go"}, href=f"javascript:{RUN}", target="_top"),
    element(33, "base", href="http://evil.example/"),
    element(34, "iframe", src=f"javascript:{RUN}"),
    element(35, "h1", {"type": 3, "id": 7, "textContent": "Hostile"}),
]


@pytest.mark.long
@pytest.mark.parametrize("is_scrubbed", [True, False])
def test_hostile_replay_runs_and_fetches_nothing(chromium: Chromium, world: World, is_scrubbed: bool) -> None:
    """The second time, the events are stored as they are: the sandbox and the policy of the frame hold alone."""
    events = [
        *begin(*HOSTILE),
        {"type": 3, "timestamp": START + 3_000, "data": {"source": 2, "type": 2, "id": 31, "x": 1, "y": 1}},
        {"type": 3, "timestamp": START + 3_000, "data": {"source": 8, "id": 17, "adds": [
            {"rule": "h1 { background: url(http://evil.example/rule) }", "index": 0}]}},
        {"type": 3, "timestamp": START + 3_000, "data": {"source": 10, "family": "x", "buffer": False,
            "fontSource": "url(http://evil.example/font)"}},
        {"type": 3, "timestamp": START + 3_000, "data": {"source": 9, "id": 20, "type": 0, "property": "drawImage",
            "args": [{"rr_type": "HTMLImageElement", "src": "http://evil.example/canvas"}]}},
        write(4_000, "Finished"),
    ]  # fmt: skip
    ticket = capture_on(world, replay=events)
    if not is_scrubbed:

        def store_raw(tx: Write) -> None:
            blob = blobs.save_blob(tx, blobs.pack_content(msgspec.json.encode(events), compress=True))
            tx.execute("UPDATE capture SET replay = ? WHERE public_id = ?", (blob, ticket["capture_id"]))

        run_beside(world.box.db, store_raw)

    async def visit(page: Page) -> None:
        asked: list[str] = []

        def record(request: Request) -> None:
            if request.failure != "csp" and not request.url.startswith((world.box.url, "data:")):
                asked.append(request.url)

        # Playwright also reports requests that the policy stops; then they have failed.
        for event in ("request",) if is_scrubbed else ("requestfailed", "requestfinished"):
            page.on(event, record)
        await open_as(page, world.owner, f"/tickets/{ticket['id']}/replay")
        place = page.get_by_role("slider", name="Replay position")
        await expect(find_page(page).get_by_role("heading")).to_be_visible()
        await place.press("Home")
        await expect(find_page(page).get_by_role("heading", name="Hostile")).to_be_visible()
        await place.press("End")
        await expect(find_page(page).get_by_role("heading", name="Finished")).to_be_visible()
        await find_page(page).get_by_text("Go", exact=True).dispatch_event("click")
        await page.get_by_role("button", name="Play replay").click()
        await expect(page.get_by_role("button", name="Play replay")).to_be_visible()
        assert await page.evaluate("window.hit") is None
        assert asked == []

    chromium.visit(visit)
