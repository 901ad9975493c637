"""The ticket page in a real browser: read, written, argued about, and watched while others work."""

import asyncio
import re
from typing import Any

import pytest
from playwright.async_api import Page, Route, expect

from tests.e2e.support.app import (
    EVERY,
    Looks,
    assert_accessible,
    assert_fits,
    expect_clipboard,
    expect_stored,
    find_still_box,
    use,
)
from tests.e2e.support.browser import Chromium
from tests.e2e.support.captures import capture_on, failure
from tests.support.server import World, expect_error, ok

SCRIPT = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>'
HOSTILE = f"""{SCRIPT}

[a](javascript:window.hit=1) [b](data:text/html,<script>window.hit=1</script>)
![spy](http://evil.example/pixel.png "t") ![own](/api/v1/me)
<http://evil.example/page> https://evil.example/linkified

- [ ] {SCRIPT}

```js
{SCRIPT}
```
"""


def page_of(ticket: dict[str, str]) -> str:
    return f"/tickets/{ticket['id']}"


def now(world: World, ticket: dict[str, str]) -> dict[str, object]:
    """The ticket as the server holds it."""
    return ok(world.api.get(f"/tickets/{ticket['id']}", params={"status": "all", "include": "comments"}))


@EVERY
def test_ticket_page_shows_all_parts(chromium: Chromium, world: World, looks: Looks) -> None:
    ticket = world.ticket(
        "The cart stays empty",
        description="It **stays** empty.\n\n- [ ] look\n- [x] found\n\n| a | b |\n|---|---|\n| 1 | 2 |",
        labels=["cart", "ui"],
        priority="high",
        source_url="https://shop.example/cart",
    )
    agent = world.owner.client("tickets:write", label="Claude")
    ok(agent.post(f"/tickets/{ticket['id']}/comments", json={"body": "I look into `cart.ts`."}))
    ok(agent.post(f"/tickets/{ticket['id']}/work", json={}))

    async def look(page: Page) -> None:
        await expect(page.get_by_role("heading", level=1)).to_have_text("The cart stays empty")
        await expect(page.locator(".markdown strong")).to_have_text("stays")
        said = page.get_by_role("article", name="Comment by Claude")
        await expect(said.locator("header")).to_have_text(re.compile(r"Claude\s*via the API for Ann\s*just now"))
        started = page.get_by_role("listitem").filter(has_text="started work on")
        await expect(started).to_have_text(re.compile(r"^\s*Claude\s*via the API for Ann\s*started work on"))
        await expect(page.get_by_role("button", name="Priority: high")).to_be_visible()
        await expect(page.get_by_role("link", name="shop.example/cart")).to_have_attribute("rel", "noopener nofollow")
        # what is visually hidden must not make the document longer than the window
        assert await page.evaluate("document.documentElement.scrollHeight <= innerHeight")
        await assert_accessible(page)
        await assert_fits(page)

    use(chromium, world.owner, page_of(ticket), look, looks)


# A row of properties shows the names only where a value alone doesn't say what it is.
BASELINES = """() => [...document.querySelectorAll('.property')].filter(property =>
        property.firstElementChild.offsetWidth > 1).map(property => {
    const baseline = part => {
        const words = document.createTreeWalker(part, NodeFilter.SHOW_TEXT, node =>
            node.data.trim() && !node.parentElement.closest('.visually-hidden, .avatar, svg') ? 1 : 3)
        const [text, line, dot] = [words.nextNode(), ...['span', 'i'].map(name => document.createElement(name))]
        text.replaceWith(line)
        line.append(dot, text)
        dot.style.display = 'inline-block'
        const { bottom } = dot.getBoundingClientRect()
        line.replaceWith(text)
        return bottom
    }
    return [property.innerText.split('\\n')[0], baseline(property.lastElementChild) - baseline(property)]
})"""


@pytest.mark.long
@EVERY
def test_property_values_align_with_their_names(chromium: Chromium, world: World, looks: Looks) -> None:
    ticket = world.ticket("A ticket", priority="high", source_url="https://shop.example/cart")
    ok(world.api.post(f"/tickets/{ticket['id']}/work", json={"branch": "fix/a-name-so-long-that-it-takes-two-lines"}))
    ok(world.owner.web.put(f"/tickets/{ticket['id']}/assignees/{world.owner.id}"))
    blocker = world.ticket("A ticket in the way")
    ok(world.api.post(f"/tickets/{ticket['id']}/links", json={"kind": "blocked_by", "other": blocker["key"]}))

    async def look(page: Page) -> None:
        await expect(page.get_by_role("heading", level=1)).to_be_visible()
        await expect(page.get_by_role("button", name="Status: To do")).to_be_visible()
        await expect(page.locator(".property", has_text="Blocked by")).to_be_visible()
        await find_still_box(page.get_by_role("button", name="Copy branch"))
        result = dict(await page.evaluate(BASELINES))
        names = {"Branch", "Blocked by"} | (
            {"Status", "Priority", "Assignee"} if looks.size["width"] >= 1100 else set()
        )
        assert names <= result.keys()
        assert {name: off for name, off in result.items() if abs(off) > 1} == {}
        name, copy = [
            await find_still_box(each)
            for each in (page.locator("code", has_text="two-lines"), page.get_by_role("button", name="Copy branch"))
        ]
        assert copy["x"] >= name["x"] + name["width"]
        assert copy["y"] + copy["height"] / 2 == pytest.approx(name["y"] + name["height"] / 2, abs=2)

    use(chromium, world.owner, page_of(ticket), look, looks, has_touch=looks.size["width"] < 1080)


def test_fields_are_edited_in_place(chromium: Chromium, world: World) -> None:
    ticket = world.ticket("A ticket", description="before")

    async def edit(page: Page) -> None:
        await page.get_by_role("heading", level=1).click()
        await page.get_by_label("Title", exact=True).fill("A better name")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", level=1)).to_have_text("A better name")
        await page.keyboard.press("e")
        await page.get_by_label("Description").last.fill("**after**")
        await page.get_by_role("button", name="Preview").first.click()
        await expect(page.locator(".preview strong")).to_have_text("after")
        await page.get_by_role("button", name="Preview").first.click()
        await page.get_by_label("Description").last.press("Control+Enter")
        await expect(page.locator(".markdown strong")).to_have_text("after")
        await page.get_by_role("button", name="Due date: No due date").click()
        await page.get_by_role("option", name="Tomorrow").click()
        await expect(page.get_by_text("set the due date to")).to_be_visible()
        await expect_stored(lambda: now(world, ticket)["due_on"] is None, False)
        await page.get_by_role("button", name="Due date: ").click()
        await page.get_by_role("combobox", name="Due date").fill("2020-02-29")
        await expect(page.get_by_role("option", name="2020-02-29")).to_be_visible()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("button", name="Due date: Feb 29, 2020")).to_contain_text("(overdue)")
        await page.get_by_role("button", name="Status: To do").click()
        await page.get_by_role("option", name="Done").click()
        await expect(page.get_by_role("button", name="Status: Done")).to_be_visible()
        await page.get_by_role("button", name="Reopen").click()
        await expect(page.get_by_role("button", name="Status: To do")).to_be_visible()
        await page.get_by_role("button", name="Status: To do").click()
        await page.get_by_role("option", name="In progress").click()
        await expect(page.get_by_role("button", name="Due date: Feb 29, 2020")).to_be_visible()
        await page.get_by_role("button", name="Mark as done").click()
        await expect(page.get_by_role("button", name="Status: Done")).to_be_visible()
        await page.get_by_role("button", name="Undo").last.click()
        await expect(page.get_by_role("button", name="Status: In progress")).to_be_visible()
        await expect_stored(lambda: now(world, ticket)["resolved"], False)
        await page.get_by_role("button", name="Mark as done").click()
        await expect(page.get_by_role("button", name="Status: Done")).to_be_visible()
        await expect(page.get_by_role("button", name="Reopen")).to_be_visible()

    use(chromium, world.owner, page_of(ticket), edit)
    stored = now(world, ticket)
    assert (stored["title"], stored["description"], stored["resolved"]) == ("A better name", "**after**", True)
    assert stored["column_id"] == world.columns[2]


@pytest.mark.long
def test_shortcuts_open_their_pickers(chromium: Chromium, world: World) -> None:
    world.join("Bob")
    ticket = world.ticket("A ticket", labels=["old"])

    async def press(page: Page) -> None:
        await expect(page.get_by_role("heading", level=1)).to_be_visible()
        await page.keyboard.press("a")
        picker = page.get_by_role("combobox")
        await page.get_by_role("combobox", name="Assignees").fill("bo")
        await expect(page.get_by_role("option")).to_have_text([re.compile("Bob")])
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("button", name="Assignees: Bob")).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(picker).to_have_count(0)
        await page.keyboard.press("l")
        await page.get_by_role("combobox", name="Labels").fill("brand new")
        await expect(page.get_by_role("option")).to_have_text([re.compile("brand new")])
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("button", name="Remove label brand new")).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(picker).to_have_count(0)
        await page.keyboard.press("p")
        await page.get_by_role("combobox", name="Priority").fill("urg")
        await expect(page.get_by_role("option")).to_have_text([re.compile("Urgent")])
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("button", name="Priority: urgent")).to_be_visible()
        await page.get_by_role("button", name="Remove label old").click()
        await expect(page.get_by_role("button", name="Remove label old")).to_have_count(0)
        await page.keyboard.press("c")
        await expect(page.get_by_label("New comment", exact=True)).to_be_focused()
        await page.keyboard.type("a, l and p are letters here")
        await page.keyboard.press("Control+Enter")
        await expect(page.get_by_role("article").get_by_text("a, l and p are letters here")).to_be_visible()

    use(chromium, world.owner, page_of(ticket), press)
    stored = now(world, ticket)
    assert stored["labels"] == ["brand new"]
    assert stored["priority"] == "urgent"


@pytest.mark.long
def test_edit_conflict_keeps_both_texts(chromium: Chromium, world: World) -> None:
    ticket = world.ticket("A ticket", description="first")

    async def clash(page: Page) -> None:
        await page.get_by_role("region", name="Description").get_by_text("first").click()
        field = page.get_by_label("Description").last
        await field.fill("mine")
        ok(world.api.patch(f"/tickets/{ticket['id']}", json={"description": "theirs"}))
        await field.press("Control+Enter")
        alert = page.get_by_role("alert")
        await expect(alert.locator("pre")).to_have_text(["theirs", "mine"])
        assert now(world, ticket)["description"] == "theirs"
        await assert_accessible(page)
        await alert.get_by_role("button", name="Continue editing").click()
        await page.get_by_label("Description").last.fill("mine and theirs")
        await page.get_by_label("Description").last.press("Control+Enter")
        await expect(page.locator(".markdown").first).to_have_text("mine and theirs")

    use(chromium, world.owner, page_of(ticket), clash)
    assert now(world, ticket)["description"] == "mine and theirs"


@pytest.mark.long
def test_change_of_another_field_is_no_conflict(chromium: Chromium, world: World) -> None:
    ticket = world.ticket("A ticket", description="first")

    async def write(page: Page) -> None:
        await page.get_by_role("button", name="Edit description").click()
        ok(world.api.patch(f"/tickets/{ticket['id']}", json={"priority": "low"}))
        await page.get_by_label("Description").last.fill("second")
        await page.get_by_role("button", name="Save").click()
        await expect(page.locator(".markdown").first).to_have_text("second")

    use(chromium, world.owner, page_of(ticket), write)
    assert (now(world, ticket)["description"], now(world, ticket)["priority"]) == ("second", "low")


@pytest.mark.long
def test_ticking_a_task_changes_the_description(chromium: Chromium, world: World) -> None:
    ticket = world.ticket("A ticket", description="Do:\n\n1. [ ] one\n2. [x] two\n\n```\n- [ ] three\n```")

    async def tick(page: Page) -> None:
        await expect(page.get_by_role("checkbox")).to_have_count(2)
        await page.get_by_role("checkbox", name="one").check()
        await page.get_by_role("checkbox", name="two").uncheck()
        await expect(page.get_by_text("edited the description 2 times")).to_be_visible()

    async def visit(page: Page) -> None:
        await expect(page.get_by_role("checkbox", name="one")).to_be_visible()
        await tick(page)

    use(chromium, world.owner, page_of(ticket), visit)
    assert now(world, ticket)["description"] == "Do:\n\n1. [x] one\n2. [ ] two\n\n```\n- [ ] three\n```"


def test_comments_are_written_edited_and_deleted_by_their_authors(chromium: Chromium, world: World) -> None:
    bob = world.join("Bob")
    ticket = world.ticket()
    ok(bob.web.post(f"/tickets/{ticket['id']}/comments", json={"body": "Bob's own"}))

    async def talk(page: Page) -> None:
        theirs = page.get_by_role("article", name="Comment by Bob")
        await expect(theirs).to_be_visible()
        for name in ("Edit comment", "Delete comment"):
            await expect(theirs.get_by_role("button", name=name)).to_have_count(0)
        await page.get_by_label("New comment", exact=True).fill("frist")
        await page.get_by_role("button", name="Preview").click()
        await page.get_by_role("button", name="Add comment").click()
        mine = page.get_by_role("article", name="Comment by Ann")
        await expect(mine).to_contain_text("frist")
        await expect(page.get_by_label("New comment", exact=True)).to_have_value("")
        await page.get_by_label("New comment", exact=True).press("Escape")
        await page.keyboard.press("c")  # a shortcut again
        await expect(page.get_by_label("New comment", exact=True)).to_be_focused()
        await mine.get_by_role("button", name="Edit comment").click()
        await mine.get_by_label("Comment", exact=True).fill("first")
        await mine.get_by_role("button", name="Save").click()
        await expect(mine.locator(".markdown")).to_have_text("first")
        await expect(mine.get_by_text("edited")).to_be_visible()
        await mine.get_by_role("link", name="just now").click()
        await expect(page).to_have_url(re.compile("#"))
        address = page.url
        await page.goto("about:blank")
        await page.goto(address)
        await expect(page.locator("li.target").get_by_text("first")).to_be_in_viewport()
        await mine.get_by_role("button", name="Delete comment").click()
        await page.get_by_role("button", name="Cancel").click()
        await expect(mine).to_be_visible()
        await mine.get_by_role("button", name="Delete comment").click()
        await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        await expect(mine).to_have_count(0)
        await expect(page.get_by_text("deleted a comment")).to_be_visible()

    use(chromium, world.owner, page_of(ticket), talk)
    assert [each["body"] for each in now(world, ticket)["comments"]] == ["Bob's own"]  # type: ignore[attr-defined]


@pytest.mark.long
def test_unsent_comment_is_kept_when_the_page_is_left(chromium: Chromium, world: World) -> None:
    ticket = world.ticket()

    async def leave(page: Page) -> None:
        await page.get_by_label("New comment", exact=True).fill("half a thought")
        await page.reload()
        await expect(page.get_by_label("New comment", exact=True)).to_have_value("half a thought")

    use(chromium, world.owner, page_of(ticket), leave)


@pytest.mark.long
def test_agent_comment_appears_while_a_person_types(chromium: Chromium, world: World) -> None:
    ticket = world.ticket()
    agent = world.owner.client("comments", label="Claude")

    async def watch(page: Page) -> None:
        field = page.get_by_label("New comment", exact=True)
        await field.fill("I am just")
        ok(agent.post(f"/tickets/{ticket['id']}/comments", json={"body": "Fixed on `main`."}))
        said = page.get_by_role("article", name="Comment by Claude")
        await expect(said.locator("code")).to_have_text("main")
        await expect(said).to_contain_text("New")
        await page.keyboard.type(" about to")
        await expect(field).to_have_value("I am just about to")
        await expect(field).to_be_focused()
        ok(world.api.patch(f"/tickets/{ticket['id']}", json={"title": "Renamed", "labels": ["seen"]}))
        await expect(page.get_by_role("heading", level=1)).to_have_text("Renamed")
        await expect(page.get_by_role("button", name="Remove label seen")).to_be_visible()

    use(chromium, world.owner, page_of(ticket), watch)


def call_tool(world: World, secret: str, name: str, **arguments: object) -> None:
    """Have an agent use a tool."""
    call = {"name": name, "arguments": arguments}
    headers = {"Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2025-11-25"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    answer = world.box.client(secret).post(f"{world.box.url}/mcp", json=message, headers=headers)
    assert not ok(answer)["result"].get("isError"), answer.text


@pytest.mark.long
@EVERY
def test_changes_of_agents_show_surface_and_token(chromium: Chromium, world: World, looks: Looks) -> None:
    secret = world.owner.token("tickets:write", label="Claude")
    marked = re.compile(r"Claude\s*via MCP for Ann")
    ticket = ok(world.owner.web.post("/tickets", json={"project_id": world.project, "title": "Empty cart"}))
    path = f"/tickets/{ticket['id']}/comments"
    mine = ok(world.owner.web.post(path, json={"body": "by hand"}))
    call_tool(world, secret, "add_comment", ticket_id=ticket["id"], body="by machine")
    call_tool(world, secret, "update_ticket", ticket_id=ticket["id"], priority="high")
    machines = ok(world.api.get(path))["items"][1]

    async def look(page: Page) -> None:
        hand = page.get_by_role("article").filter(has_text="by hand")
        machine = page.get_by_role("article").filter(has_text="by machine")
        await expect(machine.locator("header")).to_contain_text(marked)
        await expect(hand.locator("header")).to_have_text(re.compile(r"^\s*Ann\s*just now\s*$"))
        await expect(page.get_by_role("listitem").filter(has_text="set the priority to High")).to_contain_text(marked)
        ok(world.box.client(secret).patch(f"/comments/{mine['id']}", json={"body": "by hand, and by machine"}))
        ok(world.owner.web.patch(f"/comments/{machines['id']}", json={"body": "by machine, and corrected"}))
        both = hand.filter(has_text="and by machine")
        await expect(both.get_by_text("edited")).to_be_visible()
        await expect(both.locator(".edited")).to_have_text(re.compile(r"edited\s*by\s*Claude\s*via the API for Ann"))
        corrected = page.get_by_role("article").filter(has_text="and corrected")
        await expect(corrected.locator(".edited")).to_have_text(re.compile(r"^edited\s*by\s*Ann$"))
        await assert_accessible(page)
        await assert_fits(page)

    use(chromium, world.owner, page_of(ticket), look, looks)


@pytest.mark.long
@EVERY
def test_new_comment_out_of_view_shows_a_notice(chromium: Chromium, world: World, looks: Looks) -> None:
    ticket = world.ticket(description="A long story.\n\n" * 60)
    agent = world.owner.client("comments", label="Claude")

    async def watch(page: Page) -> None:
        await expect(page.get_by_label("New comment", exact=True)).to_be_attached()
        notice = page.get_by_role("button", name="New comment by Claude")
        await expect(notice).to_have_count(0)
        ok(agent.post(f"/tickets/{ticket['id']}/comments", json={"body": "Fixed on `main`."}))
        await expect(notice).to_be_in_viewport()
        await assert_accessible(page)
        await assert_fits(page)
        await notice.click()
        await expect(page.get_by_role("article", name="Comment by Claude")).to_be_in_viewport()
        await expect(notice).to_have_count(0)
        await page.evaluate("() => document.querySelector('h1').scrollIntoView()")
        await expect(page.get_by_role("heading", level=1)).to_be_in_viewport()
        await expect(notice).to_have_count(0)

    use(chromium, world.owner, page_of(ticket), watch, looks)


@pytest.mark.long
def test_archived_ticket_shows_a_banner_and_is_restored(chromium: Chromium, world: World) -> None:
    ticket = world.ticket()

    async def archive(page: Page) -> None:
        await page.get_by_role("button", name="More").click()
        await page.get_by_role("menuitem", name="Archive").click()
        banner = page.get_by_role("status").filter(has_text="Archived by")
        await expect(banner).to_be_visible()
        await expect(page.get_by_label("New comment", exact=True)).to_have_count(0)
        await page.get_by_role("button", name="Undo").click()
        await expect(banner).to_have_count(0)
        await expect_stored(lambda: now(world, ticket)["status"], "active")
        ok(world.api.post(f"/tickets/{ticket['id']}/archive"))
        await page.reload()
        await expect(banner).to_contain_text("via API")
        await assert_accessible(page)
        await banner.get_by_role("button", name="Restore").click()
        await expect(banner).to_have_count(0)

    use(chromium, world.owner, page_of(ticket), archive)
    assert now(world, ticket)["status"] == "active"


@pytest.mark.long
def test_start_work_assigns_the_ticket_and_copies_its_branch(chromium: Chromium, world: World) -> None:
    ticket = world.ticket("Empty cart: “Pay” stays disabled")
    branch = f"{ticket['key'].lower()}-empty-cart-pay-stays-disabled"

    async def work(page: Page) -> None:
        await page.get_by_role("button", name="Start work").click()
        await expect(page.get_by_role("region", name="Messages")).to_contain_text(f"Branch name copied: {branch}")
        await expect_clipboard(page, branch)
        await expect(page.get_by_role("button", name="Start work")).to_have_count(0)
        await expect(page.locator("code", has_text=branch)).to_be_visible()

    use(chromium, world.owner, page_of(ticket), work, permissions=["clipboard-read", "clipboard-write"])
    after: Any = now(world, ticket)
    assert [each["name"] for each in after["assignees"]] == ["Ann"]
    assert after["claim"] is None


@pytest.mark.long
def test_ticket_is_copied_as_markdown(chromium: Chromium, world: World) -> None:
    ticket = capture_on(world, errors=[failure(1, "no total")])

    async def work(page: Page) -> None:
        await page.get_by_role("button", name="More", exact=True).click()
        await page.get_by_role("menuitem", name="Copy as Markdown").click()
        await expect(page.get_by_role("region", name="Messages")).to_contain_text("Ticket copied as Markdown.")
        copied: str = await page.evaluate("() => navigator.clipboard.readText()")
        found = ok(world.api.get(f"/tickets/{ticket['id']}"))
        assert copied.startswith(f"# {found['key']}: {found['title']}\n\n{found['url']}\n")
        assert "TypeError: no total" in copied

    use(chromium, world.owner, page_of(ticket), work, permissions=["clipboard-read", "clipboard-write"])


@pytest.mark.long
def test_files_are_attached_by_selection_and_paste(chromium: Chromium, world: World) -> None:
    ticket = world.ticket()
    text = {"name": f"{SCRIPT[:40]}.txt", "mimeType": "text/plain", "buffer": b"hello"}

    async def attach(page: Page) -> None:
        await page.locator("input[type=file]").set_input_files(text)  # type: ignore[arg-type]
        files = page.get_by_role("region", name="Attachments")
        await expect(files.get_by_role("link")).to_have_count(1)
        await page.get_by_label("New comment", exact=True).focus()
        await page.evaluate(
            """async () => {
              const canvas = Object.assign(document.createElement('canvas'), {width: 40, height: 20});
              canvas.getContext('2d').fillRect(0, 0, 40, 20);
              const blob = await new Promise((done) => canvas.toBlob(done));
              const data = new DataTransfer();
              data.items.add(new File([blob], 'pasted.png', {type: 'image/png'}));
              document.activeElement.dispatchEvent(
                new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}));
            }"""
        )
        await expect(page.get_by_label("New comment", exact=True)).to_have_value(
            re.compile(r"^!\[pasted\.png\]\(/api/v1/assets/asset_\w+/content\)$")
        )
        await page.get_by_role("button", name="Add comment").click()
        await expect(page.get_by_role("article").get_by_role("img", name="pasted.png")).to_be_visible()
        await files.get_by_role("button", name="Open pasted.png").click()
        await expect(page.get_by_role("dialog").get_by_role("group", name="pasted.png")).to_be_visible()
        await assert_accessible(page)
        await page.get_by_role("button", name="Close").click()
        await files.get_by_role("button", name="Delete pasted.png").click()
        dialog = page.get_by_role("dialog", name="Delete “pasted.png”?")
        await assert_accessible(page)
        await dialog.get_by_role("button", name="Cancel").click()
        await expect(files.get_by_role("link")).to_have_count(2)
        await files.get_by_role("button", name="Delete pasted.png").click()
        await dialog.get_by_role("button", name="Delete file").click()
        await expect(files.get_by_role("link")).to_have_count(1)
        await page.get_by_role("button", name="More", exact=True).click()
        await page.get_by_role("menuitem", name="Archive ticket").click()
        await page.get_by_role("button", name="More", exact=True).click()
        await page.get_by_role("menuitem", name="Delete ticket").click()
        dialog = page.get_by_role("dialog", name=f"Delete {ticket['key']}?")
        await expect(dialog).to_contain_text("with its description, 1 comment, 1 attached file and its history")
        await dialog.get_by_role("button", name="Delete ticket").click()
        await expect(page.get_by_text(f"{ticket['key']} deleted.")).to_be_visible()
        await expect(page).to_have_url(re.compile(rf"/projects/{world.project}$"))
        expect_error(world.api.get(f"/tickets/{ticket['id']}", params={"status": "all"}), 404, "not_found")
        assert await page.evaluate("window.hit") is None

    use(chromium, world.owner, page_of(ticket), attach)


@pytest.mark.long
def test_refused_file_shows_the_error(chromium: Chromium, world: World) -> None:
    ticket = world.ticket()

    async def attach(page: Page) -> None:
        await expect(page.get_by_role("button", name="Attach file")).to_be_visible()
        await page.evaluate(
            """() => {
              const data = new DataTransfer();
              data.items.add(new File([new Uint8Array(33 * 1024 * 1024)], 'film.bin'));
              const page = document.querySelector('.page');
              page.dispatchEvent(new DragEvent('dragover', {dataTransfer: data, bubbles: true}));
              page.dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true}));
            }"""
        )
        await expect(page.get_by_role("alert")).to_have_text("“film.bin” is larger than 32 MB.")
        await page.get_by_role("button", name="Dismiss").click()
        await expect(page.get_by_role("alert")).to_have_count(0)

    use(chromium, world.owner, page_of(ticket), attach)


def test_script_in_ticket_text_is_inert(chromium: Chromium, world: World) -> None:
    ticket = world.ticket(SCRIPT, description=HOSTILE, labels=["<b>bold</b>"])
    ok(world.api.post(f"/tickets/{ticket['id']}/comments", json={"body": HOSTILE}))

    async def look(page: Page) -> None:
        await expect(page.get_by_role("heading", level=1)).to_have_text(SCRIPT)
        await expect(page.get_by_role("link", name="spy")).to_have_count(2)
        await expect(page.locator(".markdown img, .markdown script")).to_have_count(0)
        addresses = await page.locator("main a").evaluate_all("all => all.map((a) => a.getAttribute('href'))")
        assert not [each for each in addresses if re.match(r"(?i)\s*(javascript|data|vbscript):", each)]
        for link in await page.locator(".markdown a").all():
            await expect(link).to_have_attribute("rel", "noopener nofollow")
        assert await page.evaluate("window.hit") is None
        await assert_accessible(page)

    use(chromium, world.owner, page_of(ticket), look)


@pytest.mark.long
def test_viewer_cannot_edit(chromium: Chromium, world: World) -> None:
    vera = world.join("Vera", role="viewer")
    ticket = world.ticket("A ticket", description="- [ ] open", labels=["ui"])

    async def look(page: Page) -> None:
        await expect(page.get_by_role("heading", level=1)).to_have_text("A ticket")
        await expect(page.get_by_role("checkbox")).to_be_disabled()
        await page.get_by_role("heading", level=1).click()
        for name in ("Edit", "Start work", "Attach file", "Remove label", "Add comment", "Mark as done", "Status"):
            await expect(page.locator("main").get_by_role("button", name=name)).to_have_count(0)
        await page.get_by_role("button", name="Follow").click()
        await expect(page.get_by_role("button", name="Unfollow")).to_be_visible()
        await expect(page.get_by_title("Followed by Ann and Vera")).to_be_visible()
        await page.get_by_role("button", name="More", exact=True).click()
        await expect(page.get_by_role("menuitem")).to_have_text(["Copy as Markdown", "Mute ticket"])
        await page.keyboard.press("Escape")
        await page.keyboard.press("e")
        await page.keyboard.press("a")
        await expect(page.locator("textarea, [role=dialog]")).to_have_count(0)
        await assert_accessible(page)

    use(chromium, vera, page_of(ticket), look)


def test_ticket_without_access_is_not_found(chromium: Chromium, world: World, other: World) -> None:
    ticket = other.ticket("Secret")

    async def look(page: Page) -> None:
        await expect(page.get_by_role("alert")).to_contain_text("Ticket not found")
        assert "Secret" not in await page.inner_text("body")
        await assert_accessible(page)

    use(chromium, world.owner, page_of(ticket), look)


@pytest.mark.long
def test_text_is_shown_before_the_capture_loads(chromium: Chromium, world: World) -> None:
    ticket = capture_on(world)
    may_load = asyncio.Event()

    async def hold(route: Route) -> None:
        await may_load.wait()
        await route.continue_()

    async def look(page: Page) -> None:
        await page.route("**/assets/CaptureViewer*.js", hold)
        await page.reload()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Cart")
        await expect(page.get_by_label("New comment", exact=True)).to_be_visible()
        await expect(page.get_by_role("tab", name="Console")).to_have_count(0)
        activity = page.get_by_role("heading", name="Activity")
        before = await find_still_box(activity)
        may_load.set()
        await expect(page.get_by_role("tab", name="Console")).to_be_visible()
        after = await find_still_box(activity)
        assert abs(before["y"] - after["y"]) <= 2, "the page jumped"

    use(chromium, world.owner, page_of(ticket), look, service_workers="block")


@pytest.mark.long
def test_links_are_added_and_removed_and_a_ticket_is_sent_to_an_agent(chromium: Chromium, world: World) -> None:
    ticket, other = world.ticket("The cart stays empty"), world.ticket("The price service is down")

    async def act(page: Page) -> None:
        await page.get_by_role("button", name="Add link").click()
        dialog = page.get_by_role("dialog", name="Add link")
        await dialog.get_by_label("Kind").select_option(label="Blocked by")
        await dialog.get_by_label("Ticket").fill(other["key"])
        await assert_accessible(page)
        await dialog.get_by_role("button", name="Add link").click()
        await expect(page.get_by_role("link", name=other["title"])).to_have_attribute("href", page_of(other))
        await expect(dialog).to_be_hidden()
        await page.get_by_role("button", name="More").click()
        await page.get_by_role("menuitem", name="Send to agent").click()
        await expect(page.get_by_role("button", name="Remove label agent")).to_be_visible()
        await expect_stored(lambda: [each["kind"] for each in now(world, ticket)["links"]], ["blocked_by"])  # type: ignore[attr-defined]
        await page.get_by_role("button", name=f"Remove link to {other['key']}").click()
        await expect(page.get_by_role("link", name=other["title"])).to_be_hidden()

    use(chromium, world.owner, page_of(ticket), act)
    assert now(world, ticket)["links"] == []
