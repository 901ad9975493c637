"""Somebody fills every queue: the metrics show who waits where, and each call that was refused, by its reason."""

import contextlib
import gzip
import json
import socket
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.fault.test_memory import build_streams
from tests.fault.test_stop import connect
from tests.http.core.test_metrics import Figures, compute_growth, figures
from tests.support.operation_cases import make_capture, screenshot_of
from tests.support.seed import capture_parts
from tests.support.server import PASSWORD, Box, Person, World, copy_initialized_file, eventually, ok
from tests.support.webhook_receiver import ReceivedRequest, run_receiver

pytestmark = pytest.mark.long

WAITS, WAITING = "ticketbox_queue_wait_seconds", "ticketbox_queue_waiting"
REFUSALS, CODES = "ticketbox_queue_refusals_total", "ticketbox_refusals_total"
PER_CREDENTIAL, PER_ACCOUNT, PER_COMPANY, STREAMS = 20, 50, 250, 500  # docs/use/limits.md, "Others"
CALLS_PER_CREDENTIAL = 250


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """A server that lets nobody wait for more than a second."""
    db = copy_initialized_file(tmp_path_factory.mktemp("queues"))
    flags = ["--trusted-proxy", "127.0.0.1/32", "--max-queue-seconds", "1", "--max-uploads", "2"]
    with Box(db, *flags, "--allow-private-addresses") as running:
        yield running


@pytest.fixture
def world(box: Box) -> Iterator[World]:
    """A company whose budgets slow nobody down."""
    world = World(box)
    limits = {"reads_per_minute": 10**6, "writes_per_minute": 10**6}
    ok(world.owner.web.patch(f"/companies/{world.company}", json={"limits": limits}))
    yield world
    box.close_clients()


def list_clients(world: World, count: int) -> list[httpx.Client]:
    """Clients with separate tokens of one person."""
    return [world.owner.client("tickets:write", company_id=world.company) for _ in range(count)]


def count_refused(before: Figures, after: Figures, queue: str) -> dict[str, float]:
    """How many more calls a queue refused, by reason."""
    labels = [labels for name, labels in after if name == REFUSALS and dict(labels)["queue"] == queue]
    grown = {dict(each)["reason"]: compute_growth(before, after, REFUSALS, **dict(each)) for each in labels}
    return {reason: count for reason, count in grown.items() if count}


def build_har_parts(world: World) -> dict[str, Any]:
    """The parts of a capture whose HAR file is long."""
    request = {
        "id": "r", "ts": 1, "method": "GET", "url": "https://h/?a=b", "status": 500, "type": "xhr", "duration_ms": 3,
    }  # fmt: skip
    body = gzip.compress(json.dumps([request] * 5_000).encode())
    return {**dict(capture_parts(world.project, 7)), "network": (None, body)}


def test_every_queue_counts_the_calls_that_pass_it(box: Box, world: World) -> None:
    capture = make_capture(world)
    screenshot = screenshot_of(world, capture["ticket_id"])
    credentials = {"email": world.owner.email, "password": PASSWORD}
    calls: dict[str, Callable[[], httpx.Response]] = {
        "passwords": lambda: box.client().post("/session", json=credentials),
        "uploads": lambda: world.api.post("/captures", files=capture_parts(world.project, 1)),
        "captures": lambda: world.api.post("/captures", files=build_har_parts(world)),
        "small_captures": lambda: world.api.post("/captures", files=capture_parts(world.project, 2)),
        "rendering": lambda: world.api.get(f"/assets/{screenshot}/thumbnail"),
        "readers": lambda: world.api.get("/tickets"),
        "writer": lambda: world.api.post("/tickets", json={"title": "x", "project_id": world.project}),
    }
    for queue, call in calls.items():
        before = figures(box)
        assert call().status_code < 400, queue
        after = figures(box)
        for name in (f"{WAITS}_count", f"{WAITS}_bucket"):
            more = {"le": "+Inf"} if name.endswith("bucket") else {}
            assert compute_growth(before, after, name, queue=queue, **more) >= 1, queue


def fill_passwords(world: World) -> list[httpx.Response]:
    """Sign-ins to many accounts from as many addresses."""
    clients = [world.box.client() for _ in range(160)]
    with ThreadPoolExecutor(len(clients)) as pool:
        given = [{"email": f"nobody-{number}@example.org", "password": "a guess"} for number in range(len(clients))]
        return list(pool.map(lambda client, body: client.post("/session", json=body), clients, given))


def fill_captures(world: World) -> list[httpx.Response]:
    """Captures that take long to read, of two people; others' uploads are read meanwhile."""
    people = [world.owner, world.join("Bob")]
    clients = [person.client("tickets:write", company_id=world.company) for person in people for _ in range(6)]
    streams = {name: (None, data) for name, data in build_streams().items()}
    with ThreadPoolExecutor(len(clients)) as pool:
        files = [dict(capture_parts(world.project, 100 + number)) | streams for number in range(len(clients))]
        return list(pool.map(lambda client, each: client.post("/captures", files=each), clients, files))


def fill_rendering(world: World) -> list[httpx.Response]:
    """Downloads of a long HAR file with many tokens."""
    capture = ok(world.api.post("/captures", files=build_har_parts(world)))["capture_id"]
    clients = list_clients(world, 24)
    with ThreadPoolExecutor(len(clients)) as pool:
        return list(pool.map(lambda client: client.get(f"/captures/{capture}/har"), clients))


def fill_readers(world: World) -> list[httpx.Response]:
    """Searches that match everything, with many tokens."""
    for number in range(5):
        world.ticket(f"Ticket {number}", description="abc " * 12_000)
    clients = list_clients(world, 12)
    query = {"q": " OR ".join(f"{letter}*" for letter in "abcdefghijklmnop"), "limit": "100"}
    with ThreadPoolExecutor(len(clients) * 8) as pool:
        return list(pool.map(lambda client: client.get("/search", params=query), clients * 40))


@pytest.mark.parametrize(
    ("fill", "queues"),
    [
        (fill_passwords, {"passwords"}),
        (fill_captures, {"captures", "uploads"}),
        (fill_rendering, {"rendering"}),
        (fill_readers, {"readers"}),
    ],
)
def test_attack_that_fills_a_queue_is_counted_call_by_call(
    box: Box, world: World, fill: Callable[[World], list[httpx.Response]], queues: set[str]
) -> None:
    """Each 503 is a refusal of the queue because of its wait, and the waits of those who were served are counted."""
    seen: set[str] = set()
    stopping = threading.Event()

    def watch() -> None:
        while not stopping.wait(0.02):
            now = figures(box)
            seen.update(queue for queue in queues if now.get((WAITING, (("queue", queue),)), 0))

    before = figures(box)
    with ThreadPoolExecutor(1) as pool:
        watching = pool.submit(watch)
        try:
            answers = fill(world)
        finally:
            stopping.set()
        watching.result()
    after = figures(box)
    refused = [each for each in answers if each.status_code == 503]
    counted = [count_refused(before, after, queue) for queue in queues]
    assert sum(each.get("wait", 0) for each in counted) == len(refused)
    assert compute_growth(before, after, CODES, code="unavailable") == len(refused)
    assert all("retry-after" in each.headers for each in refused)
    assert seen, "nobody was seen waiting"
    waited = sum(compute_growth(before, after, f"{WAITS}_sum", queue=queue) for queue in seen)
    assert waited >= len(answers) / 200
    if fill is not fill_readers:  # a quick machine answers all searches in time
        assert refused


def test_attack_that_holds_the_file_shows_writes_that_wait(box: Box, world: World) -> None:
    """A command on the server's machine writes for two seconds."""
    before = figures(box)
    with contextlib.closing(sqlite3.connect(box.db, timeout=30, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        with ThreadPoolExecutor(8) as pool:
            given = {"title": "x", "project_id": world.project}
            writes = [pool.submit(world.api.post, "/tickets", json=given) for _ in range(8)]
            eventually(lambda: figures(box)["ticketbox_writer_queue", ()] >= 1)
            assert not any(each.done() for each in writes)
            connection.execute("ROLLBACK")
            statuses = [each.result().status_code for each in writes]
    after = figures(box)
    refused = sum(count_refused(before, after, "writer").values())
    assert statuses.count(503) == refused
    assert statuses.count(201) == 8 - refused
    assert compute_growth(before, after, f"{WAITS}_count", queue="writer") >= statuses.count(201)
    assert compute_growth(before, after, f"{WAITS}_sum", queue="writer") > 0


def test_attack_by_slow_receivers_shows_deliveries_that_wait(box: Box, world: World) -> None:
    before, released = figures(box), threading.Event()

    def wait(_: ReceivedRequest) -> int:
        released.wait(20)
        return 204

    with run_receiver() as receiver:
        receiver.answer = wait
        for number in range(8):
            given = {"name": f"Hook {number}", "url": f"{receiver.url}/{number}", "types": ["ticket.created"]}
            ok(world.owner.web.post(f"/companies/{world.company}/webhooks", json=given))
        for number in range(8):
            world.ticket(f"Ticket {number}")
        try:
            eventually(lambda: figures(box)["ticketbox_deliveries_waiting", ()] >= 1)
        finally:
            released.set()
        eventually(lambda: figures(box)["ticketbox_deliveries_waiting", ()] == 0)
    after = figures(box)
    assert compute_growth(before, after, f"{WAITS}_count", queue="deliveries") >= 8
    assert compute_growth(before, after, f"{WAITS}_sum", queue="deliveries") > 0


class Listeners:
    """Connections that wait for events; `with` closes them."""

    def __init__(self, box: Box) -> None:
        self.box = box
        self.open: list[socket.socket] = []

    def listen(self, token: str, path: str) -> int:
        """Begin to listen, and return the status; 200 also if nothing arrives because there is nothing to say."""
        connection = connect(self.box)
        lines = [f"GET /api/v1{path} HTTP/1.1", f"Host: {urlsplit(self.box.url).netloc}"]
        connection.sendall("\r\n".join([*lines, f"Authorization: Bearer {token}", "", ""]).encode())
        self.open.append(connection)
        connection.settimeout(30 if path.endswith("stream") else 0.03)
        try:
            return int(connection.recv(12)[9:])
        except TimeoutError:
            return 200

    def fill(self, person: Person, company: str, count: int) -> None:
        """Open so many streams of an account."""
        tokens = [person.token("read", company_id=company) for _ in range(-(-count // PER_CREDENTIAL))]
        for number in range(count):
            assert self.listen(tokens[number // PER_CREDENTIAL], "/events/stream") == 200, number

    def __enter__(self) -> "Listeners":
        return self

    def __exit__(self, *_: object) -> None:
        for each in self.open:
            each.close()


def test_attack_by_event_streams_is_counted_by_whose_share_it_exceeded(box: Box, world: World) -> None:
    """Until the server has no more, with the accounts of three companies."""
    worlds = [world, World(box, "Bea"), World(box, "Cid")]
    people = [[each.owner, *(each.join("Member") for _ in range(5))] for each in worlds[:2]]
    path = "/events/stream"

    def expect_refusal(token: str, reason: str, status: int) -> None:
        before = figures(box)
        assert listeners.listen(token, path) == status
        assert count_refused(before, figures(box), "event_streams") == {reason: 1}

    with Listeners(box) as listeners:
        token = world.owner.token("read", company_id=world.company)
        for _ in range(PER_CREDENTIAL):
            assert listeners.listen(token, path) == 200
        expect_refusal(token, "credential", 429)
        listeners.fill(world.owner, world.company, PER_ACCOUNT - PER_CREDENTIAL)
        expect_refusal(world.owner.token("read", company_id=world.company), "account", 429)
        for person in people[0][1:5]:
            listeners.fill(person, world.company, PER_ACCOUNT)
        expect_refusal(people[0][5].token("read", company_id=world.company), "company", 503)
        for person in people[1][:5]:
            listeners.fill(person, worlds[1].company, PER_ACCOUNT)
        expect_refusal(worlds[2].owner.token("read", company_id=worlds[2].company), "server", 503)
        assert figures(box)["ticketbox_event_streams", ()] == STREAMS
    eventually(lambda: figures(box)["ticketbox_event_streams", ()] == 0)


def test_attack_by_waiting_calls_is_counted(box: Box, world: World) -> None:
    token, path = world.owner.token("read", company_id=world.company), "/events/wait?wait_seconds=50"
    before = figures(box)
    with Listeners(box) as listeners:
        for _ in range(CALLS_PER_CREDENTIAL):
            assert listeners.listen(token, path) == 200
        eventually(lambda: figures(box)["ticketbox_waiting_calls", ()] == CALLS_PER_CREDENTIAL)
        assert box.client(token).get(path).status_code == 429
        assert count_refused(before, figures(box), "waiting_calls") == {"credential": 1}
    eventually(lambda: figures(box)["ticketbox_waiting_calls", ()] == 0)
