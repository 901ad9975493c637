"""kill -9 while clients write: what was acknowledged is there, and nothing is half."""

import contextlib
import itertools
import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import httpx
import psutil
import pytest

from tests.support.long_runs import Record, choose_rounds
from tests.support.seed import Seed, capture_parts, faults, public_ids
from tests.support.server import Box, eventually, ok

WRITERS = 4
READY_SECONDS = 2.0
ROUNDS = choose_rounds(15, 100)


class Ledger:
    """What the server acknowledged, and how often it was killed while something was under way."""

    def __init__(self) -> None:
        self.acknowledged: dict[str, set[str]] = {"ticket": set(), "comment": set(), "capture": set()}
        self.numbers = itertools.count(1)
        self.cut_off = 0
        self._lock = threading.Lock()

    def note(self, table: str, *ids: str) -> None:
        """Write down what a success said."""
        with self._lock:
            self.acknowledged[table].update(ids)

    def count_unanswered(self) -> None:
        """Count a request that got no answer."""
        with self._lock:
            self.cut_off += 1

    def find_lost(self, db: Path) -> dict[str, set[str]]:
        """What was acknowledged and isn't in the file."""
        gaps = {table: ids - public_ids(db, table) for table, ids in self.acknowledged.items()}
        return {table: ids for table, ids in gaps.items() if ids}


def write_until_killed(box: Box, seed: Seed, ledger: Ledger, client: httpx.Client) -> None:
    """Make tickets, comments and captures until the connection breaks."""
    with contextlib.suppress(httpx.TransportError):
        try:
            while True:
                number = next(ledger.numbers)
                given = {"project_id": seed.project, "title": f"Ticket {number}", "labels": ["crash", f"n{number}"]}
                ticket = ok(client.post("/tickets", json=given))["id"]
                ledger.note("ticket", ticket)
                said = ok(client.post(f"/tickets/{ticket}/comments", json={"body": f"Comment {number}"}))
                ledger.note("comment", said["id"])
                if number % 4 == 0:
                    capture = ok(client.post("/captures", files=capture_parts(seed.project, number)))
                    ledger.note("capture", capture["capture_id"])
                    ledger.note("ticket", capture["ticket_id"])
        except httpx.TransportError:
            ledger.count_unanswered()
            raise


@contextlib.contextmanager
def writing(box: Box, seed: Seed, ledger: Ledger) -> Iterator[None]:
    """Writers at work; they end when the server dies."""
    clients = [box.client(seed.token) for _ in range(WRITERS)]
    threads = [threading.Thread(target=write_until_killed, args=(box, seed, ledger, client)) for client in clients]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for thread in threads:
            thread.join(20)
        assert not any(thread.is_alive() for thread in threads)
        box.close_clients()


def rounds(seed: Seed, folder: Path, count: int) -> tuple[Ledger, list[tuple[float, float]]]:
    """Kill and restart a server `count` times; the seconds until each was ready again, by the clock and its own."""
    ledger, ready = Ledger(), []
    chance = random.Random(count)
    box = seed.box(folder)
    try:
        for _ in range(count):
            enough = len(ledger.acknowledged["capture"]) + WRITERS
            with writing(box, seed, ledger):
                eventually(lambda least=enough: len(ledger.acknowledged["capture"]) >= least)
                time.sleep(chance.uniform(0, 0.2))  # killed at any moment
                assert box.stop(signal.SIGKILL) == -signal.SIGKILL
            started = time.monotonic()
            box.start()
            ok(box.client(seed.token).get("/me"))
            ready.append((time.monotonic() - started, box.processor_s))
            assert ledger.find_lost(box.db) == {}
            assert faults(box.db) == {}
    finally:
        box.close_clients()
        box.stop()
    return ledger, ready


def test_acknowledged_writes_survive_a_kill_and_nothing_is_partial(
    seed: Seed, tmp_path: Path, record_property: Record
) -> None:
    ledger, ready = rounds(seed, tmp_path, 3)
    report(record_property, ledger, ready)
    assert ledger.cut_off == 3 * WRITERS
    assert min(own for _, own in ready) < READY_SECONDS  # its own time: other tests have the machine as well


@pytest.mark.long
def test_many_kills_lose_nothing(seed: Seed, tmp_path: Path, record_property: Record) -> None:
    ledger, ready = rounds(seed, tmp_path, ROUNDS)
    report(record_property, ledger, ready)
    assert ledger.cut_off == ROUNDS * WRITERS
    waited, own = (median(times) for times in zip(*ready, strict=True))
    assert own < READY_SECONDS
    if max(psutil.getloadavg()) < (os.cpu_count() or 1):
        assert waited < READY_SECONDS


def report(record_property: Record, ledger: Ledger, ready: list[tuple[float, float]]) -> None:
    """Leave the figures in the report (`--junit-xml`) and, with -s, on the screen."""
    figures: dict[str, object] = {f"acknowledged {table}s": len(ids) for table, ids in ledger.acknowledged.items()}
    waited, own = zip(*ready, strict=True)
    figures |= {"rounds": len(ready), "cut off": ledger.cut_off}
    figures |= {"ready ms": [round(1000 * seconds) for seconds in (median(waited), max(waited))]}
    figures |= {"of these its own ms": [round(1000 * seconds) for seconds in (median(own), max(own))]}
    for name, figure in figures.items():
        record_property(name, figure)
    print(figures)
