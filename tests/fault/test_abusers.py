"""Callers who take all that they can get: another company's sign-ins, captures and reads go on."""

import contextlib
import gzip
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from bench.machine import memory_mb, reset_peak_memory
from tests.fault.test_memory import build_long_lines, build_streams
from tests.http.core.test_metrics import figures
from tests.support.seed import capture_parts
from tests.support.server import PASSWORD, Box, World, copy_initialized_file, ok

pytestmark = pytest.mark.long

ROUNDS = 5
MORE_MB = 128  # 64 for captures, and those of the other attacks


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    db = copy_initialized_file(tmp_path_factory.mktemp("abusers"))
    with Box(db, "--trusted-proxy", "127.0.0.1/32") as running:
        yield running


@pytest.fixture(scope="module")
def abuser(box: Box) -> World:
    """A company with budgets of a million calls a minute, as its owner can set them."""
    world = World(box, "Abe")
    limits = {"reads_per_minute": 10**6, "writes_per_minute": 10**6}
    ok(world.owner.web.patch(f"/companies/{world.company}", json={"limits": limits}))
    return world


@contextlib.contextmanager
def repeat(callers: int, call: Callable[[int], httpx.Response]) -> Iterator[list[int]]:
    """Call again and again from some threads during the block; yield the statuses."""
    statuses: list[int] = []
    stopping = threading.Event()

    def run(number: int) -> None:
        while not stopping.is_set():
            with contextlib.suppress(httpx.HTTPError):
                statuses.append(call(number).status_code)

    with ThreadPoolExecutor(callers) as pool:
        running = [pool.submit(run, number) for number in range(callers)]
        try:
            yield statuses
        finally:
            stopping.set()
            for each in running:
                each.result()


def live_normally(box: Box, world: World, number: int) -> None:
    """What a person and an agent do; each call must succeed."""
    credentials = {"email": world.owner.email, "password": PASSWORD}
    ok(box.client().post("/session", json=credentials))
    ok(world.api.post("/captures", files=capture_parts(world.project, number)))
    ok(world.api.get("/me"))
    ok(world.api.get("/search", params={"q": "capture"}))
    ok(world.api.get("/tickets", params={"project_id": world.project}))


def test_expanding_captures_of_many_tokens(box: Box, abuser: World) -> None:
    other = World(box, "Olive")
    clients = [abuser.owner.client("tickets:write") for _ in range(8)]
    parts = [build_streams(), build_long_lines()]

    def upload(number: int) -> httpx.Response:
        own = {name: (None, data) for name, data in parts[number % 2].items()}
        envelope = json.loads(dict(capture_parts(abuser.project, number))["capture"][1])
        envelope["id"] = f"{threading.get_ident()}-{threading.current_thread().native_id}-{number:08}"
        return clients[number].post("/captures", files={"capture": (None, json.dumps(envelope)), **own})

    live_normally(box, other, 99)
    rest = memory_mb(box.process.pid, "VmRSS")
    reset_peak_memory(box.process.pid)
    with repeat(len(clients), upload) as statuses:
        for number in range(ROUNDS):
            live_normally(box, other, number)
    assert set(statuses) <= {200, 201, 413, 429, 503}
    assert memory_mb(box.process.pid) - rest <= MORE_MB


def test_har_downloads_of_many_tokens(box: Box, abuser: World) -> None:
    other = World(box, "Otto")
    request = {
        "id": "r",
        "ts": 1,
        "method": "GET",
        "url": "https://h/?a=b",
        "status": 500,
        "type": "xhr",
        "duration_ms": 3,
    }
    body = gzip.compress(json.dumps([request] * 5_000).encode())
    files = {**dict(capture_parts(abuser.project, 7)), "network": (None, body)}
    capture = ok(abuser.api.post("/captures", files=files))["capture_id"]
    clients = [abuser.owner.client("read") for _ in range(8)]
    with repeat(len(clients), lambda number: clients[number].get(f"/captures/{capture}/har")) as statuses:
        for number in range(ROUNDS):
            live_normally(box, other, number)
    assert 200 in statuses
    assert set(statuses) <= {200, 429, 503}


def test_sign_ins_from_many_addresses(box: Box, abuser: World) -> None:
    other = World(box, "Ophelia")

    def guess(number: int) -> httpx.Response:
        return box.client().post("/session", json={"email": f"nobody-{number}@example.org", "password": "a guess"})

    with repeat(4, guess):
        for number in range(ROUNDS):
            live_normally(box, other, number)
    waits = figures(box)["ticketbox_queue_wait_seconds_count", (("queue", "passwords"),)]
    assert waits > ROUNDS


def test_long_lists_of_one_token(box: Box, abuser: World) -> None:
    other = World(box, "Orla")
    client = abuser.owner.client("read")
    with repeat(8, lambda _: client.get("/search", params={"q": "a OR b OR c*", "limit": 100})) as statuses:
        for number in range(ROUNDS):
            live_normally(box, other, number)
    assert set(statuses) <= {200, 400, 429, 503}
