"""Follows the variables of a GraphQL document to their values: `login(password: $p)` and `"variables": {"p": "…"}`."""

import re

from ticketbox.domain.captures.redaction.secret_names import KeyKind, classify_key
from ticketbox.domain.captures.redaction.secret_values import QUOTE, Place, find_nested_end, find_value

_SPACE = r"(?:\s|%(?:25)*(?:20|0a)|\+|\\n){0,4}"
_COLON = rf"{_SPACE}(?::|%(?:25)*3a){_SPACE}"
_DOLLAR = r"(?:\$|%(?:25)*24)"
_DECLARED = re.compile(rf"{_DOLLAR}([a-z_]\w{{0,60}}){_COLON}(?:\[|%(?:25)*5b)?[a-z]", re.IGNORECASE | re.ASCII)
_BOUND = re.compile(rf"(?<![\w$])([a-z_]\w{{0,60}}){_COLON}{_DOLLAR}([a-z_]\w{{0,60}})", re.IGNORECASE | re.ASCII)
_VARIABLES = re.compile(rf"(?<!\w)variables(?:{QUOTE})?(?:{_COLON}|=)(?=\{{|%(?:25)*7b)", re.IGNORECASE | re.ASCII)
_MEMBER = re.compile(rf"(?P<quote>{QUOTE})(?P<name>[a-z_]\w{{0,60}})(?P=quote){_COLON}", re.IGNORECASE | re.ASCII)


def list_variables(text: str) -> frozenset[str]:
    """List the variables that a text declares; the empty set if it is no GraphQL document."""
    if "$" not in text and "%24" not in text:
        return frozenset()
    return frozenset(match[1] for match in _DECLARED.finditer(text))


def find_bound_values(text: str, declared: frozenset[str]) -> list[Place]:
    """Find the values of the variables that are arguments with a secret name."""
    bound: dict[str, tuple[str, KeyKind]] = {}
    for match in _BOUND.finditer(text):
        kind = classify_key(match[1], in_query=False)
        if kind is not None and match[2] in declared:
            bound[match[2]] = match[1], kind
    places: list[Place] = []
    done = 0
    for start in (match.end() for match in _VARIABLES.finditer(text)) if bound else ():
        if start < done:
            continue
        done = find_nested_end(text, start, "") if text[start] == "{" else len(text)
        for member in _MEMBER.finditer(text, start, done):
            if member["name"] not in bound or (places and member.start() < places[-1][1]):
                continue
            name, kind = bound[member["name"]]
            if place := find_value(text, member.end(), name, member["quote"], ":", kind):
                places.append(place)
    return places
