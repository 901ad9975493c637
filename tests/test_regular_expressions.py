"""Regular expressions mean the same in each Python that ticketbox supports."""

import re
from pathlib import Path

import pytest

CAPTURES = Path(__file__).parent.parent / "ticketbox" / "domain" / "captures"
# Before 3.11.5, which Debian 12 doesn't have, `(?:a|b(?!c))*+` continues in a branch that failed
# (https://github.com/python/cpython/issues/106052). `(?>(?:a|b(?!c))*)` is right in all, but takes memory for each
# repetition. So it isn't used where a text can be long, and a branch fails only at its first character.
POSSESSIVE_GROUP = re.compile(r"(?<!\\)(?:\\\\)*\)(?:[*+?]|\{[0-9,]+\})\+")
HARMLESS = {
    CAPTURES / "intake" / "json_repair.py",
    CAPTURES / "replay" / "css.py",
    CAPTURES / "source_maps" / "encoded_texts.py",
    CAPTURES / "source_maps" / "source_map.py",
}


def test_no_other_group_is_repeated_possessively() -> None:
    paths = [*CAPTURES.parent.parent.rglob("*.py")]
    assert len(paths) > 100
    assert {path for path in paths if POSSESSIVE_GROUP.search(path.read_text())} == HARMLESS


@pytest.mark.parametrize("pattern", [r"(?:a|b(?!c))*+", r"(?:a){0,3}+", r"(?:a)++"])
def test_such_a_group_is_found(pattern: str) -> None:
    assert POSSESSIVE_GROUP.search(pattern)
