"""Search of tickets: a checked query becomes an expression of the full-text index (docs/use/search.md).

Besides words, the index holds filters: company, project, status and the like are tokens in its column `scope`, so
that a word in half of all tickets costs no more than a rare one. Results come in the order of the index, newest
first, and are checked against `visible_project` again.
"""

import time
from collections.abc import Iterable
from itertools import starmap

import msgspec

from ticketbox.domain.tickets.records import Excerpt, Highlights, Piece
from ticketbox.domain.tickets.search_filters import TextField, TimeField
from ticketbox.domain.tickets.search_query import TextTerm, TimeTerm
from ticketbox.domain.tickets.search_words import CLOSE, OPEN, list_spellings, restore_text, split_last_word
from ticketbox.store.core.visibility import WITH_VISIBLE_PROJECTS, Viewer
from ticketbox.store.file.database import Read, Row
from ticketbox.store.tickets.search.search_scope import join_conditions, quote

TIME_LIMIT_SECONDS = 1.0
MAX_RANKED = 200
NO_UPPER_BOUND = 2**62
MAX_FORMS = 50
SHORT_PREFIX_LENGTH = 3

_TEXT_COLUMNS = "ticket title branch description comments address errors console"
_COLUMNS_BY_FIELD = {
    TextField.ANYWHERE: _TEXT_COLUMNS,
    TextField.TITLE: "title",
    TextField.ERROR: "errors console",
    TextField.PAGE: "address",
    TextField.BRANCH: "branch",
}
_TIME_COLUMNS = {
    TimeField.CREATED: "t.created_at",
    TimeField.UPDATED: "t.updated_at",
    TimeField.DUE: "unixepoch(t.due_on) * 1000",
}
_EXCERPTS = {"description": 3, "comments": 4, "errors": 6, "console": 7, "page": 5, "branch": 2, "id": 0}


class IndexQuery(msgspec.Struct, frozen=True):
    """A query with its names resolved. `scope` is an expression of the index; "" finds nothing."""

    scope: str
    projects: tuple[int, ...]
    texts: tuple[TextTerm, ...]
    periods: tuple[TimeTerm, ...]
    columns: tuple[tuple[bool, tuple[int, ...]], ...]

    @property
    def words_in_any_field(self) -> list[TextTerm]:
        """The words that may be in any field."""
        return [text for text in self.texts if text.place is TextField.ANYWHERE and not text.negated]


SELECT_NEXT_TERM = "SELECT term FROM search_term WHERE term >= ? LIMIT 1"


def expand_prefixes(tx: Read, texts: Iterable[TextTerm]) -> tuple[TextTerm, ...]:
    """Replace each prefix by the words of the index that begin with it.

    For a prefix, the index would join the lists of all these words before it returns the first row; for an OR of
    words it reads the lists in step. Prefixes of two and three letters have a separate index.
    """
    return tuple(_expand_prefix(tx, text) if text.prefix else text for text in texts)


def _expand_prefix(tx: Read, text: TextTerm) -> TextTerm:
    head, start = split_last_word(text.text)
    if len(start) <= SHORT_PREFIX_LENGTH:
        return text
    forms: list[str] = []
    term = tx.fetch_value(SELECT_NEXT_TERM, (start,))
    while term is not None and term.startswith(start):
        forms.append(head + term)
        if len(forms) > MAX_FORMS:
            return text
        term = tx.fetch_value(SELECT_NEXT_TERM, (term + "\x01",))
    return msgspec.structs.replace(text, forms=tuple(forms)) if forms else text


def _compose_text(text: TextTerm, columns: str) -> str:
    ending = " *" * (text.prefix and not text.forms)
    forms = [quote(each) + ending for form in text.forms or (text.text,) for each in list_spellings(form)]
    choice = " OR ".join(forms)
    return f"{{{columns}}} : ({choice})"


def compose_expression(question: IndexQuery, *, titled: bool | None = None) -> str:
    """Compose the FTS5 expression: for all tickets, or for those with (without) all words in their titles."""
    parts = [
        question.scope,
        *(_compose_text(text, _COLUMNS_BY_FIELD[text.place]) for text in question.texts if not text.negated),
    ]
    without = [_compose_text(text, _COLUMNS_BY_FIELD[text.place]) for text in question.texts if text.negated]
    if titled is not None:
        title = join_conditions([_compose_text(text, "ticket title") for text in question.words_in_any_field], [])
        (parts if titled else without).append(title)
    return join_conditions(parts, without)


SELECT_LAST_RANKED = """
SELECT rowid FROM search WHERE search MATCH :match AND rowid >= :least AND rowid < :before
ORDER BY rowid DESC LIMIT 1 OFFSET :limit - 1
"""


def compose_query(question: IndexQuery) -> str:
    """Compose the statement from constant parts."""
    where = ["t.project_id IN (SELECT value FROM json_each(:projects))"]
    for number, (negated, _) in enumerate(question.columns):
        inside = f"t.column_id IN (SELECT value FROM json_each(:columns{number}))"
        where.append(f"ifnull({inside}, 0) = {int(not negated)}")
    for number, period in enumerate(question.periods):
        column = _TIME_COLUMNS[period.moment]
        bounds = f"{column} >= :least{number} AND {column} < :most{number}"
        where.append(f"NOT ifnull({bounds}, 0)" if period.negated else bounds)
    more = "".join(f" AND {part}" for part in where)
    beside = _HIGHLIGHT_COLUMNS if any(not text.negated for text in question.texts) else ""
    return f"""{WITH_VISIBLE_PROJECTS}
SELECT t.id{beside}
FROM search CROSS JOIN ticket t ON t.id = search.rowid CROSS JOIN visible_project v ON v.id = t.project_id
WHERE search MATCH :match AND search.rowid >= :least AND search.rowid < :before{more} AND v.within
ORDER BY search.rowid DESC LIMIT :limit"""


def _compose_excerpt(field: str, column: int) -> str:
    """Compose the column's snippet after its field's name, or NULL without a match there.

    LIMIT prevents inlining, which would compute the snippet twice.
    """
    snippet = f"snippet(search, {column}, :open, :close, '…', 24)"
    return f"(SELECT '{field}:' || cut FROM (SELECT {snippet} AS cut LIMIT 1) WHERE instr(cut, :open))"


# coalesce() stops at the first match: each snippet reads its column's text twice.
_HIGHLIGHT_COLUMNS = (
    ", highlight(search, 1, :open, :close), coalesce(" + ", ".join(starmap(_compose_excerpt, _EXCERPTS.items())) + ")"
)


class SearchMatch(msgspec.Struct, frozen=True):
    """A found ticket: its key, its position in the order, and its highlights."""

    key: int
    place: tuple[int, int, int]
    highlights: Highlights


def find_matches(
    tx: Read, viewer: Viewer, question: IndexQuery, after: tuple[int, ...] | None, limit: int
) -> tuple[list[SearchMatch], bool]:
    """Find up to `limit` tickets; also return whether the search finished within its time limit of a second.

    Of the 200 newest matches, those with all words in their titles come first, then the others; then older matches.
    Each group is sorted newest first.
    """
    matches: list[SearchMatch] = []
    if not question.scope:
        return matches, True
    search = _TimedSearch(tx, viewer, question, time.monotonic() + TIME_LIMIT_SECONDS)
    floor, tier, before = after or (
        search.find_lowest_ranked() if question.words_in_any_field else NO_UPPER_BOUND,
        0,
        NO_UPPER_BOUND,
    )
    steps = ((True, floor, NO_UPPER_BOUND), (False, floor, NO_UPPER_BOUND), (None, 0, floor))
    for number, (titled, least, most) in enumerate(steps):
        if number < tier or least >= most:
            continue
        rows = search.select_rows(titled, least, before if number == tier else most, limit - len(matches))
        matches += [
            SearchMatch(key, (floor, number, key), _build_highlights(*marked) if marked else Highlights([], None))
            for key, *marked in rows
        ]
        if search.timed_out or len(matches) >= limit:
            break
    return matches, not search.timed_out


class _TimedSearch:
    """A search that runs in steps within one time limit."""

    def __init__(self, tx: Read, viewer: Viewer, question: IndexQuery, deadline: float) -> None:
        self._tx, self._question, self._deadline = tx, question, deadline
        self._values = {**viewer, **_build_parameters(question)}
        self.timed_out = False

    def find_lowest_ranked(self) -> int:
        """Find the key of the last match that is ranked; 0 if all are."""
        keys = self._fetch_in_time(SELECT_LAST_RANKED, None, 0, NO_UPPER_BOUND, MAX_RANKED)
        return keys[0][0] if keys else 0

    def select_rows(self, titled: bool | None, least: int, before: int, limit: int) -> list[Row]:
        """Select the matches in a range of keys, newest first."""
        return self._fetch_in_time(compose_query(self._question), titled, least, before, limit)

    def _fetch_in_time(self, statement: str, titled: bool | None, least: int, before: int, limit: int) -> list[Row]:
        parameters = {
            "match": compose_expression(self._question, titled=titled),
            "least": least,
            "before": before,
            "limit": limit,
        }
        rows, finished = self._tx.fetch_until(statement, {**self._values, **parameters}, self._deadline)
        self.timed_out = self.timed_out or not finished
        return rows


def _build_parameters(question: IndexQuery) -> dict[str, object]:
    values: dict[str, object] = {"open": OPEN, "close": CLOSE, "projects": _encode_json(question.projects)}
    for number, (_, keys) in enumerate(question.columns):
        values[f"columns{number}"] = _encode_json(keys)
    for number, period in enumerate(question.periods):
        values[f"least{number}"] = -(2**62) if period.least is None else period.least
        values[f"most{number}"] = 2**62 if period.most is None else period.most
    return values


def _encode_json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _build_highlights(title: str, snippet: str | None) -> Highlights:
    field, _, text = (snippet or "").partition(":")
    excerpt = Excerpt(field, _split_pieces(text)) if field else None
    return Highlights(_split_pieces(title) if OPEN in title else [], excerpt)


def _split_pieces(written: str) -> list[Piece]:
    parts: list[Piece] = []
    for number, piece in enumerate(restore_text(written).split(OPEN)):
        inside, close, outside = piece.partition(CLOSE)
        is_match = bool(number and close)
        parts += [Piece(inside, match=is_match), Piece(outside.replace(CLOSE, ""), match=False)]
    return [part for part in parts if part.text]
