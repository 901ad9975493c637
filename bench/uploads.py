"""Capture uploads: time, memory above idle, bytes stored for bytes sent: `uv run --group dev python -m bench.uploads`.

One capture is a PNG of 2 MB and 5 MB of streams that look like a real page's. Memory is the highest resident
size of the server process above what it had before the upload.
"""

import argparse
import concurrent.futures
import io
import json
import random
import statistics
import time
import uuid
from pathlib import Path

import httpx

from bench.machine import CLIENT_CORE, describe, memory_mb, pinned, start_highest, table
from bench.seed import WORDS, Seeded, seed
from bench.serving import ROOT, Server, ticketbox

MB = 1_000_000
HOSTS = ("shop.example", "cdn.shop.example", "api.shop.example")


def screenshot(size: int = 2 * MB) -> bytes:
    """A PNG of about this size: flat areas with noise in them, as a page with pictures has."""
    from PIL import Image

    chance = random.Random(7)
    image = Image.new("RGB", (1920, 1080), (250, 250, 252))
    side = int((size / 3) ** 0.5)
    image.paste(Image.frombytes("RGB", (side, side), chance.randbytes(side * side * 3)), (40, 40))
    held = io.BytesIO()
    image.save(held, "PNG")
    return held.getvalue()


def streams(size: int = 5 * MB, figures: int = 7) -> dict[str, bytes]:
    """Console lines and requests of about this size together; other figures make other ones."""
    chance = random.Random(figures)
    now = 1_790_000_000_000

    def text(words: int) -> str:
        return " ".join(chance.choices(WORDS, k=words))

    console: list[dict[str, object]] = []
    network: list[dict[str, object]] = []
    total = 0
    while total < size:
        number = len(console)
        line = {
            "seq": number, "ts": now + number, "level": chance.choice(["log", "info", "warn", "error"]),
            "args": [text(chance.randint(5, 60)), str(chance.random())],
        }  # fmt: skip
        request = {
            "id": f"r{number}", "ts": now + number, "method": "GET", "status": chance.choice([200, 200, 304, 404]),
            "url": f"https://{chance.choice(HOSTS)}/{'/'.join(chance.choices(WORDS, k=4))}?v={chance.random()}",
            "type": "fetch", "duration_ms": chance.random() * 1000,
            "request": {"headers": {"accept": "*/*", "x-trace": f"{chance.getrandbits(128):032x}"}},
            "response": {"headers": {"content-type": "application/json", "etag": f"{chance.getrandbits(128):032x}"}},
        }  # fmt: skip
        console.append(line)
        network.append(request)
        total += len(json.dumps(line)) + len(json.dumps(request))
    return {"console": json.dumps(console).encode(), "network": json.dumps(network).encode(), "errors": b"[]"}


def envelope(seeded: Seeded) -> bytes:
    """A new capture's own part."""
    healthy = {"status": "ok"}
    return json.dumps(
        {
            "id": str(uuid.uuid4()), "project_id": seeded.project, "captured_at": time.time() * 1000,
            "page": {"url": "https://shop.example/cart", "title": "Cart"},
            "health": {"console": healthy, "network": healthy, "errors": healthy},
        }
    ).encode()  # fmt: skip


def upload(server: Server, seeded: Seeded, picture: bytes, parts: dict[str, bytes]) -> float:
    """Send one capture; the seconds until its answer."""
    files = {"capture": (None, envelope(seeded)), **{name: (None, data) for name, data in parts.items()}}
    files["screenshot"] = ("screenshot.png", picture)  # type: ignore[assignment]
    started = time.perf_counter()
    answer = httpx.post(
        f"{server.url}/api/v1/captures", files=files, headers={"Authorization": f"Bearer {seeded.token}"}, timeout=60
    )
    if answer.status_code != 201:
        raise RuntimeError(answer.text[:1000])
    return time.perf_counter() - started


def _stored(db: Path) -> int:
    return sum(path.stat().st_size for path in (db, db.with_name(db.name + "-wal")) if path.exists())


def measure(seeded: Seeded, tree: Path, at_once: int, rounds: int) -> list[object]:
    """A row of the table: a new server, one small upload to load everything, then the measured ones."""
    picture, parts = screenshot(), streams()
    others = [[streams(figures=number * at_once + each) for each in range(at_once)] for number in range(rounds)]
    sent = len(picture) + sum(map(len, parts.values()))
    small = dict.fromkeys(parts, b"[]")
    with ticketbox(seeded.db, tree) as server, pinned(CLIENT_CORE):
        upload(server, seeded, screenshot(30_000), small)
        time.sleep(0.5)
        idle = memory_mb(server.pid, "VmRSS")
        times: list[float] = []
        highest: list[float] = []
        before = _stored(seeded.db)
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            for number in range(rounds):
                start_highest(server.pid)
                pictures = [picture + bytes([number, each]) for each in range(at_once)]
                times += pool.map(lambda data, told: upload(server, seeded, data, told), pictures, others[number])
                highest.append(memory_mb(server.pid) - idle)
        time.sleep(1)
        after = memory_mb(server.pid, "VmRSS") - idle
        stored = (_stored(seeded.db) - before) / (rounds * at_once)
    name = "ticketbox" if tree == ROOT else tree.name
    return [
        name, at_once, sent / MB, statistics.median(times) * 1000, idle, highest[0], max(highest), after, stored / sent,
    ]  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, default=Path("/tmp/ticketbox-bench"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tree", type=Path, action="append", default=[], help="measure this checkout as well")
    given = parser.parse_args()
    print(describe() + "\n")
    rows: list[list[object]] = []
    for number, tree in enumerate([ROOT, *given.tree]):
        for at_once in (1, 4):
            seeded = seed(given.folder / f"uploads-{number}-{at_once}.db", 100)
            rows.append(measure(seeded, tree, at_once, given.rounds))
            for left in given.folder.glob(f"uploads-{number}-{at_once}.*"):
                left.unlink()
    head = ("server", "at once", "MB sent", "ms", "idle MB", "first +MB", "highest +MB", "after +MB", "stored/sent")
    print(table(head, rows))


if __name__ == "__main__":
    main()
