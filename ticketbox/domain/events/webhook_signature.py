"""Signatures of webhooks (Standard Webhooks 1.0: HMAC-SHA256 over id, time and body)."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Iterable

_PREFIX = "whsec_"


def generate_key() -> bytes:
    """A new webhook's key, from the operating system's randomness."""
    return secrets.token_bytes(32)


def format_key(key: bytes) -> str:
    """The key as its receiver is given it: `whsec_…`."""
    return _PREFIX + base64.b64encode(key).decode()


def build_signature_headers(keys: Iterable[bytes], message_id: str, seconds: int, body: bytes) -> dict[str, str]:
    """The three headers that go with a body, with a signature by each key.

    `seconds` is the time of the attempt, since the epoch.
    """
    content = f"{message_id}.{seconds}.".encode() + body
    macs = [hmac.new(key, content, hashlib.sha256).digest() for key in keys]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": " ".join("v1," + base64.b64encode(mac).decode() for mac in macs),
    }
