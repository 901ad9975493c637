"""Who is mentioned in a text."""

import pytest

from ticketbox.domain.events.mentions import MAX_MENTIONS, find_mentions

NAMES = {1: "Ann", 2: "Ann Berg", 3: "Łukasz Nowak", 4: "bob", 5: "Ann"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@Ann look", {1, 5}),
        ("@ann, look", {1, 5}),
        ("(@Ann)", {1, 5}),
        ("@Ann Berg and @bob", {2, 4}),
        ("@annberg", {2}),
        ("@ŁUKASZ!", {3}),
        ("**@bob**", {4}),
        ("@bobby", set()),
        ("@Anna", set()),
        ("ann@bob.example", set()),
        ("https://social.example/@bob", set()),
        ("`@bob` and ```\n@bob\n``` and ```\n@bob", set()),
        ("@@bob", set()),
        ("@ bob", set()),
        ("bob", set()),
        ("@", set()),
        ("", set()),
    ],
)
def test_mention_is_an_at_sign_and_a_name(text: str, expected: set[int]) -> None:
    assert find_mentions(text, NAMES) == expected


def test_first_name_of_two_people_mentions_nobody() -> None:
    names = {1: "Eva Lund", 2: "Eva Berg"}
    assert find_mentions("@eva", names) == set()
    assert find_mentions("@eva", {2: names[2]}) == {2}
    assert find_mentions("@Eva Lund", names) == {1}


def test_number_of_candidates_is_bounded() -> None:
    assert find_mentions("@nobody " * (MAX_MENTIONS - 1) + "@bob", NAMES) == {4}
    assert find_mentions("@nobody " * MAX_MENTIONS + "@bob", NAMES) == set()
