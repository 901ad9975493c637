"""Names whose values are secret: of keys, query parameters and headers (docs/use/captures.md, "Redaction")."""

import re
from enum import Enum
from functools import lru_cache

from ticketbox.domain.captures.redaction.rules import RULES

_NAMES = RULES.names
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


class KeyKind(Enum):
    """How a key's name decides about its value; see `is_secret_value`."""

    OWN = "a name among the project's rules"
    STRONG = "a password's"
    SECRET = "contains a secret's name"  # noqa: S105
    LAST = "ends in a secret's name"
    DIGIT = "a secret's if the value has a digit"
    QUERY = "a secret's as a query parameter"
    RANDOM = "a secret's if the value looks random"


def is_harmless_header(name: str) -> bool:
    """Whether a header's value is harmless, by its lower-case name; others are redacted."""
    return name in RULES.headers.harmless or name.startswith(RULES.headers.harmless_prefixes)


def normalize_name(name: str) -> str:
    """Normalize case and separators: `Customer-Ref`, `customerRef` and `customer_ref` become equal."""
    return "".join(filter(str.isalnum, name)).lower()


@lru_cache(maxsize=8192)
def classify_key(key: str, *, in_query: bool) -> KeyKind | None:
    """Return how a key's name says that its value is secret, or None.

    `in_query`: the key is the name of a query parameter.
    """
    words = [word.lower() for word in _WORDS.findall(key)]
    while len(words) > 1 and words[-1].isdigit():
        words.pop()
    is_harmless = bool(words) and words[-1] in _NAMES.harmless_last
    while len(words) > 1 and (words[-1].isdigit() or words[-1] in _NAMES.qualifiers):
        words.pop()
    last, before, whole = words[-1] if words else "", words[-2] if len(words) > 1 else "", "".join(words)
    name = normalize_name(key)
    for harmless in _NAMES.harmless:
        name = name.replace(harmless, "")
    kind = None
    if is_harmless:
        pass
    elif any(part in name for part in _NAMES.contain):
        kind = KeyKind.STRONG if any(part in name for part in _NAMES.strong) else KeyKind.SECRET
    elif last in _NAMES.need_digit or f"{before} {last}" in _NAMES.need_digit:
        kind = KeyKind.DIGIT
    elif last in _NAMES.last:
        kind = KeyKind.STRONG if last in _NAMES.strong else KeyKind.LAST
    elif in_query and whole in _NAMES.query:
        kind = KeyKind.QUERY
    elif (last == "id" and before in _NAMES.last) or (in_query and whole in _NAMES.query_random):
        kind = KeyKind.RANDOM
    elif last in _NAMES.random or (last.endswith("key") and last not in _NAMES.not_keys):
        kind = None if before in _NAMES.random_not_after else KeyKind.RANDOM
    return kind
