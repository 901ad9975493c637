"""Signatures of webhooks (Standard Webhooks 1.0: HMAC-SHA256 over id, time and body)."""

import base64
import hashlib
import hmac
import secrets

_PREFIX = "whsec_"


def new_key() -> bytes:
    """A new webhook's key, from the operating system's randomness."""
    return secrets.token_bytes(32)


def shown(key: bytes) -> str:
    """The key as its receiver is given it: `whsec_…`."""
    return _PREFIX + base64.b64encode(key).decode()


def signed(key: bytes, message_id: str, seconds: int, body: bytes) -> dict[str, str]:
    """The three headers that go with a body; `seconds` is the time of the attempt, since the epoch."""
    mac = hmac.new(key, f"{message_id}.{seconds}.".encode() + body, hashlib.sha256).digest()
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": "v1," + base64.b64encode(mac).decode(),
    }
