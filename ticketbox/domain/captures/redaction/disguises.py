"""Undoes what hides the letters of a name: escapes, invisible characters, and letters that look like others."""

import base64
import re
from collections.abc import Callable

from ticketbox.domain.captures.redaction.secret_values import REDACTED

_ESCAPED = re.compile(r"(?:%(?:25){0,3}|\\{1,32}u00)(3\d|[46][1-9a-f]|[57][0-9a]|2[de]|5f)", re.IGNORECASE)
_ENTITY = re.compile(r"&#(?:([0-9]{2,3})|x([0-9a-f]{2}));", re.IGNORECASE)
_INVISIBLE = re.compile("(?<=[A-Za-z0-9])[\u00ad\u200b-\u200f\u2060\ufeff]{1,8}(?=[A-Za-z0-9])")
_WIDE = re.compile("[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]+")
_ENCODED = re.compile(r"(?<![A-Za-z0-9+/_-])eyJ[A-Za-z0-9+/_-]{16,16384}(?![A-Za-z0-9+/_-])={0,2}")
_LETTERS = "A-Za-z\u0370-\u052f"
_URL_SAFE = str.maketrans("-_", "+/")
_MIXED = re.compile(f"(?<![{_LETTERS}])(?:[A-Za-z]+[\u0370-\u052f]|[\u0370-\u052f]+[A-Za-z])[{_LETTERS}]*")
_ALIKE = str.maketrans(
    "асеорхуѕіјԁһкмтвнАВЕКМНОРСТХУІЅЈαορνικτΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "aceopxysijdhkmtbhABEKMHOPCTXYISJaopviktABEZHIKMNOPTYX"
)


def unmask(text: str) -> str:
    """Return a text with letters and digits as they look."""
    if "%" in text or "\\u00" in text:
        text = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)
    if "&#" in text:
        text = _ENTITY.sub(_read_entity, text)
    if not text.isascii():
        text = _INVISIBLE.sub("", text)
        text = _WIDE.sub(lambda match: "".join(chr(ord(each) - 0xFEE0) for each in match[0]), text)
        text = _MIXED.sub(_read_mixed, text)
    return text


def redact_encoded(text: str, holds_secret: Callable[[str], bool]) -> tuple[str, int]:
    """Redact objects in base64 that hold a secret; return their number."""
    hits = 0

    def redact(match: re.Match[str]) -> str:
        nonlocal hits
        bare = match[0].translate(_URL_SAFE).rstrip("=")
        decoded = base64.b64decode(bare[: len(bare) // 4 * 4]).decode("latin-1")
        if not holds_secret(decoded):
            return match[0]
        hits += 1
        return REDACTED

    return _ENCODED.sub(redact, text), hits


def _read_mixed(match: re.Match[str]) -> str:
    """Read a word of letters of two scripts as Latin, if all of its letters look so."""
    word = match[0].translate(_ALIKE)
    return word if word.isascii() else match[0]


def _read_entity(match: re.Match[str]) -> str:
    letter = chr(int(match[1]) if match[1] else int(match[2], 16))
    return letter if letter.isascii() and (letter.isalnum() or letter in "-_.") else match[0]
