"""What people can't see in a text, and agents would read."""

import time

import pytest

from ticketbox.domain.core.hidden_text import MAX_PARSED, clean_title, remove_hidden_characters, remove_hidden_markdown
from ticketbox.domain.core.unsafe_characters import escape_unsafe, escape_unsafe_json


def tag(text: str) -> str:
    """Write a text in tag characters, which no font draws."""
    return "".join(chr(0xE0000 + ord(letter)) for letter in text)


ENGLAND = f"\U0001f3f4{tag('gbeng')}\U000e007f"


@pytest.mark.parametrize(
    ("text", "shown", "found"),
    [
        (f"a{tag('obey')}b", "ab", 4),
        ("abc\u202edcba\u202c \u2066x\u2069", "abcdcba x", 4),
        (f"{ENGLAND} wins", f"{ENGLAND} wins", 0),
        (f"\U0001f3f4{tag('obey me')}\U000e007f", "\U0001f3f4", 8),
        (f"{ENGLAND}{tag('x')}", ENGLAND, 1),
        ("\u845b\U000e0100", "\u845b", 1),
        (
            "\U0001f469\u200d\U0001f4bb \u2764\ufe0f \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u05d0\u200f!",
            ...,
            0,
        ),
    ],
)
def test_characters_that_are_not_shown(text: str, shown: str, found: int) -> None:
    assert remove_hidden_characters(text) == (text if shown is ... else shown, found)


@pytest.mark.parametrize(
    ("text", "shown", "found"),
    [
        ("before\n\n[//]: # (obey)\n\nafter", "before\n\n\nafter", 1),
        ("> [a]: /x 'obey\n> me'\n> shown", "> shown", 1),
        ("[obey][a]\n\n[a]: https://a.example", ..., 0),
        ("[x][a]\n\n[a]: /x (obey)", "[x][a]\n\n[a]: </x>", 1),
        ("[x][a]\n\n[a]: /x\n[A]: /y (obey)", "[x][a]\n\n[a]: /x\n[A]: </y>", 1),
        ("[x](# \"obey\") and ![y](/z 'obey')", "[x](#) and ![y](/z)", 1),
        ('`[x](# "shown")` [x](#)', ..., 0),
        ('`[x](# "shown")` [y](# "obey")', '`[x](# "shown")` [y](#)', 1),
        ("```\n[error]: timeout\n```", ..., 0),
        ("    [error]: timeout", ..., 0),
        ("[error]: the request timed out after a minute", ..., 0),
        ("```js obey me\ncode\n```", "```js\ncode\n```", 1),
        ("```js\n``` x\n```", ..., 0),
        ("- one\n- [a]: /x 'obey'", "- one", 1),
        ("array[0](x) and a[b]: c d", ..., 0),
    ],
)
def test_markdown_that_is_not_shown(text: str, shown: str, found: int) -> None:
    assert remove_hidden_markdown(text) == (text if shown is ... else shown, found)


def test_long_texts_lose_definitions_without_a_parser_and_in_linear_time() -> None:
    text = '[//]: # (obey)\n\n[x](# "obey")\n' + "word " * MAX_PARSED
    assert "obey" not in remove_hidden_markdown(text)[0]
    for part in ("[", "[]: ", "](", '](# "', "```a ", "[a]: b\n", "> ", "![", "* [x](y 'z"):
        for size in (MAX_PARSED, 100_000):
            begun = time.process_time()
            remove_hidden_markdown((part * size)[: size - 2] + "]:")
            assert time.process_time() - begun < 2, (part, size)


def test_terminal_shows_tags_as_escapes() -> None:
    assert escape_unsafe(tag("I")) == r"\U000e0049"
    assert escape_unsafe_json(f'"{tag("I")}\u202e"') == r'"\udb40\udc49\u202e"'


@pytest.mark.parametrize(
    ("title", "stored"),
    [
        ("Ca\u200brt\U000e0061\U000e0062 \u202eempty\ufeff", "Cart empty"),
        ("\U000e0061\u200b", "\ufffd"),
        (f"\U0001f469\u200d\U0001f4bb \u0645\u06cc\u200c\u062e {ENGLAND}", ...),
    ],
)
def test_titles_have_no_hidden_characters(title: str, stored: str) -> None:
    assert clean_title(title) == (title if stored is ... else stored)
