"""The rules of redaction, which the server and the extension share: rules.json.

Its regular expressions use only what Python and JavaScript have in common, and fail or succeed within a fixed number
of characters of where they start.
"""

import re
from pathlib import Path

import msgspec


class Names(msgspec.Struct, frozen=True):
    """Names of keys whose values are secret."""

    contain: list[str]
    last: frozenset[str]
    query: frozenset[str]
    query_random: frozenset[str]
    random: frozenset[str]
    random_not_after: frozenset[str]
    not_keys: frozenset[str]
    qualifiers: frozenset[str]
    harmless: list[str]
    harmless_last: frozenset[str]
    strong: list[str]
    need_digit: frozenset[str]
    whole_line: frozenset[str]
    stems: str
    weak: str


class Headers(msgspec.Struct, frozen=True):
    """Names of headers."""

    removed: frozenset[str]
    harmless: frozenset[str]
    harmless_prefixes: tuple[str, ...]


class Values(msgspec.Struct, frozen=True):
    """What is no secret, although its key has a secret's name."""

    harmless: frozenset[str]
    placeholder: str
    message: str
    prose: frozenset[str]
    word: str
    scheme_prose: frozenset[str]
    random: str
    loose: str
    figure: str
    pseudo: str
    unfilled: str
    block: str
    flags: str
    schema: str
    program: str


class Format(msgspec.Struct, frozen=True):
    """A format of secrets. Every match contains one of `marks` in lower case; `kept`: group 1 stays.

    `gate` is what a text with it contains, if the pattern itself is no good gate (gates.py).
    """

    name: str
    marks: list[str]
    pattern: str
    kept: bool = False
    gate: str = ""


class Span(msgspec.Struct, frozen=True):
    """A name and its value, by the numbers of their groups in a lower-case text.

    Without `value`, the value follows, `quote` is the group of the quotes around names. `loose`: the name alone says
    little, so only a value that looks like a secret is one.
    """

    pattern: str
    name: int
    value: int = 0
    quote: int = 0
    loose: bool = False


class Prose(msgspec.Struct, frozen=True):
    """Words that announce a secret (group 1 of a lower-case text), and what the secret must look like."""

    pattern: str
    value: str


class PairGates(msgspec.Struct, frozen=True):
    """What a text has with a name and a value that aren't joined by a sign, if its names don't show it."""

    labels: tuple[str, ...]
    rare: tuple[str, ...]


class Pairs(msgspec.Struct, frozen=True):
    """Names and values that aren't joined by a sign; `labels` are parts of the names of columns and labels."""

    spans: tuple[Span, ...]
    tag: str
    attribute: str
    naming: frozenset[str]
    valued: frozenset[str]
    prose: tuple[Prose, ...]
    labels: str
    gates: PairGates


class Rules(msgspec.Struct, frozen=True):
    """The contents of rules.json."""

    names: Names
    headers: Headers
    values: Values
    formats: list[Format]
    card: str
    iban: str
    email: str
    pairs: Pairs


RULES = msgspec.json.decode(Path(__file__).with_name("rules.json").read_bytes(), type=Rules)


def compile_rule(pattern: str) -> re.Pattern[str]:
    """Compile a pattern of the rules with the meaning that it has in JavaScript."""
    return re.compile(pattern, re.ASCII)


def lower_text(text: str) -> str:
    """Return a text in lower case, of the same length."""
    lowered = text.lower()
    # U+0130 alone grows when it is lowered; positions in both texts must agree
    return lowered if len(lowered) == len(text) else text.replace("İ", "i").lower()
