"""The language of search: what it takes, and where it says that something is wrong."""

import pytest

from ticketbox.domain.core.clock import DAY, HOUR
from ticketbox.domain.core.problems import InvalidRequest
from ticketbox.domain.tickets.search_filters import FILTERS, KEYS, Facet, SearchFilter, TextField, TimeField, ValueKind
from ticketbox.domain.tickets.search_query import (
    MAX_TERMS,
    MAX_TOKENS,
    FacetTerm,
    SearchQuery,
    Span,
    parse_query,
)

NOW = 1_795_253_400_000  # 2026-11-21T09:30Z
NOVEMBER = 1_793_491_200_000  # its first day


def texts(query: str, *, typing: bool = False) -> list[tuple[str, str]]:
    """The texts of a query: each with its place, a minus and a star where they stand."""
    return [
        (f"{'-' * text.negated}{text.text}{'*' * text.prefix}", text.place.value)
        for text in parse_query(query, NOW, typing=typing).texts
    ]


def choice(query: str) -> tuple[Facet, tuple[str, ...], bool]:
    (choices,) = parse_query(query, NOW).choices
    return choices.facet, choices.values, choices.negated


def period(query: str) -> tuple[int | None, int | None]:
    (periods,) = parse_query(query, NOW).periods
    return periods.least, periods.most


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("cart", [("cart", "anywhere")]),
        ("  cart   stays ", [("cart", "anywhere"), ("stays", "anywhere")]),
        ('"stays empty"', [("stays empty", "anywhere")]),
        ("-draft", [("-draft", "anywhere")]),
        ('-"first draft"', [("-first draft", "anywhere")]),
        ("check*", [("check*", "anywhere")]),
        ('"the check"*', [("the check*", "anywhere")]),
        ('"never closed', [("never closed", "anywhere")]),
        ('say"so', [('say"so', "anywhere")]),
        ("error:TypeError", [("TypeError", "error")]),
        ('-error:"x is not a function"', [("-x is not a function", "error")]),
        ("title:cart", [("cart", "title")]),
        ("page:/checkout", [("/checkout", "page")]),
        ("branch:t-4k7m2q9x*", [("t-4k7m2q9x*", "branch")]),
        ("Error: nothing", [("Error:", "anywhere"), ("nothing", "anywhere")]),
        ("status:", [("status:", "anywhere")]),
        ("https://shop.example/cart", [("https://shop.example/cart", "anywhere")]),
        ("foo:bar", [("foo:bar", "anywhere")]),
        ("AND OR NOT NEAR(a", [(word, "anywhere") for word in ("AND", "OR", "NOT", "NEAR(a")]),
        ("cart & -- *** ?", [("cart", "anywhere")]),
        ("日本語", [("\x1f日本\x1f本語\x1f", "anywhere")]),
        ("x", [("x", "anywhere")]),
    ],
)
def test_words_phrases_and_places(query: str, found: list[tuple[str, str]]) -> None:
    assert texts(query) == found


def test_last_word_is_a_prefix_only_while_typing() -> None:
    assert texts("cart che", typing=True) == [("cart", "anywhere"), ("che*", "anywhere")]
    assert texts('cart "stays em', typing=True) == [("cart", "anywhere"), ("stays em*", "anywhere")]
    for done in ("cart che ", '"cart che"', "c", "che.", "error:che"):
        assert not texts(done, typing=True)[-1][0].endswith("*"), done


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("status:archived", (Facet.STATUS, ("archived",), False)),
        ("status:ALL", (Facet.STATUS, ("all",), False)),
        ("is:archived", (Facet.STATUS, ("archived",), False)),
        ("-is:archived", (Facet.STATUS, ("active",), False)),
        ("is:resolved", (Facet.IS, ("resolved",), False)),
        ("is:open", (Facet.IS, ("resolved",), True)),
        ("-is:open", (Facet.IS, ("resolved",), False)),
        ("is:assigned", (Facet.ASSIGNEE, ("none",), True)),
        ("is:unassigned", (Facet.ASSIGNEE, ("none",), False)),
        ("priority:high,Urgent", (Facet.PRIORITY, ("high", "urgent"), False)),
        ("has:comment", (Facet.HAS, ("comments",), False)),
        ("-label:ui,api", (Facet.LABEL, ("ui", "api"), True)),
        ('label:"needs, design"', (Facet.LABEL, ("needs, design",), False)),
        ("assignee:me", (Facet.ASSIGNEE, ("me",), False)),
        ('column:"In progress"', (Facet.COLUMN, ("In progress",), False)),
        ("project:proj_9w4k2m7x0c3n", (Facet.PROJECT, ("proj_9w4k2m7x0c3n",), False)),
    ],
)
def test_filters(query: str, found: tuple[Facet, tuple[str, ...], bool]) -> None:
    assert choice(query) == found


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("created:2026-11-01", (NOVEMBER, NOVEMBER + DAY)),
        ("created:>2026-11-01", (NOVEMBER + DAY, None)),
        ("created:>=2026-11-01", (NOVEMBER, None)),
        ("created:<2026-11-01", (None, NOVEMBER)),
        ("created:<=2026-11-01", (None, NOVEMBER + DAY)),
        ("created:2026-11-01..2026-11-02", (NOVEMBER, NOVEMBER + 2 * DAY)),
        ("updated:>=2026-11-01T01:00:00Z", (NOVEMBER + HOUR, None)),
        ("updated:>=2026-11-01T01:00:00+01:00", (NOVEMBER, None)),
        ("updated:>2h", (NOW - 2 * HOUR, None)),
        ("updated:7d", (NOW - 7 * DAY, None)),
        ("updated:<1w", (None, NOW - 7 * DAY)),
        ("created:today", (NOVEMBER + 20 * DAY, NOVEMBER + 21 * DAY)),
        ("created:yesterday", (NOVEMBER + 19 * DAY, NOVEMBER + 20 * DAY)),
        ("due:tomorrow", (NOVEMBER + 21 * DAY, NOVEMBER + 22 * DAY)),
        ("due:<today", (None, NOVEMBER + 20 * DAY)),
    ],
)
def test_times(query: str, found: tuple[int | None, int | None]) -> None:
    assert period(query) == found


@pytest.mark.parametrize(
    ("query", "start", "end", "word"),
    [
        ("cart status:closed", 5, 18, "active, archived, all"),
        ("priority:hihg", 0, 13, "urgent"),
        ("is:foo", 0, 6, "resolved"),
        ("is:open,resolved", 0, 16, "one value"),
        ("has:pictures", 0, 12, "attachment"),
        ("-status:active", 0, 14, "instead"),
        ("cart lable:ui", 5, 13, "did you mean label:?"),
        ("created:soon", 0, 12, "2026-01-31"),
        ("created:2026-02-30", 0, 18, "2026-01-31"),
        ("created:>99999-01-01", 0, 20, "2026-01-31"),
        ("updated:2026-02-01..2026-01-01", 0, 30, "ends before"),
        ("label:a,,b", 0, 10, "empty"),
        ("cart c*", 5, 7, "2 letters"),
        ("error:&&", 0, 8, "nothing to search for"),
        ("ü cart is:x", 7, 11, "open"),
    ],
)
def test_error_points_at_the_term(query: str, start: int, end: int, word: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_query(query, NOW)
    problem = caught.value
    assert problem.extra["at"] == Span(start, end, query[start:end])
    (error,) = problem.extra["errors"]
    assert error.field == "q"
    assert f"at character {start + 1}" in error.message
    assert word in error.message


@pytest.mark.parametrize("query", ["-", "***", "?!", '""', "  ", '-""'])
def test_empty_query_is_rejected(query: str) -> None:
    with pytest.raises(InvalidRequest, match="nothing to search for"):
        parse_query(query, NOW)


@pytest.mark.parametrize("query", ["\0", "cart\0", 'title:"the\0cart"'])
def test_query_with_a_nul_character_is_rejected(query: str) -> None:
    with pytest.raises(InvalidRequest, match="must not contain a NUL character"):
        parse_query(query, NOW)


def test_terms_words_and_characters_are_bounded() -> None:
    assert len(parse_query("a " * MAX_TERMS, NOW).texts) == MAX_TERMS
    assert len(parse_query("a." * MAX_TOKENS, NOW).texts) == 1
    for query, words in (
        ("a " * (MAX_TERMS + 1), "terms"),
        ("a." * (MAX_TOKENS + 1), "words"),
        ("x" * 501, "characters"),
    ):
        with pytest.raises(InvalidRequest, match=words):
            parse_query(query, NOW)


def test_quoted_value_can_contain_quotes() -> None:
    (choice,) = parse_query(r'label:"he said \"x\""', NOW).choices
    assert choice.values == ('he said "x"',)
    (choice,) = parse_query(r'label:"C:\temp\"', NOW).choices
    assert choice.values == ('C:\\temp"',)


def test_terms_differ_by_position() -> None:
    query: SearchQuery = parse_query("assignee:me -assignee:me", NOW)
    one, two = query.choices
    assert isinstance(one, FacetTerm)
    assert one != two
    assert {one: 1, two: 2}[two] == 2
    assert query.periods == ()
    assert TimeField.CREATED.value == "created"
    assert TextField.ANYWHERE.value == "anywhere"


@pytest.mark.parametrize("each", FILTERS, ids=lambda each: each.key)
def test_every_filter_accepts_its_suggested_values(each: SearchFilter) -> None:
    offered = each.values or ("cart",)
    for value in offered:
        query = parse_query(f"{each.key}:{value}", NOW)
        assert len(query.texts) + len(query.choices) + len(query.periods) == 1, value
        assert all(text.place is TextField(each.key) for text in query.texts)
    if each.takes is ValueKind.VALUE:
        with pytest.raises(InvalidRequest) as caught:
            parse_query(f"{each.key}:nonsense", NOW)
        assert all(value in str(caught.value) for value in each.values)


def test_every_key_is_suggested() -> None:
    assert {*Facet, *TimeField, *TextField} - {TextField.ANYWHERE} == set(KEYS)
