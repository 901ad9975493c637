"""Export and import of companies or a whole instance, as records (docs/operate/export-import.md).

Records are unchanged rows, with the keys of the file that they come from. Credentials (password hashes, tokens,
sessions, grants, invitations) are never exported.
"""

import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from ticketbox.domain.captures.capture import Health, Page, Redaction
from ticketbox.domain.captures.environment import Environment
from ticketbox.domain.captures.expectations import SentExpectation
from ticketbox.domain.companies.views import ViewDefinition
from ticketbox.domain.tickets.records import CaptureSummary, ExpectedWords, Failure, WorkRepository
from ticketbox.domain.tickets.title_words import build_title_key
from ticketbox.domain.work.records import PlanItem, Usage, WorkLink
from ticketbox.store.core import blobs
from ticketbox.store.export_import.archive import ArchiveReader, ArchiveWriter, InvalidArchive, Manifest
from ticketbox.store.file.database import Read

ReportCount = Callable[[str, int], None]  # the step, and how many records are done
REPORT_EVERY = 100

# The tables in the order of import, each with the condition that selects a company's rows.
_PROJECTS = "(SELECT id FROM project WHERE company_id = :company)"
_TICKETS = f"(SELECT id FROM ticket WHERE project_id IN {_PROJECTS})"
TABLES: dict[str, str] = {
    "user": "",
    "byline": "",
    "company": "id = :company",
    "label": "company_id = :company",
    "project": "company_id = :company",
    "board_column": f"project_id IN {_PROJECTS}",
    "saved_view": f"project_id IN {_PROJECTS}",
    "project_key": "company_id = :company",
    "member": "company_id = :company",
    "member_project": "member_id IN (SELECT id FROM member WHERE company_id = :company)",
    "blob": "",
    "ticket": f"project_id IN {_PROJECTS}",
    "ticket_number_alias": f"ticket_id IN {_TICKETS}",
    "ticket_assignee": f"ticket_id IN {_TICKETS}",
    "ticket_watcher": f"ticket_id IN {_TICKETS}",
    "work_session": f"ticket_id IN {_TICKETS}",
    "ticket_link": f"ticket_id IN {_TICKETS}",
    "work_question": f"session_id IN (SELECT id FROM work_session WHERE ticket_id IN {_TICKETS})",
    "comment": f"ticket_id IN {_TICKETS}",
    "capture": f"ticket_id IN {_TICKETS}",
    "expectation": f"capture_id IN (SELECT id FROM capture WHERE ticket_id IN {_TICKETS})",
    "asset": f"ticket_id IN {_TICKETS}",
    "source_map": f"project_id IN {_PROJECTS}",
    "annotation": f"asset_id IN (SELECT id FROM asset WHERE ticket_id IN {_TICKETS})",
    "verification": f"ticket_id IN {_TICKETS}",
    "criterion": f"ticket_id IN {_TICKETS}",
    "evidence": f"criterion_id IN (SELECT id FROM criterion WHERE ticket_id IN {_TICKETS})",
    "git_link": f"ticket_id IN {_TICKETS}",
    "git_check": f"project_id IN {_PROJECTS}",
    "report": f"ticket_id IN {_TICKETS}",
    "fingerprint": f"ticket_id IN {_TICKETS}",
    "event": "company_id = :company",
}
# What isn't exported, and why.
EXCLUDED_TABLES = {
    "credential": "secret", "credential_project": "secret", "oauth_client": "secret", "oauth_grant": "secret",
    "oauth_request": "secret", "oauth_secret": "secret", "invitation": "secret", "invitation_project": "secret",
    "setup_key": "secret", "idempotency": "temporary", "preview": "rebuilt",
    "ticket_label": "rebuilt", "company_storage": "rebuilt", "webhook": "secret", "delivery": "temporary",
    "attempt": "temporary", "git_hook": "secret", "report_key": "secret", "git_delivery": "temporary",
    "notification": "temporary", "mailbox": "personal", "mail": "temporary", "ticket_mute": "personal",
    "project_mute": "personal", "security_event": "personal", "device": "secret",
    "account_link": "secret", "identity": "personal", "provider_role": "personal", "provider_request": "secret",
    "sign_in_link": "secret", "second_factor": "secret", "recovery_code": "secret",
    "passkey": "personal", "assets_folder": "belongs to the file",
    "unresolved_capture": "temporary",
}  # fmt: skip
_REFERENCED_TABLES = ("byline", "user", "blob")
_EXPORTED_COLUMNS = {
    "ticket_assignee": ("ticket_id", "user_id"),
    "blob": ("id", "sha256", "encoding", "bytes"),
}
# Columns that are secret or, like the key of a title, rebuilt.
_EXCLUDED_COLUMNS = {
    "user": {"password_hash"},
    "ticket": {"title_key"},
    "byline": {"credential_id"},
    "work_session": {"lease_hash", "start_key"},
    "report": {"key_id", "receipt_hash"},
}
_JSON_COLUMNS: dict[tuple[str, str], Any] = {
    ("project", "url_patterns"): list[str],
    ("project", "extra_redactions"): list[str],
    ("project", "declared_names"): list[str],
    ("project", "mask_selectors"): list[str],
    ("project", "verifiers"): list[str],
    ("saved_view", "definition"): ViewDefinition,
    ("ticket", "labels"): list[str],
    ("capture", "page"): Page,
    ("capture", "environment"): Environment,
    ("capture", "health"): Health,
    ("capture", "redaction"): Redaction,
    ("capture", "summary"): CaptureSummary,
    ("capture", "bug"): Failure,
    ("capture", "expectations"): list[ExpectedWords],
    ("expectation", "content"): SentExpectation,
    ("work_session", "plan"): list[PlanItem],
    ("work_session", "links"): list[WorkLink],
    ("work_session", "usage"): Usage,
    ("work_session", "repository"): WorkRepository,
    ("work_question", "choices"): list[str],
    ("verification", "bug"): Failure,
    ("verification", "expectations"): list[ExpectedWords],
    ("verification", "console"): list[str],
    ("evidence", "output"): list[str],
    ("annotation", "geometry"): dict[str, Any],
    ("event", "data"): dict[str, Any],
}


class TableShape(msgspec.Struct, frozen=True):
    """A table's exported columns, and which of them are keys of which other table."""

    columns: tuple[str, ...]
    keys: dict[str, str]


def read_shape(connection: sqlite3.Connection, table: str) -> TableShape:
    """Read which columns of a table are exported."""
    every = [name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))]
    columns = tuple(
        name
        for name in every
        if name in _EXPORTED_COLUMNS.get(table, every) and name not in _EXCLUDED_COLUMNS.get(table, ())
    )
    refs = dict(connection.execute('SELECT "from", "table" FROM pragma_foreign_key_list(?)', (table,)).fetchall())
    return TableShape(columns, {name: refs[name] for name in columns if name in refs})


def export_records(tx: Read, writer: ArchiveWriter, company: int | None, report: ReportCount) -> Manifest:
    """Export a company, or everything, from one reading transaction. Raises MissingContent."""
    connection = tx.connection
    wanted: dict[str, set[int]] = {name: set() for name in _REFERENCED_TABLES}
    for table, condition in TABLES.items():
        if table not in _REFERENCED_TABLES:
            where = "" if company is None else f" WHERE {condition}"
            rows = _read_rows(connection, table, where, {"company": company}, wanted)
            writer.write_records(table, _report_progress(rows, f"writing {table}", report))
    for table in _REFERENCED_TABLES:
        every = company is None and table != "blob"  # unused contents aren't exported
        where = "" if every else " WHERE id IN (SELECT value FROM json_each(:keys))"
        keys = {"keys": msgspec.json.encode(sorted(wanted[table])).decode()}
        writer.write_records(
            table, _report_progress(_read_rows(connection, table, where, keys, wanted), f"writing {table}", report)
        )
    for count, key in enumerate(sorted(wanted["blob"]), 1):
        sha256 = tx.fetch_value("SELECT sha256 FROM blob WHERE id = ?", (key,))
        encoding, data = blobs.load_packed(tx, key)
        writer.write_content(sha256.hex(), blobs.unpack_content(encoding, data), compress=encoding != "identity")
        report("writing contents", count)
    return writer.close()


def _read_rows(
    connection: sqlite3.Connection, table: str, where: str, given: dict[str, Any], wanted: dict[str, set[int]]
) -> Iterator[dict[str, Any]]:
    shape = read_shape(connection, table)
    order = "id" if "id" in shape.columns else ", ".join(shape.columns[:3])
    collected = [(name, wanted[other]) for name, other in shape.keys.items() if other in wanted]
    names = ", ".join(f'"{name}"' for name in shape.columns)
    for row in connection.execute(f'SELECT {names} FROM "{table}"{where} ORDER BY {order}', given):
        record = dict(zip(shape.columns, row, strict=True))
        for name, keys in collected:
            if record[name] is not None:
                keys.add(record[name])
        if table == "blob":
            record["sha256"] = record["sha256"].hex()
        yield record


def _report_progress(records: Iterator[dict[str, Any]], doing: str, report: ReportCount) -> Iterator[dict[str, Any]]:
    """Yield the same records and report progress now and then."""
    report(doing, 0)
    for count, record in enumerate(records, 1):
        yield record
        if count % REPORT_EVERY == 0:
            report(doing, count)


def import_records(connection: sqlite3.Connection, reader: ArchiveReader, report: ReportCount) -> dict[str, int]:
    """Import an export inside the caller's transaction; return how many records each table had.

    Keys are shifted after those of the file; accounts are matched by id or email address, contents by hash.
    Raises BadArchive if a record is invalid; the caller then rolls back.
    """
    connection.execute("PRAGMA defer_foreign_keys = ON")
    unknown = reader.list_tables() - TABLES.keys()
    if unknown:
        raise InvalidArchive(f"the export contains records of an unknown kind: {min(unknown)}")
    importer = _Importer(connection, reader)
    counts: dict[str, int] = {}
    for table in TABLES:
        counts[table] = importer.import_table(table, report)
    report("indexing words", 0)
    first = importer.offsets["ticket"]
    titles = connection.execute("SELECT title, id FROM ticket WHERE id > ?", (first,)).fetchall()
    connection.executemany(SET_TITLE_KEY, [(build_title_key(title), key) for title, key in titles])
    connection.execute(INSERT_LABELS, (first,))
    connection.execute(DELETE_INDEXED, (first,))
    connection.execute(INSERT_INDEXED, (first,))
    report("checking foreign keys", 0)
    for table in TABLES:
        if connection.execute(f'PRAGMA foreign_key_check("{table}")').fetchone():
            raise InvalidArchive(f"the export is damaged: a record of {table} has an invalid reference")
    return counts


SET_TITLE_KEY = "UPDATE ticket SET title_key = ? WHERE id = ?"
INSERT_LABELS = """
INSERT OR IGNORE INTO ticket_label (label, ticket_id)
SELECT j.value, t.id FROM ticket t, json_each(t.labels) j WHERE t.id > ?
"""
# The tickets were indexed when they were inserted, before their captures.
DELETE_INDEXED = "DELETE FROM search WHERE rowid > ?"
INSERT_INDEXED = """
INSERT INTO search (rowid, ticket, title, branch, description, comments, address, errors, console, scope)
SELECT * FROM searchable WHERE id > ?
"""
_SELECT_EXISTING = {
    "user": "SELECT id FROM user WHERE public_id = :public_id OR email = :email ORDER BY public_id <> :public_id",
    "byline": "SELECT id FROM byline WHERE user_id = :user_id AND ifnull(token_id, '') = ifnull(:token_id, '')"
    " AND via = :via",
    "blob": "SELECT id FROM blob WHERE sha256 = :sha256",
}


class _Importer:
    def __init__(self, connection: sqlite3.Connection, reader: ArchiveReader) -> None:
        self._connection, self._reader = connection, reader
        self.offsets: dict[str, int] = {}
        self._keys: dict[str, dict[int, int]] = {name: {} for name in _REFERENCED_TABLES}

    def import_table(self, table: str, report: ReportCount) -> int:
        shape = read_shape(self._connection, table)
        if "id" in shape.columns:
            self.offsets[table] = self._connection.execute(f'SELECT ifnull(max(id), 0) FROM "{table}"').fetchone()[0]
        for other in shape.keys.values():  # a ticket names its capture, which comes after it
            if other not in self.offsets:
                newest = self._connection.execute(f'SELECT ifnull(max(id), 0) FROM "{other}"').fetchone()[0]
                self.offsets[other] = newest
        count = 0
        for count, record in enumerate(
            _report_progress(self._reader.read_records(table), f"reading {table}", report), 1
        ):
            try:
                self._insert_record(table, shape, record)
            except (
                sqlite3.IntegrityError,
                sqlite3.InterfaceError,
                sqlite3.ProgrammingError,
                KeyError,
                TypeError,
                OverflowError,
                msgspec.MsgspecError,
                ValueError,
            ) as error:
                raise InvalidArchive(f"{table}, record {count}: {_describe_error(error)}") from error
        return count

    def _insert_record(self, table: str, shape: TableShape, record: dict[str, Any]) -> None:
        if unknown := record.keys() - set(shape.columns):
            raise ValueError(f"the field {min(unknown)} is unknown")
        row = dict(record)
        for name, kind in _JSON_COLUMNS.items():
            if name[0] == table and row.get(name[1]):
                msgspec.json.decode(row[name[1]], type=kind)
        for name, other in shape.keys.items():
            if row.get(name) is not None:
                row[name] = self._map_key(other, row[name])
        key = row.get("id")
        if "id" in shape.columns:
            if not isinstance(key, int) or isinstance(key, bool) or not 0 < key < 2**53:
                raise ValueError("it has no key")
            row["id"] = key + self.offsets[table]
        if table == "blob":
            self._add_content(row)
        if table in _SELECT_EXISTING:
            known = self._connection.execute(_SELECT_EXISTING[table], {"token_id": None, **row}).fetchone()
            self._keys[table][key or 0] = row["id"] if known is None else known[0]
            if known is not None:
                return
        names = ", ".join(f'"{name}"' for name in row)
        marks = ", ".join(f":{name}" for name in row)
        self._connection.execute(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', row)

    def _map_key(self, table: str, key: Any) -> int:
        if not isinstance(key, int) or isinstance(key, bool) or not 0 < key < 2**53:
            raise ValueError(f"a key of {table} isn't a number")
        if table in self._keys:
            if key not in self._keys[table]:
                raise ValueError(f"{table} {key} isn't in the export")
            return self._keys[table][key]
        return key + self.offsets[table]

    def _add_content(self, row: dict[str, Any]) -> None:
        data = self._reader.read_content(str(row["sha256"]))
        packed = blobs.pack_content(data, compress=row["encoding"] == "zstd")
        if packed.size != row["bytes"]:
            raise ValueError("the content has another length")
        row |= {"sha256": packed.sha256, "encoding": packed.encoding, "data": packed.data}


def _describe_error(error: Exception) -> str:
    text = str(error)
    if isinstance(error, KeyError | sqlite3.ProgrammingError):
        return "a field is missing"
    if text.startswith("UNIQUE constraint failed: "):
        return f"it already exists in the file ({text.removeprefix('UNIQUE constraint failed: ')})"
    return text
