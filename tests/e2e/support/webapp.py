"""The app as a signed-in person meets it: opened on a page, watched, and looked over."""

from contextlib import suppress
from typing import Any, Literal

from playwright.async_api import Page
from playwright.async_api import TimeoutError as PlaywrightTimeoutError

from tests.e2e.core.test_pages import DESK, NARROWEST, PHONE, Watch
from tests.e2e.support.app import COLOUR_RULES, run_axe, wait_for_frames
from tests.support.server import Person

Mode = Literal["light", "dark", "forced-colors"]
MODES: dict[Mode, dict[str, Any]] = {
    "light": {"color_scheme": "light", "forced_colors": "none"},
    "dark": {"color_scheme": "dark", "forced_colors": "none"},
    "forced-colors": {"color_scheme": "light", "forced_colors": "active"},
}

PLANTED = '<img src=x onerror="document.title=\'broken in\'"><script>document.title="broken in"</script>'

OVERHANG = """() => Math.max(...[document.documentElement, ...document.querySelectorAll('main')]
    .map(element => element.scrollWidth - element.clientWidth))"""

# The app's parts scroll, never its page.
OVERHANG_BELOW = "() => document.querySelector('.shell') ? document.documentElement.scrollHeight - innerHeight : 0"


async def open_as(page: Page, person: Person, path: str) -> Watch:
    """Open a page of the app with a person's session."""
    watch = Watch(page)
    cookie = {"name": person.box.cookie, "value": person.session, "url": person.box.url}
    await page.context.add_cookies([cookie])  # type: ignore[list-item]
    await page.goto(person.box.url + path)
    return watch


async def expect_message(page: Page, words: str) -> None:
    """Wait for a message in the corner, and close it."""
    region = page.get_by_role("region", name="Messages")
    await region.get_by_text(words).first.wait_for()
    with suppress(PlaywrightTimeoutError):  # on a busy machine it closes, after 6 s, before the click
        await region.get_by_role("button", name="Dismiss").last.click(timeout=10_000)


async def field_error(page: Page, label: str) -> str:
    """What is said under a field that is marked as wrong, and has the focus."""
    field = page.get_by_label(label, exact=True)
    await page.wait_for_function(
        "element => element.getAttribute('aria-invalid') === 'true'", arg=await field.element_handle()
    )
    await page.wait_for_function("element => document.activeElement === element", arg=await field.element_handle())
    hint = await field.get_attribute("aria-describedby")
    return (await page.locator(f'[id="{hint}"]').inner_text()).strip()


async def disable_form_validation(page: Page) -> None:
    """Keep the browser from checking the form itself, so that the server is asked."""
    await page.locator("form").first.wait_for()
    await page.evaluate("() => { for (const form of document.forms) form.noValidate = true; }")


async def faults(page: Page, *modes: Mode) -> dict[str, Any]:
    """What shuts somebody out of the page as it stands, at both sizes; and whether it is larger than the window.

    `modes`: other colours in which it must be legible as well, on a desk.
    """
    result: dict[str, Any] = {}
    for size in (DESK, PHONE):
        await page.set_viewport_size(size)
        await wait_for_frames(page)
        high = await page.evaluate(OVERHANG_BELOW)
        if high > 0:
            result[f"higher than {size['height']} by"] = high
        looked = await run_axe(page)
        if looked.violations_count:
            result[f"axe at {size['width']}"] = looked.generate_report()
    for mode in modes:
        await page.set_viewport_size(DESK)
        await page.emulate_media(**MODES[mode])
        looked = await run_axe(page, COLOUR_RULES)
        if looked.violations_count:
            result[f"axe in {mode}"] = looked.generate_report()
        await page.emulate_media(**MODES["light"])
    for width in (PHONE["width"], NARROWEST):
        await page.set_viewport_size({"width": width, "height": 844})
        await wait_for_frames(page)  # the inbox has one column less
        wide = await page.evaluate(OVERHANG)
        if wide > 0:
            result[f"wider than {width} by"] = wide
    return result
