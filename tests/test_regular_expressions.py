"""Regular expressions mean the same in each Python that ticketbox supports."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "ticketbox"
# Before 3.11.5, which Debian 12 doesn't have, `(?:a|b(?!c))*+` continues in a branch that failed
# (https://github.com/python/cpython/issues/106052). `(?>(?:a|b(?!c))*)` is right in all, as is `[ab]*+`.
POSSESSIVE_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{[0-9,]+\})\+")


def test_no_group_is_repeated_possessively() -> None:
    found = {path: POSSESSIVE_GROUP.findall(path.read_text()) for path in ROOT.rglob("*.py")}
    assert len(found) > 100
    assert {path: groups for path, groups in found.items() if groups} == {}


@pytest.mark.parametrize("pattern", [r"(?:a|b(?!c))*+", r"(?:a){0,3}+", r"(?:a)++"])
def test_such_a_group_is_found(pattern: str) -> None:
    assert POSSESSIVE_GROUP.search(pattern)
