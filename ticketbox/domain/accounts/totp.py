"""Codes of authenticator apps (RFC 6238: SHA-1, 6 digits, 30 seconds), and recovery codes."""

import base64
import hmac
import re
import secrets
from urllib.parse import quote, urlencode

from ticketbox.domain.core.ids import ALPHABET

STEP_MS = 30_000
DIGITS = 6
DRIFT = 1  # steps that the clock of a phone may be wrong (RFC 6238, 5.2)
SECRET_BYTES = 20
RECOVERY_CODES = 10
RECOVERY_CHARACTERS = 16  # 80 random bits

_CODE = re.compile(rf"[0-9]{{{DIGITS}}}")


def generate_totp_secret() -> bytes:
    """Generate the secret that an authenticator app and the server share."""
    return secrets.token_bytes(SECRET_BYTES)


def encode_totp_secret(secret: bytes) -> str:
    """Return a secret as people type it into an app: base 32."""
    return base64.b32encode(secret).decode()


def build_totp_uri(secret: bytes, email: str, issuer: str) -> str:
    """Build the address in the QR code, which authenticator apps read (Key URI format)."""
    label = quote(f"{issuer}:{email}", safe="@:")
    query = {"secret": encode_totp_secret(secret), "issuer": issuer}
    return f"otpauth://totp/{label}?{urlencode(query, quote_via=quote)}"


def compute_code(secret: bytes, step: int) -> str:
    """Compute the code of a time step (RFC 4226, 5.3)."""
    digest = hmac.digest(secret, step.to_bytes(8, "big"), "sha1")
    start = digest[-1] & 15
    figure = int.from_bytes(digest[start : start + 4], "big") & 0x7FFFFFFF
    return str(figure % 10**DIGITS).zfill(DIGITS)


def find_step(secret: bytes, code: str, now: int, after: int) -> int | None:
    """Find the time step of a code, only steps after the last one that was used; `now` in epoch milliseconds."""
    if not is_totp_code(code):
        return None
    current = now // STEP_MS
    found = None
    for step in range(current - DRIFT, current + DRIFT + 1):
        if hmac.compare_digest(compute_code(secret, step), code) and step > after:
            found = step
    return found


def is_totp_code(code: str) -> bool:
    """Whether a code has the form of an authenticator app's; otherwise it is a recovery code."""
    return _CODE.fullmatch(code) is not None


def normalize_code(text: str) -> str:
    """Remove what people type between the characters of a code."""
    return re.sub(r"[\s-]", "", text).lower()


def generate_recovery_codes() -> list[str]:
    """Generate the codes that sign in once each when the app is lost."""
    codes = ("".join(secrets.choice(ALPHABET) for _ in range(RECOVERY_CHARACTERS)) for _ in range(RECOVERY_CODES))
    return ["-".join(code[at : at + 4] for at in range(0, RECOVERY_CHARACTERS, 4)) for code in codes]
