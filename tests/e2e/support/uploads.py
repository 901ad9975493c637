"""Uploads of captures, and what the server stored of them."""

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

from tests.e2e.support.devtools_recorder import Json, Recording

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Part = tuple[str, tuple[str | None, bytes, str]]

EMPTY = {"status": "ok", "reason": None, "captured": 0, "dropped": 0}
TABLES = ("ticket", "capture", "asset", "event", "blob", "byline", "idempotency")


def build_envelope(**given: Any) -> Json:
    """The JSON part of a capture, with a random id. The arguments replace or add fields."""
    return {
        "id": secrets.token_hex(16),
        "page": {"url": "https://shop.example/cart", "title": "Cart", "referrer": None},
        "captured_at": 1_760_000_000_000,
        "health": {"console": dict(EMPTY), "network": dict(EMPTY), "errors": dict(EMPTY)},
        **given,
    }


def encode_json(value: object) -> bytes:
    """Encode as JSON, with every character outside ASCII escaped, lone surrogates too."""
    return json.dumps(value).encode()


def build_part(name: str, data: bytes, kind: str = "application/octet-stream", file: str | None = None) -> Part:
    """Build one part of a multipart body."""
    return name, (file, data, kind)


def build_parts(recording: Recording, *, compressed: bool = False, **given: Any) -> list[Part]:
    """Build the parts of an upload from a recording."""
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
    """Upload a capture."""
    return client.post("/captures", files=parts)


def encode_multipart(parts: list[Part]) -> tuple[str, bytes]:
    """The content type and body of an upload as they are sent."""
    request = httpx.Request("POST", "http://x/", files=parts)
    return request.headers["content-type"], request.read()


def read_all_entries(client: httpx.Client, path: str, limit: int = 3) -> list[Json]:
    """Read a whole stream in small pages."""
    result: list[Json] = []
    cursor: dict[str, str] = {}
    while True:
        answer = client.get(path, params={"limit": limit, **cursor})
        assert answer.status_code == 200, answer.text
        page = answer.json()
        assert len(page["items"]) <= limit
        result += page["items"]
        if page["next_cursor"] is None:
            assert page["total"] == page["matched"] == len(result)
            return result
        cursor = {"cursor": page["next_cursor"]}


def query_rows(db: Path, sql: str, *values: object) -> list[tuple[Any, ...]]:
    """Query the server's database while it runs."""
    with closing(sqlite3.connect(f"{db.absolute().as_uri()}?mode=ro", uri=True, timeout=60)) as connection:
        return connection.execute(sql, values).fetchall()


def count_stored_rows(db: Path) -> dict[str, int]:
    """Count the rows of every table that an upload writes."""
    return {table: query_rows(db, f"SELECT count(*) FROM {table}")[0][0] for table in TABLES}


def read_stored_bytes(db: Path) -> Iterator[bytes]:
    """Every byte of the database file and its write-ahead log, and every compressed stream decompressed."""
    for file in (db, db.with_name(db.name + "-wal")):
        if file.exists():
            yield file.read_bytes()
    for encoding, data in query_rows(db, "SELECT encoding, data FROM blob"):
        yield zstd.decompress(data) if encoding == "zstd" else data
