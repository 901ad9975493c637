"""A company's webhooks: created, redelivered, disabled and deleted in the app."""

import asyncio
import contextlib
import secrets
import sqlite3
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from tests.e2e.support.browser import Chromium
from tests.e2e.support.webapp import disable_form_validation, faults, field_error, open_as
from tests.support.server import World, eventually, ok, run_server


class Receiver(ThreadingHTTPServer):
    """A receiver of webhooks, and the IDs that it received."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["content-length"]))
                outer.ids.append(self.headers["webhook-id"])
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object, **__: object) -> None:
                """Say nothing."""

        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/webhook"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver on this machine."""
    with Receiver() as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.shutdown()


@pytest.mark.long
def test_webhook_is_created_redelivered_and_disabled(chromium: Chromium, receiver: Receiver, tmp_path: Path) -> None:
    with run_server(tmp_path, "--allow-private-addresses") as box:
        world = World(box)

        async def make(page: Page) -> None:
            watch = await open_as(page, world.owner, f"/companies/{world.company}/webhooks")
            await page.get_by_role("button", name="Create webhook").click()
            await expect(page.get_by_label("Name", exact=True)).to_be_focused()
            await page.keyboard.type("Build server")
            await page.get_by_label("URL").fill(receiver.url)
            await page.get_by_role("radio", name="Selected events").check()
            await page.get_by_role("checkbox", name="ticket.created").check()
            await page.get_by_role("dialog").get_by_role("button", name="Create webhook").click()
            secret = await page.get_by_label("Secret", exact=True).input_value()
            assert secret.startswith("whsec_")
            await page.get_by_role("button", name="Done").click()
            await page.get_by_role("listitem").filter(has_text="Build server").wait_for()
            await expect(page.get_by_role("dialog")).to_have_count(0)
            assert secret not in await page.content()
            watch.assert_clean(box)

        async def replay(page: Page) -> None:
            watch = await open_as(page, world.owner, f"/companies/{world.company}/webhooks")
            await page.get_by_role("button", name="Deliveries to Build server").click()
            row = page.get_by_role("dialog").get_by_role("listitem")
            await row.filter(has_text="status 204").wait_for()
            assert await faults(page) == {}
            await row.get_by_role("button", name="Redeliver ticket.created").click()
            await page.get_by_role("region", name="Messages").get_by_text("Delivery scheduled").wait_for()
            await asyncio.to_thread(world.ticket)  # a replay alone waits for the next look, up to 20 s
            await asyncio.to_thread(eventually, lambda: len(receiver.ids) == 3)
            await page.get_by_role("dialog").get_by_role("button", name="Close").click()
            await page.get_by_role("button", name="Actions for Build server").click()
            await page.get_by_role("menuitem", name="Disable webhook").click()
            await page.get_by_role("list", name="Webhooks").get_by_text("Disabled").wait_for()
            await page.get_by_role("button", name="Actions for Build server").click()
            await page.get_by_role("menuitem", name="Delete webhook").click()
            await page.get_by_role("dialog").get_by_role("button", name="Delete webhook").click()
            await page.get_by_role("heading", name="No webhooks").wait_for()
            watch.assert_clean(box)

        chromium.visit(make)
        world.ticket()
        eventually(lambda: receiver.ids)
        eventually(
            lambda: all(
                each["state"] == "delivered"
                for webhook in ok(world.owner.web.get(f"/companies/{world.company}/webhooks"))["items"]
                for each in ok(world.owner.web.get(f"/webhooks/{webhook['id']}/deliveries"))["items"]
            )
        )
        chromium.visit(replay)
        assert receiver.ids.count(receiver.ids[0]) == 2


@pytest.mark.long
def test_private_address_shows_a_field_error(chromium: Chromium, world: World) -> None:
    async def visit(page: Page) -> None:
        watch = await open_as(page, world.owner, f"/companies/{world.company}/webhooks")
        await page.get_by_role("button", name="Create webhook").click()
        await disable_form_validation(page)
        await page.get_by_label("Name", exact=True).fill("Inner")
        await page.get_by_label("URL").fill("https://169.254.169.254/latest")
        await page.get_by_role("dialog").get_by_role("button", name="Create webhook").click()
        assert "isn't a public internet address" in await field_error(page, "URL")
        await expect(page.get_by_label("Name", exact=True)).to_have_value("Inner")
        assert await faults(page) == {}
        watch.assert_clean(world.box)

    chromium.visit(visit)


def plant_log(world: World, webhook: str) -> None:
    """Sixty deliveries, the newest of them after three attempts, without a receiver and its waits."""
    with contextlib.closing(sqlite3.connect(world.box.db)) as connection, connection:
        for number in range(60):
            connection.execute(
                "INSERT INTO delivery (public_id, webhook_id, event_id, lane, state, attempts, last_at, status, ms, "
                "created_at) SELECT ?, w.id, e.id, 0, 'delivered', 1, e.at, 204, 7, e.at "
                "FROM webhook w, (SELECT * FROM event ORDER BY id LIMIT 1) e WHERE w.public_id = ?",
                (f"dlv_{secrets.token_hex(5)}{number:02}", webhook),
            )
        (key,) = connection.execute("SELECT max(id) FROM delivery").fetchone()
        connection.execute("UPDATE delivery SET attempts = 3 WHERE id = ?", (key,))
        for number, (status, error) in enumerate([(None, "it can't be connected to"), (500, "no"), (204, None)]):
            connection.execute(
                "INSERT INTO attempt (delivery_id, at, status, error, ms) VALUES (?, ?, ?, ?, 7)",
                (key, 1_795_253_400_000 + number * 10_000, status, error),
            )


@pytest.mark.long
def test_secret_is_rotated_and_deliveries_load_to_the_end(chromium: Chromium, world: World) -> None:
    given = {"name": "Hook", "url": "https://hooks.example.invalid/", "types": ["member.invited"]}
    webhook = ok(world.owner.web.post(f"/companies/{world.company}/webhooks", json=given))
    plant_log(world, webhook["webhook"]["id"])

    async def visit(page: Page) -> None:
        watch = await open_as(page, world.owner, f"/companies/{world.company}/webhooks")
        await page.get_by_role("button", name="Actions for Hook").click()
        await page.get_by_role("menuitem", name="Rotate secret").click()
        await page.get_by_role("button", name="Rotate secret", exact=True).click()
        secret = await page.get_by_label("Secret", exact=True).input_value()
        assert secret.startswith("whsec_")
        assert secret != webhook["secret"]
        await page.get_by_role("button", name="Done").click()
        await page.get_by_text("The old secret expires").wait_for()
        assert await faults(page) == {}
        await page.get_by_role("button", name="Deliveries to Hook").click()
        rows = page.get_by_role("list", name="Deliveries").locator(":scope > li")
        await rows.nth(49).wait_for()
        await expect(rows).to_have_count(50)
        await rows.first.get_by_text("3 attempts").click()
        await rows.first.get_by_text("it can't be connected to").wait_for()
        await expect(rows.first.get_by_role("listitem")).to_have_count(3)
        assert await faults(page) == {}
        await page.get_by_role("button", name="Load more").click()
        await rows.nth(59).wait_for()
        await expect(page.get_by_role("button", name="Load more")).to_have_count(0)
        watch.assert_clean(world.box)

    chromium.visit(visit)
