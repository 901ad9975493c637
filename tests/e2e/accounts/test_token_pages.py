"""Settings > Agents and tokens: made, shown once, pasted into clients that then work, revoked."""

import asyncio
import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.async_api import Page, ViewportSize, expect

from tests.e2e.support.app import SIZES, expect_clipboard
from tests.e2e.support.browser import Chromium
from tests.e2e.support.webapp import PLANTED, disable_form_validation, expect_message, field_error, open_as
from tests.support.mcp_client import talk_over_stdio
from tests.support.oauth_app import App
from tests.support.operation_cases import update_row
from tests.support.server import PASSWORD, World, expect_error, ok
from ticketbox.domain.core.access.scopes import Scope

TOKENS = "/settings/tokens"
WHOAMI = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "whoami", "arguments": {}}}


async def make(page: Page, label: str = "my agent") -> str:
    """Fill what the form needs, send it, and return the secret."""
    await page.get_by_label("Label", exact=True).fill(label)
    await page.get_by_role("button", name="Create token").click()
    return await read_secret(page, label)


async def read_secret(page: Page, label: str = "my agent") -> str:
    """The secret that is shown once."""
    await page.get_by_role("heading", name=f"{label} is ready").wait_for()
    return await page.get_by_role("textbox", name="Token", exact=True).input_value()


def ask_mcp(url: str, headers: dict[str, str]) -> Any:
    """Call a tool as a client with this configuration does."""
    sent = {**headers, "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2025-11-25"}
    return ok(httpx.post(url, json=WHOAMI, headers=sent, timeout=30))["result"]["structuredContent"]


@SIZES
def test_created_token_works_within_its_scope(chromium: Chromium, world: World, size: ViewportSize) -> None:
    second = world.new_project("Second project")
    update_row(world.box.db, "UPDATE credential SET confirmed_at = 0 WHERE confirmed_at > 0 AND user_id = "
               "(SELECT id FROM user WHERE public_id = ?)", world.owner.id)  # fmt: skip

    async def confirm(page: Page) -> None:
        """Cancel, then enter a wrong password and the right one, in the dialog that asks for it."""
        await page.get_by_label("Label", exact=True).fill("my agent")
        await page.get_by_role("button", name="Create token").click()
        dialog = page.get_by_role("dialog", name="Confirm password")
        await dialog.get_by_role("button", name="Cancel").click()
        await page.get_by_text("Enter your password to continue").wait_for()
        await page.get_by_role("button", name="Create token").click()
        for password in ("wrong password", PASSWORD):
            await dialog.get_by_label("Password").fill(password)
            await dialog.get_by_role("button", name="Confirm password").click()
            if password != PASSWORD:
                await dialog.get_by_text("The current password is wrong").wait_for()

    async def visit(page: Page) -> str:
        watch = await open_as(page, world.owner, TOKENS)
        await page.get_by_role("link", name="Create token").click()
        await page.get_by_text("Advanced").click()
        await page.get_by_label("Write tickets").uncheck()
        await page.get_by_label("Comment", exact=True).check()
        await expect(page.get_by_label("Read", exact=True)).to_be_disabled()
        await expect(page.get_by_role("radio", checked=True)).to_have_count(1)  # the expiry: no preset is these scopes
        await page.get_by_label("Access").select_option(label="Only Ann's company")
        await page.get_by_label("Second project").check()
        await page.get_by_label("In 30 days").check()
        await confirm(page)
        secret = await read_secret(page)
        await page.get_by_role("button", name="Done").click()
        row = page.get_by_role("row").filter(has_text="my agent")
        await expect(page.get_by_role("heading", name="my agent is ready")).to_have_count(0)
        for text in (secret[:10], "Ann's company: Second project", "Never"):
            await expect(row).to_contain_text(text, use_inner_text=True)
        assert secret not in await page.content()
        watch.assert_clean(world.box)
        return secret

    secret = chromium.visit(visit, viewport=size)
    token = ok(world.box.client(secret).get("/me"))["token"]
    assert (token["label"], token["scopes"]) == ("my agent", ["comments", "read"])
    assert (token["company_id"], token["project_ids"]) == (world.company, [second])
    assert ask_mcp(f"{world.box.url}/mcp", {"Authorization": f"Bearer {secret}"})["token"]["id"] == token["id"]
    ticket = world.ticket()
    expect_error(world.box.client(secret).get(f"/tickets/{ticket['id']}"), 404, "not_found")


@pytest.mark.long
@SIZES
def test_agents_are_connected_without_a_token(chromium: Chromium, world: World, size: ViewportSize) -> None:
    App(world.box, name="Claude Code (ticketbox)").connect(world.owner, "read")
    codex = ok(world.owner.client("read", label="Codex").get("/me"))["token"]["id"]
    update_row(world.box.db, "UPDATE credential SET last_used_at = created_at WHERE public_id = ?", codex)
    world.owner.token("read", label="Cursor")
    mcp = f"{world.box.url}/mcp"

    async def visit(page: Page) -> None:
        await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        watch = await open_as(page, world.owner, TOKENS)
        group = page.get_by_role("group", name="Client")
        await expect(group.get_by_text("Not used yet")).to_have_count(2)
        await expect(group.get_by_text("Not connected")).to_have_count(3)
        await expect(group.get_by_text(re.compile("^Used "))).to_have_count(1)
        texts: dict[str, str] = {}
        for name in ("Codex", "Cursor", "VS Code", "Gemini CLI", "opencode", "Claude Code"):
            await group.get_by_role("radio", name=name).check()
            steps = page.get_by_role("list", name=f"Steps for {name}")
            await steps.get_by_role("button", name="Copy").click()
            texts[name] = await steps.locator("pre").inner_text()
            await expect_clipboard(page, texts[name])
            install = steps.get_by_role("link", name=f"Install in {name}")
            await expect(install).to_have_count(1 if name in {"Cursor", "VS Code"} else 0)
        assert shlex.split(texts["Claude Code"])[-4:] == ["--transport", "http", "ticketbox", mcp]
        assert shlex.split(texts["Codex"])[-3:] == ["ticketbox", "--url", mcp]
        assert shlex.split(texts["Gemini CLI"])[-2:] == ["ticketbox", mcp]
        assert json.loads(texts["Cursor"])["mcpServers"]["ticketbox"] == {"url": mcp}
        assert json.loads(texts["VS Code"])["servers"]["ticketbox"] == {"type": "http", "url": mcp}
        assert json.loads(texts["opencode"])["mcp"]["ticketbox"] == {"type": "remote", "url": mcp, "enabled": True}
        async with page.expect_download() as download:
            await page.get_by_role("link", name="Download plugin").click()
        assert (await download.value).suggested_filename == "ticketbox-plugin.zip"
        watch.assert_clean(world.box)

    chromium.visit(visit, viewport=size)


@pytest.mark.long
def test_each_client_configuration_connects(chromium: Chromium, world: World, tmp_path: Path) -> None:
    texts: dict[str, str] = {}

    async def visit(page: Page) -> str:
        await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        watch = await open_as(page, world.owner, f"{TOKENS}?new")
        secret = await make(page)
        await page.get_by_role("button", name="Copy token").click()
        await expect_clipboard(page, secret)
        for name in ("Claude Code", "Cursor", "VS Code", "Other (HTTP)", "Other (stdio)", "curl"):
            await page.get_by_role("tab", name=name).click()
            await expect(page.get_by_role("tab", name=name)).to_have_attribute("aria-selected", "true")
            await page.get_by_role("button", name="Copy configuration").click()
            texts[name] = await page.locator("pre").inner_text()
            await expect_clipboard(page, texts[name])
        watch.assert_clean(world.box)
        return secret

    secret = chromium.visit(visit)
    *_, name, url, flag, header = shlex.split(texts["Claude Code"])
    assert (name, flag) == ("ticketbox", "--header")
    assert ask_mcp(url, dict([header.split(": ", 1)]))["user"]["id"] == world.owner.id
    for client in ("Cursor", "Other (HTTP)"):
        server = json.loads(texts[client])["mcpServers"]["ticketbox"]
        assert ask_mcp(server["url"], server["headers"])["user"]["id"] == world.owner.id
    code = json.loads(texts["VS Code"])
    assert secret not in texts["VS Code"]
    asked = "${input:" + code["inputs"][0]["id"] + "}"
    headers = {key: value.replace(asked, secret) for key, value in code["servers"]["ticketbox"]["headers"].items()}
    assert ask_mcp(code["servers"]["ticketbox"]["url"], headers)["user"]["id"] == world.owner.id

    local = json.loads(texts["Other (stdio)"])["mcpServers"]["ticketbox"]
    assert [local["command"], *local["args"]] == ["ticketbox", "mcp"]
    listed = talk_over_stdio("legacy", local["env"], tmp_path / "log", lambda client: client.list_tools())
    assert "move_ticket" in {tool.name for tool in listed.tools}
    if shutil.which("curl"):
        said = subprocess.run(shlex.split(texts["curl"]), capture_output=True, text=True, timeout=30, check=True)
        assert json.loads(said.stdout)["user"]["id"] == world.owner.id


def test_each_scope_shows_what_it_grants_and_excludes(chromium: Chromium, world: World) -> None:
    async def visit(page: Page) -> str:
        await open_as(page, world.owner, f"{TOKENS}?new")
        await page.get_by_text("Advanced").click()
        await page.get_by_label("Write tickets").uncheck()
        return await page.inner_text("main")

    text = chromium.visit(visit)
    for scope in Scope:
        grants, denies = scope.description
        assert grants in text
        assert f"Excludes: {denies}" in text


def test_revoking_a_token_asks_for_confirmation_and_takes_effect(chromium: Chromium, world: World) -> None:
    secret = world.owner.token("read", label="old one")
    client = world.box.client(secret)
    ok(client.get("/me"))

    async def visit(page: Page) -> None:
        watch = await open_as(page, world.owner, TOKENS)
        await page.get_by_role("button", name="Revoke token old one").click()
        await page.get_by_role("dialog").get_by_role("button", name="Keep token").click()
        assert (await asyncio.to_thread(client.get, "/me")).status_code == 200
        await page.get_by_role("button", name="Revoke token old one").click()
        await page.get_by_role("dialog").get_by_role("button", name="Revoke token").click()
        await expect_message(page, "Revoked old one")
        await expect(page.get_by_role("row").filter(has_text="old one")).to_have_count(0)
        watch.assert_clean(world.box)

    chromium.visit(visit)
    expect_error(client.get("/me"), 401, "unauthorized")


@pytest.mark.long
def test_refused_form_shows_field_errors_and_keeps_the_input(chromium: Chromium, world: World) -> None:
    async def visit(page: Page) -> None:
        watch = await open_as(page, world.owner, f"{TOKENS}?new")
        await page.get_by_label("Label", exact=True).fill("   ")
        await page.get_by_label("In a year").check()
        await page.get_by_role("button", name="Create token").click()
        assert await field_error(page, "Label") == "Use 1 to 100 characters on one line."
        await expect(page.get_by_label("In a year")).to_be_checked()
        await page.get_by_label("Label", exact=True).fill("agent")
        await page.get_by_text("Advanced").click()
        await page.get_by_label("Write tickets").uncheck()
        await page.get_by_role("button", name="Create token").click()
        await page.get_by_text("Select at least one scope.").wait_for()
        await expect(page.get_by_label("Label", exact=True)).to_have_value("agent")
        await page.get_by_label("Read", exact=True).check()
        await disable_form_validation(page)
        await make(page, "agent")
        watch.assert_clean(world.box)

    chromium.visit(visit)


@pytest.mark.long
def test_slow_response_creates_one_token(chromium: Chromium, world: World) -> None:
    async def visit(page: Page) -> None:
        may_answer = asyncio.Event()

        async def slowly(route: Any) -> None:
            await may_answer.wait()
            await route.continue_()

        await open_as(page, world.owner, f"{TOKENS}?new")
        await page.route("**/api/v1/tokens", slowly)
        await page.get_by_label("Label", exact=True).fill("once")
        button = page.get_by_role("button", name="Create token")
        await button.dblclick()
        await page.get_by_label("Label", exact=True).press("Enter")
        await expect(button).to_be_disabled()
        may_answer.set()
        await page.get_by_role("heading", name="once is ready").wait_for()

    chromium.visit(visit)
    labels = [token["label"] for token in ok(world.owner.web.get("/tokens"))["items"]]
    assert labels.count("once") == 1


@pytest.mark.long
def test_form_stays_when_the_server_is_unreachable(chromium: Chromium, world: World) -> None:
    async def visit(page: Page) -> None:
        await open_as(page, world.owner, f"{TOKENS}?new")
        await page.route("**/api/v1/tokens", lambda route: route.abort())
        await page.get_by_label("Label", exact=True).fill("kept")
        await page.get_by_role("button", name="Create token").click()
        await expect(page.get_by_role("alert")).to_contain_text("can’t be reached", use_inner_text=True)
        await page.unroute("**/api/v1/tokens")
        await page.get_by_role("button", name="Create token").click()
        await page.get_by_role("heading", name="kept is ready").wait_for()

    chromium.visit(visit)


@pytest.mark.long
def test_viewer_sees_why_the_form_is_missing(chromium: Chromium, world: World) -> None:
    viewer = world.join("Cleo", "viewer")

    async def visit(page: Page) -> None:
        watch = await open_as(page, viewer, f"{TOKENS}?new")
        await page.get_by_text("You need the member role").wait_for()
        await expect(page.get_by_role("button", name="Create token")).to_have_count(0)
        watch.assert_clean(world.box)

    chromium.visit(visit)


@pytest.mark.long
def test_script_in_a_label_stays_text(chromium: Chromium, world: World) -> None:
    label = PLANTED[:100]
    world.owner.token("read", label=label)

    async def visit(page: Page) -> None:
        watch = await open_as(page, world.owner, TOKENS)
        await page.get_by_role("row").filter(has_text=label).wait_for()
        await page.get_by_role("button", name=f"Revoke token {label}").click()
        await page.get_by_role("dialog").get_by_text(label).wait_for()
        await expect(page.locator("main img[src=x], [role=dialog] img")).to_have_count(0)
        assert "broken in" not in await page.title()
        watch.assert_clean(world.box)

    chromium.visit(visit)
