"""Short bodies that are long once they are read are refused in bounded memory."""

import gzip
import json
import struct
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest

from bench.machine import group_memory_mb
from tests.http.git.test_git_hooks import Repository
from tests.http.reports.test_reports import Reporter, build_page_parts
from tests.support.git_payloads import build_headers
from tests.support.operation_cases import draw_address
from tests.support.server import Box, World, copy_initialized_file, ok
from tests.support.source_maps import build_source_map
from ticketbox.domain.git.signatures import Provider

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="reads /proc"),
]

MORE_MB = 128
MORE_MB_OF_MAPS = 192  # two of 32 MB in the server, one of them in the worker too, and buffers
REFUSALS = {400, 408, 413, 415, 429}
MIB = 1024 * 1024

Parts = list[tuple[str, tuple[str, bytes]]]


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    db = copy_initialized_file(tmp_path_factory.mktemp("bombs"))
    with Box(db, "--trusted-proxy", "127.0.0.1/32", "--max-queue-seconds", "300") as running:
        yield running


def build_picture(width: int, height: int) -> bytes:
    """A PNG that says it has this size, and has nothing in it."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0")) + chunk(b"IEND", b"")


def replace_part(name: str, data: bytes) -> Parts:
    """What a page sends, with another part of this name."""
    return [(each, (file, data if each == name else sent)) for each, (file, sent) in build_page_parts()]


LINE = b'{"seq":1,"ts":1,"level":"log","args":["a"]}'
MAP = b'{"version":3,"mappings":"AAAA","sources":["a"'


def build_reports() -> dict[str, Parts]:
    """The parts of reports, by what is wrong with them."""
    return {
        "spaces that expand": replace_part("console", gzip.compress(b" " * (200 * MIB))),
        "lines that expand": replace_part("console", gzip.compress(b"[%s]" % b",".join([LINE] * 600_000))),
        "nested lists": replace_part("console", b"[" * 2 * MIB),
        "nested lists that expand": replace_part("errors", gzip.compress(b"[" * (30 * MIB))),
        "nested envelope": replace_part("capture", b'{"page":' * 100_000),
        "long envelope": replace_part("capture", b" " * (2 * MIB)),
        "half of a file": replace_part("network", gzip.compress(b"[%s]" % (b" " * (200 * MIB)))[:-9]),
        "pixels": [("attachments", ("a.png", build_picture(60_000, 60_000)))],
        "parts": [("attachments", (f"{number}", b"x")) for number in range(200)],
        "long file": [("attachments", ("a.bin", bytes(20 * MIB)))],
    }


def build_maps() -> dict[str, bytes]:
    """Source maps that are refused."""
    return {
        "sources": MAP + b",%s" % build_texts() + b"]}",
        "nested lists": b'{"version":' + b"[" * (30 * MIB),
        "long file": bytes(33 * MIB),
        "wide mappings": '{{"version":3,"sources":["a"],"mappings":"{}\U0001f600"}}'.format("A" * 30 * MIB).encode(),
    }


def build_accepted_maps() -> dict[str, bytes]:
    """Source maps that are read, in little memory."""
    return {
        "repeated key": MAP + b',%s],"sources":["a"]}' % build_texts(),
        "wide text": MAP + b'],"sourcesContent":["%s%s"]}' % (b"x" * 30 * MIB, "\U0001f600".encode()),
        "lines": MAP + b'],"sourcesContent":["%s"]}' % (b"ab\\n" * (7 * MIB)),
    }


def build_texts() -> bytes:
    """Six million short texts of a list."""
    return (b'"ab",' * (6 * MIB))[:-1]


def build_deliveries() -> dict[str, tuple[bytes, dict[str, str]]]:
    """Bodies of a repository's deliveries, and their headers."""
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    return {
        "nested lists": (b'{"repository":' + b"[" * (4 * MIB), {}),
        "commits": (b'{"commits":[%s{}]}' % (b"{}," * (MIB)), {}),
        "long body": (bytes(6 * MIB), {}),
        "fields": (b"a&" * (2 * MIB), form),
        "fields with values": (b"a=b&" * MIB + urlencode({"payload": "{}"}).encode(), form),
    }


def check_bombs(
    world: World, bombs: dict[str, Callable[[], httpx.Response]], expected: set[int], more_mb: float = MORE_MB
) -> None:
    """Send all, two at a time, beside somebody else's calls, and compare statuses and memory."""
    other = World(world.box, "Olive")
    limits = {"reads_per_minute": 10**6, "writes_per_minute": 60}
    ok(other.owner.web.patch(f"/companies/{other.company}", json={"limits": limits}))
    ok(world.api.post(f"/projects/{world.project}/source-maps", files={"file": ("b.js.map", build_long_map())}))
    rest = peak = group_memory_mb(world.box.process.pid)
    with ThreadPoolExecutor(2) as pool:
        sent = {name: pool.submit(send) for name, send in bombs.items()}
        while not all(each.done() for each in sent.values()):
            ok(other.api.get("/me"))
            peak = max(peak, group_memory_mb(world.box.process.pid))
    statuses = {name: each.result().status_code for name, each in sent.items()}
    assert {name: status for name, status in statuses.items() if status not in expected} == {}
    ok(other.api.post("/tickets", json={"project_id": other.project, "title": "Still served"}))
    assert peak - rest <= more_mb


def build_long_map() -> bytes:
    """A map that is long enough for the worker process, so that it runs before memory is measured."""
    return build_source_map(sourcesContent=["x" * 100_000])


@pytest.mark.parametrize("kind", ["script", "link"])
def test_bombs_in_reports_are_refused(box: Box, kind: str) -> None:
    world = World(box)
    reporter = Reporter(world, kind)

    def send(parts: Parts) -> httpx.Response:
        headers = {"X-Forwarded-For": draw_address(), "Origin": "https://shop.example"}
        if kind == "link":
            del headers["Origin"]
        files: list[Any] = [("title", (None, "A bomb")), *parts]
        return httpx.post(f"{box.api}/reports/{reporter.key['key']}", files=files, headers=headers, timeout=120)

    bombs: dict[str, Callable[[], httpx.Response]] = {
        name: lambda parts=parts: send(parts) for name, parts in build_reports().items()
    }
    bombs["no parts"] = lambda: httpx.post(
        f"{box.api}/reports/{reporter.key['key']}", content=bytes(MIB),
        headers={"X-Forwarded-For": draw_address(), "Content-Type": "application/json"}
        | ({"Origin": "https://shop.example"} if kind == "script" else {}),
    )  # fmt: skip
    check_bombs(world, {"pixels": bombs.pop("pixels")}, {201})  # a file that nobody shows
    check_bombs(world, bombs, REFUSALS)
    assert [each["capture"] for each in reporter.find_tickets()] == [None]


@pytest.mark.parametrize(
    ("build", "expected"), [(build_maps, REFUSALS), (build_accepted_maps, {201})], ids=["refused", "accepted"]
)
def test_bombs_in_source_maps_use_little_memory(
    box: Box, build: Callable[[], dict[str, bytes]], expected: set[int]
) -> None:
    world, maps = World(box), build()
    clients = {name: world.owner.client("tickets:write") for name in maps}
    path = f"/projects/{world.project}/source-maps"
    check_bombs(
        world,
        {
            name: lambda name=name, data=data: clients[name].post(
                path, files={"file": (f"{name}.map", data)}, timeout=120
            )
            for name, data in maps.items()
        },
        expected,
        MORE_MB_OF_MAPS,
    )


def test_bombs_in_signed_deliveries_are_refused(box: Box) -> None:
    world = World(box)
    repository = Repository(world)

    def send(body: bytes, headers: dict[str, str]) -> httpx.Response:
        return repository.send(body, {**build_headers(Provider.GITHUB, repository.secret, body), **headers})

    check_bombs(world, {name: lambda each=each: send(*each) for name, each in build_deliveries().items()}, REFUSALS)
    unsigned = httpx.post(repository.url, content=json.dumps({"a": 1}), headers={"X-Forwarded-For": draw_address()})
    assert unsigned.status_code == 401
