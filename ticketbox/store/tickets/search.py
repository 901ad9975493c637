"""Searching tickets: a checked query becomes one question to the index of words (docs/use/search.md).

The index holds, beside the words, what narrows a search: company, project, status and the like are tokens in its
column `scope`, so that a word that half of the tickets hold costs no more than a rare one. What comes out is in the
order of the index, newest first, and is checked against `visible_project` once more.
"""

import time
from collections.abc import Iterable
from itertools import starmap

import msgspec

from ticketbox.domain.tickets.records import Excerpt, Highlights, Piece
from ticketbox.domain.tickets.search_filters import Moment, Place
from ticketbox.domain.tickets.search_query import Period, Text, split_last
from ticketbox.store.core.visibility import VISIBLE, Viewer
from ticketbox.store.file.database import Read, Row
from ticketbox.store.tickets.search_scope import joined, quoted

SECONDS = 1.0
RANKED = 200
NEWEST = 2**62
MOST_FORMS = 50
SHORT_PREFIX = 3

_OPEN, _CLOSE = "\ufdd0", "\ufdd1"  # noncharacters: no text is written with them
_WORDS = "ticket title branch description comments address errors console"
_COLUMNS = {
    Place.ANYWHERE: _WORDS,
    Place.TITLE: "title",
    Place.ERROR: "errors console",
    Place.PAGE: "address",
    Place.BRANCH: "branch",
}
_EXCERPTS = {"description": 3, "comments": 4, "errors": 6, "console": 7, "page": 5, "branch": 2, "id": 0}


class Question(msgspec.Struct, frozen=True):
    """A query that is ready to be asked. `scope` is an expression of the index; "" finds nothing."""

    scope: str
    projects: tuple[int, ...]
    texts: tuple[Text, ...]
    periods: tuple[Period, ...]
    columns: tuple[tuple[bool, tuple[int, ...]], ...]

    @property
    def loose(self) -> list[Text]:
        """The words that may stand anywhere."""
        return [text for text in self.texts if text.place is Place.ANYWHERE and not text.negated]


NEXT_TERM = "SELECT term FROM search_term WHERE term >= ? LIMIT 1"


def spelt(tx: Read, texts: Iterable[Text]) -> tuple[Text, ...]:
    """The texts, those whose last word may go on with the words of the index that it can become.

    The index would join all that is listed under those words before it gives the first row; as a choice of words it
    goes through them in step. Words of two and three letters have an index of their own.
    """
    return tuple(_spelt(tx, text) if text.prefix else text for text in texts)


def _spelt(tx: Read, text: Text) -> Text:
    head, start = split_last(text.text)
    if len(start) <= SHORT_PREFIX:
        return text
    forms: list[str] = []
    term = tx.value(NEXT_TERM, (start,))
    while term is not None and term.startswith(start):
        forms.append(head + term)
        if len(forms) > MOST_FORMS:
            return text
        term = tx.value(NEXT_TERM, (term + "\x01",))
    return msgspec.structs.replace(text, forms=tuple(forms)) if forms else text


def _text(text: Text, columns: str) -> str:
    choice = " OR ".join(quoted(each) for each in text.forms) or quoted(text.text) + " *" * text.prefix
    return f"{{{columns}}} : ({choice})"


def expression(question: Question, *, titled: bool | None = None) -> str:
    """The question in the index's language: of all tickets, or of those (not) with all words in their titles."""
    parts = [question.scope, *(_text(text, _COLUMNS[text.place]) for text in question.texts if not text.negated)]
    without = [_text(text, _COLUMNS[text.place]) for text in question.texts if text.negated]
    if titled is not None:
        title = joined([_text(text, "ticket title") for text in question.loose], [])
        (parts if titled else without).append(title)
    return joined(parts, without)


RANKED_LAST = """
SELECT rowid FROM search WHERE search MATCH :match AND rowid >= :least AND rowid < :before
ORDER BY rowid DESC LIMIT 1 OFFSET :limit - 1
"""


def sql(question: Question) -> str:
    """Compose the question from constant parts."""
    where = ["t.project_id IN (SELECT value FROM json_each(:projects))"]
    for number, (negated, _) in enumerate(question.columns):
        inside = f"t.column_id IN (SELECT value FROM json_each(:columns{number}))"
        where.append(f"ifnull({inside}, 0) = {int(not negated)}")
    for number, period in enumerate(question.periods):
        column = "t.created_at" if period.moment is Moment.CREATED else "t.updated_at"
        bounds = f"{column} >= :least{number} AND {column} < :most{number}"
        where.append(f"NOT ({bounds})" if period.negated else bounds)
    more = "".join(f" AND {part}" for part in where)
    beside = _SHOWN if any(not text.negated for text in question.texts) else ""
    return f"""{VISIBLE}
SELECT t.id{beside}
FROM search CROSS JOIN ticket t ON t.id = search.rowid CROSS JOIN visible_project v ON v.id = t.project_id
WHERE search MATCH :match AND search.rowid >= :least AND search.rowid < :before{more} AND v.within
ORDER BY search.rowid DESC LIMIT :limit"""


def _excerpt(field: str, column: int) -> str:
    """The column's snippet behind its field's name, or NULL when nothing fits there.

    LIMIT keeps it from being inlined, and so from being cut twice.
    """
    snippet = f"snippet(search, {column}, :open, :close, '…', 24)"
    return f"(SELECT '{field}:' || cut FROM (SELECT {snippet} AS cut LIMIT 1) WHERE instr(cut, :open))"


# The first that fits ends the choice: each snippet reads its column's text twice.
_SHOWN = ", highlight(search, 1, :open, :close), coalesce(" + ", ".join(starmap(_excerpt, _EXCERPTS.items())) + ")"


class Match(msgspec.Struct, frozen=True):
    """A ticket that fits: its key, its place in the order, and what to show of it."""

    key: int
    place: tuple[int, int, int]
    highlights: Highlights


def matches(
    tx: Read, viewer: Viewer, question: Question, after: tuple[int, ...] | None, limit: int
) -> tuple[list[Match], bool]:
    """Up to `limit` tickets that fit, and whether all were looked at that had to be.

    Of the 200 newest that fit, first those with all words in their titles, then the others; then the older ones; each
    newest first. After a second it gives what it has found by then.
    """
    found: list[Match] = []
    if not question.scope:
        return found, True
    asking = _Asking(tx, viewer, question, time.monotonic() + SECONDS)
    floor, tier, before = after or (asking.floor() if question.loose else NEWEST, 0, NEWEST)
    steps = ((True, floor, NEWEST), (False, floor, NEWEST), (None, 0, floor))
    for number, (titled, least, most) in enumerate(steps):
        if number < tier or least >= most:
            continue
        rows = asking.rows(titled, least, before if number == tier else most, limit - len(found))
        found += [Match(row[0], (floor, number, row[0]), _highlights(row)) for row in rows]
        if asking.late or len(found) >= limit:
            break
    return found, not asking.late


class _Asking:
    """A question while it is asked, step by step, within one time limit."""

    def __init__(self, tx: Read, viewer: Viewer, question: Question, deadline: float) -> None:
        self._tx, self._question, self._deadline = tx, question, deadline
        self._values = {**viewer, **_values(question)}
        self.late = False

    def floor(self) -> int:
        """The key of the last of the newest that are ranked; 0 when there are no others."""
        keys = self._some(RANKED_LAST, None, 0, NEWEST, RANKED)
        return keys[0][0] if keys else 0

    def rows(self, titled: bool | None, least: int, before: int, limit: int) -> list[Row]:
        """Rows of a range of keys, newest first."""
        return self._some(sql(self._question), titled, least, before, limit)

    def _some(self, statement: str, titled: bool | None, least: int, before: int, limit: int) -> list[Row]:
        asked = {"match": expression(self._question, titled=titled), "least": least, "before": before, "limit": limit}
        rows, whole = self._tx.some(statement, {**self._values, **asked}, self._deadline)
        self.late = self.late or not whole
        return rows


def _values(question: Question) -> dict[str, object]:
    values: dict[str, object] = {"open": _OPEN, "close": _CLOSE, "projects": _json(question.projects)}
    for number, (_, keys) in enumerate(question.columns):
        values[f"columns{number}"] = _json(keys)
    for number, period in enumerate(question.periods):
        values[f"least{number}"] = -(2**62) if period.least is None else period.least
        values[f"most{number}"] = 2**62 if period.most is None else period.most
    return values


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _highlights(row: Row) -> Highlights:
    if len(row) == 1:
        return Highlights([], None)
    field, _, text = (row[2] or "").partition(":")
    excerpt = Excerpt(field, _parts(text)) if field else None
    return Highlights(_parts(row[1]) if _OPEN in row[1] else [], excerpt)


def _parts(text: str) -> list[Piece]:
    parts: list[Piece] = []
    for number, piece in enumerate(text.split(_OPEN)):
        inside, close, outside = piece.partition(_CLOSE)
        found = bool(number and close)
        parts += [Piece(inside, match=found), Piece(outside.replace(_CLOSE, ""), match=False)]
    return [part for part in parts if part.text]
