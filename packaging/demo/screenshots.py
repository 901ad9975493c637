"""Take the demo's screenshots: the pages in `packaging/demo/pages`, shown by Chromium.

    uv run --group dev python packaging/demo/screenshots.py [NAME ...]

Each page has the name of a capture in `ticketbox/demo/data/captures`, whose viewport it is shown in; a page that is
fixed has `-fixed` after it, and is the picture of a verification. The pages use the
fonts Inter and Instrument Serif; install them before you run this. The annotations in `tickets.json` hold pixel
positions: check them when a page has changed.
"""

import io
import sys
from pathlib import Path

import jinja2
from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from ticketbox.demo.dataset import DATA, read_capture

PAGES = Path(__file__).parent / "pages"
QUALITY = 82


def main() -> None:
    """Take the named screenshots, or all of them."""
    templates = jinja2.Environment(loader=jinja2.FileSystemLoader(PAGES), autoescape=True)
    captures = sorted(path.stem for path in (DATA / "captures").iterdir())
    names = sys.argv[1:] or [*captures, *(path.stem for path in PAGES.glob("*-fixed.html"))]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for name in names:
            png = take_screenshot(browser, name, templates.get_template(f"{name}.html").render())
            with Image.open(io.BytesIO(png)) as image:
                image.convert("RGB").save(DATA / "screenshots" / f"{name}.webp", quality=QUALITY, method=6)
        browser.close()


def take_screenshot(browser: Browser, name: str, html: str) -> bytes:
    """Show a page in the viewport of its capture and return a PNG of what is visible."""
    environment = read_capture(name.removesuffix("-fixed")).environment
    viewport = environment.viewport
    assert viewport
    page = browser.new_page(
        viewport={"width": viewport.width, "height": viewport.height}, device_scale_factor=environment.dpr
    )
    try:
        page.set_content(html)
        page.evaluate("document.fonts.ready")
        return page.screenshot(animations="disabled")
    finally:
        page.close()


if __name__ == "__main__":
    main()
