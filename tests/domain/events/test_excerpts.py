"""The part of a text that a notification shows."""

import pytest

from ticketbox.domain.events.excerpts import MAX_CHARACTERS, cut_excerpt


@pytest.mark.parametrize("text", ["", "Look", "a" * MAX_CHARACTERS])
def test_short_text_is_whole(text: str) -> None:
    assert cut_excerpt(text) == cut_excerpt(text, from_mention=True) == text


def test_white_space_is_one_space() -> None:
    assert cut_excerpt(" It\n\n stays\tempty ") == "It stays empty"


@pytest.mark.parametrize("at", [0, 30, 61, 200, 999])
def test_long_text_is_cut_around_the_mention(at: int) -> None:
    text = "a" * at + "@Bob" + "b" * 1000
    excerpt = cut_excerpt(text, from_mention=True)
    assert "@Bob" in excerpt
    assert len(excerpt) <= MAX_CHARACTERS
    assert excerpt.startswith("…") == (at > 60)
    assert excerpt.endswith("…")


def test_end_of_a_text_has_no_mark() -> None:
    assert cut_excerpt("a" * 500 + " @Bob", from_mention=True).endswith("a @Bob")
