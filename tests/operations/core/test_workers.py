"""Worker threads: each kind of work has its own, and callers take turns."""

import asyncio
import threading
from pathlib import Path

from ticketbox.domain.accounts import passwords
from ticketbox.domain.core.fairness.limits import RateLimiter
from ticketbox.operations.core.services import Services
from ticketbox.store.file.database import Database
from ticketbox.store.file.migrate import prepare_file


async def open_services(db: Path) -> Services:
    database = await Database.open(db)
    return Services(database, RateLimiter(lambda: 0.0), "http://localhost")


def test_sign_in_does_not_wait_for_captures(tmp_path: Path) -> None:
    db = tmp_path / "ticketbox.db"
    prepare_file(db, lambda *_: None)

    async def run() -> None:
        services = await open_services(db)
        released = threading.Event()
        begun = [asyncio.create_task(services.captures.run((1, 1), released.wait)) for _ in range(6)]
        begun += [asyncio.create_task(services.rendering.run((1, 1), released.wait)) for _ in range(6)]
        await asyncio.sleep(0)
        assert services.captures.queue.waiting == services.rendering.queue.waiting == 5
        assert not await services.passwords.run(("192.0.2.1",), passwords.verify_password, None, "a password")
        assert not any(task.done() for task in begun)
        released.set()
        await asyncio.gather(*begun)
        services.close()
        await services.database.close()

    asyncio.run(run())


def test_next_capture_is_of_the_company_that_waits_longest(tmp_path: Path) -> None:
    db = tmp_path / "ticketbox.db"
    prepare_file(db, lambda *_: None)

    async def run() -> list[str]:
        services = await open_services(db)
        order: list[str] = []
        released = threading.Event()

        def work(name: str) -> None:
            released.wait()
            order.append(name)

        shares = [("attacker", (1, 1))] * 6 + [("other", (2, 2))]
        tasks = [asyncio.create_task(services.captures.run(fair_share, work, name)) for name, fair_share in shares]
        await asyncio.sleep(0)
        released.set()
        await asyncio.gather(*tasks)
        services.close()
        await services.database.close()
        return order

    assert asyncio.run(run()).index("other") <= 2
