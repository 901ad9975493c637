"""The scope of a search: what a query's names refer to, and the index tokens of its filters."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

import msgspec

from ticketbox.domain.core.clock import DAY
from ticketbox.domain.tickets.records import PRIORITIES, Priority, Status
from ticketbox.domain.tickets.search_filters import Facet, TextField, TimeField
from ticketbox.domain.tickets.search_query import FacetTerm, SearchQuery, TimeTerm
from ticketbox.store.core.visibility import WITH_VISIBLE_PROJECTS, Viewer
from ticketbox.store.file.database import Read

MAX_PROJECTS = 100

KeysByTerm = Mapping[FacetTerm, tuple[int, ...]]  # the internal keys of what a choice names


class VisibleProject(msgspec.Struct, frozen=True):
    """A project that the viewer sees; `siblings` counts the projects of its company."""

    company: int
    project: int
    company_id: str
    project_id: str
    name: str
    siblings: int


SELECT_PROJECTS = f"""
{WITH_VISIBLE_PROJECTS}
SELECT v.company, v.id, v.company_id, v.public_id, p.name
FROM visible_project v JOIN project p ON p.id = v.id WHERE v.within
"""


COUNT_PROJECTS = f"""
{WITH_VISIBLE_PROJECTS}
SELECT c.company, (SELECT count(*) FROM project p WHERE p.company_id = c.company)
FROM (SELECT DISTINCT v.company FROM visible_project v) c
"""


def list_visible_projects(tx: Read, viewer: Viewer) -> list[VisibleProject]:
    """List the projects that the viewer sees."""
    sizes = dict(tx.fetch_all(COUNT_PROJECTS, viewer))
    return [
        VisibleProject(company, project, company_id, project_id, name, sizes[company])
        for company, project, company_id, project_id, name in tx.fetch_all(SELECT_PROJECTS, viewer)
    ]


SELECT_USERS_BY_NAME = f"""
{WITH_VISIBLE_PROJECTS}
SELECT DISTINCT u.id FROM (SELECT DISTINCT v.company FROM visible_project v WHERE v.within) c
JOIN member m ON m.company_id = c.company JOIN user u ON u.id = m.user_id
WHERE u.public_id = :name OR u.name = :name COLLATE NOCASE OR u.email = :name
  OR substr(u.name, 1, length(:name) + 1) = :name || ' ' COLLATE NOCASE
"""


def find_users_by_name(tx: Read, viewer: Viewer, name: str) -> tuple[int, ...]:
    """Find the users of the viewer's companies with this id, name, first name or email address."""
    return tuple(key for (key,) in tx.fetch_all(SELECT_USERS_BY_NAME, {**viewer, "name": name}))


SELECT_COLUMNS_BY_NAME = f"""
{WITH_VISIBLE_PROJECTS}
SELECT c.id FROM visible_project v JOIN board_column c ON c.project_id = v.id
WHERE v.within AND (c.public_id = :name OR c.name = :name COLLATE NOCASE)
"""


def find_columns_by_name(tx: Read, viewer: Viewer, name: str) -> tuple[int, ...]:
    """Find the columns that the viewer sees with this id or name."""
    return tuple(key for (key,) in tx.fetch_all(SELECT_COLUMNS_BY_NAME, {**viewer, "name": name}))


def compose_scope(
    where: Iterable[VisibleProject], statuses: Sequence[Status], query: SearchQuery, names: KeysByTerm, now: int
) -> str:
    """Compose the part of an index expression that filters by everything except words."""
    homes: dict[int, list[VisibleProject]] = {}
    for home in where:
        homes.setdefault(home.company, []).append(home)
    if not homes:
        return ""
    parts = [[token for company, projects in homes.items() for token in _list_project_tokens(company, projects)]]
    if len(statuses) == 1:
        parts.append([f"s{statuses[0].value}"])
    if any(text.place is TextField.ERROR and not text.negated for text in query.texts):
        parts.append(["herrors"])
    parts += [
        list_month_tokens(period, now)
        for period in query.periods
        if period.moment is TimeField.CREATED and not period.negated
    ]
    without: list[list[str]] = []
    for choice in query.choices:
        if choice.facet not in {Facet.STATUS, Facet.PROJECT, Facet.COLUMN}:
            (without if choice.negated else parts).append(sorted(_list_term_tokens(choice, names)))
    return join_conditions([_compose_any(part) for part in parts], [_compose_any(part) for part in without])


def _list_project_tokens(company: int, homes: list[VisibleProject]) -> list[str]:
    """List the tokens of a company's projects: one for the company if all are meant, or too many to list."""
    if len(homes) > MAX_PROJECTS or len(homes) == homes[0].siblings:
        return [f"c{company}"]
    return [f"p{home.project}" for home in homes]


def list_month_tokens(period: TimeTerm, now: int) -> list[str]:
    """List the tokens of the years, and at both ends months, that a time range covers."""
    least, most = (
        datetime.fromtimestamp(min(max(at, 0), now + DAY) / 1000, UTC)
        for at in (period.least or 0, now + DAY if period.most is None else period.most)
    )
    first, last = least.year * 12 + least.month - 1, most.year * 12 + most.month - 1
    tokens: list[str] = []
    while first <= last:
        year, month = divmod(first, 12)
        whole = month == 0 and first + 11 <= last
        tokens.append(f"d{year}" if whole else f"d{year}{month + 1:02}")
        first += 12 if whole else 1
    return tokens


def _list_term_tokens(choice: FacetTerm, names: KeysByTerm) -> Iterable[str]:
    yield from (f"a{key}" for key in names.get(choice, ()))
    for value in choice.values:
        match choice.facet:
            case Facet.LABEL:
                yield "l" + value.encode().lower().hex()
            case Facet.PRIORITY:
                yield f"y{PRIORITIES.index(Priority(value))}"
            case Facet.HAS:
                yield f"h{value}"
            case Facet.IS:
                yield "r1"
            case Facet.ASSIGNEE if value == "none":
                yield "anone"
            case _:
                pass


def _compose_any(tokens: Sequence[str]) -> str:
    return f"{{scope}} : ({' OR '.join(quote(token) for token in tokens) or quote('nothing')})"


def quote(text: str) -> str:
    """Quote a text for FTS5; inside quotes no character is special."""
    return '"' + text.replace('"', '""') + '"'


def join_conditions(parts: Sequence[str], without: Sequence[str]) -> str:
    """Join conditions: all of `parts` and none of `without`."""
    expression = " AND ".join(f"({part})" for part in parts)
    for part in without:
        expression = f"({expression}) NOT ({part})"
    return expression
