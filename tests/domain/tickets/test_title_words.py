"""Comparing titles by their words."""

import pytest

from ticketbox.domain.tickets.title_words import MAX_WORDS, compute_similarity, list_title_words


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("The cart is empty", ("cart", "empty")),
        ("Cart: cart, CART!", ("cart",)),
        ("a 5 of x", ()),
        ("“Größe” fehlt", ("größe", "fehlt")),
        ("購 物", ("購", "物")),
        ("", ()),
    ],
)
def test_words_of_titles_leave_out_what_says_nothing(title: str, words: tuple[str, ...]) -> None:
    assert list_title_words(title) == words


def test_long_titles_have_a_limited_number_of_words() -> None:
    assert len(list_title_words(" ".join(f"word{number}" for number in range(30)))) == MAX_WORDS


@pytest.mark.parametrize(
    ("title", "other", "similar"),
    [
        ("Payment fails in Safari", "Safari: payment fails", True),
        ("Payment fails in Safari", "Payment takes long", False),
        ("Payment", "Payment fails", True),
        ("one two three four five six seven", "one two eight", False),
        ("of the", "of the", False),
    ],
)
def test_titles_are_similar_that_share_a_third_of_the_words(title: str, other: str, similar: bool) -> None:
    assert bool(compute_similarity(list_title_words(title), list_title_words(other))) is similar


def test_shorter_titles_with_the_same_words_are_more_similar() -> None:
    words = list_title_words("Payment fails")
    near, far = (list_title_words(each) for each in ("Payment fails", "Payment fails for guests"))
    assert compute_similarity(words, near) == 1 > compute_similarity(words, far)
