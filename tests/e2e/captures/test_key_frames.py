"""The pictures that the extension draws of a replay's key moments: the page, without what was entered."""

from contextlib import suppress
from io import BytesIO

import pytest
from PIL import Image, ImageChops
from playwright.async_api import Page, Route, expect

from tests.e2e.support.extension_browser import ExtensionBrowser
from tests.e2e.support.reported_ticket import ReportedTicket
from tests.support.server import World, expect_error, ok

pytestmark = pytest.mark.long

WHITE, GREEN, BLUE = (255, 255, 255), (0, 128, 0), (0, 0, 255)
SHOP = """<!doctype html><html lang="en" data-theme="plain"><meta charset="utf-8"><title>Cart</title>
<style>
  :root[data-theme=plain] { --mark: rgb(255, 0, 0) }
  html { font-size: 20px } body { margin: 0; height: 3000px }
  #block { position: fixed; left: 0; top: 0; width: 10rem; height: 5rem; background: var(--mark) }
  #field { position: absolute; left: 0; top: 500px; width: 300px; height: 60px; border: 0; font: 60px/60px monospace }
  #mask { position: absolute; left: 0; top: 600px }
  x-mark { position: fixed; left: 400px; top: 0 } x-mark:last-of-type { top: 100px }
</style>
<div id="block"></div><input id="field">
<button type="button" id="pay" style="position: absolute; top: 300px">Pay</button>
<x-mark></x-mark><x-mark></x-mark><x-mark></x-mark><x-mark></x-mark>
<script>
  const sheet = new CSSStyleSheet();
  // with a copy for each element, a picture would be too large
  const selector = Array.from({ length: 100 }, (_, number) => `.unused-${number}`).join(", ");
  const unused = Array.from({ length: 1_000 }, () => `${selector} { margin: 0px }`);
  sheet.replaceSync(`${unused.join(" ")} b { display: block; width: 60px; height: 60px; background: green }`);
  for (const host of document.querySelectorAll("x-mark")) {
    const root = host.attachShadow({ mode: "open" });
    root.append(document.createElement("b"));
    root.adoptedStyleSheets = [sheet];
  }
  document.getElementById("pay").onclick = () => {
    document.documentElement.style.setProperty("--mark", "green");
    setTimeout(async () => {
      await fetch("/api/pay");
      document.styleSheets[0].insertRule("#block { background: blue !important }", 4);
      scrollTo(0, 100);
      document.title = "Done";
    }, 1_500);
    throw new TypeError("no cart");
  };
</script>"""


async def break_shop(browser: ExtensionBrowser, entered: str) -> Page:
    """A page whose button throws an error, and whose request fails 1.5 seconds later."""

    async def answer(route: Route) -> None:
        is_broken = route.request.url.endswith("/api/pay")
        await route.fulfill(status=500 if is_broken else 200, content_type="text/html", body="" if is_broken else SHOP)

    page = await browser.context.new_page()
    await page.route("http://shop.test/**", answer)
    await page.goto("http://shop.test/cart")
    await page.locator("#field").fill(entered)
    await page.locator("#pay").click()
    await expect(page).to_have_title("Done")
    return page


async def open_report(browser: ExtensionBrowser, entered: str) -> tuple[Page, Page]:
    """The page and the popup with both pictures. The extension draws for 1.5 s, which is too short if all is slow."""
    for _ in range(5):
        page = await break_shop(browser, entered)
        popup = await browser.open_popup(page)
        with suppress(AssertionError):
            await expect(popup.get_by_text("fields masked · 2 pictures")).to_be_visible(timeout=10_000)
            return page, popup
        await popup.close()
        await page.close()
    raise AssertionError("the pictures weren't drawn")


def test_key_moments_are_drawn_from_the_masked_replay(recording_browser: ExtensionBrowser, reporter: World) -> None:
    async def report(entered: str) -> str:
        page, popup = await open_report(recording_browser, entered)
        key = await recording_browser.create_ticket(popup)
        await page.close()
        return key

    pictures: list[list[Image.Image]] = []
    for entered in ("MMMMMMMMMM", "iiiiiiiiii"):
        capture = ReportedTicket(reporter, recording_browser.run(report(entered))).capture
        path = f"/captures/{capture['id']}/replay"
        frames = ok(reporter.api.get(f"{path}/frames"))["items"]
        assert capture["health"]["frames"] == {"status": "ok", "reason": None, "captured": 2, "dropped": 0}
        assert frames[1]["at"] - frames[0]["at"] >= 1_000
        answers = [reporter.api.get(f"{path}/frame", params={"at": each["at"]}) for each in frames]
        assert all(answer.headers["content-type"] == "image/webp" for answer in answers)
        assert all(len(answer.content) < 50_000 for answer in answers)
        pictures.append([Image.open(BytesIO(answer.content)).convert("RGB") for answer in answers])
    (first, second), _ = pictures
    # 10 rem by 5 rem of 20 pixels, beside which the page is white
    assert [is_near(first, *point, GREEN) for point in ((5, 5), (195, 95))] == [True, True]
    assert [is_near(first, *point, WHITE) for point in ((210, 5), (5, 110))] == [True, True]
    assert is_near(second, 195, 95, BLUE)
    # each shadow root has its style sheet, and the page doesn't
    assert [is_near(first, *point, GREEN) for point in ((430, 30), (430, 130))] == [True, True]
    assert is_near(first, 430, 80, WHITE)
    # the field is masked: whatever was entered, the pictures are the same
    for one, other in zip(*pictures, strict=True):
        box = (0, 390, 300, 570)
        bands = ImageChops.difference(one.crop(box), other.crop(box)).getextrema()
        # what differs elsewhere in a picture also changes a little here, because it is compressed
        assert all(most < 24 for _, most in bands), bands  # pyright: ignore[reportGeneralTypeIssues]
    # the page was scrolled before the second
    assert has_ink(first, (0, 500, 300, 560))
    assert has_ink(second, (0, 400, 300, 460))
    assert not has_ink(second, (0, 500, 300, 560))


def is_near(picture: Image.Image, x: int, y: int, color: tuple[int, int, int]) -> bool:
    pixel = picture.getpixel((x, y))
    assert isinstance(pixel, tuple)
    return all(abs(one - other) < 24 for one, other in zip(pixel, color, strict=True))


def has_ink(picture: Image.Image, box: tuple[int, int, int, int]) -> bool:
    return picture.crop(box).convert("L").getextrema()[0] < 128  # pyright: ignore[reportOperatorIssue]


def test_pictures_are_dropped_with_the_replay(recording_browser: ExtensionBrowser, reporter: World) -> None:
    async def report() -> str:
        page, popup = await open_report(recording_browser, "secret")
        await popup.get_by_role("switch", name="Send replay").click()
        key = await recording_browser.create_ticket(popup)
        await page.close()
        return key

    capture = ReportedTicket(reporter, recording_browser.run(report())).capture
    assert "frames" not in capture["health"]
    assert ok(reporter.api.get(f"/captures/{capture['id']}/replay/frames"))["items"] == []
    expect_error(reporter.api.get(f"/captures/{capture['id']}/replay/frame"), 404, "not_found")
