"""Mentions in a text: `@` and a member's display name (docs/use/notifications.md)."""

import re
from collections.abc import Mapping

MAX_MENTIONS = 50

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_MENTION = re.compile(r"(?<![\w@/.])@(?=\w)")


def find_mentions(text: str, names: Mapping[int, str]) -> set[int]:
    """Find the keys of the people whose names follow an `@`, ignoring case, outside of code.

    A first name is enough where only one person has it. The longest matching name wins; everyone with that name is
    mentioned. Only the first fifty `@` are checked.
    """
    if "@" not in text or not names:
        return set()
    known = _list_spellings(names)
    longest = sorted(known, key=len, reverse=True)
    plain = _CODE.sub(" ", text)
    mentioned: set[int] = set()
    for count, match in enumerate(_MENTION.finditer(plain)):
        if count == MAX_MENTIONS:
            break
        rest = plain[match.end() : match.end() + 201].casefold()
        for name in longest:
            if rest.startswith(name) and not rest[len(name) : len(name) + 1].isalnum():
                mentioned |= known[name]
                break
    return mentioned


def _list_spellings(names: Mapping[int, str]) -> dict[str, set[int]]:
    known: dict[str, set[int]] = {}
    first_names: dict[str, set[int]] = {}
    for key, name in names.items():
        words = name.casefold().split()
        for spelling in {name.casefold(), "".join(words)}:
            known.setdefault(spelling, set()).add(key)
        first_names.setdefault(words[0], set()).add(key)
    return {first: keys for first, keys in first_names.items() if len(keys) == 1} | known
