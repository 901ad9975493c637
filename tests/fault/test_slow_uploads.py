"""Uploads that arrive slowly, from one caller and from several: the others keep their share of the slots."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import httpx
import pytest

from tests.fault.test_stop import connect, serialize, wait_until_body_is_read
from tests.http.core.test_metrics import figures
from tests.support.seed import PatchedServer, capture_parts
from tests.support.server import Box, World, copy_initialized_file, eventually, expect_error, ok
from ticketbox.domain.core.fairness import fair_queue

# A body may pause for 8 s instead of 10 s.
QUICK = """
from ticketbox.http import uploads
uploads.PAUSE_SECONDS = 8.0
from ticketbox.cli import main
main()
"""
MIN_RATE = 100
FASTER, SLOWER = 100, 1  # bytes in each twentieth of a second
REFUSALS = "ticketbox_queue_refusals_total"
Drip = Callable[[str, int], None]


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    db = copy_initialized_file(tmp_path_factory.mktemp("slow"))
    with PatchedServer(QUICK, db, "--min-upload-rate", str(MIN_RATE), "--max-queue-seconds", "5") as running:
        yield running


@pytest.fixture
def drip(box: Box) -> Iterator[Drip]:
    """Begins an upload with a token, and sends a few bytes every 50 ms until the test ends or the server answers."""
    stopping = threading.Event()
    with contextlib.ExitStack() as connections:
        threads: list[threading.Thread] = []

        def begin(token: str, size: int) -> None:
            headers = {
                "Authorization": f"Bearer {token}", "Host": urlsplit(box.url).netloc, "Expect": "100-continue",
            }  # fmt: skip
            parts = capture_parts("proj_000000000000", 1, padding="x" * 200_000)
            head, _, body = serialize(
                httpx.Request("POST", f"{box.api}/captures", files=parts, headers=headers)
            ).partition(b"\r\n\r\n")
            connection = connections.enter_context(connect(box))
            connection.sendall(head + b"\r\n\r\n")
            wait_until_body_is_read(connection)

            def send() -> None:
                sent = 0
                with contextlib.suppress(OSError):
                    while not stopping.wait(0.05):
                        connection.sendall(body[sent : sent + size])
                        sent += size

            threads.append(threading.Thread(target=send))
            threads[-1].start()

        yield begin
        stopping.set()
        for thread in threads:
            thread.join()


@pytest.mark.long
def test_slow_uploads_of_one_account_leave_half_of_the_slots_to_others(box: Box, drip: Drip) -> None:
    slow, other = World(box, "Sloane"), World(box, "Otis")
    for _ in range(2):
        drip(slow.owner.token("tickets:write"), FASTER)
    third = slow.owner.client("tickets:write")
    with ThreadPoolExecutor() as pool:
        refused = pool.submit(third.post, "/captures", files=capture_parts(slow.project, 1))
        eventually(lambda: figures(box)["ticketbox_queue_waiting", (("queue", "uploads"),)] == 1)
        ok(other.api.post("/captures", files=capture_parts(other.project, 2)))
        answer = refused.result()
    expect_error(answer, 503, "unavailable")
    assert answer.headers["retry-after"] == str(fair_queue.RETRY_SECONDS)
    assert figures(box)[REFUSALS, (("queue", "uploads"), ("reason", "wait"))] == 1


def test_credential_has_one_slot_and_its_next_upload_waits_for_it(box: Box, drip: Drip) -> None:
    world = World(box)
    token = world.owner.token("tickets:write")
    drip(token, FASTER)
    ok(world.api.post("/captures", files=capture_parts(world.project, 3)))
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(box.client(token).post, "/captures", files=capture_parts(world.project, 4))
        eventually(lambda: figures(box)["ticketbox_queue_waiting", (("queue", "uploads"),)] == 1)
        expect_error(waiting.result(), 503, "unavailable")


@pytest.mark.long
def test_upload_below_the_minimum_rate_is_cut_off_and_counted(box: Box, drip: Drip) -> None:
    labels = ("queue", "uploads"), ("reason", "rate")
    before = figures(box).get((REFUSALS, labels), 0)
    drip(World(box).owner.token("tickets:write"), SLOWER)
    eventually(lambda: figures(box).get((REFUSALS, labels)) == before + 1)
