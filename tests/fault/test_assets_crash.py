"""kill -9 while clients upload and delete large files with an assets folder: nothing is lost, no file is missing."""

import contextlib
import itertools
import os
import random
import signal
import threading
import time
from pathlib import Path

import httpx
import pytest

from tests.support.long_runs import choose_rounds
from tests.support.seed import Seed, faults
from tests.support.server import Box, eventually, ok
from ticketbox.store.file.check import open_inspection

WRITERS = 3
SIZE = 80_000
ROUNDS = choose_rounds(3, 40)


class Uploads:
    """What the server acknowledged: contents by the id of their attachment, and what it was asked to delete."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}
        self.deleted: set[str] = set()
        self.unanswered: set[str] = set()
        self.count = itertools.count()

    def work_until_killed(self, client: httpx.Client, ticket: str) -> None:
        """Attach files and delete half of them until the connection breaks."""
        with contextlib.suppress(httpx.TransportError):
            while True:
                data = os.urandom(SIZE)
                sent = client.post(f"/tickets/{ticket}/attachments", files={"file": ("a.bin", data)})
                asset = ok(sent)["id"]
                self.kept[asset] = data
                if next(self.count) % 2:
                    self.unanswered.add(asset)
                    del self.kept[asset]
                    ok(client.delete(f"/assets/{asset}"))
                    self.unanswered.discard(asset)
                    self.deleted.add(asset)


def kill_while_writing(box: Box, seed: Seed, uploads: Uploads, chance: random.Random) -> None:
    """Let clients write until the server is killed at any moment."""
    with box.client(seed.token) as client:
        ticket = ok(client.post("/tickets", json={"project_id": seed.project, "title": "Files"}))["id"]
    clients = [seed.sign_in(box) for _ in range(WRITERS)]
    threads = [threading.Thread(target=uploads.work_until_killed, args=(each, ticket)) for each in clients]
    for thread in threads:
        thread.start()
    enough = next(uploads.count) + 3 * WRITERS
    eventually(lambda: len(uploads.kept) + len(uploads.deleted) >= enough // 2)
    time.sleep(chance.uniform(0, 0.2))
    assert box.stop(signal.SIGKILL) == -signal.SIGKILL
    for thread in threads:
        thread.join(20)
    assert not any(thread.is_alive() for thread in threads)
    box.close_clients()


def check_folder(db: Path) -> None:
    """Every file that a row refers to is there and whole."""
    assert faults(db) == {}
    with open_inspection(db) as inspection:
        assert [blob for blob in inspection.check_blobs() if not blob.sound] == []


def run_rounds(seed: Seed, folder: Path, count: int) -> None:
    """Kill and restart a server so often, and check everything in between."""
    uploads, chance = Uploads(), random.Random(count)
    box = seed.box(folder, "--assets-dir", str(folder / "assets"))
    try:
        for _ in range(count):
            kill_while_writing(box, seed, uploads, chance)
            check_folder(box.db)
            box.start()
            check_folder(box.db)
            with open_inspection(box.db) as inspection:
                assert inspection.list_unused_files() == []
            with box.client(seed.token) as client:
                for asset, data in uploads.kept.items():
                    assert client.get(f"/assets/{asset}/content").content == data
                for asset in uploads.deleted:
                    assert client.get(f"/assets/{asset}").status_code == 404
    finally:
        box.close_clients()
        box.stop()
    assert uploads.kept
    assert uploads.deleted


@pytest.mark.long
def test_kills_during_uploads_and_deletions_lose_no_file(seed: Seed, tmp_path: Path) -> None:
    run_rounds(seed, tmp_path, ROUNDS)
