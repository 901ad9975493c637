"""What browsers and repositories send in the demo: the parts of captures, and signed deliveries of git hooks."""

import hashlib
import hmac
from typing import Any

import msgspec

from ticketbox.demo.dataset import DemoCapture, read_capture, read_replay, read_screenshot
from ticketbox.domain.captures.capture import HealthStatus, Stream, StreamHealth
from ticketbox.domain.core.clock import format_rfc3339
from ticketbox.domain.git.signatures import Provider, Signature


def build_capture_parts(name: str, fields: dict[str, Any], now: int) -> dict[str, Any]:
    """Return the parts of a capture as the extension sends them. `now` is the capture's time."""
    capture = read_capture(name)
    loaded_at = now - capture.captured_at
    for entry in (*capture.console, *capture.network, *capture.errors, *capture.actions):
        entry.ts += loaded_at
    envelope = {
        "id": f"demo-capture-{name}",
        "page": capture.page,
        "environment": capture.environment,
        "captured_at": float(now),
        "health": {
            **{stream.value: _build_stream_health(capture, stream) for stream in Stream},
            "page_loaded_at": loaded_at,
            "history_started_at": loaded_at + capture.history_started_at,
        },
        **fields,
    }
    streams = {stream.value: msgspec.json.encode(getattr(capture, stream)) for stream in Stream}
    replay = [event | {"timestamp": event["timestamp"] + loaded_at} for event in read_replay(name)]
    sent = {"replay": msgspec.json.encode(replay)} if replay else {}
    return {"capture": msgspec.to_builtins(envelope), "screenshot": read_screenshot(name), **streams, **sent}


def _build_stream_health(capture: DemoCapture, stream: Stream) -> StreamHealth:
    health = capture.health.get(stream, StreamHealth(HealthStatus.OK))
    return msgspec.structs.replace(health, captured=len(getattr(capture, stream)))


class HookAddress(msgspec.Struct, frozen=True):
    """Where a repository delivers to, and what it signs with."""

    address: str
    secret: str


def build_delivery(hook: HookAddress, payload: dict[str, Any], key: str, now: int) -> dict[str, Any]:
    """Return a delivery of GitHub about a ticket, as the repository's webhook sends it at a time."""
    at = format_rfc3339(now)
    dated = {name: value | {"updated_at": at} if name in _DATED else value for name, value in payload.items()}
    body = msgspec.json.encode(dated).replace(b"{key}", key.encode())
    digits = hmac.new(hook.secret.encode(), body, hashlib.sha256).hexdigest()
    return {"address": hook.address, "signature": Signature(Provider.GITHUB, digits), "body": body}


_DATED = ("pull_request", "check_suite")
