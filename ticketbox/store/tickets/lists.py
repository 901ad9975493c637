"""Lists of tickets: one query composed of constant parts, whose cost doesn't grow with the number of tickets."""

from operator import itemgetter
from typing import Any

import msgspec

from ticketbox.domain.tickets.fields import PRESENCE_FILTERS, SORT_KEYS
from ticketbox.domain.tickets.records import PRIORITIES, Priority, Sort, Status, Ticket
from ticketbox.store.core.visibility import WITH_VISIBLE_PROJECTS, Viewer
from ticketbox.store.file.database import Read
from ticketbox.store.tickets.records import TICKET_COLUMNS, TICKET_JOINS, build_tickets, name_columns

SortValues = tuple[int | str, ...]

_SORT_COLUMNS = {
    "created": ("id",),
    "updated": ("updated_at", "id"),
    "position": ("position", "id"),
    **{name: (key.column, "id") for name, key in SORT_KEYS.items()},
}


# The queue's order of tickets `t` in columns `c`, and that of tickets `i` in one column.
READY_ORDER = "t.priority DESC, c.position, t.position, t.id"
READY_ORDER_IN_COLUMN = "i.priority DESC, i.position, i.id"


def get_cursor_shape(wanted: "TicketFilter") -> type[SortValues]:
    """Return the types of the values that a cursor has in the list's order."""
    if wanted.in_ready_order:
        return tuple[int, int, int, int]
    name = wanted.sort.removeprefix("-")
    if len(_SORT_COLUMNS[name]) == 1:
        return tuple[int]
    is_text = name in SORT_KEYS and SORT_KEYS[name].is_text
    return tuple[str, int] if is_text else tuple[int, int]


# Of a ticket `i`: active, unresolved, not claimed, and not blocked. A blocking ticket that is archived doesn't count.
READY = """i.status = 'active' AND i.resolved = 0 AND (i.claimed_until IS NULL OR i.claimed_until <= :now)
  AND NOT EXISTS (
    SELECT 1 FROM ticket_link b CROSS JOIN ticket o ON o.id = b.ticket_id
    WHERE b.other_id = i.id AND b.kind = 'blocks' AND o.resolved = 0 AND o.status = 'active')"""


class TicketFilter(msgspec.Struct, frozen=True):
    """The filters of a list; None and no values mean any. Ids are public, times epoch milliseconds.

    A ticket must have one of several values. With `unassigned`, having no assignee is one of them. `presence` says, by
    the names of PRESENCE_FILTERS, whether a field must have a value.
    """

    statuses: tuple[Status, ...]
    sort: Sort
    company: str | None = None
    project: str | None = None
    columns: tuple[str, ...] = ()
    assignees: tuple[str, ...] = ()
    unassigned: bool = False
    labels: tuple[str, ...] = ()
    priorities: tuple[Priority, ...] = ()
    resolved: bool | None = None
    updated_since: int | None = None
    due_before: str | None = None
    presence: dict[str, bool] = {}
    ready: bool = False
    in_ready_order: bool = False


_READY_PLACE = "-i.priority, c.position, i.position, i.id"
# Of a ticket `i`.
PRESENCE_CONDITIONS = {
    name: f"(nullif(i.{field.name}, '[]') IS NOT NULL) = :{name}" for name, field in PRESENCE_FILTERS.items()
}
_CONDITIONS = {
    "resolved": "i.resolved = :resolved",
    "updated_since": "i.updated_at >= :updated_since",
    "due_before": "i.due_on < :due_before",
}
_IS_ASSIGNED = """EXISTS (
    SELECT 1 FROM ticket_assignee a CROSS JOIN user u ON u.id = a.user_id
    WHERE a.ticket_id = i.id AND u.public_id IN (SELECT value FROM json_each(:assignees)))"""
_IS_UNASSIGNED = "NOT EXISTS (SELECT 1 FROM ticket_assignee a WHERE a.ticket_id = i.id)"


_READ_PAGE = f"SELECT {TICKET_COLUMNS} FROM chosen v CROSS JOIN ticket t ON t.id = v.id {TICKET_JOINS}"
_COUNT_PAGE = "SELECT count(*) FROM chosen"


def compose_query(wanted: TicketFilter, *, resumed: bool, page: str = _READ_PAGE) -> str:
    """Compose the list's query from constant parts; `page` says what it returns of the chosen tickets.

    Each visible project contributes at most one page, read from an index in the list's order, and these are
    merged: the cost doesn't grow with the number of tickets. Only then are the page's rows read in full,
    unsorted: SQLite sorts full rows more slowly than Python sorts by their keys.
    """
    # Labels and assignments carry the project, status and order of their tickets (0004).
    # Each value of the one that comes first is read separately, so that its rows are in the list's order.
    source, first, values = "ticket i", "i", [""]
    where: list[str] = []
    if wanted.labels:
        source, first = "ticket_label l CROSS JOIN ticket i ON i.id = l.ticket_id", "l"
        values = [f" AND l.label = :label{number}" for number in range(len(wanted.labels))]
    elif wanted.assignees and not wanted.unassigned:
        source, first = "ticket_assignee l CROSS JOIN ticket i ON i.id = l.ticket_id", "l"
        values = [
            f" AND l.user_id = (SELECT id FROM user WHERE public_id = :assignee{number})"
            for number in range(len(wanted.assignees))
        ]
    of_project = f"{first}.project_id = v.id"
    if wanted.in_ready_order:
        of_project = f"i.column_id = c.id AND {'+' * (first == 'i')}{of_project}"
    elif first == "i" and wanted.columns:
        of_project = "+" + of_project
    if wanted.columns:
        where.append(f"i.column_id {_compose_choice('id', wanted.columns)}")
    if wanted.unassigned:
        where.append(f"({_IS_UNASSIGNED} OR {_IS_ASSIGNED})" if wanted.assignees else _IS_UNASSIGNED)
    elif wanted.assignees and wanted.labels:
        where.append(_IS_ASSIGNED)
    if len(wanted.priorities) == 1:
        where.append("i.priority = :priority")
    elif wanted.priorities:
        where.append("+i.priority IN (SELECT value FROM json_each(:priorities))")
    where += [condition for name, condition in _CONDITIONS.items() if getattr(wanted, name) is not None]
    where += [PRESENCE_CONDITIONS[name] for name in wanted.presence]
    if wanted.ready:
        where.append(READY)
        if not wanted.columns:
            where.append("EXISTS (SELECT 1 FROM board_column k WHERE k.id = i.column_id AND k.kind = 'todo')")
    more = "".join(f" AND {part}" for part in where)
    inner_order, outer_order, ranges = _compose_order(wanted, first, resumed=resumed)
    status = f"{'+' * wanted.in_ready_order}{first}.status"
    arms = [
        f"SELECT i.id FROM {source} WHERE {of_project} AND {status} = s.value{value}{more}{rest}"
        f" ORDER BY {inner_order} LIMIT :limit"
        for value in values
        for rest in ranges
    ]
    pages = arms[0] if len(arms) == 1 else " UNION ALL ".join(f"SELECT id FROM ({arm})" for arm in arms)
    columns = "CROSS JOIN board_column c ON c.project_id = v.id" if wanted.in_ready_order else ""
    home = f"AND v.id {_compose_choice('project_id', wanted.columns)}" if wanted.columns else ""
    return f"""{WITH_VISIBLE_PROJECTS}, chosen (id, company_id, public_id, name, key) AS MATERIALIZED (
  SELECT t.id, v.company_id, v.public_id, v.name, v.key
  FROM visible_project v {columns} CROSS JOIN json_each(:statuses) s CROSS JOIN ticket t
  WHERE v.within AND (:company IS NULL OR v.company_id = :company) AND (:project IS NULL OR v.public_id = :project)
    {home} AND t.id IN ({pages})
  ORDER BY {outer_order} LIMIT :limit
)
{page}"""


def _compose_order(wanted: TicketFilter, first: str, *, resumed: bool) -> tuple[str, str, list[str]]:
    """Compose the order of the rows to choose from and that of the page, and a condition for each range to read."""
    if wanted.in_ready_order:
        after = f" AND i.priority <= -:after0 AND ({_READY_PLACE}) > (:after0, :after1, :after2, :after3)"
        return READY_ORDER_IN_COLUMN, READY_ORDER, [after if resumed else ""]
    down = wanted.sort.startswith("-")
    keys = _SORT_COLUMNS[wanted.sort.removeprefix("-")]
    inner = [f"{first}.{key}" for key in keys]
    if first == "l":
        inner = ["i.position" if key == "l.position" else key.replace("l.id", "l.ticket_id") for key in inner]
    direction = " DESC" if down else ""
    return (
        ", ".join(key + direction for key in inner),
        ", ".join(f"t.{key}{direction}" for key in keys),
        _compose_resume_conditions(inner, "<" if down else ">") if resumed else [""],
    )


def _compose_resume_conditions(keys: list[str], beyond: str) -> list[str]:
    """Compose the conditions that select what follows a cursor, one for each index range.

    A comparison of row values would scan all rows that are equal in the first key: SQLite seeks only by the
    columns before the rowid.
    """
    if len(keys) == 1:
        return [f" AND {keys[0]} {beyond} :after0"]
    return [f" AND {keys[0]} = :after0 AND {keys[1]} {beyond} :after1", f" AND {keys[0]} {beyond} :after0"]


def _compose_choice(field: str, columns: tuple[str, ...]) -> str:
    """Compose a comparison with a field of the columns. Only with one, its index also gives the order."""
    if len(columns) == 1:
        return f"= (SELECT {field} FROM board_column WHERE public_id = :column)"
    return f"IN (SELECT {field} FROM board_column WHERE public_id IN (SELECT value FROM json_each(:columns)))"


def build_parameters(viewer: Viewer, wanted: TicketFilter, after: SortValues | None, limit: int) -> dict[str, object]:
    """Build the parameters of `compose_query`."""
    return {
        **viewer,
        "statuses": msgspec.json.encode(wanted.statuses).decode(),
        "company": wanted.company,
        "project": wanted.project,
        "column": wanted.columns[0] if wanted.columns else None,
        "columns": msgspec.json.encode(wanted.columns).decode(),
        "assignees": msgspec.json.encode(wanted.assignees).decode(),
        **{f"assignee{number}": value for number, value in enumerate(wanted.assignees)},
        **{f"label{number}": value for number, value in enumerate(wanted.labels)},
        **wanted.presence,
        "priority": PRIORITIES.index(wanted.priorities[0]) if wanted.priorities else None,
        "priorities": msgspec.json.encode([PRIORITIES.index(each) for each in wanted.priorities]).decode(),
        "resolved": wanted.resolved,
        "updated_since": wanted.updated_since,
        "due_before": wanted.due_before,
        "limit": limit,
        **{f"after{number}": value for number, value in enumerate(after or ())},
    }


def list_tickets(
    tx: Read, viewer: Viewer, wanted: TicketFilter, after: SortValues | None, limit: int
) -> list[tuple[int | SortValues, Ticket]]:
    """List a page of tickets, each with the sort values that a cursor resumes after."""
    given = {**build_parameters(viewer, wanted, after, limit), "now": tx.now}
    rows = list(map(name_columns, tx.fetch_all(compose_query(wanted, resumed=after is not None), given)))
    if wanted.in_ready_order:
        rows.sort(key=_get_ready_place)
        return list(zip(map(_get_ready_place, rows), build_tickets(tx, rows), strict=True))
    columns = _SORT_COLUMNS[wanted.sort.removeprefix("-")]
    get_sort_values = itemgetter(*("key" if column == "id" else column for column in columns))
    rows.sort(key=get_sort_values, reverse=wanted.sort.startswith("-"))
    return list(zip(map(get_sort_values, rows), build_tickets(tx, rows), strict=True))


def count_tickets(tx: Read, viewer: Viewer, wanted: TicketFilter, most: int) -> int:
    """Count the tickets of a list, up to a number."""
    given = {**build_parameters(viewer, wanted, None, most), "now": tx.now}
    return tx.fetch_value(compose_query(wanted, resumed=False, page=_COUNT_PAGE), given)


def _get_ready_place(row: dict[str, Any]) -> SortValues:
    return -row["priority"], row["column_position"], row["position"], row["key"]
