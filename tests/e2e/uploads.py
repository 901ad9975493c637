"""Sending captures as a client does, and looking into the file for what was stored."""

import gzip
import json
import secrets
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx

from tests.e2e.devtools_recorder import Json, Recording

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Part = tuple[str, tuple[str | None, bytes, str]]

EMPTY = {"status": "ok", "reason": None, "captured": 0, "dropped": 0}
COUNTED = ("ticket", "capture", "asset", "event", "blob", "byline", "idempotency")


def build_envelope(**given: Any) -> Json:
    """A capture's JSON part with a client id of its own; what is given replaces or adds."""
    return {
        "id": secrets.token_hex(16),
        "page": {"url": "https://shop.example/cart", "title": "Cart", "referrer": None},
        "captured_at": 1_760_000_000_000,
        "health": {"console": dict(EMPTY), "network": dict(EMPTY), "errors": dict(EMPTY)},
        **given,
    }


def encode_json(value: object) -> bytes:
    """JSON in UTF-8, with lone surrogates and all else as escapes."""
    return json.dumps(value).encode()


def build_part(name: str, data: bytes, kind: str = "application/octet-stream", file: str | None = None) -> Part:
    """One part of a multipart body."""
    return name, (file, data, kind)


def build_parts(recording: Recording, *, compressed: bool = False, **given: Any) -> list[Part]:
    """A recording as the parts of an upload."""
    pack = gzip.compress if compressed else bytes
    return [
        build_part("capture", encode_json(build_envelope(**recording.facts, **given)), "application/json"),
        build_part("screenshot", recording.screenshot, "image/png", "shot.png"),
        *(
            build_part(name, pack(encode_json(entries)), "application/json")
            for name, entries in recording.streams.items()
        ),
    ]


def send_capture(client: httpx.Client, parts: list[Part]) -> httpx.Response:
    """Post an upload."""
    return client.post("/captures", files=parts)


def encode_multipart(parts: list[Part]) -> tuple[str, bytes]:
    """The content type and the body that an upload has on the wire."""
    request = httpx.Request("POST", "http://x/", files=parts)
    return request.headers["content-type"], request.read()


def read_all_entries(client: httpx.Client, path: str, limit: int = 3) -> list[Json]:
    """A whole stream, read in small pages."""
    found: list[Json] = []
    cursor: dict[str, str] = {}
    while True:
        answer = client.get(path, params={"limit": limit, **cursor})
        assert answer.status_code == 200, answer.text
        page = answer.json()
        assert len(page["items"]) <= limit
        found += page["items"]
        if page["next_cursor"] is None:
            assert page["total"] == page["matched"] == len(found)
            return found
        cursor = {"cursor": page["next_cursor"]}


def query_rows(db: Path, sql: str, *values: object) -> list[tuple[Any, ...]]:
    """Rows of the server's file, read beside it."""
    with closing(sqlite3.connect(f"{db.absolute().as_uri()}?mode=ro", uri=True, timeout=10)) as connection:
        return connection.execute(sql, values).fetchall()


def count_stored_rows(db: Path) -> dict[str, int]:
    """How much there is of everything that an upload can leave behind."""
    return {table: query_rows(db, f"SELECT count(*) FROM {table}")[0][0] for table in COUNTED}


def read_stored_bytes(db: Path) -> Iterator[bytes]:
    """Every byte that stands in the file or its log, and every packed stream unpacked."""
    for file in (db, db.with_name(db.name + "-wal")):
        if file.exists():
            yield file.read_bytes()
    for encoding, data in query_rows(db, "SELECT encoding, data FROM blob"):
        yield zstd.decompress(data) if encoding == "zstd" else data
