"""Captures for the tests of the capture viewer."""

import gzip
import io
from typing import Any

from PIL import Image, ImageDraw

from tests.e2e.support.devtools_recorder import Json
from tests.e2e.support.uploads import EMPTY, build_envelope, build_part, encode_json, send_capture
from tests.support.server import World, ok

START = 1_760_000_000_000
WIDTH, HEIGHT = 800, 500


def picture() -> bytes:
    """A screenshot whose colours depend on the position."""
    image = Image.new("RGB", (WIDTH, HEIGHT), (250, 250, 250))
    draw = ImageDraw.Draw(image)
    for left in range(0, WIDTH, 100):
        draw.rectangle((left, 0, left + 49, HEIGHT), fill=(200, 220, left // 4))
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def line(seq: int, level: str, *args: str, **more: Any) -> Json:
    """A console line, at a tenth of a second per number."""
    return {"seq": seq, "ts": START + seq * 100, "level": level, "args": list(args), **more}


def request(number: int, url: str, status: int | None = 200, **more: Any) -> Json:
    """A request, at a tenth of a second per number."""
    defaults = {"method": "GET", "type": "fetch", "duration_ms": 40 + number}
    return {"id": f"r{number}", "ts": START + number * 100, "url": url, "status": status, **defaults, **more}


def failure(seq: int, message: str, **more: Any) -> Json:
    """An uncaught error."""
    return {"seq": seq, "ts": START + seq * 100, "kind": "error", "name": "TypeError", "message": message, **more}


def action(seq: int, kind: str, **more: Any) -> Json:
    """Something that the person did, at a tenth of a second per number."""
    return {"seq": seq, "ts": START + seq * 100, "kind": kind, **more}


def capture_on(world: World, **given: Any) -> dict[str, str]:
    """A capture on a new ticket, or on that of `ticket_id`.

    `console`, `network`, `errors` and `actions` are its streams, `replay` the events of its replay, the rest its facts.
    """
    replay = given.pop("replay", None)
    streams = {name: given.pop(name, []) for name in ("console", "network", "errors", "actions")}
    health = {
        **{name: {**EMPTY, "captured": len(entries)} for name, entries in streams.items()},
        "page_loaded_at": START,
        "history_started_at": START,
        **given.pop("health", {}),
    }
    place = {} if "ticket_id" in given else {"project_id": world.project}
    facts = build_envelope(health=health, captured_at=START + 60_000, **place, **given)
    parts = [
        build_part("capture", encode_json(facts), "application/json"),
        build_part("screenshot", picture(), "image/png", "shot.png"),
        *(build_part(name, encode_json(entries), "application/json") for name, entries in streams.items()),
        *([] if replay is None else [build_part("replay", gzip.compress(encode_json(replay)))]),
    ]
    answer = send_capture(world.api, parts)
    return {"id": ok(answer)["ticket_id"], "capture_id": answer.json()["capture_id"]}
