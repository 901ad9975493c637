"""Texts beside the corpus of redaction: the first two lists were read while rules were written, the third never.

Their figures are those of the documentation.

A file has one sample on each line, `# ` before a comment and `= ` before the name of a group. In a secret, `{w20}` are
20 letters and digits, `{x…}` hexadecimal, `{d…}` digits, `{l…}` lower-case, `{U…}` upper-case and `{b…}` base64; `{u}`
is a UUID and `{p}` a password as people choose one. All are invented here, and `¦` separates parts of prefixes, so that
no scanner mistakes the file for a leak. `⟪base64:…⟫` and `⟪url3:…⟫` are encoded, by URL three times.
"""

import base64
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from tests.support.redaction_corpus import HARMLESS_LINES, Source
from tests.support.token_formats import DIGITS, HEX, LOWER, UPPER, WORD

_FOLDER = Path(__file__).parent
_ALPHABETS = {"w": WORD, "x": HEX, "d": DIGITS, "l": LOWER + DIGITS, "U": UPPER + "234567", "b": WORD + "+/"}
_SECRET = re.compile(r"\{(?:([wxdlUb])([0-9]+)|(u)|(p))\}")
_ESCAPE = re.compile(r"\\(\\|[ntr]|x[0-9a-f]{2}|u[0-9a-f]{4})")
_ENCODED = re.compile("⟪(base64|url)([0-9]?):(.*?)⟫", re.DOTALL)
_SUBJECTS = [
    "cart",
    "order",
    "invoice",
    "profile",
    "search",
    "product",
    "report",
    "board",
    "label",
    "history",
    "export",
]
_FIELDS: dict[str, Callable[[Source], str]] = {
    "word": lambda source: source.choice(_SUBJECTS),
    "Word": lambda source: source.choice(_SUBJECTS).capitalize(),
    "KEY": lambda source: source.choice(("SHOP", "CORE", "WEB", "OPS")),
    "n": lambda source: str(source.randint(2, 99)),
    "N": lambda source: str(source.randint(100, 99_999)),
    "ms": lambda source: str(1_790_000_000_000 + source.randint(0, 10**9)),
    "zip": lambda source: source.take(5, DIGITS),
    "hex": lambda source: source.take(8, HEX),
    "md": lambda source: source.take(32, HEX),
    "sha": lambda source: source.take(40, HEX),
    "uuid": lambda source: source.uuid(),
    "date": lambda source: f"2026-1{source.randint(0, 2)}-{source.randint(10, 28)}",
    "v": lambda source: f"{source.randint(0, 19)}.{source.randint(0, 30)}.{source.randint(0, 9)}",
}
_FIELD = re.compile(rf"\{{(?:({'|'.join(_FIELDS)})|([dbw])([0-9]+))\}}")


class UnseenSample(NamedTuple):
    """A text with secrets. It is clean if no part of 6 characters of any is left."""

    group: str
    text: str
    secrets: tuple[str, ...]

    def leaves_a_part(self, clean: str) -> bool:
        """Whether a redacted text has a part of one of the secrets."""
        return any(
            secret[start : start + 6] in clean for secret in self.secrets for start in range(max(1, len(secret) - 5))
        )


def list_unseen_secrets(number: int) -> list[UnseenSample]:
    """The samples of a list of secrets."""
    source = Source(100 + number)
    return [UnseenSample(group, *_fill_secrets(source, line)) for group, line in _read_lines(f"secrets_{number}.txt")]


def list_unseen_harmless_lines() -> list[str]:
    """A thousand lines without a secret."""
    source, lines = Source(99), [line for _, line in _read_lines("harmless.txt")]
    found: dict[str, None] = {}
    turn = 0
    while len(found) < HARMLESS_LINES:
        found[_FIELD.sub(lambda match: _fill_field(source, match), _unescape(lines[turn % len(lines)]))] = None
        turn += 1
    return list(found)


def _read_lines(name: str) -> Iterator[tuple[str, str]]:
    group = ""
    for line in (_FOLDER / name).read_text().splitlines():
        if line.startswith("= "):
            group = line[2:]
        elif line and not line.startswith("# "):
            yield group, line


def _fill_secrets(source: Source, line: str) -> tuple[str, tuple[str, ...]]:
    secrets: list[str] = []

    def fill(match: re.Match[str]) -> str:
        kind, length = match[1], int(match[2] or 0)
        value = (
            source.take(length, _ALPHABETS[kind]) if kind else source.uuid() if match[3] else _choose_password(source)
        )
        secrets.append(value)
        return value

    def encode(match: re.Match[str]) -> str:
        kind, times, text = match[1], int(match[2] or 1), match[3]
        if kind == "url":
            for _ in range(times):
                text = quote(text, safe="")
            return text
        encoded = base64.b64encode(text.encode()).decode()
        for index, secret in enumerate(secrets):
            start = text.find(secret)  # the characters that the secret alone decides
            secrets[index] = encoded[-(-start * 4 // 3) + 1 : (start + len(secret)) * 4 // 3 - 1]
        return encoded

    text = _ENCODED.sub(encode, _SECRET.sub(fill, _unescape(line.replace("¦", ""))))
    return text, tuple(secrets)


def _choose_password(source: Source) -> str:
    words = ("maple", "Otter", "river", "Copper", "violin", "Saturn", "walnut", "Ember")
    sign = source.choice("!?.#$*")
    return f"{source.choice(words)}{source.choice('-_+')}{source.choice(words)}{source.randint(10, 99)}{sign}"


def _fill_field(source: Source, match: re.Match[str]) -> str:
    return _FIELDS[match[1]](source) if match[1] else source.take(int(match[3]), _ALPHABETS[match[2]])


def _unescape(line: str) -> str:
    names = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}
    return _ESCAPE.sub(lambda match: names.get(match[1]) or chr(int(match[1][1:], 16)), line)
