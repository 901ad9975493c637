"""Secrets of credentials: generated, recognised and hashed (docs/operate/security.md).

A secret is `tok_`, 30 base-62 characters (178 random bits) and 6 that encode their CRC-32, so that typing
errors and false positives of secret scanners are recognised without a query. Only a SHA-256 is stored: with
178 random bits, a slow hash would add only latency. Other secrets have the same form and another prefix.
"""

import hashlib
import re
import secrets
import zlib
from string import ascii_lowercase, ascii_uppercase, digits

from ticketbox.domain.core.ids import ALPHABET

PREFIX = "tok_"
MAIL_PREFIX = "mbx_"
GIT_ADDRESS_PREFIX = "githook_"
GIT_KEY_PREFIX = "gitkey_"
REPORT_KEY_PREFIX = "pub_"
IDENTITY_PREFIX = "idkey_"
RECEIPT_PREFIX = "rcpt_"
VISIBLE_LENGTH = len(PREFIX) + 6

_BASE62 = digits + ascii_uppercase + ascii_lowercase
_RANDOM_LENGTH = 30
_CHECK_LENGTH = 6
_SECRET = re.compile(rf"(?=({PREFIX}[0-9A-Za-z]{{{_RANDOM_LENGTH + _CHECK_LENGTH}}}))")


def generate_secret(prefix: str = PREFIX) -> str:
    """Generate a secret from the operating system's random numbers."""
    body = "".join(secrets.choice(_BASE62) for _ in range(_RANDOM_LENGTH))
    return prefix + body + _compute_checksum(body)


def derive_secret(prefix: str, *sources: str) -> str:
    """Derive a secret that is the same for the same texts, of which one is random."""
    number = int.from_bytes(hashlib.sha256("\0".join(sources).encode()).digest(), "big")
    body = ""
    for _ in range(_RANDOM_LENGTH):
        number, digit = divmod(number, len(_BASE62))
        body += _BASE62[digit]
    return prefix + body + _compute_checksum(body)


def generate_mail_key() -> str:
    """Generate the key in a person's mails that lets them confirm or stop mail (130 random bits)."""
    return MAIL_PREFIX + "".join(ALPHABET[byte & 31] for byte in secrets.token_bytes(26))


def is_well_formed(secret: str, prefix: str = PREFIX) -> bool:
    """Whether the text has a secret's prefix, length and checksum."""
    body, check = secret[len(prefix) : -_CHECK_LENGTH], secret[-_CHECK_LENGTH:]
    return (
        len(secret) == len(prefix) + _RANDOM_LENGTH + _CHECK_LENGTH
        and secret.startswith(prefix)
        and secret.isascii()
        and check == _compute_checksum(body)
    )


def contains_secret(text: str) -> bool:
    """Whether a text contains a whole secret; `tiktok_ads` and `tok_visa` are none."""
    return any(is_well_formed(match[1]) for match in _SECRET.finditer(text))


def hash_secret(secret: str) -> bytes:
    """Hash a secret with SHA-256, for the database."""
    return hashlib.sha256(secret.encode()).digest()


def _compute_checksum(body: str) -> str:
    figure, text = zlib.crc32(body.encode()), ""
    for _ in range(_CHECK_LENGTH):
        figure, digit = divmod(figure, 62)
        text = _BASE62[digit] + text
    return text
