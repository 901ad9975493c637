"""The tokenizer that measures how much of a model's context an answer takes."""

import base64

import pytest

from tests.support.pictures import png
from tests.support.tokens import count_result_tokens, count_tokens

pytestmark = pytest.mark.long  # the vocabulary takes seconds to load


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("hello world", 2), ("tiktoken is great!", 6), ("<|endoftext|>", 7), ("Größe 日本語\n", 5)],
)
def test_tokens_are_those_of_o200k_base(text: str, tokens: int) -> None:
    """The figures are those of OpenAI's own tokenizer."""
    assert count_tokens(text) == tokens


def test_result_counts_its_texts_and_the_pixels_of_its_picture() -> None:
    picture = {"type": "image", "data": base64.b64encode(png(1500, 750)).decode(), "mimeType": "image/png"}
    result = {"content": [{"type": "text", "text": "hello world"}, picture], "structuredContent": {"copy": "x" * 99}}
    assert count_result_tokens(result) == 2 + 1500


def test_long_texts_are_counted() -> None:
    text = "".join(f'{{"id": "r{number}", "url": "https://shop.example/api/{number}"}}, ' for number in range(20_000))
    assert 300_000 < count_tokens(text) < 600_000
