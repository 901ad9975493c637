"""Uploads of captures: time, memory and stored bytes: `uv run --group dev python -m bench.uploads`.

A capture is a PNG of 2 MB and 5 MB of streams like those of a real page. Memory is the peak of the server's resident
memory above that before the upload.
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

from bench.launch import ROOT, Server, launch_ticketbox
from bench.machine import CLIENT_CORE, describe_machine, format_table, memory_mb, pin_to_core, reset_peak_memory
from bench.seed import WORDS, SeededFile, seed

MB = 1_000_000
HOSTS = ("shop.example", "cdn.shop.example", "api.shop.example")


def screenshot(size: int = 2 * MB) -> bytes:
    """Draw a PNG of about this size, with flat areas and noise like a page with pictures."""
    from PIL import Image

    chance = random.Random(7)
    image = Image.new("RGB", (1920, 1080), (250, 250, 252))
    side = int((size / 3) ** 0.5)
    image.paste(Image.frombytes("RGB", (side, side), chance.randbytes(side * side * 3)), (40, 40))
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def streams(size: int = 5 * MB, random_seed: int = 7) -> dict[str, bytes]:
    """Generate console lines and network requests of about this size together."""
    chance = random.Random(random_seed)
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


def envelope(seeded: SeededFile) -> bytes:
    """Encode the `capture` part of a new capture."""
    healthy = {"status": "ok"}
    return json.dumps(
        {
            "id": str(uuid.uuid4()), "project_id": seeded.project, "captured_at": time.time() * 1000,
            "page": {"url": "https://shop.example/cart", "title": "Cart"},
            "health": {"console": healthy, "network": healthy, "errors": healthy},
        }
    ).encode()  # fmt: skip


def upload(server: Server, seeded: SeededFile, picture: bytes, parts: dict[str, bytes]) -> float:
    """Send a capture; return the seconds until its response."""
    files = {"capture": (None, envelope(seeded)), **{name: (None, data) for name, data in parts.items()}}
    files["screenshot"] = ("screenshot.png", picture)  # type: ignore[assignment]
    started = time.perf_counter()
    answer = httpx.post(
        f"{server.url}/api/v1/captures", files=files, headers={"Authorization": f"Bearer {seeded.token}"}, timeout=60
    )
    if answer.status_code != 201:
        raise RuntimeError(answer.text[:1000])
    return time.perf_counter() - started


def _file_bytes(db: Path) -> int:
    return sum(path.stat().st_size for path in (db, db.with_name(db.name + "-wal")) if path.exists())


def measure(seeded: SeededFile, tree: Path, parallel: int, rounds: int) -> list[object]:
    """Start a server, send a small upload to load its code, then the measured ones; return a row of the table."""
    picture, parts = screenshot(), streams()
    others = [[streams(random_seed=number * parallel + each) for each in range(parallel)] for number in range(rounds)]
    sent = len(picture) + sum(map(len, parts.values()))
    small = dict.fromkeys(parts, b"[]")
    with launch_ticketbox(seeded.db, tree) as server, pin_to_core(CLIENT_CORE):
        upload(server, seeded, screenshot(30_000), small)
        time.sleep(0.5)
        idle = memory_mb(server.pid, "VmRSS")
        times: list[float] = []
        peaks: list[float] = []
        before = _file_bytes(seeded.db)
        with concurrent.futures.ThreadPoolExecutor(parallel) as pool:
            for number in range(rounds):
                reset_peak_memory(server.pid)
                pictures = [picture + bytes([number, each]) for each in range(parallel)]
                times += pool.map(lambda data, each: upload(server, seeded, data, each), pictures, others[number])
                peaks.append(memory_mb(server.pid) - idle)
        time.sleep(1)
        after = memory_mb(server.pid, "VmRSS") - idle
        stored = (_file_bytes(seeded.db) - before) / (rounds * parallel)
    name = "ticketbox" if tree == ROOT else tree.name
    return [
        name, parallel, sent / MB, statistics.median(times) * 1000, idle, peaks[0], max(peaks), after, stored / sent,
    ]  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, default=Path("/tmp/ticketbox-bench"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tree", type=Path, action="append", default=[], help="also measure this checkout")
    options = parser.parse_args()
    print(describe_machine() + "\n")
    rows: list[list[object]] = []
    for number, tree in enumerate([ROOT, *options.tree]):
        for parallel in (1, 4):
            seeded = seed(options.folder / f"uploads-{number}-{parallel}.db", 100)
            rows.append(measure(seeded, tree, parallel, options.rounds))
            for left in options.folder.glob(f"uploads-{number}-{parallel}.*"):
                left.unlink()
    head = ("server", "parallel", "MB sent", "ms", "idle MB", "first +MB", "peak +MB", "after +MB", "stored/sent")
    print(format_table(head, rows))


if __name__ == "__main__":
    main()
