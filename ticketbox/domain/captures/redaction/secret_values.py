"""Finds the value of a secret key in a text, in plain text, JSON, forms and URLs, through layers of escaping.

Every pattern here either fails within a fixed number of characters or consumes what it read: a value without quotes
is judged by its first 600 characters, and the rest is read only if it is redacted.
"""

import re
import sys
from functools import lru_cache

from ticketbox.domain.captures.redaction.rules import RULES, compile_rule
from ticketbox.domain.captures.redaction.secret_names import KeyKind, normalize_name

REDACTED = "[redacted]"
QUOTE = r"(?:\\{0,32}+(?:[\"'`]|u002[27])|%(?:25){0,3}2[27]|&quot;|&#3[49];)"

_VALUES = RULES.values
_PLACEHOLDER = compile_rule(_VALUES.placeholder)
_WORD = compile_rule(_VALUES.word)
_RANDOM = compile_rule(_VALUES.random)
_LETTERS = re.compile(r"[a-zа-яё]+")
_DIGIT = re.compile(r"[0-9]")
_MESSAGE = compile_rule(_VALUES.message)
_FIRST_WORD = re.compile(r"[a-zа-яё']{1,16}(?=[\s.,:;!?]|$)")
_OPENING = re.compile(QUOTE, re.IGNORECASE)
_QUOTES = re.compile(r"(?<!\\)(\\*)([\"'`])")
_NESTING = re.compile(r"(?<!\\)(\\*)([\"'`])|[\[\]{}]")
_PIECE = r"(?:[^\s&\"'`<>\\,;)\]}]++|[,;)\]}](?![\s,;)\]}\"'`<>&\\]|$)|[\"'`](?=\w)|\\(?![\s\"'`\\nrtu]|$))"
# Before 3.11.5, `re` continues in a branch of such a group that failed (tests/test_regular_expressions.py).
_BARE = re.compile(f"{_PIECE}++" if sys.version_info >= (3, 11, 5) else f"(?>{_PIECE}+)")
_LINE = re.compile(r"[^\r\n\"<>\\]+")
_MAX_JUDGED = 600
_MORE_WORDS = re.compile(r"(?: (?![A-Za-z0-9_.-]{1,40} ?[=:])[^\s\"'`<>\\&,;{}()\[\]|=:]+){1,24}")
_FIRST_STRING = re.compile(r"\[[ \t\r\n]{0,40}\\{0,32}[\"']([^\"'\\]{1,200} [^\"'\\]{1,200})")
_SCALAR = (KeyKind.DIGIT, KeyKind.QUERY, KeyKind.RANDOM)


def is_harmless_value(value: str) -> bool:
    """Whether a value is empty, a constant, a placeholder or redacted."""
    value = value.strip()
    return value.lower() in _VALUES.harmless or bool(_PLACEHOLDER.match(value))


def is_prose(value: str) -> bool:
    """Whether a value is a message about a secret: `must be …`, or text in ideographs."""
    value = value.strip().lower()
    first = _FIRST_WORD.match(value)
    return bool((first and first[0] in _VALUES.prose) or _MESSAGE.match(value))


@lru_cache(maxsize=4096)
def is_secret_value(value: str, kind: KeyKind, name: str) -> bool:
    """Whether a value is secret, by the kind and the normalized name of its key."""
    value = value.strip()
    if is_harmless_value(value):
        return False
    has_digit = bool(_DIGIT.search(value))
    if value.isdigit() and value.isascii():
        least = 4 if name in ("pass", "sid") else 3
        if len(value) < least or (name.endswith("tokens") and len(value) < 12):
            return False
    match kind:
        case KeyKind.STRONG | KeyKind.SECRET:
            return not is_prose(value)
        case KeyKind.LAST:
            return not _WORD.match(value) and not (is_prose(value) and " " in value)
        case KeyKind.DIGIT:
            return has_digit
        case KeyKind.QUERY:
            return has_digit and len(value) >= (12 if name == "code" else 8)
        case KeyKind.RANDOM:
            return bool(_RANDOM.match(value))
        case KeyKind.OWN:
            return True


def find_value(text: str, start: int, key: str, quote: str, sign: str, kind: KeyKind) -> tuple[int, int, str] | None:
    """Find where the value starts and ends, and its replacement; None to keep it."""
    while text[start : start + 1] in (" ", "\t", "\u3000") and start < len(text):
        start += 1
    is_spaced = text[start - 1] in " \t\u3000"
    name = normalize_name(key)
    if opening := _OPENING.match(text, start):
        start = opening.end()
        end = _find_closing_quote(text, start, opening[0])
        return (start, end, REDACTED) if is_secret_value(text[start:end], kind, name) else None
    replacement = REDACTED if sign.isspace() else f"{quote}{REDACTED}{quote}"
    plain = _LINE if not quote and name in RULES.names.whole_line else _BARE
    if text.startswith(REDACTED, start):
        end = _find_end(plain, text, start + len(REDACTED))
        return (start, end, replacement) if end > start + len(REDACTED) else None
    if text[start : start + 1] in ("{", "["):
        if kind in _SCALAR or text.startswith("{{", start) or _is_message_list(text, start):
            return None
        end = _find_nested_end(text, start, quote)
        return start, end if quote else _find_end(plain, text, end), replacement
    judged_end = min(_find_end(plain, text, start, start + _MAX_JUDGED + 1), start + _MAX_JUDGED)
    bare = text[start:judged_end]
    if not bare or not is_secret_value(bare, kind, name):
        return None
    value = bare.strip().lower()
    if value.startswith("(") and kind is not KeyKind.STRONG:
        return None  # "signature: (a: number) => void"
    # "token: expired" is a message about a token, not a token
    if is_spaced and not quote and kind is not KeyKind.STRONG and len(value) <= 16 and _LETTERS.fullmatch(value):
        return None
    end = _find_end(plain, text, judged_end)
    more = _MORE_WORDS.match(text, end) if is_spaced and not quote and kind is KeyKind.STRONG else None
    return start, more.end() if more else end, replacement


def _find_end(plain: re.Pattern[str], text: str, start: int, limit: int = sys.maxsize) -> int:
    """Find where a value without quotes ends that reaches at least to `start`."""
    match = plain.match(text, start, limit)
    return match.end() if match else start


def _is_message_list(text: str, start: int) -> bool:
    """Whether an array begins with a sentence, as the faults of a form's field do."""
    match = _FIRST_STRING.match(text, start)
    return bool(match) and is_prose(match[1])


def _find_closing_quote(text: str, start: int, opening: str) -> int:
    """Find where a quoted value ends. Each layer of JSON doubles the backslashes before a quote."""
    mark = opening[-1]
    if mark not in "\"'`":
        end = text.find(opening, start)
        return len(text) if end < 0 else end
    layer = len(opening)  # one more than its backslashes
    for match in _QUOTES.finditer(text, start):
        backslashes = len(match[1])
        if match[2] == mark and backslashes % (2 * layer) < layer:
            return match.end() - 1 - backslashes % (2 * layer)
    return len(text)


def _find_nested_end(text: str, start: int, quote: str) -> int:
    """Find where an object or array ends; the end of the text if it was cut."""
    layer = len(quote) if quote[-1:] in ("'", '"') else 1
    marks = '"' if quote.endswith('"') else "\"'`"
    depth, position = 0, start
    while match := _NESTING.search(text, position):
        position = match.end()
        mark = match[2]
        if mark is None:
            depth += 1 if match[0] in "{[" else -1
            if not depth:
                return position
        elif mark in marks:
            if len(match[1]) < layer - 1:
                return match.start()
            end = _find_closing_quote(text, position, match[0])
            position = max(position, end + len(match[0]))
    return len(text)
