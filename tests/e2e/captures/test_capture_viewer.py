"""The capture viewer in a real browser: console, network, errors, surroundings, and what is missing of them."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.async_api import Locator, Page, expect

from tests.e2e.support.app import (
    EVERY,
    LOOKS,
    PHONE,
    Looks,
    assert_accessible,
    assert_fits,
    expect_value,
    find_still_box,
    use,
)
from tests.e2e.support.browser import Chromium
from tests.e2e.support.captures import START, action, capture_on, failure, line, request
from tests.e2e.support.devtools_recorder import Json
from tests.support.long_runs import mark_long
from tests.support.server import World, ok

SCRIPT = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>'
STACK = "\n".join(["TypeError: nothing", *(f"    at f{n} (https://shop.example/app.js:{n}:1)" for n in range(20))])
CONSOLE = [
    line(1, "log", "started"),
    line(3, "warn", "price missing", source="https://shop.example/app.js:12:3", repeat=4),
    line(5, "error", "no total", '{"sum": null}', stack=STACK),
    line(7, "debug", "tick"),
]
NETWORK = [
    request(1, "https://shop.example/cart", type="document"),
    request(2, "https://shop.example/app.js", type="script", response={"bytes": 184_320}),
    request(
        3,
        "https://api.example/quote?x=1",
        422,
        method="POST",
        response={"body": "{}"},
        initiator="https://shop.example/app.js:9:1",
    ),
    request(4, "https://shop.example/slow", None, duration_ms=None, error="net::ERR_FAILED"),
]
ERRORS = [
    failure(4, "nothing", fingerprint="one", stack=STACK, count=2),
    failure(6, "other", fingerprint="two", name="RangeError"),
    failure(8, "nothing", fingerprint="one", stack=STACK),
]


# On a phone, a tab is as high as what it shows, below tabs that stay where they are.
HEIGHT = "document.querySelector('.viewer').offsetHeight"
PLACE_OF_TABS = "document.querySelector('.viewer [role=tablist]').getBoundingClientRect().top"

PAY = {"role": "button", "name": "Pay", "selectors": ['role=button[name="Pay"s]', "#pay"]}
ACTIONS = [action(1, "navigate", url="https://shop.example/cart"), action(3, "click", target=PAY)]


def full(world: World, **given: object) -> dict[str, str]:
    return capture_on(world, console=CONSOLE, network=NETWORK, errors=ERRORS, actions=ACTIONS, **given)


async def open_environment(page: Page) -> Locator:
    await page.get_by_role("button", name="Environment").or_(page.get_by_title("Environment")).first.click()
    return page.get_by_role("region", name="Environment")


@pytest.mark.long
@EVERY
def test_every_tab_shows_its_stream(chromium: Chromium, world: World, looks: Looks) -> None:
    ticket = full(world)

    async def look(page: Page) -> None:
        await expect(page.get_by_role("option", name="RangeError: other")).to_be_visible()
        summary = page.get_by_role("list", name="Summary of the capture").get_by_role("listitem")
        await expect(summary.filter(has_text="TypeError")).to_have_text(re.compile(r"TypeError\s*×3"))
        await expect(summary.filter(has_text="failed")).to_have_text("2 failed requests")
        box = await page.get_by_role("list", name="Summary of the capture").bounding_box()
        assert box is not None
        assert box["height"] < 40, "one line"
        await expect(page.get_by_role("tab", name="Network")).to_have_text(re.compile(r"Network\s*2$"))  # failed
        await expect(page.get_by_role("tab", name="Console")).to_have_text(re.compile(r"Console\s*4$"))  # all
        await assert_accessible(page)
        measure = PLACE_OF_TABS if looks.size == PHONE else HEIGHT
        sizes = set()
        for tab, holds in {
            "Screenshot": "%",
            "Console": "price missing",
            "Network": "quote",
            "Errors": "RangeError",
        }.items():
            await page.get_by_role("tab", name=tab).click()
            await expect(page.get_by_role("tabpanel").first).to_contain_text(holds)
            await assert_accessible(page)
            await assert_fits(page)
            sizes.add(await page.evaluate(measure))
        assert len(sizes) == 1, "the page moves with the tabs"
        await expect(page).to_have_url(re.compile(r"/errors$"))
        await page.reload()
        await expect(page.get_by_role("tab", name="Errors")).to_have_attribute("aria-selected", "true")

    use(chromium, world.owner, f"/tickets/{ticket['id']}", look, looks)


def test_member_chooses_the_bug(chromium: Chromium, world: World) -> None:
    ticket = full(world)

    async def choose(page: Page) -> None:
        section = page.get_by_role("region", name="Capture", exact=True)
        await expect(section.get_by_role("paragraph").first).to_have_text(
            re.compile("TypeError: nothing.*guessed: the last failure that a step led to", re.S)
        )
        await page.get_by_role("tab", name="Network").click()
        await page.get_by_text("quote").first.click()
        await page.get_by_role("button", name="This is the bug").click()
        line = section.get_by_role("paragraph").first
        await expect(line).to_have_text(re.compile(r"POST /quote.*422.*chosen by .*Ann", re.S))
        await expect(page.get_by_role("region", name="Request details")).to_contain_text("The bug")
        await assert_accessible(page)
        await assert_fits(page)
        await page.get_by_role("tab", name="Errors").click()
        await page.get_by_role("button", name="This is the bug").first.click()
        await expect(line).to_contain_text("TypeError: nothing")
        await page.get_by_role("tab", name="Timeline").click()
        await expect(page.get_by_role("region", name="Details")).to_contain_text("The bug")

    use(chromium, world.owner, f"/tickets/{ticket['id']}", choose)


@pytest.mark.long
def test_tabs_are_selected_by_keyboard(chromium: Chromium, world: World) -> None:
    ticket = full(world)

    async def press(page: Page) -> None:
        await page.get_by_role("tab", name="Timeline").focus()
        for name in ("Screenshot", "Console", "Network", "Errors", "Timeline"):
            await page.keyboard.press("ArrowRight")
            await expect(page.get_by_role("tab", name=name)).to_be_focused()
            await expect(page.get_by_role("tab", name=name)).to_have_attribute("aria-selected", "true")

    use(chromium, world.owner, f"/tickets/{ticket['id']}", press)


@pytest.mark.long
def test_console_is_filtered_by_level_and_text(chromium: Chromium, world: World) -> None:
    ticket = full(world)

    async def look(page: Page) -> None:
        lines = page.get_by_role("region", name="Console lines").get_by_role("listitem")
        await expect(lines).to_have_count(4)
        await expect(lines.nth(1)).to_have_text(re.compile(r"\b4\s*price missing"))
        await page.get_by_role("button", name="Warnings").click()
        await page.get_by_role("button", name="Errors", exact=True).click()
        await expect(lines).to_have_count(2)
        await page.get_by_label("Filter console").fill("TOTAL")
        await expect(lines).to_have_count(1)
        await expect(page.get_by_text("1 of 4")).to_be_visible()
        await lines.get_by_role("button").click()
        tree = lines.locator("details")  # an object
        await expect(tree).to_contain_text("sum")
        await expect(tree.locator(".null")).to_have_text("null")
        await expect(lines).not_to_contain_text("at f15")
        await lines.get_by_role("button", name="Show").click()
        await expect(lines).to_contain_text("at f15")
        await page.get_by_label("Filter console").fill("nowhere")
        await expect(page.get_by_text("No results")).to_be_visible()

    use(chromium, world.owner, f"/tickets/{ticket['id']}/console", look)


@pytest.mark.long
def test_times_count_from_the_first_entry_without_a_page_load(chromium: Chromium, world: World) -> None:
    ticket = full(world, health={"page_loaded_at": None, "history_started_at": None})

    async def look(page: Page) -> None:
        lines = page.get_by_role("region", name="Console lines").get_by_role("listitem")
        await expect(lines.first).to_contain_text("0:00.0")

    use(chromium, world.owner, f"/tickets/{ticket['id']}/console", look)


@pytest.mark.long
def test_requests_are_filtered_sorted_and_opened(chromium: Chromium, world: World) -> None:
    ok(world.owner.web.patch(f"/projects/{world.project}", json={"capture_policy": {"bodies": "off"}}))
    ticket = full(world)

    async def look(page: Page) -> None:
        rows = page.locator("[role=row][aria-selected]")
        await expect(rows).to_have_count(4)
        await page.get_by_role("button", name="Time", exact=True).click()
        await expect(rows.first).to_contain_text("cart")
        await page.get_by_role("button", name="Time").click()
        await expect(rows.first).to_contain_text("slow")
        await expect(page.get_by_role("columnheader", name="Time")).to_have_attribute("aria-sort", "descending")
        await page.get_by_role("button", name="Failed").click()
        await expect(rows).to_have_count(2)
        await page.get_by_label("Filter requests").fill("quote")
        await expect(rows).to_have_count(1)
        await rows.click()
        detail = page.get_by_role("region", name="Request details")
        await expect(detail.get_by_role("tabpanel", name="Response")).to_contain_text("capture policy excludes bodies")
        await assert_accessible(page)
        await detail.get_by_role("tab", name="General").click()
        for words in ("422", "POST", "https://shop.example/app.js:9:1", "43 ms", "Duration"):
            await expect(detail).to_contain_text(words)
        await page.get_by_label("Filter requests").fill("")
        await expect(rows).to_have_count(2)
        await page.get_by_role("grid", name="Requests").focus()
        await page.keyboard.press("ArrowUp")
        await detail.get_by_role("tab", name="General").click()
        await expect(detail).to_contain_text("net::ERR_FAILED")
        await page.get_by_role("grid", name="Requests").focus()
        await page.keyboard.press("Escape")
        await expect(detail).to_have_count(0)
        async with page.expect_download() as started:
            await page.get_by_role("link", name="HAR").click()
        file = await (await started.value).path()
        assert len(json.loads(Path(file).read_text())["log"]["entries"]) == 4

    use(chromium, world.owner, f"/tickets/{ticket['id']}/network", look, accept_downloads=True)


@pytest.mark.long
@EVERY
def test_messages_of_a_socket_are_listed(chromium: Chromium, world: World, looks: Looks) -> None:
    ok(world.owner.web.patch(f"/projects/{world.project}", json={"capture_policy": {"bodies": "on"}}))
    messages: list[Json] = [
        {"ts": START + 120, "sent": True, "body": '{"subscribe":"cart"}', "bytes": 20},
        {"ts": START + 1_020, "body": SCRIPT, "bytes": len(SCRIPT)},
        {"ts": START + 2_020, "bytes": 70_000, "omitted_reason": "binary"},
    ]
    socket = request(1, "wss://shop.example/live", 101, type="websocket", messages=messages)
    ticket = capture_on(world, network=[socket])

    async def look(page: Page) -> None:
        await page.locator("[role=row][aria-selected]").click()
        detail = page.get_by_role("region", name="Request details")
        items = detail.get_by_role("tabpanel", name="Messages").get_by_role("listitem")
        await expect(items).to_have_count(3)
        await expect(items.nth(0)).to_contain_text('{"subscribe":"cart"}')
        await expect(items.nth(0).get_by_label("Sent")).to_be_visible()
        await expect(items.nth(1)).to_contain_text(SCRIPT)
        await expect(items.nth(2).get_by_label("Received")).to_be_visible()
        await expect(items.nth(2)).to_contain_text("70 kB")
        await assert_accessible(page)
        await assert_fits(page)

    use(chromium, world.owner, f"/tickets/{ticket['id']}/network", look, looks)


@pytest.mark.long
def test_copied_curl_command_sends_only_the_request(chromium: Chromium, world: World, tmp_path: Path) -> None:
    body = 'it\'s \\ $(touch hit) `touch hit` !! "q"\n; touch hit\x1b[201~\ntouch hit #ö'
    headers = {"accept": "it's; touch hit", "@file": "x", "accept-language": "de'$(touch hit)"}
    hostile = request(
        1, "https://api.example/a'b;$(touch hit)[1-3]{a,b}", method="PO'ST $(touch hit)",
        request={"headers": headers, "body": body},
    )  # fmt: skip
    ok(
        world.owner.web.patch(
            f"/projects/{world.project}", json={"capture_policy": {"bodies": "on", "extra_redactions": []}}
        )
    )
    ticket = capture_on(world, network=[hostile, request(2, "ftp://shop.example/x")])

    async def copy(page: Page) -> str:
        rows = page.locator("[role=row][aria-selected]")
        await rows.nth(1).click()
        await expect(page.get_by_role("region", name="Request details")).to_contain_text("ftp:")
        await expect(page.get_by_role("button", name="Copy as cURL")).to_have_count(0)
        await rows.first.click()
        await page.get_by_role("button", name="Copy as cURL").click()
        await expect(page.get_by_role("button", name="Copied")).to_be_visible()
        command: str = await page.evaluate("navigator.clipboard.readText()")
        await page.get_by_role("button", name="More", exact=True).click()
        await page.get_by_role("menuitem", name="Delete capture").click()
        dialog = page.get_by_role("dialog", name="Delete this capture?")
        await expect(dialog).to_contain_text("2 requests")
        await dialog.get_by_role("button", name="Delete capture").click()
        await expect(page.get_by_role("tab", name="Network")).to_have_count(0)
        await expect(page.get_by_text("deleted a capture")).to_be_visible()
        return command

    command = use(
        chromium, world.owner, f"/tickets/{ticket['id']}/network", copy,
        permissions=["clipboard-read", "clipboard-write"],
    )  # fmt: skip
    assert "\x1b" not in command
    stub = tmp_path / "curl"
    stub.write_text(f"#!{sys.executable}\nimport json, sys\nprint(json.dumps(sys.argv[1:]))\n")
    stub.chmod(0o755)
    ran = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, env={"PATH": f"{tmp_path}:/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    words: list[str] = json.loads(ran.stdout)
    assert words[words.index("--url") + 1] == hostile["url"]
    assert words[words.index("--request") + 1] == hostile["method"].upper()
    assert words[words.index("--data-raw") + 1] == body
    assert [word for word in words if word.startswith("@")] == []
    assert not (tmp_path / "hit").exists()


@pytest.mark.long
def test_errors_are_grouped_by_fingerprint(chromium: Chromium, world: World) -> None:
    ticket = full(world)

    async def look(page: Page) -> None:
        groups = page.get_by_role("region", name="Errors").get_by_role("listitem")
        await expect(groups).to_have_count(2)
        await expect(groups.first).to_contain_text("3 times")
        await expect(groups.first).to_contain_text("0:00.4 to 0:00.8")
        await groups.first.get_by_role("button", name="Show").click()
        await expect(groups.first).to_contain_text("f19")

    use(chromium, world.owner, f"/tickets/{ticket['id']}/errors", look)


@pytest.mark.long
@pytest.mark.parametrize(
    ("health", "words"),
    [
        ({"status": "blocked", "reason": "csp"}, "not recorded: the page’s Content Security Policy"),
        mark_long(
            ({"status": "blocked", "reason": "restricted_page"}, "the browser does not allow extensions on this page")
        ),
        mark_long(({"status": "disabled", "reason": "policy"}, "disabled: the project’s capture policy excludes it")),
        mark_long(({"status": "partial", "reason": "limit", "dropped": 1200}, "1,200 entries were dropped")),
        ({"status": "empty", "reason": None}, None),
    ],
    ids=["csp", "restricted", "policy", "limit", "empty"],
)
def test_missing_entries_are_reported_with_the_reason(
    chromium: Chromium, world: World, health: Json, words: str | None
) -> None:
    whole = {"console": {"captured": 0, "dropped": 0, **health}}
    late = {"history_started_at": START + 4_200}
    ticket = capture_on(world, health={**whole, **(late if words else {})})

    async def look(page: Page) -> None:
        panel = page.get_by_role("tabpanel").first
        await expect(panel).to_contain_text("No console lines were recorded.")
        if words:
            await expect(panel).to_contain_text(words)
            await expect(panel).to_contain_text("4.20 s after the page loaded")
        else:
            await expect(panel).not_to_contain_text("recorded only")
        environment = await open_environment(page)
        await expect(environment).to_contain_text(words or "Complete.")
        await expect(environment).to_contain_text("Nothing was redacted")

    use(chromium, world.owner, f"/tickets/{ticket['id']}/console", look)


@pytest.mark.long
def test_redactions_are_counted(chromium: Chromium, world: World) -> None:
    secret = request(
        1, "https://shop.example/?token=tk_9f8Qz2LmX7wR4sVb", request={"headers": {"authorization": "Bearer x"}}
    )
    ticket = capture_on(world, network=[secret])

    async def look(page: Page) -> None:
        await expect(await open_environment(page)).to_contain_text(
            "Redacted before storage: 1 header value and 1 URL value."
        )

    use(chromium, world.owner, f"/tickets/{ticket['id']}", look)


def test_timeline_merges_the_streams_and_shows_details(chromium: Chromium, world: World) -> None:
    ticket = full(world)

    async def look(page: Page) -> None:
        moments = page.get_by_role("listbox", name="Timeline").get_by_role("option")
        details = page.get_by_role("region", name="Details")
        await expect(moments).to_have_count(13)
        times = [float(text.split(":")[1]) for text in await moments.locator(".at").all_inner_texts()]
        assert times == sorted(times)
        await expect(page.get_by_role("option", selected=True)).to_contain_text("TypeError: nothing")
        await expect(details).to_contain_text("f4")
        await page.get_by_role("option", name="GET /slow").click()
        await expect(details).to_contain_text("net::ERR_FAILED")
        await page.get_by_role("listbox", name="Timeline").focus()
        await page.keyboard.press("ArrowDown")
        await expect(details).to_contain_text("f4")
        await page.keyboard.press("k")
        await expect(page.get_by_role("option", selected=True)).to_contain_text("/slow")
        await expect(page).to_have_url(re.compile(re.escape(ticket["id"]) + "$"))
        await page.get_by_role("button", name="Problems").click()
        await expect(moments).to_have_count(7)
        await page.get_by_role("button", name="Steps").click()
        await expect(moments).to_have_text([re.compile("Opened /cart"), re.compile("Clicked button “Pay”")])
        await moments.last.click()
        await expect(details).to_contain_text("#pay")
        await page.get_by_role("button", name=re.compile(r"^All \d")).click()
        await page.get_by_text("Captured at 1:00.0").wait_for()
        await page.get_by_role("button", name="Full screen").click()
        whole = page.get_by_role("dialog", name="Capture")
        await expect(whole).to_be_visible()
        await expect_value(whole.bounding_box, {"x": 0, "y": 0, **LOOKS["desk"].size})
        for selector in ("h1", "a[href='/inbox']"):  # nothing beside it can be reached
            await expect(
                page.locator("[inert]").locator(selector).or_(page.locator(f"{selector}[inert]"))
            ).not_to_have_count(0)
        await assert_accessible(page)
        await page.keyboard.press("Escape")
        await expect(whole).to_have_count(0)
        await expect(page.locator("[inert]")).to_have_count(0)
        await moments.filter(has_text="quote").click()
        await details.get_by_role("button", name="Open network").click()
        await expect(page.get_by_role("grid", name="Requests")).to_be_visible()

    use(chromium, world.owner, f"/tickets/{ticket['id']}", look)


@pytest.mark.long
def test_header_of_the_requests_covers_none_on_touch_screens(chromium: Chromium, world: World) -> None:
    ticket = full(world)

    async def look(page: Page) -> None:
        first = page.locator("[role=row][aria-selected]").first
        await expect(first).to_be_visible()
        head, row = [await find_still_box(each) for each in (page.locator(".titles"), first)]
        assert row["y"] >= head["y"] + head["height"]

    use(chromium, world.owner, f"/tickets/{ticket['id']}/network", look, LOOKS["phone"], has_touch=True)


@pytest.mark.long
def test_thousands_of_lines_and_requests_render_few_rows(chromium: Chromium, world: World) -> None:
    ticket = capture_on(
        world,
        console=[line(n, "log", f"line {n}") for n in range(5_000)],
        network=[request(n, f"https://shop.example/{n}") for n in range(5_000)],
    )

    async def scroll(page: Page) -> None:
        loaded = page.get_by_role("tabpanel").first.get_by_role("status")
        await expect(loaded).to_have_text("5,000", timeout=120_000)
        region = page.get_by_role("region", name="Console lines")
        await region.evaluate("node => node.scrollTo(0, 1e9)")
        await expect(region.get_by_text("line 4999", exact=True)).to_be_visible()
        assert await region.get_by_role("listitem").count() < 100
        await page.get_by_label("Filter console").fill("line 4321")
        await expect(region.get_by_role("listitem")).to_have_count(1)
        await page.get_by_role("tab", name="Network").click()
        grid = page.get_by_role("grid", name="Requests")
        await expect(grid.locator("[role=row][aria-selected]").first).to_be_visible()
        await grid.focus()
        await page.keyboard.press("ArrowDown")
        await expect(page.get_by_role("region", name="Request details")).to_be_visible()
        assert await grid.get_by_role("row").count() < 100

    use(chromium, world.owner, f"/tickets/{ticket['id']}/console", scroll)


def test_script_in_captured_text_is_inert(chromium: Chromium, world: World) -> None:
    ticket = capture_on(
        world,
        page={"url": "javascript:window.hit=1", "title": SCRIPT, "referrer": f"https://x.example/{SCRIPT}"},
        environment={"browser": SCRIPT, "os": SCRIPT},
        console=[line(1, "error", SCRIPT, source=f"https://x.example/{SCRIPT}", stack=SCRIPT)],
        network=[request(1, f"https://x.example/{SCRIPT}", response={"headers": {"accept": SCRIPT}, "mime": SCRIPT})],
        errors=[failure(1, SCRIPT, stack=SCRIPT, frames=[{"url": f"javascript:{SCRIPT}", "function": SCRIPT}])],
    )

    async def look(page: Page) -> None:
        for tab in ("Console", "Network", "Errors"):
            await page.get_by_role("tab", name=tab).click()
            panel = page.get_by_role("tabpanel", name=tab)
            await expect(panel).to_contain_text("script")
            for row in await panel.locator(".head, [role=row][aria-selected]").all():
                await row.click()
            for part in await panel.get_by_role("tab").all():
                await part.click()
            await expect(panel).to_contain_text("onerror")
            await expect(panel.locator("img:not([draggable]), script")).to_have_count(0)
        await expect(page.locator("a[href^='javascript']")).to_have_count(0)
        assert await page.evaluate("window.hit") is None

    use(chromium, world.owner, f"/tickets/{ticket['id']}", look)


@pytest.mark.long
@EVERY
def test_environment_has_performance_flags_and_storage_names(chromium: Chromium, world: World, looks: Looks) -> None:
    script = {
        "duration_ms": 290,
        "url": "https://shop.example/assets/app.js",
        "function": "renderTotals",
        "invoker": "BUTTON#pay.onclick",
    }
    drawing = {"ts": START + 2_000, "duration_ms": 84, "blocking_ms": 20, "scripts": []}
    environment = {
        "browser": "Mozilla/5.0 (X11; Linux x86_64) Chrome/142.0",
        "os": "Linux x86_64",
        "viewport": {"width": 1440, "height": 900},
        "language": "en-GB",
        "release": "shop@1.4.2",
        "extension": "1.4.0",
        "vitals": {"lcp_ms": 1_240, "inp_ms": 340, "cls": 0.312, "fcp_ms": 800, "ttfb_ms": 120},
        "long_frames": [{"ts": START, "duration_ms": 312, "blocking_ms": 240, "scripts": [script]}, drawing],
        "declared": {"__flags.new_checkout": "true", "__flags.variant": "B", "meta:feature-flags": "fast_search"},
        "storage": {"local": ["cart", "cart:voucher"], "session": ["draft"], "cookies": ["theme"], "omitted": 3},
    }  # fmt: skip
    ticket = capture_on(world, environment=environment)

    async def look(page: Page) -> None:
        panel = await open_environment(page)
        vitals = panel.get_by_role("listitem")
        await expect(vitals.filter(has_text="LCP")).to_have_text(re.compile(r"1.24 s\s*good"))
        await expect(vitals.filter(has_text="INP")).to_have_text(re.compile(r"340 ms\s*needs improvement"))
        await expect(vitals.filter(has_text="CLS")).to_have_text(re.compile(r"0.312\s*poor"))
        await expect(panel).to_contain_text("renderTotals from BUTTON#pay.onclick")
        await expect(panel).to_contain_text("No script: layout, styles or painting")
        await expect(panel).to_contain_text("__flags.new_checkout")
        await expect(vitals.filter(has_text="Local storage")).to_contain_text("cart:voucher")
        await expect(panel).to_contain_text("3 names omitted")
        await assert_accessible(page)
        await assert_fits(page)

    use(chromium, world.owner, f"/tickets/{ticket['id']}", look, looks)


def test_other_captures_are_opened_by_keys_and_address(chromium: Chromium, world: World) -> None:
    first = full(world)
    second = capture_on(world, ticket_id=first["id"], errors=[failure(1, "another one")])

    async def switch(page: Page) -> None:
        await expect(page.get_by_role("button", name="Capture 2 of 2")).to_be_visible()
        await expect(page.get_by_role("option", name="TypeError: another one")).to_be_visible()
        await page.keyboard.press("[")
        await expect(page.get_by_role("option", name="RangeError: other")).to_be_visible()
        await page.get_by_role("tab", name="Console").click()
        await expect(page).to_have_url(re.compile(rf"/console\?capture={first['capture_id']}$"))
        await page.reload()
        await expect(page.get_by_role("tabpanel", name="Console")).to_contain_text("price missing")
        await page.get_by_role("button", name="Capture 1 of 2").click()
        await page.get_by_role("menuitemcheckbox", name="2 ·").click()
        await expect(page.get_by_role("button", name="Capture 2 of 2")).to_be_visible()
        await expect(page).to_have_url(re.compile(r"/console$"))
        await assert_accessible(page)

    use(chromium, world.owner, f"/tickets/{second['id']}", switch)
