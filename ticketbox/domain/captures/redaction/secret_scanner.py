"""A scanner for secrets in any text, in time linear in its length.

It finds tokens by their form, and the values of keys by the key's name
(`?token=…`, `"password": "…"`, `<secret>…</secret>`, a part of a form), in plain text, JSON, forms and
URLs, through several layers of escaping.

A name that resembles a secret's counts as one: a word too many is better than a leaked password.
"""

import re
from collections.abc import Sequence

from ticketbox.domain.captures.capture import Redaction
from ticketbox.domain.captures.redaction import gates
from ticketbox.domain.captures.redaction.disguises import redact_encoded, unmask
from ticketbox.domain.captures.redaction.formats import redact_formats, redact_logins
from ticketbox.domain.captures.redaction.graphql import find_bound_values, list_variables
from ticketbox.domain.captures.redaction.pairs import redact_pairs, replace_places
from ticketbox.domain.captures.redaction.rules import RULES, compile_rule, lower_text
from ticketbox.domain.captures.redaction.secret_names import KeyKind, classify_key, normalize_name
from ticketbox.domain.captures.redaction.secret_values import QUOTE, REDACTED, find_value

MAX_RULES = 100

_EMAIL_RULE = "format:email"
_AFTER_STEM = (
    r"(?>(?:[a-zа-яё0-9_.\]]|-(?!-?>)|%(?!(?:25){0,3}(?:2[2367]|3[adf]))){0,48})(?:\[[0-9]{0,3}\]){0,2}"
    r"(?: (?:keys?|tokens?|numbers?|codes?|phrase))?"
    rf"(?P<quote>{QUOTE})?(?P<sign>\]?(?:(?:\r?\n){{2}}|[\x01-\x08\x0e-\x1f\x80-\x9f\xa1-\xaa\xac-\xb6\xb8-\xba\xbc-\xbe\ufffd]{{1,3}}"
    r"|\s{0,4}(?::?=?=>?|[:：＝→⇒➜⟶↦]|-{1,2}>|~>|\\{1,32}u003d|%(?:25){0,3}3[ad])))"
)
_SEPARATOR = re.compile(r"(?:%(?:25)*|^u00)[0-9a-f]{2}", re.IGNORECASE)
_KEY_BACKWARDS = re.compile(r"[\w.\-\[\]%$]{0,64}")
_WORD_BEFORE = re.compile(r"[A-Za-z]{2,16} $")
_SECOND_WORDS = frozenset(("key", "keys", "code", "codes", "phrase", "seed"))
_SEGMENTS = re.compile(r"[\s.\[\]]+")
_EMAIL = compile_rule(RULES.email)


class SecretScanner:
    """Removes secrets from texts. `extra` are a project's rules.

    A rule is the name of a key, whose values are removed like a password's (`customer_ref`; case and separators
    don't count); `text:` and a literal, which is removed everywhere (`text:ACME-1234`; a `*` at the end of a
    literal includes the rest of the word: `text:acme_*`); or `format:email` for all e-mail addresses.
    Rules are never regular expressions. Only the first 100 count.
    """

    def __init__(self, extra: Sequence[str] = ()) -> None:
        rules = [rule.strip() for rule in extra[:MAX_RULES]]
        names = [rule for rule in rules if rule and not rule.startswith("text:") and rule != _EMAIL_RULE]
        self._names = frozenset(normalize_name(name) for name in names) - {""}
        self._literals = [
            literal for rule in rules if rule.startswith("text:") for literal in _compile_literal(rule[5:].strip())
        ]
        if _EMAIL_RULE in rules:
            self._literals.append(("@", _EMAIL))
        own = sorted({re.escape(_find_stem(name)) for name in names if normalize_name(name)})
        stems = "|".join([RULES.names.stems, *own])
        self._assignment = re.compile(f"(?:{stems}|{RULES.names.weak}){_AFTER_STEM}")
        self._may_have_name = gates.compile_name_gate(stems)
        self._may_have_format = gates.compile_format_gate()
        self._is_rare = gates.compile_rare_gate()

    def scrub(self, text: str, counts: Redaction, *, names: bool = True) -> str:
        """Remove the secrets from a text and add their number to the counts; without `names`, only those of a format.

        A text without a secret is returned unchanged. In one with a secret, unnecessary escapes of letters and
        digits may be returned unescaped.
        """
        clean = unmask(text)
        before = counts.total
        for plain, pattern in self._literals:
            if plain in clean:
                clean, hits = pattern.subn(REDACTED, clean)
                counts.extra += hits
        is_rare = self._is_rare(clean)
        if is_rare or self._may_have_format(clean):
            clean = self._redact_formats(clean, counts)
            is_rare = is_rare or self._is_rare(clean)
        if names and (is_rare or self._may_have_name(clean) or (not clean.isascii() and "İ" in clean)):
            clean = self._redact_names(clean, counts)
        return clean if counts.total > before else text

    def _redact_formats(self, text: str, counts: Redaction) -> str:
        text, hits = redact_formats(text, text.lower())
        counts.patterns += hits
        text, hits = redact_encoded(text, self._holds_secret)
        counts.patterns += hits
        text, hits = redact_logins(text)
        counts.query += hits
        return text

    def _holds_secret(self, decoded: str) -> bool:
        is_rare = self._is_rare(decoded)
        if (is_rare or self._may_have_format(decoded)) and redact_formats(decoded, decoded.lower())[1]:
            return True
        return (is_rare or self._may_have_name(decoded)) and self._redact_names(decoded, Redaction()) != decoded

    def _redact_names(self, text: str, counts: Redaction) -> str:
        text, hits = redact_pairs(text)
        counts.keys += hits
        variables = list_variables(text)
        places = find_bound_values(text, variables)
        counts.keys += len(places)
        text = replace_places(text, places)
        return self._redact_values(text, lower_text(text), counts, variables)

    def _redact_values(self, text: str, lowered: str, counts: Redaction, variables: frozenset[str]) -> str:
        """Redact the values of secret keys."""
        parts: list[str] = []
        done = position = 0
        while match := self._assignment.search(lowered, position):
            position = match.end()
            key_start = match.start() - _measure_key_before(text, match.start())
            quote, sign = match["quote"] or "", match["sign"]
            key = _SEPARATOR.sub(" ", text[key_start : match.start("quote" if quote else "sign")])
            if key.lower() in _SECOND_WORDS:
                key = _find_word_before(text, key_start) + key
            before = text[key_start - 1] if key_start else ""
            in_query = not quote and (before in ("?", "&", "#", ";") or key[:1] == " " or (sign == "=" and not before))
            is_own = bool(self._names) and normalize_name(_SEGMENTS.split(key.strip(" .[]"))[-1]) in self._names
            kind = KeyKind.OWN if is_own else classify_key(key, in_query=in_query)
            if kind is None or not (quote or not sign.isspace()):
                continue
            span = find_value(text, position, key, quote, sign, kind, variables)
            if not span:
                continue
            parts += text[done : span[0]], span[2]
            done = position = span[1]
            counts.extra += is_own
            counts.query += in_query and not is_own
            counts.keys += not in_query and not is_own
        return "".join((*parts, text[done:])) if done else text


def _measure_key_before(text: str, end: int) -> int:
    """Count the characters of a key before the part that was recognised."""
    match = _KEY_BACKWARDS.match(text[max(0, end - 64) : end][::-1])
    return match.end() if match else 0


def _find_word_before(text: str, start: int) -> str:
    """Return the word before a key such as `phrase`, which alone says too little, with its space."""
    match = _WORD_BEFORE.search(text[max(0, start - 17) : start])
    return match[0] if match else ""


def _find_stem(name: str) -> str:
    first = re.split(r"[\W_]+", name.strip("_-.[]$ ").lower())[0]
    return first[:3]


def _compile_literal(rule: str) -> list[tuple[str, re.Pattern[str]]]:
    plain = rule.rstrip("*")
    if not plain:
        return []
    rest = r"[^\s\"'`<>&,;\\]*" if rule.endswith("*") else ""
    return [(plain, re.compile(re.escape(plain) + rest))]
