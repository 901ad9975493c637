"""HAR downloads: built in turns, outside the database's readers."""

import asyncio
import threading
from pathlib import Path

import pytest

from tests.operations.core.test_workers import open_services
from ticketbox.domain.captures.capture import Page
from ticketbox.domain.core.access.policy import ANONYMOUS
from ticketbox.operations.captures import har_downloads
from ticketbox.operations.captures.har_downloads import GetHar, StoredRequests, build_har, render_har
from ticketbox.operations.core.content import Content
from ticketbox.store.file.migrate import prepare_file
from ticketbox.store.file.readers import READERS


@pytest.mark.long
def test_long_file_is_built_in_a_worker_process(tmp_path: Path) -> None:
    db = tmp_path / "ticketbox.db"
    prepare_file(db, lambda *_: None)
    request = b'{"id":"%d","ts":1,"method":"GET","url":"https://h/","status":500,"type":"xhr","duration_ms":3}'
    entries = b"[%s]" % b",".join(request % number for number in range(500))
    stored = StoredRequests(Page("https://h/"), "t-1", 0, "identity", entries)

    async def run() -> None:
        services = await open_services(db)
        content = await render_har(services, ANONYMOUS, GetHar("cap_000000000000"), stored)
        assert content == build_har(stored)
        assert services.rendering.process.calls == 1
        services.close()
        await services.database.close()

    asyncio.run(run())


def test_har_downloads_occupy_no_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = tmp_path / "ticketbox.db"
    prepare_file(db, lambda *_: None)
    released = threading.Event()

    def build(_: StoredRequests) -> Content:
        released.wait(30)
        return Content("application/json", b"{}", "t.har")

    monkeypatch.setattr(har_downloads, "build_har", build)

    async def run() -> None:
        services = await open_services(db)
        stored = StoredRequests(Page("https://h/"), "t-1", 0, "identity", b"[]")
        args = GetHar("cap_000000000000")
        downloads = [asyncio.create_task(render_har(services, ANONYMOUS, args, stored)) for _ in range(READERS + 1)]
        await asyncio.sleep(0)
        assert services.rendering.queue.waiting == READERS
        assert await services.database.read(lambda tx: tx.fetch_value("SELECT 1"), fair_share=(1, 1)) == 1
        assert not any(task.done() for task in downloads)
        released.set()
        await asyncio.gather(*downloads)
        services.close()
        await services.database.close()

    asyncio.run(run())
