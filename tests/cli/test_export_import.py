"""Exports and imports: the same rows on the other side, nothing of anybody else's, and nothing at all of a bad file."""

import contextlib
import json
import os
import pty
import re
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.demo import copy_demo
from tests.support.cli import run
from tests.support.long_runs import sample_cases
from tests.support.operation_cases import make_capture
from tests.support.server import PASSWORD, Box, World, expect_error, ok
from ticketbox.demo.dataset import read_tickets
from ticketbox.domain.core.packed_content import unpack_content
from ticketbox.store.export_import import records
from ticketbox.store.export_import.archive import FORMAT
from ticketbox.store.file import migrate

Change = Callable[[dict[str, bytes], dict[str, Any]], object]


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a company, people, tickets and captures."""
    return copy_demo(tmp_path_factory)


@pytest.fixture(scope="session")
def exported(demo: Path) -> Path:
    """Its export."""
    target = demo.with_name("demo.zip")
    done = run("export", target, "--db", demo, "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["records"]["ticket"] == len(read_tickets())
    return target


def at_a_terminal(*arguments: str | Path) -> str:
    """What a command shows on standard error there."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "ticketbox", *map(str, arguments)]
    shown = b""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        with contextlib.suppress(OSError):  # the end of a terminal's output is an error
            while part := os.read(ours, 65_536):
                shown += part
    os.close(ours)
    assert process.returncode == 0, shown
    return shown.decode()


@pytest.mark.long
def test_progress_is_shown_at_a_terminal_and_as_lines_elsewhere(demo: Path, tmp_path: Path) -> None:
    shown = at_a_terminal("export", tmp_path / "x.zip", "--db", demo)
    assert "\r\x1b[K… writing ticket" in shown
    assert re.search(r"… writing contents \d+", shown)
    shown = at_a_terminal("import", tmp_path / "x.zip", "--db", tmp_path / "new.db")
    assert "… reading ticket" in shown
    assert "… indexing words" in shown
    assert shown.endswith("\r\x1b[K")  # the line is gone when it is done
    plain = run("export", tmp_path / "y.zip", "--db", demo).stderr
    assert "\r" not in plain
    assert "writing ticket …\n" in plain
    assert plain.count("writing contents") == 1
    assert run("export", tmp_path / "z.zip", "--db", demo, "--json").stderr == ""


def rows(db: Path) -> dict[str, list[Any]]:
    """Every row of every table that isn't left out, and of the index of words."""
    with contextlib.closing(sqlite3.connect(db)) as connection:
        result: dict[str, list[Any]] = {"search": connection.execute("SELECT rowid, * FROM search").fetchall()}
        for table in (*records.TABLES, "ticket_label"):
            columns = records.read_shape(connection, table).columns
            if table == "blob":
                columns = ("id", "sha256", "encoding", "bytes", "data")
            if table == "ticket":
                columns = (*columns, "title_key")  # rebuilt
            names = ", ".join(columns)
            result[table] = connection.execute(f"SELECT {names} FROM {table} ORDER BY 1, 2").fetchall()
        # The same content has several compressed forms: its size is in some of them.
        result["blob"] = [(*rest, unpack_content(rest[2], data)) for *rest, data in result["blob"]]
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    return result


def test_every_table_is_exported_or_excluded_for_a_reason(demo: Path) -> None:
    with contextlib.closing(sqlite3.connect(demo)) as connection:
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    ours = {name for name in names if not name.startswith(("sqlite_", "search"))}
    assert ours - records.TABLES.keys() - records.EXCLUDED_TABLES.keys() == set()


def test_imported_file_has_equal_rows_and_an_equal_export(demo: Path, exported: Path, tmp_path: Path) -> None:
    done = run("import", exported, "--db", tmp_path / "new.db")
    assert done.exit_code == 0, done.stderr
    assert f"(1 company, 2 project, {len(read_tickets())} ticket, 14 capture)" in done.stdout
    before, after = rows(demo), rows(tmp_path / "new.db")
    for table, held in before.items():
        assert after[table] == held, table
    again = run("export", tmp_path / "again.zip", "--db", tmp_path / "new.db")
    assert again.exit_code == 0
    assert (tmp_path / "again.zip").read_bytes() == exported.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.zip", "new.db"]
    for path in (exported, tmp_path / "new.db"):
        assert path.stat().st_mode & 0o077 == 0


def test_imported_company_works(exported: Path, tmp_path: Path) -> None:
    db = tmp_path / "new.db"
    assert run("import", exported, "--db", db).exit_code == 0
    with contextlib.closing(sqlite3.connect(db)) as connection:
        (email,) = connection.execute(
            "SELECT u.email FROM user u JOIN member m ON m.user_id = u.id WHERE m.role = 3"
        ).fetchone()
    done = run("user", "set-password", email, "--password-stdin", "--db", db, stdin=f"{PASSWORD}\n")
    assert done.exit_code == 0, done.stderr
    with Box(db) as box:
        web = box.client()
        expect_error(web.post("/session", json={"email": email, "password": "wrong password"}), 401, "unauthorized")
        ok(web.post("/session", json={"email": email, "password": PASSWORD}))
        hits = ok(web.get("/search", params={"q": "gift card"}))["items"]
        assert hits
        assert web.get(f"/tickets/{hits[0]['id']}").status_code == 200


def test_export_contains_no_secret(exported: Path, demo: Path) -> None:
    with contextlib.closing(sqlite3.connect(demo)) as connection:
        hashes = [
            row[0] for row in connection.execute("SELECT password_hash FROM user WHERE password_hash IS NOT NULL")
        ]
    assert hashes
    with zipfile.ZipFile(exported) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            assert b"tok_" not in data, name
            assert not any(hashed.encode() in data for hashed in hashes), name
            assert b"password_hash" not in data
            assert b"secret_hash" not in data


@pytest.mark.long
def test_export_of_one_company_contains_nothing_of_others(box: Box, tmp_path: Path) -> None:
    """Exported beside a running server, and read in beside another company."""
    mine, other = World(box, "Ann"), World(box, "Zoe")
    ticket = make_capture(mine, title="Mine to move")["ticket_id"]
    ok(mine.api.post(f"/tickets/{ticket}/comments", json={"body": "A comment"}))
    stranger = other.ticket("Strangers' words")["id"]
    target = tmp_path / "mine.zip"
    done = run("export", target, "--db", box.db, "--company", mine.company)
    assert done.exit_code == 0, done.stderr
    with zipfile.ZipFile(target) as archive:
        everything = b"".join(archive.read(name) for name in archive.namelist())
    for foreign in (stranger, other.company, other.owner.email, other.owner.id, "Strangers"):
        assert foreign.encode() not in everything, foreign
    db = tmp_path / "elsewhere.db"
    owner = ["--email", "old@example.org", "--name", "Old", "--company", "Old", "--project", "Old", "--password-stdin"]
    assert run("init", *owner, "--db", db, stdin=f"{PASSWORD}\n").exit_code == 0
    done = run("import", target, "--db", db)
    assert done.exit_code == 0, done.stderr
    held = rows(db)
    assert len(held["company"]) == 2
    assert [row[0] for row in held["search"]] == [row[0] for row in held["ticket"]]
    with Box(db) as elsewhere:
        web = elsewhere.client()
        ok(web.post("/session", json={"email": "old@example.org", "password": PASSWORD}))
        expect_error(web.get(f"/tickets/{ticket}"), 404, "not_found")
        assert (
            run(
                "user", "set-password", mine.owner.email, "--password-stdin", "--db", db, stdin=f"{PASSWORD}\n"
            ).exit_code
            == 0
        )
        moved = elsewhere.client()
        ok(moved.post("/session", json={"email": mine.owner.email, "password": PASSWORD}))
        seen = ok(moved.get(f"/tickets/{ticket}"))
        assert (seen["title"], seen["comment_count"], seen["created"]["user"]["id"]) == (
            "Mine to move",
            1,
            mine.owner.id,
        )
        assert moved.get(f"/tickets/{ticket}/screenshot").status_code == 200
        assert ok(moved.get(f"/tickets/{ticket}/history"))["items"][0]["type"] == "ticket.created"
    again = run("import", target, "--db", db)
    assert again.exit_code == 1
    assert "it already exists in the file (company.public_id)" in again.stderr
    assert rows(db)["ticket"] == held["ticket"]


def test_unknown_company_or_existing_target_is_rejected(demo: Path, exported: Path, tmp_path: Path) -> None:
    done = run("export", tmp_path / "x.zip", "--db", demo, "--company", "co_000000000000")
    assert (done.exit_code, "no such company" in done.stderr) == (1, True)
    before = exported.read_bytes()
    done = run("export", exported, "--db", demo)
    assert (done.exit_code, "the file exists" in done.stderr) == (1, True)
    assert exported.read_bytes() == before
    done = run("export", tmp_path / "nowhere" / "x.zip", "--db", demo)
    assert (done.exit_code, "can't write" in done.stderr) == (1, True)
    assert list(tmp_path.iterdir()) == []


def write_changed_export(source: Path, target: Path, change: Change) -> None:
    """An export with other entries or another manifest."""
    with zipfile.ZipFile(source) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(entries.pop("manifest.json"))
    change(entries, manifest)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
        archive.writestr("manifest.json", json.dumps(manifest))


def put(entries: dict[str, bytes], manifest: dict[str, Any], name: str, data: bytes) -> None:
    """An entry with a manifest that fits."""
    import hashlib

    entries[name] = data
    manifest["entries"][name] = {
        "sha256": hashlib.sha256(data).hexdigest(),
        "bytes": len(data),
        "records": data.count(b"\n"),
    }


def edit_first_record(table: str, edit: Callable[[dict[str, Any]], None]) -> Change:
    """A change of a table's first record, with a manifest that fits."""

    def change(entries: dict[str, bytes], manifest: dict[str, Any]) -> None:
        name = f"records/{table}.ndjson"
        first, *rest = entries[name].splitlines(keepends=True)
        record = json.loads(first)
        edit(record)
        put(entries, manifest, name, json.dumps(record).encode() + b"\n" + b"".join(rest))

    return change


BAD: dict[str, tuple[Change, str]] = {
    "newer format": (lambda _, manifest: manifest.update(format=FORMAT + 1), "newer"),
    "newer schema": (lambda _, manifest: manifest.update(schema=migrate.find_newest_number() + 1), "newer ticketbox"),
    "older schema": (lambda _, manifest: manifest.update(schema=migrate.find_newest_number() - 1), "export it again"),
    "no format": (lambda _, manifest: manifest.pop("format"), "manifest"),
    "a byte changed": (
        lambda entries, _: entries.update(
            {"records/ticket.ndjson": entries["records/ticket.ndjson"].replace(b"a", b"b", 1)}
        ),
        "doesn't match its manifest",
    ),
    "an entry too many": (lambda entries, _: entries.update({"records/more.ndjson": b""}), "don't match its manifest"),
    "an entry too few": (lambda entries, _: entries.pop("records/ticket.ndjson"), "don't match its manifest"),
    "a path upwards": (lambda e, m: put(e, m, "../../evil.txt", b"x"), "an unexpected entry"),
    "an absolute path": (lambda e, m: put(e, m, "/etc/evil", b"x"), "an unexpected entry"),
    "an unknown table": (lambda e, m: put(e, m, "records/credential.ndjson", b'{"id": 1}\n'), "unknown kind"),
    "a bomb": (lambda e, m: put(e, m, "records/ticket.ndjson", b" " * (64 << 20)), "times its size"),
    "no JSON": (lambda e, m: put(e, m, "records/ticket.ndjson", b"{nonsense\n"), "ticket.ndjson, record 1"),
    "an unknown field": (edit_first_record("ticket", lambda r: r.update(admin=1)), "the field admin is unknown"),
    "a password": (edit_first_record("user", lambda r: r.update(password_hash="x")), "password_hash is unknown"),
    "a key that leads nowhere": (
        edit_first_record("comment", lambda r: r.update(ticket_id=10**6)),
        "has an invalid reference",
    ),
    "a byline that isn't there": (
        edit_first_record("ticket", lambda r: r.update(created_by=10**6)),
        "isn't in the export",
    ),
    "a key that is text": (edit_first_record("ticket", lambda r: r.update(project_id="1; DROP")), "isn't a number"),
    "no key": (edit_first_record("ticket", lambda r: r.pop("id")), "no key"),
    "a key beyond all bounds": (edit_first_record("ticket", lambda r: r.update(id=2**70)), "ticket"),
    "labels that are none": (edit_first_record("ticket", lambda r: r.update(labels='{"a":1}')), "ticket, record 1"),
    "a page that is none": (edit_first_record("capture", lambda r: r.update(page="[]")), "capture, record 1"),
    "a status that isn't": (edit_first_record("ticket", lambda r: r.update(status="gone")), "CHECK constraint"),
    "a title that is a figure": (edit_first_record("project", lambda r: r.update(name=None)), "NOT NULL"),
    "another content": (
        lambda e, _: e.update({next(name for name in e if name.startswith("contents/")): b"x"}),
        "another length",
    ),
}


@pytest.mark.parametrize("name", sample_cases(BAD, 3))
def test_invalid_export_is_rejected_and_nothing_is_written(
    exported: Path, demo: Path, tmp_path: Path, name: str
) -> None:
    change, words = BAD[name]
    write_changed_export(exported, tmp_path / "bad.zip", change)
    done = run("import", tmp_path / "bad.zip", "--db", tmp_path / "new.db")
    assert done.exit_code == 1
    assert words in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["bad.zip"]
    kept = tmp_path / "kept.db"
    migrate.prepare_file(kept)
    before = rows(kept)
    assert run("import", tmp_path / "bad.zip", "--db", kept).exit_code == 1
    assert rows(kept) == before


@pytest.mark.long
def test_corrupt_or_truncated_file_is_rejected_and_nothing_is_written(exported: Path, tmp_path: Path) -> None:
    whole = exported.read_bytes()
    bad = tmp_path / "bad.zip"
    variants = [b"", b"PK", b"no zip at all", whole[: len(whole) // 2], whole[:-30], whole + b"x" * 70_000]
    step = len(whole) // 12
    variants += [whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :] for at in range(40, len(whole), step)]
    refused_ = 0
    for data in variants:
        bad.write_bytes(data)
        done = run("import", bad, "--db", tmp_path / "new.db")
        assert "Traceback" not in done.stderr
        if done.exit_code:
            refused_ += 1
            assert [path.name for path in tmp_path.iterdir()] == ["bad.zip"]
        else:  # the byte was one that means nothing
            (tmp_path / "new.db").unlink()
    assert refused_ >= len(variants) - 2


def test_export_is_consistent_during_writes(box: Box, tmp_path: Path) -> None:
    world = World(box)
    for number in range(3):
        world.ticket(f"Number {number}")
    seen: list[str] = []

    def say(doing: str, _: int) -> None:
        if doing == "writing comment":  # between the tickets and what belongs to them
            ticket = world.ticket("Meanwhile")["id"]
            ok(world.api.post(f"/tickets/{ticket}/comments", json={"body": "Meanwhile"}))
            seen.append(doing)

    from ticketbox.store.export_import.transfer import export_file

    manifest = export_file(box.db, tmp_path / "x.zip", world.company, say)
    assert seen == ["writing comment"]
    assert manifest.entries["records/ticket.ndjson"].records == 3
    assert manifest.entries["records/comment.ndjson"].records == 0
    assert run("import", tmp_path / "x.zip", "--db", tmp_path / "new.db").exit_code == 0


def test_export_never_overwrites_and_ignores_leftovers(exported: Path, tmp_path: Path) -> None:
    db = tmp_path / "new.db"
    shutil.copyfile(exported, tmp_path / "new.db.import.part")
    assert run("import", exported, "--db", db).exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["new.db"]
    other = tmp_path / "other.txt"
    other.write_text("not ours")
    done = run("import", exported, "--db", other)
    assert done.exit_code == 1
    assert other.read_text() == "not ours"
