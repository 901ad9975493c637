"""Jira's wiki markup becomes Markdown."""

import time

import pytest

from ticketbox.domain.tickets.jira_markup import convert_to_markdown


@pytest.mark.parametrize(
    ("markup", "markdown"),
    [
        ("h2. The *cart*", "## The **cart**"),
        ("Steps:\n# open\n## the cart\n#* twice\n# click", "Steps:\n\n1. open\n   1. the cart\n   - twice\n1. click"),
        ("* a\n** b\n- c", "- a\n  - b\n- c"),
        ("x {code:java}\nint a = 1; // *x*\n# y\n{code}", "x\n\n```java\nint a = 1; // *x*\n# y\n```"),
        ("{code:title=a.py|python}\nx\n{code}", "```python\nx\n```"),
        ("{noformat}a ``` b{noformat}", "````\na ``` b\n````"),
        ("{code} unclosed *bold*", "{code} unclosed **bold**"),
        ("{quote}\nsaid *it*\n{code}x{code}\n{quote}\nno", "> said **it**\n>\n> ```\n> x\n> ```\n\nno"),
        ("bq. said", "> said"),
        (
            "[site|https://example.org] [https://example.org] [a]",
            "[site](https://example.org) <https://example.org> [a]",
        ),
        ("[~ann], {{x_y}}, -old-, 1-2-3, a*b*c, 2 * 3 * 4", "ann, `x_y`, ~~old~~, 1-2-3, a*b*c, 2 * 3 * 4"),
        ("!shot.png|thumbnail! Great! So!", "`shot.png` Great! So!"),
        ("So:\n||a||*b*||\n|1|2|", "So:\n\n| a | **b** |\n|---|---|\n| 1 | 2 |"),
        ("{color:red}red{color}\r\n----\r\nend", "red\n***\nend"),
    ],
)
def test_markup_becomes_markdown(markup: str, markdown: str) -> None:
    assert convert_to_markdown(markup) == markdown


@pytest.mark.parametrize("unit", ["[", "[a|", "*a ", "{code", "{code}", "{quote}{code}", "||a", "# x\n", "!a", "-a"])
def test_long_text_is_converted_in_moments(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    started = time.process_time()
    convert_to_markdown(text)
    assert time.process_time() - started < 1
