"""The pictures in the documentation: what a browser shows of the demo, at `docs/pictures`.

`TICKETBOX_SNAPSHOTS=write uv run --group dev pytest -m long tests/e2e/core/test_pictures.py
tests/e2e/work/test_red_to_green.py` takes them again.
"""

import base64
import io
from pathlib import Path

import pytest
from PIL import Image, ImageChops, ImageStat
from playwright.async_api import Page, ViewportSize, expect

from tests.demo import Demo
from tests.docs.pages import PAGES, ROOT, links
from tests.e2e.support.app import DESK, PageMonitor, assert_accessible
from tests.e2e.support.browser import Chromium
from tests.e2e.support.documentation_pictures import FOLDER, MOST_BYTES, is_writing, keep_picture
from tests.support.server import ok, run_server

pytestmark = pytest.mark.long

TAKEN = {
    "board.webp", "evidence.webp", "popup.webp", "report.webp", "set-up.webp", "ticket.webp", "tile.webp",
    "verifications.webp",
}  # fmt: skip
SIGN = (ROOT / "ticketbox" / "http" / "pages" / "templates" / "icon.svg").read_text()
ICONS = ROOT / "web" / "src" / "extension" / "icons"
FONT = "web/node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2"
TILE_SIZE: ViewportSize = {"width": 440, "height": 280}
TILE = """<!doctype html><title>ticketbox</title><style>
@font-face { font-family: Inter; font-weight: 100 900; src: url(data:font/woff2;base64,%s) }
body { display: grid; place-content: center; justify-items: center; gap: 12px; height: 100vh; margin: 0;
  background: #f4f3f0; color: #50545c; font: 500 17px/24px Inter; text-align: center }
svg { width: 72px }
h1 { margin: 0; color: #191c22; font: 600 34px/40px Inter }
</style>%s<h1>ticketbox</h1>A bug becomes a ticket in one click"""
# with the transparent edge that the Chrome Web Store asks for
ICON_EDGES = {16: 0, 32: 0, 48: 0, 128: 8}
COLUMN: ViewportSize = {"width": 600, "height": 1000}


async def take(page: Page, name: str) -> None:
    """Take the picture of a page."""
    keep_picture(await page.screenshot(full_page=True, animations="disabled", caret="hide"), name)


def visit_demo(chromium: Chromium, demo: Demo, path: str, heading: str, name: str) -> None:
    """Show a page of the demo to its owner, and take its picture."""
    cookie = demo.sign_in()

    async def visit(page: Page) -> None:
        watched = PageMonitor(page)
        await page.context.add_cookies([{"name": demo.cookie, "value": cookie, "url": demo.url}])
        await page.goto(demo.url + path)
        await expect(page.get_by_role("heading", name=heading, level=1)).to_be_visible()
        await page.wait_for_load_state("load")
        await page.wait_for_timeout(500)
        await assert_accessible(page)
        watched.assert_clean(demo.url)
        await take(page, name)

    chromium.visit(visit, viewport=DESK, color_scheme="light")


def test_the_board(chromium: Chromium, demo: Demo) -> None:
    (project,) = (each for each in ok(demo.client(demo.token).get("/projects"))["items"] if each["name"] == "Web shop")
    visit_demo(chromium, demo, f"/projects/{project['id']}", "Web shop", "board.webp")


def test_a_ticket_with_what_the_browser_saw(chromium: Chromium, demo: Demo) -> None:
    (ticket,) = ok(demo.client(demo.token).get("/search", params={"q": 'title:"contains a gift card"'}))["items"]
    visit_demo(chromium, demo, f"/tickets/{ticket['id']}/network", ticket["title"], "ticket.webp")


def test_the_set_up_page(chromium: Chromium, tmp_path: Path) -> None:
    with run_server(tmp_path, init=False) as fresh:
        address = fresh.setup_address()

        async def visit(page: Page) -> None:
            await page.goto(address)
            await expect(page.get_by_role("heading", level=1)).to_be_visible()
            await take(page, "set-up.webp")

        chromium.visit(visit, viewport=COLUMN, color_scheme="light")


def test_the_small_picture_for_the_stores(chromium: Chromium) -> None:
    async def visit(page: Page) -> None:
        await page.set_content(TILE % (base64.b64encode((ROOT / FONT).read_bytes()).decode(), SIGN))
        await page.evaluate("() => document.fonts.ready")
        await take(page, "tile.webp")

    chromium.visit(visit, viewport=TILE_SIZE)


@pytest.mark.parametrize("size", ICON_EDGES)
def test_icon_of_the_extension_is_the_sign_of_the_app(chromium: Chromium, size: int) -> None:
    style = f"body {{ margin: 0 }} svg {{ display: block; padding: {ICON_EDGES[size]}px }}"

    async def visit(page: Page) -> bytes:
        await page.set_content(f"<!doctype html><style>{style}</style>{SIGN}")
        return await page.screenshot(omit_background=True)

    taken = chromium.visit(visit, viewport={"width": size, "height": size})
    path = ICONS / f"icon-{size}.png"
    with Image.open(io.BytesIO(taken)) as drawn:
        if is_writing():
            drawn.save(path, optimize=True)
        with Image.open(path) as kept:
            difference = ImageChops.difference(drawn.convert("RGBA"), kept.convert("RGBA"))
    assert max(ImageStat.Stat(difference).mean) < 8


@pytest.mark.parametrize(("name", "size"), [("report", DESK), ("ticket", DESK), ("board", DESK), ("tile", TILE_SIZE)])
def test_pictures_for_the_stores_have_the_size_that_these_take(name: str, size: ViewportSize) -> None:
    with Image.open(FOLDER / f"{name}.webp") as kept:
        assert kept.size == (size["width"], size["height"])


def test_every_picture_in_the_documentation_is_taken_here_and_small() -> None:
    shown = {link.rpartition("/")[2] for page in PAGES for link in links(page) if link.endswith((".png", ".webp"))}
    assert shown == TAKEN == {path.name for path in FOLDER.iterdir()}
    assert all((FOLDER / name).stat().st_size <= MOST_BYTES for name in TAKEN)
