"""Secrets whose name isn't joined to them by a sign: members of a record, elements and attributes, and prose."""

import re
from collections.abc import Callable, Sequence
from functools import partial

from ticketbox.domain.captures.redaction import gates
from ticketbox.domain.captures.redaction.columns import find_in_lists, find_in_tables
from ticketbox.domain.captures.redaction.rules import RULES, Span, compile_rule, lower_text
from ticketbox.domain.captures.redaction.secret_names import KeyKind, classify_key, normalize_name
from ticketbox.domain.captures.redaction.secret_values import (
    REDACTED,
    Place,
    find_value,
    is_harmless_value,
    is_secret_value,
    looks_secret,
)

_PAIRS = RULES.pairs
_SPANS = [(compile_rule(each.pattern), each) for each in _PAIRS.spans]
_PROSE = [(compile_rule(each.pattern), each.pattern, compile_rule(each.value)) for each in _PAIRS.prose]
_TAG = compile_rule(_PAIRS.tag)
_ATTRIBUTE = compile_rule(_PAIRS.attribute)
_LABEL = compile_rule(_PAIRS.labels)
_ARGUMENT_NAME = compile_rule(r"^[ \"']{0,2}([A-Za-z0-9_.-]{2,40}(?: [A-Za-z0-9_.-]{2,40}){0,2}) ?[=:]?[ \"']{0,2}$")


def is_secret_argument(name: str, value: str) -> bool:
    """Whether a text is only the name of a secret, and the text after it looks like one: `token`, `8f3a…`."""
    match = _ARGUMENT_NAME.match(name) if len(name) <= 130 else None
    return bool(match) and _is_secret(match[1], value, True)


def redact_pairs(text: str) -> tuple[str, int]:
    """Redact the values of members, elements and attributes, and in prose; return their number."""
    hits, lowered = 0, lower_text(text)
    for pattern, span in _SPANS:
        if gates.compile_rule_gate(span.pattern)(lowered):
            text, lowered, count = _replace(text, lowered, pattern, partial(_find_span, span))
            hits += count
    if gates.compile_rule_gate(_PAIRS.tag)(lowered):
        text, lowered, count = _redact_tags(text, lowered)
        hits += count
    for pattern, source, value in _PROSE:
        if gates.compile_rule_gate(source)(lowered):
            text, lowered, count = _replace(text, lowered, pattern, partial(_find_prose, value))
            hits += count
    for find, is_name in ((find_in_lists, _is_name), (find_in_tables, _is_label)):
        places = [(*span, REDACTED) for span in find(text, is_name, _is_secret)]
        text, hits = replace_places(text, places), hits + len(places)
    return text, hits


def replace_places(text: str, places: Sequence[Place]) -> str:
    """Replace places of a text, in their order."""
    parts: list[str] = []
    done = 0
    for start, end, replacement in places:
        parts += text[done:start], replacement
        done = end
    return "".join((*parts, text[done:]))


def _replace(
    text: str, lowered: str, pattern: re.Pattern[str], find: Callable[[re.Match[str], str], Place | None]
) -> tuple[str, str, int]:
    """Replace the places that `find` returns for matches in the lower-case text."""
    places: list[Place] = []
    position = 0
    while match := pattern.search(lowered, position):
        position = max(match.end(), match.start() + 1)
        if place := find(match, text):
            places.append(place)
            position = max(position, place[1])
    if not places:
        return text, lowered, 0
    text = replace_places(text, places)
    return text, lower_text(text), len(places)


def _find_span(span: Span, match: re.Match[str], text: str) -> Place | None:
    name = _cut(text, match, span.name)
    if not span.value:
        kind = classify_key(name, in_query=False)
        return kind and find_value(text, match.end(), name, match[span.quote], ":", kind)
    start, end = match.span(span.value)
    # "<password> to continue" at the end of a text is a sentence; a cut document has no spaces in its value
    is_sentence = end == len(text) and " " in text[start:end].strip()
    return (start, end, REDACTED) if not is_sentence and _is_secret(name, text[start:end], span.loose) else None


def _find_prose(value: re.Pattern[str], match: re.Match[str], text: str) -> Place | None:
    found = _cut(text, match, 1)
    if not value.match(found) or is_harmless_value(found):
        return None
    return (*match.span(1), REDACTED)


def _cut(text: str, match: re.Match[str], group: int) -> str:
    return text[match.start(group) : match.end(group)]


def _is_name(key: str) -> bool:
    return classify_key(key, in_query=False) is not None


def _is_label(name: str) -> bool:
    return bool(_LABEL.search(name.lower())) and _is_name(name)


def _is_secret(key: str, value: str, loose: bool) -> bool:
    if loose and not looks_secret(value):
        return False
    kind = classify_key(key, in_query=False)
    return kind is not None and is_secret_value(value, kind, normalize_name(key))


def _redact_tags(text: str, lowered: str) -> tuple[str, str, int]:
    hits = 0

    def find(match: re.Match[str], text: str) -> Place | None:
        nonlocal hits
        tag, count = _redact_tag(_cut(text, match, 0))
        hits += count
        return (*match.span(), tag) if count else None

    text, lowered, _ = _replace(text, lowered, _TAG, find)
    return text, lowered, hits


def _redact_tag(tag: str) -> tuple[str, int]:
    kind, key, hits = None, "", 0
    for match in _ATTRIBUTE.finditer(tag):
        name, found = match[2].lower(), match[4] if match[3] else match[5]
        if name in _PAIRS.naming and kind is None:
            kind, key = classify_key(found, in_query=False), found
        elif name == "type" and found.lower() == "password":
            kind, key = KeyKind.STRONG, "password"
    if kind is None:
        return tag, 0

    def redact_attribute(match: re.Match[str]) -> str:
        nonlocal hits
        value = match[4] if match[3] else match[5]
        if match[2].lower() not in _PAIRS.valued or not is_secret_value(value, kind, normalize_name(key)):
            return match[0]
        hits += 1
        return match[1] + (match[3] or "") + REDACTED + (match[3] or "")

    return _ATTRIBUTE.sub(redact_attribute, tag), hits
