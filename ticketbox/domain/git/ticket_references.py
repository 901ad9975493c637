"""Tickets that a branch, a commit message or a pull request names: WEB-42 or t-4k7m2q9x (docs/use/git.md)."""

import re
from typing import NamedTuple

from ticketbox.domain.core.ids import find_tickets_in_text
from ticketbox.domain.git.prose import ITEM, read_prose

MAX_TICKETS = 20
MAX_CHARACTERS = 20_000

_KEYWORD = re.compile(r"(?i)(?<![\w\N{NON-BREAKING HYPHEN}-])(?:fix(?:es|ed)?|close[sd]?|resolve[sd]?)\b:?")
_FIRST = re.compile(rf"(?:[ \t]+|{ITEM})([^\s,]+)")
_NEXT = re.compile(r"[ \t]*(?:,|\band\b|&)[ \t]*(?:and\b[ \t]*)?([^\s,]+)")
_NEXT_ITEM = re.compile(rf"[^\n]*{ITEM}([^\s,]+)")
_NEGATED = re.compile(
    r"(?i)(?:\b(?:not|never|cannot|without)|n['’]t)(?:\s+(?:\w+ly|yet|even|to|be|been|it|have|has)){0,3}\s+\Z"
)
_NEGATION_LENGTH = 60

# `git revert` and the providers quote the subject of what they revert; Conventional Commits start with `revert:`.
_REVERTED_SUBJECT = re.compile(r'\bRevert "(?:[^\n]*"|[^\n]*)')
_REVERTS = re.compile(r"(?i)\Arevert(?:\([^)\n]*\))?!?:")
_REVERT_NOTE = re.compile(r"(?im)^(?:This reverts (?:commit|merge request)\b|Reverts [^\s#!]*[#!]\d)")


class TicketReferences(NamedTuple):
    """The ids and keys of tickets that a message names, and of those that it says it fixes; each once."""

    named: list[str]
    fixed: list[str]


def read_branch(name: str) -> list[str]:
    """List the ids and keys of tickets that a branch names; many write keys in lower case there."""
    return _list_once([*find_tickets_in_text(name), *find_tickets_in_text(name.upper())])


def read_message(text: str) -> TicketReferences:
    """Read the message of a commit, or the title and the text of a pull request after each other.

    `Fixes WEB-42`, `closes WEB-1, WEB-2 and WEB-3` and `Fixes:` before a list fix tickets. What a message says about
    the change that it reverts fixes none.
    """
    text = text[:MAX_CHARACTERS]
    if not find_tickets_in_text(text):  # parsing Markdown takes longer
        return TicketReferences([], [])
    prose = read_prose(text)
    return TicketReferences(_list_once(find_tickets_in_text(prose)), _list_fixed(_remove_reverted(prose)))


def _remove_reverted(prose: str) -> str:
    if _REVERTS.match(prose) or _REVERT_NOTE.search(prose):
        prose = prose.partition("\n")[2]
    return _REVERTED_SUBJECT.sub("", prose)


def _list_fixed(prose: str) -> list[str]:
    fixed: list[str] = []
    for keyword in _KEYWORD.finditer(prose):
        start = keyword.start()
        if _NEGATED.search(prose, max(0, start - _NEGATION_LENGTH), start):
            continue
        word = _FIRST.match(prose, keyword.end())
        following = _NEXT_ITEM if word is not None and word[0].startswith(ITEM) else _NEXT
        while word is not None and (named := find_tickets_in_text(word[1])):
            fixed += named
            word = following.match(prose, word.end())
    return _list_once(fixed)


def _list_once(found: list[str]) -> list[str]:
    return list(dict.fromkeys(found))[:MAX_TICKETS]
