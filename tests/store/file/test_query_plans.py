"""Every query finds its rows by an index, and a list costs the same whatever the file holds."""

import ast
import contextlib
import importlib
import itertools
import pkgutil
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import ticketbox.store
from tests.support.long_runs import sample_cases
from ticketbox.domain.tickets.records import Priority, Sort, Status
from ticketbox.domain.tickets.search_filters import TextField, TimeField
from ticketbox.domain.tickets.search_query import TextTerm, TimeTerm
from ticketbox.store.events import events
from ticketbox.store.file.connection import connect
from ticketbox.store.file.migrate import prepare_file
from ticketbox.store.tickets import lists, records
from ticketbox.store.tickets.lists import TicketFilter
from ticketbox.store.tickets.search import search
from ticketbox.store.tickets.search.search import IndexQuery
from ticketbox.store.work import ready

ACTIVE = (Status.ACTIVE,)


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    """A new file. Without statistics SQLite plans by the indexes alone, as it does in the field."""
    path = tmp_path_factory.mktemp("plans") / "ticketbox.db"
    prepare_file(path)
    with contextlib.closing(connect(path, writes=True)) as opened:
        yield opened


class Anything(dict[str, Any]):
    """A value for every named parameter."""

    def __missing__(self, name: str) -> None:
        return None


def explain(connection: sqlite3.Connection, how: str, sql: str) -> list[tuple[Any, ...]]:
    """What SQLite says about a statement."""
    try:
        return connection.execute(f"{how} {sql}", Anything()).fetchall()
    except sqlite3.ProgrammingError:  # it counts its parameters instead of naming them
        return connection.execute(f"{how} {sql}", [None] * sql.count("?")).fetchall()


def find_scanned_tables(connection: sqlite3.Connection, sql: str) -> set[str]:
    """The tables that a statement scans completely, directly or by an index, under any alias.

    The plan says which names are walked, and the program which tables: a walk that a range ends is a search, and
    common table expressions and functions are no tables.
    """
    roots = dict(connection.execute("SELECT rootpage, tbl_name FROM sqlite_schema WHERE rootpage > 0"))
    opened: dict[int, str] = {}
    walked: set[str] = set()
    for _, opcode, cursor, root, *_ in explain(connection, "EXPLAIN", sql):
        if opcode in {"OpenRead", "OpenWrite", "ReopenIdx"} and root in roots:
            opened[cursor] = roots[root]
        elif opcode.startswith("Open"):
            opened.pop(cursor, None)
        elif opcode in {"Rewind", "Last", "Count"} and cursor in opened:
            walked.add(opened[cursor])
    steps = [text for *_, text in explain(connection, "EXPLAIN QUERY PLAN", sql)]
    names = {match[1] for text in steps if (match := re.match(r"SCAN (\w+)", text))}
    return {table for table in walked for name in names if table == name or _is_called(table, name, sql)}


def _is_called(table: str, name: str, sql: str) -> bool:
    return re.search(rf"\b{table}\s+(AS\s+)?{name}\b", sql) is not None


def plan(connection: sqlite3.Connection, sql: str) -> list[str]:
    """The steps of the plan, each with the steps that contain it: `within > step`."""
    paths = {0: ""}
    for number, parent, _, text in explain(connection, "EXPLAIN QUERY PLAN", sql):
        paths[number] = f"{paths[parent]} > {text}"
    return list(paths.values())


def test_full_scan_is_detected(connection: sqlite3.Connection) -> None:
    """Scans are distinguished from look-ups, under any alias."""
    assert find_scanned_tables(connection, "SELECT * FROM ticket WHERE public_id = ?") == set()
    assert find_scanned_tables(connection, "SELECT t.id FROM ticket t WHERE t.title = ?") == {"ticket"}
    assert find_scanned_tables(connection, "SELECT count(*) FROM event") == {"event"}
    assert find_scanned_tables(connection, "SELECT id FROM ticket ORDER BY id DESC LIMIT 1") == {"ticket"}
    assert find_scanned_tables(connection, "UPDATE comment SET body = '' WHERE body = ?") == {"comment"}


VALUES: dict[str, Any] = {
    "labels": ("x",),
    "assignees": ("x",),
    "columns": ("x",),
    "priorities": (Priority.HIGH,),
    "resolved": True,
    "updated_since": 1,
    "ready": True,
}
SEVERAL: dict[str, Any] = {
    "labels": ("x", "y"),
    "assignees": ("x", "y"),
    "unassigned": True,
    "columns": ("x", "y"),
    "priorities": (Priority.HIGH, Priority.LOW),
    "presence": {"has_labels": False, "has_due_date": True},
}
CHOICES = [
    dict(zip(values, chosen, strict=True))
    for values in (VALUES, SEVERAL)
    for chosen in itertools.product(*[(None, value) for value in values.values()])
]


@pytest.mark.parametrize("resumed", [False, True])
@pytest.mark.parametrize("sort", sample_cases(Sort, 3))
def test_ticket_lists_never_scan_a_table(connection: sqlite3.Connection, sort: Sort, resumed: bool) -> None:
    for choice in CHOICES:
        fields: dict[str, Any] = {name: value for name, value in choice.items() if value is not None}
        for in_ready_order in {False, fields.get("ready", False)}:
            wanted = TicketFilter(ACTIVE, sort, **fields, in_ready_order=in_ready_order)
            sql = lists.compose_query(wanted, resumed=resumed)
            assert find_scanned_tables(connection, sql) == set(), wanted


@pytest.mark.parametrize("labels", [(), ("x",), ("x", "y")])
@pytest.mark.parametrize("column", [None, 1])
def test_queue_of_ready_tickets_is_read_from_an_index(
    connection: sqlite3.Connection, labels: tuple[str, ...], column: int | None
) -> None:
    for priority, assignee in itertools.product((None, Priority.HIGH), (None, "x")):
        sql = ready.compose_query(ready.ReadyFilter(column, labels, priority, assignee))
        assert find_scanned_tables(connection, sql) == set()
        steps = [step for step in plan(connection, sql) if "SUBQUERY" in step]
        if not labels:
            assert any("SEARCH i USING INDEX ticket_ready" in step for step in steps), steps
            assert not any("TEMP B-TREE" in step for step in steps), steps


@pytest.mark.parametrize("resumed", [False, True])
def test_list_of_ready_tickets_is_read_from_an_index_in_order(connection: sqlite3.Connection, resumed: bool) -> None:
    for columns in ((), ("x",), ("x", "y")):
        wanted = TicketFilter(ACTIVE, Sort.UPDATED_DOWN, columns=columns, ready=True, in_ready_order=True)
        steps = plan(connection, lists.compose_query(wanted, resumed=resumed))
        inner = [step for step in steps if "LIST SUBQUERY" in step]
        assert any("SEARCH i USING INDEX ticket_ready" in step for step in inner), inner
        assert not any("TEMP B-TREE" in step for step in inner), inner


# Filters that leave the order of the page to an index; the others look the candidates up first and sort those.
IN_ORDER = [
    {},
    {"resolved": True},
    {"unassigned": True},
    {"labels": ("x",)},
    {"labels": ("x", "y", "z")},
    {"assignees": ("x",)},
    {"assignees": ("x", "y")},
    {"assignees": ("x",), "unassigned": True},
    {"labels": ("x", "y"), "assignees": ("x", "y"), "priorities": (Priority.LOW, Priority.HIGH), "resolved": True},
    {"due_before": "2026-12-24", "resolved": False},
]


@pytest.mark.parametrize("resumed", [False, True])
@pytest.mark.parametrize("sort", list(Sort))
def test_page_of_a_project_is_read_from_an_index_in_order(
    connection: sqlite3.Connection, sort: Sort, resumed: bool
) -> None:
    for choice in IN_ORDER:
        if sort is Sort.POSITION and choice.keys() & {"labels", "assignees"}:
            continue
        columns = ("x",) if sort is Sort.POSITION else ()
        sql = lists.compose_query(TicketFilter(ACTIVE, sort, columns=columns, **choice), resumed=resumed)
        inner = [step for step in plan(connection, sql) if "LIST SUBQUERY" in step]
        assert any(re.search("> SEARCH [il] USING", step) for step in inner), inner
        assert not any("TEMP B-TREE" in step for step in inner), (choice, inner)


CREATED = TimeTerm(TimeField.CREATED, 1, None, negated=False)
DUE = TimeTerm(TimeField.DUE, None, 1, negated=False)
UPDATED = TimeTerm(TimeField.UPDATED, None, 1, negated=True)


@pytest.mark.parametrize("words", [(), (TextTerm("x", TextField.ANYWHERE, prefix=True, negated=False),)])
@pytest.mark.parametrize("periods", [(), (CREATED,), (UPDATED, CREATED), (DUE,)])
@pytest.mark.parametrize("columns", [(), ((False, (1,)), (True, (2, 3)))])
def test_search_reads_the_full_text_index_in_order(
    connection: sqlite3.Connection,
    words: tuple[TextTerm, ...],
    periods: tuple[TimeTerm, ...],
    columns: tuple[tuple[bool, tuple[int, ...]], ...],
) -> None:
    """Both bounds of the key are the index's own, and nothing is sorted afterwards."""
    sql = search.compose_query(IndexQuery('"p1"', (1,), words, periods, columns))
    assert find_scanned_tables(connection, sql) == set()
    steps = plan(connection, sql)
    assert any(re.search(r"SCAN search VIRTUAL TABLE INDEX \d+:M\d*><", step) for step in steps), steps
    assert not any("TEMP B-TREE" in step for step in steps), steps
    assert any("SEARCH t USING INTEGER PRIMARY KEY" in step for step in steps), steps


def modules() -> list[Any]:
    """Every module of the store."""
    result = pkgutil.walk_packages(ticketbox.store.__path__, "ticketbox.store.")
    return [importlib.import_module(each.name) for each in result if not each.ispkg]


def is_statement(text: str) -> bool:
    return bool(re.match(r"\s*(SELECT|WITH|INSERT|UPDATE|DELETE)\s", text)) and len(text.split()) > 3


def statements() -> dict[str, str]:
    """Every statement of the store: its named constants, and the SQL inside functions.

    A name with an underscore in front is a part of others.
    """
    result: dict[str, str] = {}
    for module in modules():
        short = module.__name__.rpartition(".")[2]
        for name, value in vars(module).items():
            if isinstance(value, str) and re.fullmatch("[A-Z][A-Z_]*", name) and is_statement(value):
                result[f"{short}.{name}"] = value
        tree = ast.parse(Path(module.__file__).read_text())
        for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
            parts = [node for node in ast.walk(function) if isinstance(node, ast.Constant)]
            for part in parts:
                if isinstance(part.value, str) and is_statement(part.value):
                    result[f"{short}.{function.name}:{part.lineno}"] = part.value
    return result


# These walk a table on purpose.
WALKS = {
    "second_factors.LIST_WITH_FACTOR": {
        "second_factor",
        "passkey",
    },  # for `ticketbox user list`, which lists all accounts
    "users.HAS_ACCOUNTS": {"user"},  # whether there is one at all: stops at the first
    "events.SELECT_NEWEST_TIME": {"event"},  # from the newest, at most the last million, and usually the first
    "events.SELECT_NEWEST_KEY": {"sqlite_sequence"},  # one row for each table
    "webhook_outbox.SELECT_WEBHOOKS_BEHIND": {"webhook"},  # a few for each company, and a step into an index for each
    "webhook_outbox.SELECT_DUE": {"webhook"},
    "webhook_outbox.SELECT_NEXT_DUE": {"webhook"},
    "webhooks.DELETE_OLD_SECRETS": {"webhook"},
    "webhook_outbox.SELECT_BACKLOG": {"webhook", "(subquery)"},
    "git_deliveries.HAS_WAITING": {"git_delivery"},  # an index of what waits: its first entry
    "git_deliveries.SELECT_BACKLOG": {"git_delivery"},
    "git_deliveries.SELECT_WAITING": {"git_hook"},  # a few for each project, and a step into an index for each
    "report_keys.DELETE_OLD_KEYS": {"report_key"},  # a few for each project
    "report_keys.DELETE_OLD_IDENTITY_SECRETS": {"report_key"},
    "git_hooks.DELETE_OLD_SECRETS": {"git_hook"},
    "email_outbox.SELECT_BACKLOG": {"mail"},  # an index of what waits
    "email_outbox.SELECT_NEXT_DUE": {"mail"},  # its first entry
    "storage.summarize_stored_bytes": {"company_storage"},  # for /metrics: one short row for each company
    "check.MAIL": {"mail"},
    "check.ORPHANS": {"blob"},  # `ticketbox check` looks at everything
    "check.BLOB_BYTES": {"blob"},
    "check.SELECT_FILES": {"blob"},
    "moves.SELECT_FILE": {"blob"},  # `ticketbox assets move`
    "moves.SUM_FILES": {"blob"},
    "moves.SUM_LARGE": {"blob"},
    "location.SELECT_LOCATION": {"assets_folder"},  # one row
    "check.STORAGE": {"source_map", "asset", "capture", "company", "part", "stored"},
    "migrate._check_existing": {"user"},  # once at the start
    "clients.DELETE_SURPLUS_CLIENTS": {"oauth_client"},  # housekeeping: keeps a table small that anybody can fill
}


def whole(connection: sqlite3.Connection, sql: str) -> bool:
    """Whether SQLite takes it as a statement; the parts that others are composed of aren't."""
    try:
        explain(connection, "EXPLAIN", sql)
    except sqlite3.OperationalError:
        return False
    return True


def test_other_statements_never_scan_a_table(connection: sqlite3.Connection) -> None:
    result = {name: sql for name, sql in statements().items() if whole(connection, sql)}
    assert len(result) > 100
    assert {
        "events.SELECT_VISIBLE_EVENTS",
        "events.SELECT_HISTORY",
        "events.SELECT_AUDIT_LOG",
        "comments.SELECT_COMMENTS",
    } <= result.keys()
    walks: dict[str, set[str]] = {}
    for name, sql in result.items():
        if tables := find_scanned_tables(connection, sql) - WALKS.get(name.partition(":")[0], set()):
            walks[name] = tables
    assert walks == {}


def test_reading_a_ticket_lists_no_other_projects(connection: sqlite3.Connection) -> None:
    """Its project and those of its blockers are looked up; a list would grow with what the caller sees."""
    steps = plan(connection, records.SELECT_TICKET)
    assert any("SEARCH p USING INTEGER PRIMARY KEY" in step for step in steps)
    assert [step for step in steps if re.search("MATERIALIZE|SCAN|AUTOMATIC", step)] == []


def test_deleting_a_parent_finds_its_children_by_an_index(connection: sqlite3.Connection) -> None:
    """Otherwise deleting one ticket scans whole tables. Users and bylines are never deleted."""
    missing: list[str] = []
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    for table in tables:
        indexes = [row[1] for row in connection.execute(f"PRAGMA index_list({table})").fetchall()]
        leading = {connection.execute(f"PRAGMA index_info({index})").fetchone()[2] for index in indexes}
        leading |= {row[1] for row in connection.execute(f"PRAGMA table_info({table})") if row[5] == 1}
        for key in connection.execute(f"PRAGMA foreign_key_list({table})").fetchall():
            parent, child = key[2], key[3]
            if parent not in {"user", "byline"} and child not in leading:
                missing.append(f"{table}.{child}")
    assert missing == []


PROJECTS = 5


class FilledDatabase:
    """A file with a company of five projects and many tickets, each with an event."""

    def __init__(self, path: Path, tickets: int) -> None:
        prepare_file(path)
        self.connection = connect(path, writes=True)
        run = self.connection.execute
        run("BEGIN")
        run("INSERT INTO user (id, public_id, email, name, created_at) VALUES (1, 'usr_1', 'a@b', 'Ann', 0)")
        run("INSERT INTO byline (id, user_id, via) VALUES (1, 1, 'web')")
        run("INSERT INTO company (id, public_id, name, created_at, created_by) VALUES (1, 'co_1', 'C', 0, 1)")
        run("INSERT INTO member (company_id, user_id, role, created_at, created_by) VALUES (1, 1, 3, 0, 1)")
        for number in range(1, PROJECTS + 1):
            project = (number, f"proj_{number}", "P")
            new = "INSERT INTO project (id, public_id, company_id, name, created_at, created_by) "
            run(new + "VALUES (?, ?, 1, ?, 0, 1)", project)
            run("INSERT INTO board_column (id, public_id, project_id, name, position) VALUES (?, ?, ?, 'C', 0)",
                (number, f"col_{number}", number))  # fmt: skip
        rows = [
            (number, f"t-{number:08d}", number % PROJECTS + 1, number % PROJECTS + 1, number, number % 5,
             "archived" if number % 4 == 0 else "active", number * 7919 % 100_003)
            for number in range(1, tickets + 1)
        ]  # fmt: skip
        self.connection.executemany(
            "INSERT INTO ticket (id, public_id, project_id, column_id, position, title, description, priority, status, "
            "created_at, created_by, updated_at, updated_by) VALUES (?, ?, ?, ?, ?, 'T', '', ?, ?, 0, 1, ?, 1)",
            rows,
        )
        self.connection.executemany(
            "INSERT INTO event (type, company_id, project_id, ticket_id, byline_id, data, at) "
            "VALUES ('ticket.created', 1, ?, ?, 1, '{}', 0)",
            [(row[2], row[0]) for row in rows],
        )
        run("INSERT INTO ticket_label (label, ticket_id) SELECT 'bug', id FROM ticket WHERE id % 2")
        run("INSERT INTO ticket_assignee (ticket_id, user_id) SELECT id, 1 FROM ticket WHERE id % 3")
        run("COMMIT")

    def steps(self, sql: str, parameters: dict[str, Any]) -> int:
        """How many hundreds of virtual machine instructions a query takes; unlike time, always the same."""
        count = 0

        def tick() -> int:
            nonlocal count
            count += 1
            return 0

        self.connection.set_progress_handler(tick, 100)
        rows = self.connection.execute(sql, parameters).fetchall()
        self.connection.set_progress_handler(None, 0)
        assert rows
        return count


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[FilledDatabase, FilledDatabase]]:
    """A small file and a large one."""
    folder = tmp_path_factory.mktemp("filled")
    small, large = FilledDatabase(folder / "small.db", 1_000), FilledDatabase(folder / "large.db", 20_000)
    for each in (small, large):
        each.connection.execute("UPDATE ticket SET title_key = printf('%06d', updated_at)")
    yield small, large
    small.connection.close()
    large.connection.close()


VIEWER = {"user": 1, "credential": 1, "pinned": None, "restricted": False}
QUESTIONS = {
    **{sort.value: TicketFilter(ACTIVE, sort) for sort in Sort if sort is not Sort.POSITION},
    "position": TicketFilter(ACTIVE, Sort.POSITION, columns=("col_1",)),
    "project": TicketFilter(ACTIVE, Sort.UPDATED_DOWN, project="proj_1"),
    "company": TicketFilter(ACTIVE, Sort.CREATED_DOWN, company="co_1"),
    "archived": TicketFilter((Status.ARCHIVED,), Sort.UPDATED_DOWN),
    "all": TicketFilter(tuple(Status), Sort.PRIORITY),
    **{f"label, {sort}": TicketFilter(ACTIVE, sort, labels=("BUG",)) for sort in Sort if sort is not Sort.POSITION},
    **{
        f"assignee, {sort}": TicketFilter(ACTIVE, sort, assignees=("usr_1",))
        for sort in Sort
        if sort is not Sort.POSITION
    },
    "labels": TicketFilter(ACTIVE, Sort.UPDATED_DOWN, labels=("BUG", "ui")),
    "assignees": TicketFilter(ACTIVE, Sort.PRIORITY, assignees=("usr_1", "usr_2")),
}


@pytest.mark.long
@pytest.mark.parametrize("after", [None, "somewhere"])
@pytest.mark.parametrize("question", list(QUESTIONS))
def test_list_costs_the_same_in_a_database_twenty_times_as_large(
    files: tuple[FilledDatabase, FilledDatabase], question: str, after: str | None
) -> None:
    """Measured in the steps of SQLite's virtual machine: a page of fifty, first or resumed."""
    wanted = QUESTIONS[question]
    places: dict[str, tuple[int | str, ...]] = {
        "created": (300,),
        "updated": (50_000, 0),
        "priority": (2, 300),
        "due": (100_000_000, 300),
        "title": ("050000", 0),
        "position": (300, 0),
    }
    place = None if after is None else places[wanted.sort.removeprefix("-")]
    if wanted.sort is Sort.CREATED_DOWN and place is not None:
        place = (700,)
    sql = lists.compose_query(wanted, resumed=place is not None)
    small, large = (file.steps(sql, lists.build_parameters(VIEWER, wanted, place, 51)) for file in files)
    assert large <= small * 1.5 + 5


@pytest.mark.long
@pytest.mark.parametrize("after", [0, 500])
@pytest.mark.parametrize("types", [None, ["ticket.created"]])
def test_events_cost_the_same_in_a_database_twenty_times_as_large(
    files: tuple[FilledDatabase, FilledDatabase], after: int, types: list[str] | None
) -> None:
    wanted = None if types is None else msgspec.json.encode(types).decode()
    given = {**VIEWER, "after": after, "types": wanted, "limit": 51}
    small, large = (file.steps(events.SELECT_VISIBLE_EVENTS, given) for file in files)
    assert large <= small * 1.5 + 5


@pytest.mark.long
def test_growing_cost_is_detected(files: tuple[FilledDatabase, FilledDatabase]) -> None:
    sql = "SELECT count(*) FROM ticket WHERE title = :title"
    small, large = (file.steps(sql, {"title": "T"}) for file in files)
    assert large > small * 10
