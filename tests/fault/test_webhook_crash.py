"""Webhooks and kill -9: every acknowledged event is delivered, in order for each ticket."""

import contextlib
import random
import signal
import threading
import time
from pathlib import Path

import httpx
import pytest

from tests.support.long_runs import choose_rounds
from tests.support.seed import EMAIL, PatchedServer, Seed
from tests.support.server import PASSWORD, eventually, ok
from tests.support.webhook_receiver import run_receiver

QUICK = """
from ticketbox.domain.events import retry_schedule as retries
retries.FIRST_MS = 100
from ticketbox.cli import main
main()
"""

ROUNDS = choose_rounds(10, 30)


@pytest.mark.long
def test_deliveries_are_never_lost_and_stay_in_order(seed: Seed, tmp_path: Path) -> None:
    chance = random.Random(1)
    acknowledged: dict[str, int] = {}
    with run_receiver() as receiver, PatchedServer(QUICK, seed.copy(tmp_path), "--allow-private-addresses") as box:
        receiver.answer = lambda _: 500 if chance.random() < 0.2 else 200
        web = box.client()
        ok(web.post("/session", json={"email": EMAIL, "password": PASSWORD}))
        given = {"name": "Hook", "url": receiver.url, "types": ["ticket.created", "comment.created"]}
        ok(web.post(f"/companies/{seed.company}/webhooks", json=given))

        def write(client: httpx.Client) -> None:
            with contextlib.suppress(httpx.TransportError):
                while True:
                    ticket = ok(client.post("/tickets", json={"project_id": seed.project, "title": "T"}))["id"]
                    acknowledged[ticket] = 0
                    for number in range(3):
                        ok(client.post(f"/tickets/{ticket}/comments", json={"body": str(number)}))
                        acknowledged[ticket] = number + 1

        for _ in range(ROUNDS):
            threads = [threading.Thread(target=write, args=(box.client(seed.token),)) for _ in range(2)]
            for thread in threads:
                thread.start()
            enough = len(acknowledged) + chance.randint(1, 6)
            eventually(lambda enough=enough: len(acknowledged) >= enough)
            time.sleep(chance.uniform(0, 0.1))  # killed at any moment
            box.stop(signal.SIGKILL)
            for thread in threads:
                thread.join(10)
            box.close_clients()
            box.start()
        web = box.client()
        ok(web.post("/session", json={"email": EMAIL, "password": PASSWORD}))

        def pending() -> int:
            (shown,) = ok(web.get(f"/companies/{seed.company}/webhooks"))["items"]
            return shown["pending"]

        eventually(lambda: pending() == 0, 60 + ROUNDS)
        result: dict[str, list[str]] = {}
        for got in receiver.got:
            seen = result.setdefault(got.event["ticket_id"], [])
            if got.headers["webhook-id"] not in seen:
                seen.append(got.headers["webhook-id"])
        assert len(acknowledged) > ROUNDS
        for ticket, comments in acknowledged.items():
            assert len(result[ticket]) >= 1 + comments
            assert result[ticket] == sorted(result[ticket])
        assert "Traceback" not in box.log.read_text()
