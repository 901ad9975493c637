"""A scanner for secrets in any text, in time linear in its length.

It finds tokens by their form, and the values of keys by the key's name
(`?token=…`, `"password": "…"`, `<secret>…</secret>`, a part of a form), in plain text, JSON, forms and
URLs, through several layers of escaping. Every pattern here either fails within a fixed number of characters or
consumes what it read, so hostile text can't make it slow.

A name that resembles a secret's counts as one: a word too many is better than a leaked password.
"""

import base64
import binascii
import re
from collections.abc import Sequence

from ticketbox.domain.captures.capture import Redaction
from ticketbox.domain.captures.redaction.secret_names import STEMS, is_secret_key, normalize_name, split_words

REDACTED = "[redacted]"
MAX_RULES = 100

_WHOLE_LINE = frozenset(("cookie", "setcookie", "authorization", "proxyauthorization"))
_STRONG = ("pass", "pwd", "secret")
_HARMLESS = frozenset(("", "null", "undefined", "true", "false", "none", "nan", "[redacted]", "%5bredacted%5d"))
_PROSE = split_words("auth authentication authorization error is realm scheme token tokens tokentype with")

_QUOTE = r"(?:\\{0,32}+(?:[\"'`]|u002[27])|%(?:25){0,3}2[27]|&quot;|&#3[49];)"
_AFTER_STEM = (
    r"(?:[a-z0-9_.\-\]]|%(?!(?:25){0,3}(?:2[2367]|3[adf]))){0,48}+(?: (?:key|token|number|code))?"
    rf"(?P<quote>{_QUOTE})?(?P<sign>\]?(?:(?:\r?\n){{2}}"
    r"|\s{0,4}(?:=>?|:|>|\\{1,32}u003d|%(?:25){0,3}3[ad])))"
)
# a search for a short literal is some ten times as fast as one for a choice of them
_TOKEN_MARKS = (
    ("", split_words("eyj akia asia aiza bearer basic")),
    ("_", split_words("ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ k_live_ k_test_ npm_ tok_ whsec_")),
    ("-", split_words("xox xapp- sk-ant- sk-proj- sk-svcacct- pypi- -----begin glpat- gldt- glrt-")),
)
_TOKENS = re.compile(
    r"(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}"
    r"|gl(?:pat|dt|rt)-[\w-]{16,}|xox[a-z]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}"
    r"|[sr]k_(?:live|test)_[A-Za-z0-9]{10,}|sk-(?:ant|proj|svcacct)-[\w-]{16,}|npm_[A-Za-z0-9]{30,}"
    r"|tok_[A-Za-z0-9]{20,}|whsec_[A-Za-z0-9+/=]{16,}|pypi-[\w-]{16,}",
    re.ASCII,
)
# these may turn out harmless after they were read, so they come after those that they may contain
_JWT = re.compile(r"eyJ[\w-]{10,}(?:\.[\w-]*){0,4}", re.ASCII)
_SCHEMES = re.compile(r"([bB](?:earer|EARER|asic|ASIC)(?:\s|%20|\+){1,4})([A-Za-z0-9._~+/=%-]{4,})", re.ASCII)
_PEM = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = re.compile(r"-----END [A-Z0-9 ]{0,60}-----")
_LOGIN = re.compile(
    r"://(?P<plain>[^\s/?#\"'<>\\]{1,2048})@"
    r"|%(?:25)?3a%(?:25)?2f%(?:25)?2f(?P<quoted>(?:(?!%(?:25)?(?:2f|40))[a-z0-9._~%!$*+-]){1,2048})%(?:25)?40",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"[a-z]{0,8}", re.IGNORECASE)
_WEB = ("http", "https", "ws", "wss", "ftp")
_SEPARATOR = re.compile(r"(?:%(?:25)*|^u00)[0-9a-f]{2}", re.IGNORECASE)
_ESCAPED = re.compile(r"(?:%(?:25){0,3}|\\{1,32}u00)(3\d|[46][1-9a-f]|[57][0-9a]|2[de]|5f)", re.IGNORECASE)
_KEY_BACKWARDS = re.compile(r"[\w.\-\[\]%$]{0,64}")
_OPENING = re.compile(_QUOTE, re.IGNORECASE)
_QUOTES = re.compile(r"(?<!\\)(\\*)([\"'`])")
_NESTING = re.compile(r"(?<!\\)(\\*)([\"'`])|[\[\]{}]")
_BARE = re.compile(r"(?:[^\s&\"'`<>\\,;)\]}]|[,;)\]}](?![\s,;)\]}\"'`<>&\\]|$)|[\"'`](?=\w)|\\(?![\s\"'`\\nrtu]|$))+")
_LINE = re.compile(r"[^\r\n\"<>\\]+")
_ELEMENT = re.compile(r"[^<]+")
_ELEMENT_OPENS = re.compile(r"<(?:[\w.-]{1,40}:)?\Z")
_SEGMENTS = re.compile(r"[\s.\[\]]+")


class SecretScanner:
    """Removes secrets from texts. `extra` are a project's rules.

    A rule is the name of a key, whose values are removed like a password's (`customer_ref`; case and separators
    don't count), or `text:` and a literal, which is removed everywhere (`text:ACME-1234`); a `*` at the end of a
    literal includes the rest of the word (`text:acme_*`).
    Rules are never regular expressions. Only the first 100 count.
    """

    def __init__(self, extra: Sequence[str] = ()) -> None:
        rules = [rule.strip() for rule in extra[:MAX_RULES]]
        names = [rule for rule in rules if rule and not rule.startswith("text:")]
        self._names = frozenset(normalize_name(name) for name in names) - {""}
        self._literals = [
            literal for rule in rules if rule.startswith("text:") for literal in _compile_literal(rule[5:].strip())
        ]
        stems = "|".join([STEMS, *sorted({re.escape(_find_stem(name)) for name in names if normalize_name(name)})])
        self._assignment = re.compile(f"(?:{stems}){_AFTER_STEM}")

    def scrub(self, text: str, counts: Redaction) -> str:
        """Remove the secrets from a text and add their number to the counts.

        A text without a secret is returned unchanged. In one with a secret, unnecessary escapes of letters and
        digits may be returned unescaped.
        """
        before = counts.total
        clean = _ESCAPED.sub(_unescape, text) if "%" in text or "\\u00" in text else text
        for plain, pattern in self._literals:
            if plain in clean:
                clean, hits = pattern.subn(REDACTED, clean)
                counts.extra += hits
        seen, lowered = clean, _lower(clean)
        if any(gate in clean and any(mark in lowered for mark in marks) for gate, marks in _TOKEN_MARKS):
            clean = _remove_key_blocks(clean, counts)
            clean, hits = _TOKENS.subn(REDACTED, clean)
            counts.patterns += hits
            clean = _JWT.sub(lambda match: _redact_jwt(match, counts), clean)
            clean = _SCHEMES.sub(lambda match: _redact_credential(match, counts), clean)
        if ("@" in clean or "%" in clean) and _LOGIN.search(clean):
            clean = _LOGIN.sub(lambda match: _redact_login(match, counts), clean)
        clean = self._redact_values(clean, lowered if clean is seen else _lower(clean), counts)
        return clean if counts.total > before else text

    def _redact_values(self, text: str, lowered: str, counts: Redaction) -> str:
        """Redact the values of secret keys."""
        parts: list[str] = []
        done = position = 0
        while match := self._assignment.search(lowered, position):
            position = match.end()
            key_start = match.start() - _measure_key_before(text, match.start())
            quote, sign = match["quote"] or "", match["sign"]
            key = _SEPARATOR.sub(" ", text[key_start : match.start("quote" if quote else "sign")])
            before = text[key_start - 1] if key_start else ""
            in_query = not quote and (before in ("?", "&", "#", ";") or key[:1] == " " or (sign == "=" and not before))
            own = bool(self._names) and normalize_name(_SEGMENTS.split(key.strip(" .[]"))[-1]) in self._names
            if not own and not is_secret_key(key, in_query=in_query):
                continue
            if not _is_sign(sign, quote, text, key_start):
                continue
            span = _find_value(text, position, key, quote, sign)
            if not span:
                continue
            parts += text[done : span[0]], span[2]
            done = position = span[1]
            counts.extra += own
            counts.query += in_query and not own
            counts.keys += not in_query and not own
        return "".join((*parts, text[done:])) if done else text


def _measure_key_before(text: str, end: int) -> int:
    """Count the characters of a key before the part that was recognised."""
    match = _KEY_BACKWARDS.match(text[max(0, end - 64) : end][::-1])
    return match.end() if match else 0


def _is_sign(sign: str, quote: str, text: str, key_start: int) -> bool:
    """Whether what follows a key introduces its value: an element's end, a part of a form."""
    if sign.endswith(">") and not sign.endswith("=>"):
        return bool(_ELEMENT_OPENS.search(text[max(0, key_start - 48) : key_start]))
    return bool(quote) or not sign.isspace()


def _unescape(match: re.Match[str]) -> str:
    return chr(int(match[1], 16))


def _lower(text: str) -> str:
    lowered = text.lower()
    # U+0130 alone grows when it is lowered; positions in both texts must agree
    return lowered if len(lowered) == len(text) else text.replace("İ", "i").lower()


def _find_stem(name: str) -> str:
    first = re.split(r"[\W_]+", name.strip("_-.[]$ ").lower())[0]
    return first[:3]


def _compile_literal(rule: str) -> list[tuple[str, re.Pattern[str]]]:
    plain = rule.rstrip("*")
    if not plain:
        return []
    rest = r"[^\s\"'`<>&,;\\]*" if rule.endswith("*") else ""
    return [(plain, re.compile(re.escape(plain) + rest))]


def _find_value(text: str, start: int, key: str, quote: str, sign: str) -> tuple[int, int, str] | None:
    """Find where the value starts and ends, and its replacement; None to keep it."""
    while text[start : start + 1] in (" ", "\t") and start < len(text):
        start += 1
    spaced = text[start - 1] in " \t"
    if opening := _OPENING.match(text, start):
        start = opening.end()
        end = _find_closing_quote(text, start, opening[0])
        return None if text[start:end].strip().lower() in _HARMLESS else (start, end, REDACTED)
    replacement = REDACTED if sign.isspace() else f"{quote}{REDACTED}{quote}"
    name = normalize_name(key)
    whole_line = not quote and name in _WHOLE_LINE
    plain = _ELEMENT if sign == ">" else _LINE if whole_line else _BARE
    if text.startswith(REDACTED, start):
        rest = plain.match(text, start + len(REDACTED))
        return (start, rest.end(), replacement) if rest else None
    if text[start : start + 1] in ("{", "["):
        end = _find_nested_end(text, start, quote)
        rest = None if quote else plain.match(text, end)
        return start, rest.end() if rest else end, replacement
    bare = plain.match(text, start)
    if not bare:
        return None
    value = bare[0].strip().lower()
    is_count = value.isdigit() and (len(value) < 3 or name.endswith("tokens"))
    if is_count or value in _HARMLESS or (name == "code" and len(value) < 12):
        return None
    # "token: expired" is a message about a token, not a token
    is_prose = spaced and len(value) <= 16 and value.isalpha() and value.isascii()
    if is_prose and not quote and not any(part in name for part in _STRONG):
        return None
    return start, bare.end(), replacement


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


def _remove_key_blocks(text: str, counts: Redaction) -> str:
    parts: list[str] = []
    done = 0
    while begin := _PEM.search(text, done):
        end = _PEM_END.search(text, begin.end())
        parts += text[done : begin.start()], REDACTED
        done = end.end() if end else len(text)
        counts.patterns += 1
    return "".join((*parts, text[done:])) if done else text


def _redact_jwt(match: re.Match[str], counts: Redaction) -> str:
    if "." not in match[0]:
        return match[0]  # base64 of some JSON, as cursors are
    counts.patterns += 1
    return REDACTED


def _redact_credential(match: re.Match[str], counts: Redaction) -> str:
    scheme, value = match[1], match[2]
    if value.lower().rstrip(".=") in _PROSE or (scheme[1] in "aA" and not _is_basic_credential(value)):
        return match[0]
    counts.patterns += 1
    return scheme + REDACTED


def _is_basic_credential(value: str) -> bool:
    """Whether this is a value of `Basic`: base64 of a name, a colon and a password."""
    bare = value.replace("%3D", "=").replace("%3d", "=").rstrip("=.")
    bare = bare[:-1] if len(bare) % 4 == 1 else bare + "=" * (-len(bare) % 4)
    try:
        return b":" in base64.b64decode(bare, validate=True)
    except (binascii.Error, ValueError):
        return False


def _redact_login(match: re.Match[str], counts: Redaction) -> str:
    text, start = match.string, match.start()
    login = match["plain"] or match["quoted"]
    scheme = _SCHEME.match(text[max(0, start - 8) : start][::-1])
    web = scheme is not None and scheme[0][::-1].lower() in _WEB
    if not web and ":" not in login and "%3a" not in login.lower():
        return match[0]  # webpack://name@version/ and the like
    counts.query += 1
    return match[0][: match.start("plain" if match["plain"] else "quoted") - start]
