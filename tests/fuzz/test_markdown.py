"""Markdown as the web app renders it: nothing makes it throw, and the result has no active content."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given

from tests.extension.node import run_module
from tests.fuzz.mutations import mutate_text_samples, samples
from tests.support.long_runs import Record, choose_rounds, hypothesis_settings

TAGS = {
    "h1", "h2", "h3", "h4", "h5", "h6", "p", "a", "em", "strong", "s", "code", "pre", "blockquote", "hr", "br", "ul",
    "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "img", "input", "div",
}  # fmt: skip
ATTRIBUTES = {
    "href", "rel", "target", "title", "src", "alt", "loading", "class", "start", "type", "data-line", "aria-label",
    "checked", "dir", "disabled", "tabindex", "role", "style",
}  # fmt: skip
OWN_PICTURE = re.compile(r"/api/v1/assets/asset_[0-9a-z]+/content")
HARMLESS = re.compile(r"(?i)(https?:|mailto:|[^:]*([/?#]|\Z))")
MS = 5_000


class Checker(HTMLParser):
    """Finds what may act: tags, attributes and addresses that don't belong."""

    def __init__(self) -> None:
        super().__init__()
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in TAGS:
            self.wrong.append(tag)
        for name, value in attrs:
            text = value or ""
            if name not in ATTRIBUTES or (
                name == "style" and not re.fullmatch(r"text-align:(left|center|right)", text)
            ):
                self.wrong.append(f"{tag} {name}")
            if name == "href" and not HARMLESS.match(text):
                self.wrong.append(f"{tag} {text}")
            if name == "src" and not OWN_PICTURE.fullmatch(text):
                self.wrong.append(f"{tag} {text}")


def wrong_in(html: str) -> list[str]:
    """What is wrong with some HTML."""
    checker = Checker()
    checker.feed(html)
    checker.close()
    return checker.wrong


def render_samples(inputs: int) -> dict[str, Any]:
    """Render kept texts and their changed forms; what was rendered, and in how long."""
    texts = [data.decode() for data in samples("markdown")]

    @hypothesis_settings(inputs)
    @given(mutate_text_samples("markdown"))
    def gather(text: str) -> None:
        texts.append(text[:100_000].replace("\0", ""))

    gather()
    answers = run_module("fuzz/markdown.mjs", texts)
    for text, answer in zip(texts, answers, strict=True):
        assert "thrown" not in answer, (text[:2_000], answer["thrown"])
        assert wrong_in(answer["html"]) == [], text[:2_000]
    slowest = max(answer["ms"] for answer in answers)
    assert slowest < MS
    return {"inputs": len(texts), "slowest ms": round(slowest)}


def test_any_markdown_renders_without_active_content() -> None:
    assert render_samples(200)["inputs"] > 200


@pytest.mark.long
def test_much_markdown_renders_without_active_content(record_property: Record) -> None:
    for name, figure in render_samples(choose_rounds(1_200, 4_000)).items():
        record_property(name, figure)


@pytest.mark.parametrize(
    "html",
    ["<script>", "<p onclick=x>", '<a href="javascript:x">', '<img src="https://evil.example/">', "<p style='x:y'>"],
)
def test_active_content_would_be_detected(html: str) -> None:
    assert wrong_in(html)


def test_invalid_url_stays_text() -> None:
    (answer,) = run_module("fuzz/markdown.mjs", ["[a](http://[) and [b](/tickets/t-12345678)"])
    assert answer["html"] == '<p>[a](http://[) and <a href="/tickets/t-12345678" rel="noopener nofollow">b</a></p>\n'
