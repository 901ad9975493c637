"""Uploads that must not be taken: each is refused with its code, and nothing of it is stored."""

import gzip
import json
import os
import re
import socket
import time
import zlib
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest

from tests.e2e.support.devtools_recorder import Json
from tests.e2e.support.uploads import (
    Part,
    build_envelope,
    build_part,
    count_stored_rows,
    encode_json,
    encode_multipart,
    send_capture,
)
from tests.support.pictures import apng, bomb_png, gif, png, truncate
from tests.support.server import Box, World, expect_error, ok

MIB = 1 << 20
SVG = b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
HTML = b"<!doctype html><script>alert(1)</script>"
PATIENCE_SECONDS = 60

CONSOLE = {"seq": 0, "ts": 1.0, "level": "log", "args": []}
REQUEST = {"id": "r1", "ts": 1.0, "method": "GET", "url": "http://x/", "status": 200, "type": "fetch", "duration_ms": 1}
ERROR = {"seq": 0, "ts": 1.0, "kind": "error", "message": "m"}


def over_ten_megabytes() -> bytes:
    """A sound PNG that is too big a file."""
    from io import BytesIO

    from PIL import Image

    out = BytesIO()
    Image.frombytes("RGB", (2000, 1700), os.urandom(3 * 2000 * 1700)).save(out, "PNG", compress_level=0)
    assert len(out.getvalue()) > 10_000_000
    return out.getvalue()


def shot(data: bytes) -> list[Part]:
    """A screenshot that says it is a PNG."""
    return [build_part("screenshot", data, "image/png", "shot.png")]


def stream(name: str, data: bytes | list[Json]) -> list[Part]:
    """One stream."""
    return [build_part(name, data if isinstance(data, bytes) else encode_json(data), "application/json")]


def corrupt_gzip_body() -> bytes:
    """Gzip data with a byte changed in its middle."""
    data = bytearray(gzip.compress(encode_json([{**CONSOLE, "args": [str(n)]} for n in range(500)])))
    data[len(data) // 2] ^= 0xFF
    return bytes(data)


def gzip_bomb() -> bytes:
    """A few kilobytes that become 64 MB of a stream."""
    packer = zlib.compressobj(9, wbits=31)
    parts = [packer.compress(b"[")]
    parts += [packer.compress(b" " * MIB) for _ in range(64)]
    return b"".join([*parts, packer.compress(b"]"), packer.flush()])


REFUSED: dict[str, tuple[Callable[[], list[Part]], int, str, str | None]] = {
    "an SVG named .png": (lambda: shot(SVG), 415, "unsupported_media_type", None),
    "HTML named .png": (lambda: shot(HTML), 415, "unsupported_media_type", None),
    "a GIF named .png": (lambda: shot(gif()), 415, "unsupported_media_type", None),
    "an empty screenshot": (lambda: shot(b""), 415, "unsupported_media_type", None),
    "a truncated PNG": (lambda: shot(truncate(png(400, 300))), 400, "invalid_request", None),
    "an animation": (lambda: shot(apng()), 400, "invalid_request", None),
    "a picture of gigapixels": (lambda: shot(bomb_png()), 413, "payload_too_large", None),
    "a screenshot over 10 MB": (lambda: shot(over_ten_megabytes()), 413, "payload_too_large", None),
    "a gzip bomb": (lambda: stream("console", gzip_bomb()), 413, "payload_too_large", None),
    "garbled gzip": (lambda: stream("console", corrupt_gzip_body()), 400, "invalid_request", "console"),
    "truncated gzip": (lambda: stream("network", gzip.compress(b"[]")[:-4]), 400, "invalid_request", "network"),
    "something behind the gzip": (lambda: stream("errors", gzip.compress(b"[]") + b"x"), 400, "invalid_request",
                                  "errors"),
    "too many entries": (lambda: stream("console", [CONSOLE] * 50_001), 413, "payload_too_large", None),
    "deep JSON in a stream": (lambda: stream("console", b"[" * 100_000), 400, "invalid_request", "console[0]"),
    "no JSON in a stream": (lambda: stream("errors", b"[{]"), 400, "invalid_request", "errors"),
    "an object for a stream": (lambda: stream("network", b"{}"), 400, "invalid_request", "network"),
    "a stream that isn't UTF-8": (lambda: stream("errors", b'[{"message": "\xff"}]'), 400, "invalid_request",
                                   "errors[0]"),
    "a wrong level": (lambda: stream("console", [CONSOLE, {**CONSOLE, "level": "loud"}]), 400, "invalid_request",
                      "console[1].level"),
    "an argument that is no text": (lambda: stream("console", [{**CONSOLE, "args": ["a", 7]}]), 400, "invalid_request",
                                    "console[0].args[1]"),
    "a status in words": (lambda: stream("network", [{**REQUEST, "status": "200"}]), 400, "invalid_request",
                          "network[0].status"),
    "a header that is a list": (lambda: stream("network", [{**REQUEST, "request": {"headers": {"a": ["b"]}}}]), 400,
                                "invalid_request", "network[0].request.headers[...]"),
    "a body over its limit": (lambda: stream("network", [{**REQUEST, "response": {"body": "x" * 70_000}}]), 400,
                              "invalid_request", "network[0].response.body"),
    "a fractional line": (lambda: stream("errors", [{**ERROR, "frames": [{"url": "x", "line": 1.5}]}]), 400,
                          "invalid_request", "errors[0].frames[0].line"),
    "a huge position": (lambda: stream("errors", [{**ERROR, "seq": 2**63}]), 400, "invalid_request", "errors[0].seq"),
    "a repeat of nothing": (lambda: stream("console", [{**CONSOLE, "repeat": 0}]), 400, "invalid_request",
                            "console[0].repeat"),
    "an unknown part": (lambda: [build_part("cookies", b"[]")], 400, "invalid_request", "cookies"),
    "a part that is a header elsewhere": (lambda: [build_part("idempotency_key", b"abc")], 400, "invalid_request",
                                          "idempotency_key"),
    "the same part twice": (lambda: stream("console", []) * 2, 400, "invalid_request", "console"),
    "an empty attachment": (lambda: [build_part("attachments", b"", file="a.txt")], 400, "invalid_request", None),
    "too many attachments": (lambda: [build_part("attachments", b"x", file="a.txt")] * 21, 400, "invalid_request",
                             "attachments"),
    "a hundred parts": (lambda: [build_part("attachments", b"x", file="a.txt")] * 100, 413, "payload_too_large", None),
}  # fmt: skip

WRONG_ENVELOPES: dict[str, tuple[Json, str]] = {
    "no page": ({"page": None}, "capture.page"),
    "a page without an address": ({"page": {"title": "x"}}, "capture.page.url"),
    "an id that is too short": ({"id": "short"}, "capture.id"),
    "an id with spaces": ({"id": "not a good id"}, "capture.id"),
    "an unknown field": ({"created_by": "usr_1"}, "capture.created_by"),
    "an unknown health": (
        {"health": {**build_envelope()["health"], "console": {"status": "fine"}}},
        "capture.health.console.status",
    ),
    "a negative count": ({"redaction": {"headers": -1}}, "capture.redaction.headers"),
    "a time before time": ({"captured_at": -5}, "capture.captured_at"),
    "a title of two lines": ({"title": "two\nlines"}, "capture.title"),
    "an unknown priority": ({"priority": "huge"}, "capture.priority"),
}


@pytest.fixture(scope="session")
def lesser_tokens(desk: World) -> dict[str, str]:
    """Tokens that may not upload; made beforehand, because making one is an event."""
    return {scope: desk.owner.token(scope) for scope in ("read", "comments")}


@pytest.fixture
def unchanged(desk: World) -> Iterator[World]:
    """A company; after the test the file must hold just what it held before."""
    before = count_stored_rows(desk.box.db)
    yield desk
    assert count_stored_rows(desk.box.db) == before
    assert ok(desk.api.get("/tickets", params={"company_id": desk.company, "status": "all"}))["items"] == []


def capture_part(world: World, **given: object) -> Part:
    """A sound capture part."""
    return build_part("capture", encode_json(build_envelope(project_id=world.project, **given)), "application/json")


@pytest.mark.parametrize("case", REFUSED)
def test_a_bad_part_is_refused(unchanged: World, case: str) -> None:
    build, status, code, field = REFUSED[case]
    problem = expect_error(send_capture(unchanged.api, [capture_part(unchanged), *build()]), status, code)
    if field is not None:
        assert [error["field"] for error in problem["errors"]] == [field]
        assert problem["detail"].startswith(f"{field}: ")
    if status == 415:
        assert problem["valid"] == ["image/png", "image/jpeg", "image/webp"]


@pytest.mark.parametrize("case", WRONG_ENVELOPES)
def test_a_wrong_envelope_names_its_field(unchanged: World, case: str) -> None:
    given, field = WRONG_ENVELOPES[case]
    problem = expect_error(send_capture(unchanged.api, [capture_part(unchanged, **given)]), 400, "invalid_request")
    assert [error["field"] for error in problem["errors"]] == [field]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"[" * 100_000 + b"]" * 100_000, "nested too deeply"),
        (b"{", "invalid JSON"),
        (b"[]", "must be an object"),
        (b"x" * (MIB + 1), "more than 1 MB"),
        (b'{"id": "\xff"}', "invalid JSON"),
    ],
    ids=["deep", "cut", "a list", "too long", "not UTF-8"],
)
def test_malformed_envelope_is_refused(unchanged: World, data: bytes, words: str) -> None:
    answer = send_capture(unchanged.api, [build_part("capture", data, "application/json")])
    assert answer.status_code in (400, 413)
    assert words in answer.json()["detail"]


def test_an_upload_without_its_envelope_is_refused(unchanged: World) -> None:
    problem = expect_error(send_capture(unchanged.api, shot(png())), 400, "invalid_request")
    assert problem["errors"] == [{"field": "capture", "message": "required field is missing"}]


@pytest.mark.parametrize(
    ("kind", "status", "code"),
    [
        ("application/json", 415, "unsupported_media_type"),
        ("multipart/form-data", 415, "unsupported_media_type"),
        ("application/x-www-form-urlencoded", 415, "unsupported_media_type"),
        ("multipart/form-data; boundary=other", 400, "invalid_request"),
    ],
)
def test_body_that_is_not_multipart_is_refused(unchanged: World, kind: str, status: int, code: str) -> None:
    _, body = encode_multipart([capture_part(unchanged)])
    expect_error(unchanged.api.post("/captures", content=body, headers={"Content-Type": kind}), status, code)


@pytest.mark.parametrize("kept", [0.3, 0.7, 0.99])
def test_truncated_multipart_body_is_refused(unchanged: World, kept: float) -> None:
    kind, body = encode_multipart([capture_part(unchanged), *shot(png(400, 300))])
    answer = unchanged.api.post("/captures", content=body[: int(len(body) * kept)], headers={"Content-Type": kind})
    expect_error(answer, 400, "invalid_request")


def test_a_query_on_an_upload_is_refused(unchanged: World) -> None:
    expect_error(unchanged.api.post("/captures?project_id=x", files=[capture_part(unchanged)]), 400, "invalid_request")


def test_more_than_32_megabytes_are_refused_with_length_or_chunked(unchanged: World) -> None:
    kind, body = encode_multipart(
        [capture_part(unchanged), build_part("attachments", os.urandom(33 * MIB), file="big.bin")]
    )
    expect_error(
        unchanged.api.post("/captures", content=body, headers={"Content-Type": kind}), 413, "payload_too_large"
    )

    def chunks() -> Iterator[bytes]:
        for start in range(0, len(body), 64 * 1024):
            yield body[start : start + 64 * 1024]

    answer = unchanged.api.post("/captures", content=chunks(), headers={"Content-Type": kind})
    assert "content-length" not in answer.request.headers
    expect_error(answer, 413, "payload_too_large")


# --- answers before the body


class Wire:
    """A bare connection: it sends raw bytes, and reads one response."""

    def __init__(self, box: Box) -> None:
        parts = urlsplit(box.url)
        self.host = parts.netloc
        self._socket = socket.create_connection((parts.hostname, parts.port), PATIENCE_SECONDS)

    def __enter__(self) -> "Wire":
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def head(self, length: str, token: str | None = None) -> None:
        """Send the head of an upload, and none of its body."""
        lines = [
            "POST /api/v1/captures HTTP/1.1",
            f"Host: {self.host}",
            "Content-Type: multipart/form-data; boundary=x",
            length,
            *([f"Authorization: Bearer {token}"] if token else []),
        ]
        self.send("\r\n".join([*lines, "", ""]).encode())

    def send(self, data: bytes) -> None:
        """Send bytes."""
        self._socket.sendall(data)

    def answer(self) -> tuple[int, Json]:
        """Read the answer's status and problem document."""
        data = b""
        while b"\r\n\r\n" not in data:
            data += self._more()
        head, _, body = data.partition(b"\r\n\r\n")
        length = int(re.search(rb"(?i)content-length: *(\d+)", head)[1])  # type: ignore[index]
        while len(body) < length:
            body += self._more()
        return int(head.split()[1]), json.loads(body)

    def _more(self) -> bytes:
        data = self._socket.recv(65_536)
        assert data, "the connection was closed without an answer"
        return data


@pytest.mark.parametrize("length", ["Content-Length: 30000000", "Transfer-Encoding: chunked"])
@pytest.mark.parametrize(
    ("scope", "status", "code"), [("read", 403, "insufficient_scope"), ("comments", 403, "insufficient_scope"),
                                  ("nobody", 401, "unauthorized")],
)  # fmt: skip
def test_upload_without_permission_is_refused_before_the_body(
    unchanged: World, lesser_tokens: dict[str, str], scope: str, status: int, code: str, length: str
) -> None:
    with Wire(unchanged.box) as wire:
        wire.head(length, lesser_tokens.get(scope))
        answered, problem = wire.answer()
    assert (answered, problem["code"]) == (status, code)
    if code == "insufficient_scope":
        assert problem["scope"] == "tickets:write"


def test_declared_length_over_the_limit_is_refused_before_the_body(unchanged: World, desk_secret: str) -> None:
    with Wire(unchanged.box) as wire:
        wire.head(f"Content-Length: {33 * MIB}", desk_secret)
        status, problem = wire.answer()
    assert (status, problem["code"]) == (413, "payload_too_large")


def test_connection_closes_if_a_client_sends_on_after_a_refusal(unchanged: World) -> None:
    """An endless body must not keep a connection for ever once the answer is given."""
    with Wire(unchanged.box) as wire:
        wire.head("Transfer-Encoding: chunked")
        status, _ = wire.answer()
        assert status == 401
        deadline = time.monotonic() + PATIENCE_SECONDS
        sent = 0
        try:
            while time.monotonic() < deadline and sent < 256 * MIB:
                wire.send(b"10000\r\n" + b"x" * 65_536 + b"\r\n")
                sent += 65_536
        except ConnectionError:
            return
    raise AssertionError(f"{sent // MIB} MiB were taken after the refusal, and the connection was still open")


def test_valid_upload_is_accepted(world: World) -> None:
    """The control: the parts of the refused uploads are valid."""
    before = count_stored_rows(world.box.db)
    sound = [*shot(png()), *stream("console", [CONSOLE]), *stream("network", [REQUEST]), *stream("errors", [ERROR])]
    ok(send_capture(world.api, [capture_part(world), *sound, build_part("attachments", b"x", file="a.txt")]))
    grown = {table: count - before[table] for table, count in count_stored_rows(world.box.db).items()}
    assert (grown["ticket"], grown["capture"], grown["asset"], grown["event"]) == (1, 1, 2, 2)
