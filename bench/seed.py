"""Fill a file with tickets by bulk SQL in one transaction.

    uv run --group dev python -m bench.seed FILE --tickets 100000

The schema is the server's, and operations create the owner and the token. The token is limited to the first
company, whose rate limits are raised to the maximum, so that no benchmark reaches them.
"""

import argparse
import contextlib
import json
import random
import sqlite3
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import NamedTuple

from ticketbox.cli.core.operations import run_operation
from ticketbox.domain.core.ids import ALPHABET
from ticketbox.store.file.connection import add_functions
from ticketbox.store.file.migrate import prepare_file

PASSWORD = "correct horse battery"
COMPANIES = 5
PROJECTS = 4
COLUMNS = 4
USERS = 20
MOST_PER_MINUTE = 1_000_000
LABELS = ("bug", "checkout", "cart", "login", "search", "mobile", "slow", "regression", "design", "api")
WORDS = """
the cart stays empty after reload when a coupon was used before signing in checkout button does nothing on mobile
safari until page is scrolled search returns stale results for renamed products console shows typeerror undefined is
not function network request fails with status five hundred slow image layout shift
""".split()  # noqa: SIM905
_NUMBERING = (
    "UPDATE project SET key = 'P' || id",
    "INSERT INTO project_key (company_id, key, project_id) SELECT company_id, key, id FROM project",
    """UPDATE ticket SET number = n.number
       FROM (SELECT id, row_number() OVER (PARTITION BY project_id ORDER BY id) AS number FROM ticket) n
       WHERE ticket.id = n.id""",
    "UPDATE project SET next_number = 1 + (SELECT count(*) FROM ticket t WHERE t.project_id = project.id)",
)
# What a trigger does for each row. Lists by label and by assignee read only rows that have it.
_COPIES = """
UPDATE {table} SET (project_id, status, updated_at, priority, due_day, title_key) = (
  SELECT t.project_id, t.status, t.updated_at, t.priority, t.due_day, t.title_key FROM ticket t
  WHERE t.id = {table}.ticket_id)
"""
_MONTH = 30 * 86_400_000


class SeededFile(NamedTuple):
    """A file with tickets, a token, and what a benchmark reads with it."""

    db: Path
    token: str
    project: str
    tickets: list[str]


def seed(db: Path, tickets: int, *, random_seed: int = 1) -> SeededFile:
    """Create a file with a number of tickets, unless it exists. The same `random_seed` produces the same rows."""
    notes = db.with_suffix(".json")
    if not notes.exists():
        for leftover in (db, db.with_name(db.name + "-wal"), db.with_name(db.name + "-shm")):
            leftover.unlink(missing_ok=True)
        db.parent.mkdir(parents=True, exist_ok=True)
        prepare_file(db)
        owner = run_operation(db, "add_user", {"email": "bench@example.org", "name": "Bench", "password": PASSWORD})
        connection = sqlite3.connect(db, isolation_level=None)
        add_functions(connection)
        with connection:
            connection.execute("PRAGMA foreign_keys = OFF")
            connection.execute("PRAGMA cache_size = -400000")
            connection.execute("BEGIN")
            with _postpone_indexing(connection):
                company, project = _fill(connection, random.Random(random_seed), tickets)
            connection.execute("COMMIT")
            assert not connection.execute("PRAGMA foreign_key_check").fetchall()
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        scopes = ["tickets:write", "tickets:assign"]
        arguments = {"user": owner.id, "label": "bench", "scopes": scopes, "company_id": company}
        token = run_operation(db, "issue_token", arguments).secret
        notes.write_text(json.dumps({"token": token, "project": project}))
    noted = json.loads(notes.read_text())
    connection = sqlite3.connect(db)
    query = """SELECT t.public_id FROM ticket t JOIN project p ON p.id = t.project_id
               WHERE p.company_id = 1 AND t.status = 'active' AND t.id % ? = 0 LIMIT 2000"""
    chosen = [row[0] for row in connection.execute(query, (max(1, tickets // 10_000),))]
    connection.close()
    random.Random(random_seed).shuffle(chosen)
    return SeededFile(db, noted["token"], noted["project"], chosen)


@contextlib.contextmanager
def _postpone_indexing(connection: sqlite3.Connection) -> Generator[None]:
    """Fill the search index once at the end, instead of row by row."""
    triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    yield
    columns = "rowid, ticket, title, branch, description, comments, address, errors, console, scope"
    connection.execute(f"INSERT INTO search ({columns}) SELECT * FROM searchable")
    connection.execute(
        "INSERT INTO search (search) VALUES ('optimize')"
    )  # a server merges the index within its first minute
    for _, sql in triggers:
        connection.execute(sql)


def _fill(connection: sqlite3.Connection, chance: random.Random, tickets: int) -> tuple[str, str]:
    now = time.time_ns() // 1_000_000
    (owner,) = connection.execute("SELECT id FROM user").fetchone()

    def name(prefix: str, length: int = 12) -> str:
        return prefix + "".join(chance.choices(ALPHABET, k=length))

    def text(least: int, most: int) -> str:
        return " ".join(chance.choices(WORDS, k=chance.randint(least, most))).capitalize()

    connection.executemany(
        "INSERT INTO user (public_id, email, name, created_at) VALUES (?, ?, ?, ?)",
        [(name("usr_"), f"person{n}@example.org", f"Person {n}", now) for n in range(USERS)],
    )
    people = [row[0] for row in connection.execute("SELECT id FROM user")]
    add_byline = "INSERT INTO byline (user_id, token_id, token_label, via) VALUES (?, ?, ?, ?)"
    bylines = [
        connection.execute(add_byline, (person, token, token and "agent", via)).lastrowid
        for person in people
        for via, token in (("web", None), ("extension", name("key_")), ("rest", name("key_")))
    ]
    by = bylines[0]
    for company in range(1, COMPANIES + 1):
        connection.execute(
            "INSERT INTO company (id, public_id, name, reads_per_minute, writes_per_minute, created_at, created_by) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (company, name("co_"), f"Company {company}", MOST_PER_MINUTE, MOST_PER_MINUTE, now, by),
        )
        connection.execute("INSERT INTO company_storage (company_id, bytes) VALUES (?, 0)", (company,))
        connection.executemany(
            "INSERT INTO member (company_id, user_id, role, created_at, created_by) VALUES (?, ?, ?, ?, ?)",
            [(company, person, 3 if person == owner else 2, now, by) for person in people],
        )
        for _ in range(PROJECTS):
            key = connection.execute(
                "INSERT INTO project (public_id, company_id, name, created_at, created_by) VALUES (?, ?, ?, ?, ?)",
                (name("proj_"), company, text(1, 2), now, by),
            ).lastrowid
            connection.executemany(
                "INSERT INTO board_column (public_id, project_id, name, position) VALUES (?, ?, ?, ?)",
                [(name("col_"), key, f"Column {n}", n << 20) for n in range(COLUMNS)],
            )
    board = [
        (
            project,
            [row[0] for row in connection.execute("SELECT id FROM board_column WHERE project_id = ?", (project,))],
        )
        for (project,) in connection.execute("SELECT id FROM project").fetchall()
    ]

    def rows() -> Iterator[tuple[object, ...]]:
        seen: set[str] = set()
        for key in range(1, tickets + 1):
            public = name("t-", 8)
            while public in seen:
                public = name("t-", 8)
            seen.add(public)
            project, columns = board[key % len(board)]
            archived = chance.random() < 0.3
            created = now - _MONTH * 12 + (_MONTH * 12 * key) // (tickets + 1)
            updated = min(now, created + chance.randrange(_MONTH))
            labels = json.dumps(sorted(set(chance.choices(LABELS, k=chance.randrange(4)))), separators=(",", ":"))
            creator = chance.choice(bylines)
            yield (
                key, public, project, chance.choice(columns), key << 20, text(4, 12)[:300], text(20, 120),
                "archived" if archived else "active", chance.random() < 0.4, chance.randrange(5), labels,
                "https://shop.example/cart?step=2" if chance.random() < 0.3 else None,
                created, creator, updated, chance.choice(bylines),
                updated if archived else None, creator if archived else None,
            )  # fmt: skip

    connection.executemany(
        """INSERT INTO ticket (id, public_id, project_id, column_id, position, title, description, status, resolved,
             priority, labels, source_url, created_at, created_by, updated_at, updated_by, archived_at, archived_by)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        rows(),
    )
    for statement in _NUMBERING:
        connection.execute(statement)
    connection.execute(
        "INSERT INTO ticket_label (label, ticket_id) SELECT j.value, t.id FROM ticket t, json_each(t.labels) j"
    )
    connection.execute(
        """INSERT INTO label (public_id, company_id, name, color)
           SELECT printf('lbl_%012d', row_number() OVER ()), p.company_id, l.label, 'teal'
           FROM (SELECT DISTINCT p.company_id, l.label FROM ticket_label l
                 JOIN ticket t ON t.id = l.ticket_id JOIN project p ON p.id = t.project_id) l
           JOIN (SELECT DISTINCT company_id FROM project) p ON p.company_id = l.company_id"""
    )
    connection.executemany(
        "INSERT OR IGNORE INTO ticket_assignee (ticket_id, user_id) VALUES (?, ?)",
        ((chance.randint(1, tickets), chance.choice(people)) for _ in range(tickets // 2)),
    )
    for table in ("ticket_label", "ticket_assignee"):
        connection.execute(_COPIES.format(table=table))
    connection.executemany(
        "INSERT INTO comment (public_id, ticket_id, body, created_at, created_by) VALUES (?, ?, ?, ?, ?)",
        ((name("cmt_"), chance.randint(1, tickets), text(5, 60), now, chance.choice(bylines)) for _ in range(tickets)),
    )
    connection.execute(
        "UPDATE ticket SET comment_count = (SELECT count(*) FROM comment c WHERE c.ticket_id = ticket.id)"
    )
    connection.execute(
        """INSERT INTO event (type, company_id, project_id, ticket_id, byline_id, data, at)
           SELECT 'ticket.created', p.company_id, p.id, t.id, t.created_by, json_object('title', t.title), t.created_at
           FROM ticket t JOIN project p ON p.id = t.project_id"""
    )
    return connection.execute(
        """SELECT co.public_id, p.public_id FROM project p JOIN company co ON co.id = p.company_id
           WHERE co.id = 1 ORDER BY p.id"""
    ).fetchone()


def main() -> None:
    """Seed one file from the command line."""
    parser = argparse.ArgumentParser(description="Fill a new file with tickets.")
    parser.add_argument("db", type=Path)
    parser.add_argument("--tickets", type=int, default=100_000)
    options = parser.parse_args()
    started = time.monotonic()
    seeded = seed(options.db, options.tickets)
    size = options.db.stat().st_size / 1e6
    print(f"{options.tickets:,} tickets, {size:.0f} MB, in {time.monotonic() - started:.1f} s")
    print(f"project {seeded.project}, a ticket {seeded.tickets[0]}, token {seeded.token}")


if __name__ == "__main__":
    main()
