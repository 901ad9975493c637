"""The search language: `"stays empty" -draft label:ui assignee:me created:>2026-01-01` (docs/use/search.md).

`parse_query` turns a text into a checked structure, or reports what is wrong and where. It is independent of the
caller: names and ids stay as typed, and are looked up when the query runs.
"""

import difflib
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from ticketbox.domain.core.problems import InvalidField, InvalidRequest
from ticketbox.domain.tickets.search_filters import FILTERS, KEYS, Facet, TextField, TimeField, ValueKind
from ticketbox.domain.tickets.search_words import can_be_prefix, count_words, is_letter, is_whole, write_query

MAX_CHARACTERS = 500
MAX_TERMS = 32
MAX_TOKENS = 64
MIN_PREFIX = 2


class Span(msgspec.Struct, frozen=True):
    """A term's position in the query, in characters from 0."""

    start: int
    end: int
    text: str


class TextTerm(msgspec.Struct, frozen=True):
    """Words in this order, as they are written in the index.

    With `prefix` the last one is a prefix; `forms` are then its completions, if known.
    """

    text: str
    place: TextField
    prefix: bool
    negated: bool
    forms: tuple[str, ...] = ()


class FacetTerm(msgspec.Struct, frozen=True):
    """Any of the values; those of `assignee`, `project` and `column` are names that aren't resolved yet."""

    facet: Facet
    values: tuple[str, ...]
    negated: bool
    span: Span


class TimeTerm(msgspec.Struct, frozen=True):
    """From `least` up to but not including `most`, in epoch milliseconds; None is open."""

    moment: TimeField
    least: int | None
    most: int | None
    negated: bool


class SearchQuery(msgspec.Struct, frozen=True):
    """A checked query. All terms must match."""

    texts: tuple[TextTerm, ...]
    choices: tuple[FacetTerm, ...]
    periods: tuple[TimeTerm, ...]

    def has_facet(self, *facets: Facet) -> bool:
        """Whether a term has one of the facets."""
        return any(choice.facet in facets for choice in self.choices)


_SYNONYMS = {Facet.HAS: {"comment": "comments", "attachments": "attachment", "error": "errors"}}
_VALID_VALUES: dict[str, dict[str, str]] = {
    each.key: {value: value for value in each.values} | _SYNONYMS.get(Facet(each.key), {})
    for each in FILTERS
    if each.takes is ValueKind.VALUE
}
_TEXT_FIELDS = {each.key: TextField(each.key) for each in FILTERS if each.takes is ValueKind.WORDS}

_TERM = re.compile(
    r"""(?P<minus>-?)
    (?:(?P<key>[a-z]+):(?="[^"]|[^\s"]))?
    (?:"(?P<phrase>(?:[^"\\]|\\"?)*)(?:"|$)(?P<more>\*?) | (?P<word>\S+))""",
    re.VERBOSE,
)
_AGO = re.compile(r"([0-9]{1,4})([hdwmy])", re.ASCII)
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_COMPARED = re.compile(r"(>=|<=|>|<)?(.*)", re.DOTALL)
_DAYS = {"yesterday": -1, "today": 0, "tomorrow": 1}
_HOURS = {"h": 1, "d": 24, "w": 168, "m": 720, "y": 8760}


def parse_query(text: str, now: int, *, typing: bool = False) -> SearchQuery:
    """Parse a query. `now` is epoch milliseconds; with `typing` the last word is a prefix.

    Raises InvalidRequest that names the term, its position and a correction; also for an empty query.
    """
    if len(text) > MAX_CHARACTERS:
        raise InvalidField("q", f"must be at most {MAX_CHARACTERS} characters")
    if "\0" in text:
        raise InvalidField("q", "must not contain a NUL character")
    texts: list[TextTerm] = []
    choices: list[FacetTerm] = []
    periods: list[TimeTerm] = []
    count = tokens = 0
    for match in _TERM.finditer(text):
        term = _TermReader(match)
        count += 1
        if count > MAX_TERMS:
            raise term.build_error(f"a query can have at most {MAX_TERMS} terms")
        match term.key:
            case None:
                last = typing and match.end() == len(text) and not match[0].endswith('"')
                text_term = term.read_text(TextField.ANYWHERE, typing=last)
            case key if key in _TEXT_FIELDS:
                text_term = term.read_text(_TEXT_FIELDS[key], typing=False)
                if text_term is None:
                    raise term.build_error("there is nothing to search for")
            case "created" | "updated" | "due":
                periods.append(term.read_period(now))
                continue
            case _:
                choices.append(term.read_facet())
                continue
        if text_term is not None:
            texts.append(text_term)
            tokens += count_words(text_term.text)
            if tokens > MAX_TOKENS:
                raise term.build_error(f"a query can have at most {MAX_TOKENS} words")
    if not (texts or choices or periods):
        raise InvalidField("q", "there is nothing to search for: enter a word, or a filter such as label:bug")
    return SearchQuery(tuple(texts), tuple(choices), tuple(periods))


def build_term_error(span: Span, message: str, **extra: Any) -> InvalidRequest:
    """Build the error of a term, with its position."""
    shown = span.text if len(span.text) <= 40 else span.text[:39] + "…"
    return InvalidField("q", f"`{shown}` at character {span.start + 1}: {message}", at=span, **extra)


class _TermReader:
    """A reader of one term of the query."""

    def __init__(self, match: re.Match[str]) -> None:
        self.span = Span(match.start(), match.end(), match[0])
        self.negated = match["minus"] == "-"
        self.key: str | None = match["key"]
        self.quoted = match["phrase"] is not None
        self.value: str = match["phrase"].replace(r"\"", '"') if self.quoted else match["word"]
        self.star = self.quoted and match["more"] == "*"
        if self.key is not None and self.key not in KEYS:
            near = difflib.get_close_matches(self.key, KEYS, 1, 0.75)
            if near and not self.value.startswith("//"):
                raise self.build_error(
                    f"there is no filter {self.key}:, did you mean {near[0]}:? In quotes it is searched as text",
                    KEYS,
                )
            self.value, self.key = f"{self.key}:{self.value}", None

    def build_error(self, message: str, valid: tuple[str, ...] = ()) -> InvalidRequest:
        """Build the error of this term."""
        return build_term_error(self.span, message, **({"valid": list(valid)} if valid else {}))

    def read_text(self, place: TextField, *, typing: bool) -> TextTerm | None:
        """Read words to search for; None without a letter, digit or emoji."""
        text, prefix = self.value, self.star
        if not self.quoted and text.endswith("*"):
            text, prefix = text.rstrip("*"), True
        text = write_query(text)
        if not count_words(text):
            return None
        if is_whole(text) or is_letter(text):
            return TextTerm(text, place, is_letter(text), self.negated)
        long_enough = can_be_prefix(text, MIN_PREFIX)
        if prefix and not long_enough:
            raise self.build_error(f"enter at least {MIN_PREFIX} letters before the *")
        return TextTerm(text, place, prefix or (typing and long_enough), self.negated)

    def read_facet(self) -> FacetTerm:
        """Read a facet with its values; check those of a fixed set."""
        facet = Facet(self.key or "")
        values = (self.value,) if self.quoted else tuple(self.value.split(","))
        if not all(value.strip() for value in values):
            raise self.build_error("a value is empty")
        known = _VALID_VALUES.get(facet)
        if known is not None:
            folded = [value.casefold() for value in values]
            if any(value not in known for value in folded):
                valid = tuple(dict.fromkeys(known.values()))
                raise self.build_error(f"{facet} must be one of {', '.join(valid)}", valid)
            values = tuple(known[value] for value in folded)
        if facet is Facet.IS:
            return self._translate_state(*values)
        if facet is Facet.STATUS and self.negated:
            raise self.build_error("name the status that it should have instead")
        return FacetTerm(facet, tuple(value.strip() for value in values), self.negated, self.span)

    def _translate_state(self, value: str, *others: str) -> FacetTerm:
        """Translate `is:` to the other facets."""
        if others:
            raise self.build_error("only one value is allowed")
        match value:
            case "open" | "resolved" as state:
                return FacetTerm(Facet.IS, ("resolved",), self.negated != (state == "open"), self.span)
            case "assigned" | "unassigned" as state:
                return FacetTerm(Facet.ASSIGNEE, ("none",), self.negated != (state == "assigned"), self.span)
            case state:
                archived = self.negated != (state == "archived")
                return FacetTerm(Facet.STATUS, ("archived" if archived else "active",), False, self.span)

    def read_period(self, now: int) -> TimeTerm:
        """Read a time as a half-open range."""
        first, dots, last = self.value.partition("..")
        if dots:
            least, most = self._parse_time(first, now)[0], self._parse_time(last, now)[1]
        else:
            compared = _COMPARED.fullmatch(self.value)
            assert compared is not None
            begin, end = self._parse_time(compared[2], now)
            match compared[1]:
                case ">":
                    least, most = end, None
                case ">=":
                    least, most = begin, None
                case "<":
                    least, most = None, begin
                case "<=":
                    least, most = None, end
                case _:
                    least, most = begin, None if _AGO.fullmatch(compared[2]) else end
        if least is not None and most is not None and least >= most:
            raise self.build_error("it ends before it begins")
        return TimeTerm(TimeField(self.key or ""), least, most, self.negated)

    def _parse_time(self, text: str, now: int) -> tuple[int, int]:
        """Parse a time: its first millisecond, and the first one after it."""
        today = datetime.fromtimestamp(now / 1000, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        try:
            if text in _DAYS:
                day = today + timedelta(days=_DAYS[text])
            elif ago := _AGO.fullmatch(text):
                at = now - int(ago[1]) * _HOURS[ago[2]] * 3_600_000
                return at, at
            elif _DAY.fullmatch(text):
                day = datetime.fromisoformat(text).replace(tzinfo=UTC)
            else:
                at = datetime.fromisoformat(text)
                ms = int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)
                return ms, ms + 1
            begin = int(day.timestamp() * 1000)
            return begin, begin + 86_400_000
        except (ValueError, OverflowError):
            raise self.build_error(
                "a time is a day such as 2026-01-31, an RFC 3339 time, today, yesterday, tomorrow,"
                " or 7d for seven days ago"
            ) from None
