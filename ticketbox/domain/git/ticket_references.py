"""Tickets that a branch, a commit message or a pull request names: WEB-42 or t-4k7m2q9x (docs/use/git.md)."""

import re

from ticketbox.domain.core.ids import find_tickets_in_text

MAX_TICKETS = 20
MAX_CHARACTERS = 20_000

_KEYWORD = re.compile(r"(?i)\b(?:fix(?:es|ed)?|close[sd]?|resolve[sd]?)\b:?")
_FIRST = re.compile(r"[ \t]+([^\s,]+)")
_NEXT = re.compile(r"[ \t]*(?:,|\band\b|&)[ \t]*(?:and\b[ \t]*)?([^\s,]+)")


def list_named_tickets(*texts: str) -> list[str]:
    """List the ids and keys of tickets that texts name, each once."""
    found = (each for text in texts for each in find_tickets_in_text(text[:MAX_CHARACTERS]))
    return list(dict.fromkeys(found))[:MAX_TICKETS]


def list_fixed_tickets(*texts: str) -> list[str]:
    """List the ids and keys of tickets that texts say they fix: `Fixes WEB-42`, `closes WEB-1, WEB-2 and WEB-3`."""
    fixed: list[str] = []
    for text in (each[:MAX_CHARACTERS] for each in texts):
        for keyword in _KEYWORD.finditer(text):
            word = _FIRST.match(text, keyword.end())
            while word is not None and (named := find_tickets_in_text(word[1])):
                fixed += named
                word = _NEXT.match(text, word.end())
    return list(dict.fromkeys(fixed))[:MAX_TICKETS]
