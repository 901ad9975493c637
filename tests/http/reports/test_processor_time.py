"""What reports of strangers may cost: processor time, their length inflated, and whose turn they are (reports.md)."""

import gzip
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.http.core.test_metrics import figures
from tests.http.reports.test_reports import Reporter, build_page_parts
from tests.support.operation_cases import draw_address
from tests.support.seed import capture_parts
from tests.support.server import World, eventually, expect_error, ok
from ticketbox.operations.reports.preparation import ADDRESS_SECONDS, MAX_INFLATED

WAITING = "ticketbox_queue_waiting", (("queue", "captures"),)


def build_costly_console(lines: int) -> bytes:
    """Console lines whose redaction takes long: 8 to 20 ms each."""
    entry = {"seq": 1, "ts": 1_795_253_399_000, "level": "log", "args": ['"token":' * 1_875]}
    return gzip.compress(json.dumps([entry] * lines).encode())


def replace_console(console: bytes) -> list[tuple[str, Any]]:
    """The parts of a report of a page, with this console."""
    return [*(part for part in build_page_parts() if part[0] != "console"), ("console", ("part", console))]


def test_report_that_inflates_to_more_than_8_mib_is_refused(world: World) -> None:
    reporter = Reporter(world)
    for length, status in ((MAX_INFLATED - 10_000, 201), (MAX_INFLATED + 1, 413)):
        answer = reporter.send(parts=replace_console(gzip.compress(b"[%s]" % (b" " * length))))
        assert answer.status_code == status, answer.text
    assert len(reporter.find_tickets()) == 1


@pytest.mark.long
def test_small_capture_waits_for_no_long_one(world: World, other: World) -> None:
    """Nor does a small report."""
    clients = [world.owner.client("tickets:write") for _ in range(2)]
    console = build_costly_console(100)

    def send(number: int) -> httpx.Response:
        parts = {**dict(capture_parts(world.project, number)), "console": (None, console, "application/json")}
        return clients[number].post("/captures", files=parts)

    reporter = Reporter(world)
    with ThreadPoolExecutor(len(clients)) as pool:
        sent = [pool.submit(send, number) for number in range(len(clients))]
        eventually(lambda: figures(world.box).get(WAITING, 0) == 1)
        ok(other.api.post("/captures", files=capture_parts(other.project, 1)))
        ok(reporter.send(parts=build_page_parts()))
        assert not all(each.done() for each in sent)
        for each in sent:
            ok(each.result())


@pytest.mark.long
def test_address_that_used_up_its_processor_time_is_refused_and_no_other(world: World) -> None:
    """Reports that take too long are refused, and count."""
    reporter = Reporter(world)
    parts = replace_console(build_costly_console(400))
    answers = [reporter.send(parts=parts)]
    while answers[-1].status_code == 413:
        answers.append(reporter.send(parts=parts))
    assert 2 <= len(answers) <= ADDRESS_SECONDS
    refused = expect_error(answers[-1], 429, "rate_limited")
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 60
    assert f"{ADDRESS_SECONDS} s of processor time" in refused["detail"]
    expect_error(reporter.send(), 429, "rate_limited")
    reporter.address = draw_address()
    ok(reporter.send())
