"""Signatures of webhooks (Standard Webhooks 1.0: HMAC-SHA256 over id, time and body)."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Iterable

_PREFIX = "whsec_"


def generate_key() -> bytes:
    """Generate a webhook's key from the operating system's random numbers."""
    return secrets.token_bytes(32)


def format_key(key: bytes) -> str:
    """Format a key for its receiver: `whsec_…`."""
    return _PREFIX + base64.b64encode(key).decode()


def build_signature_headers(keys: Iterable[bytes], message_id: str, seconds: int, body: bytes) -> dict[str, str]:
    """Build the three headers of a body, with a signature by each key.

    `seconds` is the time of the attempt, since the epoch.
    """
    content = f"{message_id}.{seconds}.".encode() + body
    macs = [hmac.new(key, content, hashlib.sha256).digest() for key in keys]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": " ".join("v1," + base64.b64encode(mac).decode() for mac in macs),
    }
