"""A capture as large as those of real applications: 2.85 MB of streams with many failures, and a picture of 4.9 MB.

It is the capture with which the sizes of the tools' answers are measured (tests/agents/test_answer_sizes.py).
"""

import json
import random
from typing import Any

from PIL import Image

from tests.support.pictures import encode
from tests.support.server import World, ok

BYTES = 2_850_000
REQUESTS, FAILED = 400, 39
ERRORS, GROUPS = 40, 8
BEGIN = 1_795_253_000_000.0

_WORDS = ("cart", "item", "price", "voucher", "checkout", "session", "render", "update", "total", "shipping", "user")
_METHODS = ("GET", "POST", "PUT", "DELETE")


def create_large_capture(world: World) -> dict[str, str]:
    """Upload the capture to a project that keeps bodies; the receipt."""
    world.owner.web.patch(f"/projects/{world.project}", json={"capture_policy": {"bodies": "on"}}).raise_for_status()
    streams = build_streams()
    health = {name: {"status": "ok", "captured": len(entries)} for name, entries in streams.items()}
    envelope = {
        "id": "large-capture",
        "project_id": world.project,
        "title": "Vouchers are lost when the cart is updated",
        "description": "1. Open the cart\n2. Apply a voucher\n3. Change an amount\n\nThe voucher is gone. " * 20,
        "page": {"url": "https://shop.example/cart?step=2&campaign=winter", "title": "Cart"},
        "environment": {"browser": "Chrome 142.0", "os": "Linux x86_64", "viewport": {"width": 1440, "height": 900}},
        "captured_at": int(BEGIN) + 60_000,
        "health": health,
    }
    parts = {"capture": json.dumps(envelope).encode(), "screenshot": build_screenshot()}
    parts |= {name: json.dumps(entries).encode() for name, entries in streams.items()}
    return ok(world.api.post("/captures", files={name: (name, data) for name, data in parts.items()}))


def build_screenshot() -> bytes:
    """A picture of noise in the size of a large screen: 4.9 MB, which no compression makes smaller."""
    side = (1600, 1020)
    noise = random.Random(5).randbytes(3 * side[0] * side[1])
    return encode(Image.frombytes("RGB", side, noise), "PNG")


def build_streams() -> dict[str, list[dict[str, Any]]]:
    """The entries of the streams: the same at each call."""
    chance = random.Random(15)
    network = [_build_request(chance, number) for number in range(REQUESTS)]
    errors = [_build_error(chance, number) for number in range(ERRORS)]
    console: list[dict[str, Any]] = []
    size = len(json.dumps([network, errors]))
    while size < BYTES:
        console.append(_build_line(chance, len(console)))
        size += len(json.dumps(console[-1])) + 2
    return {"console": console, "network": network, "errors": errors}


def _build_words(chance: random.Random, count: int) -> str:
    return " ".join(f"{chance.choice(_WORDS)}_{chance.randrange(10_000):x}" for _ in range(count))


def _build_record(chance: random.Random, fields: int) -> dict[str, Any]:
    return {f"{chance.choice(_WORDS)}_{number}": chance.randrange(10**9) for number in range(fields)}


def _build_request(chance: random.Random, number: int) -> dict[str, Any]:
    failed = number % 10 == 3 and number < 10 * FAILED
    path = "/".join(chance.choices(_WORDS, k=3))
    body = (
        {"error": _build_words(chance, 12), "trace": _build_words(chance, 60)} if failed else _build_record(chance, 90)
    )
    return {
        "id": f"r{number}",
        "ts": BEGIN + 150 * number,
        "method": chance.choice(_METHODS),
        "url": f"https://shop.example/api/{path}/{number}?session={chance.getrandbits(64):x}",
        "status": (None if number % 100 == 3 else chance.choice([404, 500, 502])) if failed else 200,
        "error": "net::ERR_CONNECTION_RESET" if failed and number % 100 == 3 else None,
        "type": "fetch",
        "duration_ms": chance.random() * 500,
        "initiator": f"https://shop.example/assets/app-{chance.getrandbits(32):x}.js:{number}:17",
        "request": {"headers": _build_headers(chance), "body": json.dumps(_build_record(chance, 20))},
        "response": {"headers": _build_headers(chance), "body": json.dumps(body), "mime": "application/json",
                     "bytes": 4_000},
    }  # fmt: skip


def _build_headers(chance: random.Random) -> dict[str, str]:
    return {f"x-{word}": f"{chance.getrandbits(96):x}" for word in _WORDS} | {"content-type": "application/json"}


def _build_error(chance: random.Random, number: int) -> dict[str, Any]:
    group = number % GROUPS
    stack = [
        {"url": f"https://shop.example/assets/app-5f0c1e3a.js?v={depth}", "function": f"{_WORDS[group]}Step{depth}",
         "line": 100 * group + depth, "column": depth}
        for depth in range(25)
    ]  # fmt: skip
    message = f"Cannot read properties of undefined (reading '{_WORDS[group]}') of item {number}"
    lines = [f"    at {each['function']} ({each['url']}:{each['line']}:{each['column']})" for each in stack]
    return {
        "seq": 10_000 + number,
        "ts": BEGIN + 1_000 * number,
        "kind": "error",
        "name": "TypeError",
        "message": message,
        "stack": "\n".join([f"TypeError: {message}", *lines]),
        "frames": stack,
        "source": f"https://shop.example/assets/app-5f0c1e3a.js:{100 * group}:0",
        "count": 1 + number % 3,
    }


def _build_line(chance: random.Random, number: int) -> dict[str, Any]:
    level = "error" if number % 50 == 7 else "warn" if number % 20 == 3 else "log"
    return {
        "seq": number,
        "ts": BEGIN + 20 * number,
        "level": level,
        "args": [_build_words(chance, 8), json.dumps(_build_record(chance, 12))],
        "stack": f"at log (https://shop.example/assets/app-5f0c1e3a.js:{number}:1)\n" * 3,
        "source": f"https://shop.example/assets/app-5f0c1e3a.js:{number}:1",
    }
