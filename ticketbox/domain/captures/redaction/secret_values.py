"""Finds the value of a secret key in a text, in plain text, JSON, forms and URLs, through layers of escaping.

Every pattern here either fails within a fixed number of characters or consumes what it read: a value without quotes
is judged by its first 600 characters, and the rest is read only if it is redacted.
"""

import re
import sys
from collections.abc import Container
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
_LOOSE = compile_rule(_VALUES.loose)
_FIGURE = compile_rule(_VALUES.figure)
_PSEUDO = compile_rule(_VALUES.pseudo)
_UNFILLED = compile_rule(_VALUES.unfilled)
_BLOCK = compile_rule(_VALUES.block)
_SCHEMA = compile_rule(_VALUES.schema)
_PROGRAM = compile_rule(_VALUES.program)
_FLAGS = compile_rule(_VALUES.flags)
_VARIABLE = re.compile(r"\$([A-Za-z_]\w{0,60})(?![\w$!#?*+-])", re.ASCII)
Place = tuple[int, int, str]
_ARROWS = frozenset(("->", "-->", "~>", "→", "⇒", "➜", "⟶", "↦"))
_FIRST_WORD = re.compile(r"[a-zа-яё']{1,16}(?=[\s.,:;!?]|$)")
_OPENING = re.compile(QUOTE, re.IGNORECASE)
_QUOTES = re.compile(r"(?<!\\)(\\*)([\"'`])")
_NESTING = re.compile(r"(?<!\\)(\\*)([\"'`])|[\[\]{}]")
_PIECE = r"(?:[^\s&\"'`<>\\,;)\]}]++|[,;)\]}](?![\s,;)\]}\"'`<>&\\]|$)|[\"'`](?=\w)|\\(?![\s\"'`\\nrtu]|$))"
# Before 3.11.5, `re` continues in a branch of such a group that failed (tests/test_regular_expressions.py).
_BARE = re.compile(f"{_PIECE}++" if sys.version_info >= (3, 11, 5) else f"(?>{_PIECE}+)")
_LINE = re.compile(r"[^\r\n\"<>\\]+")
_MAX_JUDGED = 600
_MORE_WORDS = re.compile(
    r"(?:(?: |[<>&](?!/|[A-Za-z0-9_.%\[\]-]{1,40}[=;>]|#))(?![A-Za-z0-9_.-]{1,40} ?[=:])"
    r"[^\s\"'`<>\\&,;{}()\[\]|=:]+){1,24}"
)
_FIRST_STRING = re.compile(r"\[[ \t\r\n]{0,40}\\{0,32}[\"']([^\"'\\]{1,200} [^\"'\\]{1,200})")
_SCALAR = (KeyKind.DIGIT, KeyKind.QUERY, KeyKind.RANDOM)


def is_harmless_value(value: str) -> bool:
    """Whether a value is empty, a constant, a placeholder or redacted."""
    value = value.strip()
    return value.lower() in _VALUES.harmless or bool(_PLACEHOLDER.match(value))


def looks_secret(value: str) -> bool:
    """Whether a value that only neighbours the name of a secret is one: it has a digit, and is no figure or address."""
    return bool(_LOOSE.match(value)) and not _FIGURE.match(value)


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
        case KeyKind.LAST:  # tokens have no spaces, and their names are used for other things
            return not _WORD.match(value) and not (
                " " in value and (is_prose(value) or not (has_digit or "=" in value))
            )
        case KeyKind.DIGIT:
            return has_digit
        case KeyKind.QUERY:
            return has_digit and len(value) >= (12 if name == "code" else 8)
        case KeyKind.RANDOM:
            return bool(_RANDOM.match(value))
        case KeyKind.OWN:
            return True


def find_value(
    text: str, start: int, key: str, quote: str, sign: str, kind: KeyKind, variables: Container[str] = ()
) -> Place | None:
    """Find where the value starts and ends, and its replacement; None to keep it.

    `variables` are those of a GraphQL document, which stay: their values are elsewhere (graphql.py).
    """
    if sign in (":", "]:") and _PSEUDO.match(text, start):
        return None  # card:nth-of-type(2)
    while text[start : start + 1] in (" ", "\t", "\u3000") and start < len(text):
        start += 1
    is_spaced = text[start - 1] in " \t\u3000"
    name = normalize_name(key)
    if unfilled := _UNFILLED.match(text, start):  # "password: %s", "…"
        start = unfilled.end()
    if block := _BLOCK.match(text, start):  # of YAML
        start, end = block.end(), _find_block_end(text, block.end(), block[1])
        return None if text.startswith(REDACTED, start) else (start, end, REDACTED)
    is_arrow = sign.strip() in _ARROWS or sign < " "
    if opening := _OPENING.match(text, start):
        start = opening.end()
        end = _find_closing_quote(text, start, opening[0])
        return (start, end, REDACTED) if _is_secret(text[start:end], kind, name, is_arrow) else None
    variable = _VARIABLE.match(text, start) if variables else None
    if variable and variable[1] in variables:
        return None
    replacement = REDACTED if sign.isspace() or is_arrow else f"{quote}{REDACTED}{quote}"
    plain = _LINE if not quote and name in RULES.names.whole_line else _BARE
    if text.startswith(REDACTED, start):
        end = _find_end(plain, text, start + len(REDACTED))
        return (start, end, replacement) if end > start + len(REDACTED) else None
    if text.startswith(("{", "[", "${{"), start):
        end = _find_secret_nested_end(text, start, quote, kind)
        return None if end is None else (start, end if quote else _find_end(plain, text, end), replacement)
    judged_end = min(_find_end(plain, text, start, start + _MAX_JUDGED + 1), start + _MAX_JUDGED)
    value = text[start:judged_end].strip().lower()
    if not _is_secret(text[start:judged_end], kind, name, is_arrow) or _is_folder(name, value):
        return None
    # "token: expired" is a message about a token, not a token
    if is_spaced and not quote and kind is not KeyKind.STRONG and len(value) <= 16 and _LETTERS.fullmatch(value):
        return None
    end = _find_end(plain, text, judged_end)
    more = _MORE_WORDS.match(text, end) if is_spaced and not quote and kind is KeyKind.STRONG else None
    return start, more.end() if more else end, replacement


def _is_secret(value: str, kind: KeyKind, name: str, is_arrow: bool) -> bool:
    if not value or not is_secret_value(value, kind, name):
        return False
    if is_arrow and not looks_secret(value):  # an arrow joins many things
        return False
    return kind is KeyKind.STRONG or not value.lstrip().startswith("(")  # "signature: (a: number) => void"


def _is_folder(name: str, value: str) -> bool:
    return name.endswith("pwd") and value.startswith(("/", "~"))


def _find_secret_nested_end(text: str, start: int, quote: str, kind: KeyKind) -> int | None:
    """Find where an object or array ends; None if it holds no secret itself.

    What was read to its end and is kept is short, or reading would take quadratic time.
    """
    if kind in _SCALAR or text.startswith(("{{", "${{"), start) or _is_message_list(text, start):
        return None
    if _SCHEMA.match(text, start):
        return None
    end = find_nested_end(text, start, quote)
    nested = text[start:end] if end - start <= _MAX_JUDGED else ""
    return None if _PROGRAM.match(nested) or (kind is KeyKind.LAST and _FLAGS.match(nested)) else end


def _find_block_end(text: str, start: int, indent: str) -> int:
    """Find where the lines end that begins with this indent, of which the first starts at `start`."""
    while True:
        end = text.find("\n", start)
        if end < 0:
            return len(text)
        if not text.startswith(indent, end + 1):
            return end - (text[end - 1] == "\r")
        start = end + 1


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


def find_nested_end(text: str, start: int, quote: str) -> int:
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
