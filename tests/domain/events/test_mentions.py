"""Who is mentioned in a text."""

import json
import unicodedata
from pathlib import Path

import pytest

from ticketbox.domain.events.mentions import MAX_MENTIONS, find_mentions

# tests of the web app read the same file
CORPUS = json.loads(Path(__file__).with_name("mentions.json").read_text("utf-8"))
NAMES = dict(enumerate(CORPUS["people"]))


@pytest.mark.parametrize(("text", "expected"), CORPUS["mentions"])
def test_mention_is_an_at_sign_and_a_name(text: str, expected: list[str]) -> None:
    for form in ("NFC", "NFD"):
        names = {key: unicodedata.normalize(form, name) for key, name in NAMES.items()}
        assert find_mentions(text, names) == {key for key, name in NAMES.items() if name in expected}


def test_first_name_of_two_people_mentions_nobody() -> None:
    names = {1: "Eva Lund", 2: "Eva Berg"}
    assert find_mentions("@eva", names) == set()
    assert find_mentions("@eva", {2: names[2]}) == {2}
    assert find_mentions("@Eva Lund", names) == {1}


def test_number_of_candidates_is_bounded() -> None:
    assert find_mentions("@nobody " * (MAX_MENTIONS - 1) + "@bob", NAMES) == {3}
    assert find_mentions("@nobody " * MAX_MENTIONS + "@bob", NAMES) == set()
