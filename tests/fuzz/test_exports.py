"""Exports that somebody changed or damaged: each is imported completely or rejected."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.mutations import AWKWARD
from tests.support.cli import run
from tests.support.long_runs import Record, choose_rounds, hypothesis_settings
from tests.support.server import PASSWORD
from ticketbox.store.export_import import records
from ticketbox.store.export_import.archive import ArchiveReader, ArchiveWriter, InvalidArchive
from ticketbox.store.file.connection import connect
from ticketbox.store.file.migrate import find_newest_number, prepare_file

VALUES: list[Any] = [
    None,
    -1,
    0,
    1,
    2,
    2**62,
    2**63 - 1,
    -(2**63),
    0.5,
    "",
    "\0",
    "x",
    "[]",
    "{",
    "t-12345678",
    "A" * 9_000,
]
Rows = dict[str, list[dict[str, Any]]]


class ExportSample:
    """A whole export in pieces, a file to read it into, and the room to write changed ones."""

    def __init__(self, folder: Path) -> None:
        db, source = folder / "source.db", folder / "export.zip"
        given = ["--email", "ann@example.org", "--name", "Ann", "--company", "A", "--project", "P", "--password-stdin"]
        output = msgspec.json.decode(run("init", "--db", db, *given, stdin=PASSWORD).stdout)
        issues = Path(__file__).parents[1] / "cli" / "trackers" / "github.json"
        done = run(
            "import", issues, "--db", db, "--from", "github", "--project", output["project_id"], "--user", given[1]
        )
        assert done.exit_code == 0, done.stderr
        assert run("export", source, "--db", db).exit_code == 0
        self.bytes = source.read_bytes()
        reader = ArchiveReader(source, find_newest_number())
        self.manifest = reader.manifest
        self.rows: Rows = {table: list(reader.read_records(table)) for table in sorted(reader.list_tables())}
        self.filled = [table for table, rows in self.rows.items() if rows]
        self.changed = folder / "changed.zip"
        self.target = folder / "target.db"
        prepare_file(self.target)
        self.file = connect(self.target, writes=True)

    def write(self, rows: Rows) -> None:
        """Make a file of other rows, with a manifest that fits."""
        with self.changed.open("wb") as file:
            writer = ArchiveWriter(file, self.manifest.version, self.manifest.schema, self.manifest.company)
            for table, held in rows.items():
                writer.write_records(table, held)
            writer.close()

    def load(self) -> None:
        """Read the changed file, then forget it again; nothing may be left of it, nor broken by it."""
        self.file.execute("BEGIN IMMEDIATE")
        try:
            records.import_records(self.file, ArchiveReader(self.changed, find_newest_number()), lambda *_: None)
            assert self.file.execute("PRAGMA foreign_key_check").fetchone() is None
        finally:
            if self.file.in_transaction:
                self.file.execute("ROLLBACK")
        assert self.file.execute("SELECT count(*) FROM ticket").fetchone() == (0,)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExportSample]:
    """One for all."""
    sample = ExportSample(tmp_path_factory.mktemp("archives"))
    with contextlib.closing(sample.file):
        yield sample


def corrupt_bytes(sample: ExportSample) -> st.SearchStrategy[bytes]:
    """The file's bytes with something in their midst that doesn't belong there, or missing."""
    at = st.tuples(st.integers(0, len(sample.bytes)), st.sampled_from([0, 1, 4, 50]), st.sampled_from(AWKWARD))
    return st.lists(at, min_size=1, max_size=3).map(lambda cuts: _cut(sample.bytes, cuts))


def _cut(data: bytes, cuts: list[tuple[int, int, bytes]]) -> bytes:
    for start, length, put in cuts:
        data = data[:start] + put + data[start + length :]
    return data


@st.composite
def rewritten(draw: st.DrawFn, sample: ExportSample) -> Rows:
    """The same rows, some with other values, twice, or gone."""
    rows = {table: [dict(row) for row in held] for table, held in sample.rows.items()}
    for _ in range(draw(st.integers(1, 4))):
        table = draw(st.sampled_from(sample.filled))
        if not rows[table]:
            continue
        row = draw(st.sampled_from(rows[table]))
        match draw(st.sampled_from(["set", "set", "set", "drop", "twice", "less", "more"])):
            case "set":
                row[draw(st.sampled_from(sorted(row)))] = draw(st.sampled_from([*VALUES, *row.values()]))
            case "drop":
                rows[table].remove(row)
            case "twice":
                rows[table].append(dict(row))
            case "less":
                del row[draw(st.sampled_from(sorted(row)))]
            case _:
                row["more"] = 1
        if not all(rows[table]):
            rows[table] = [each for each in rows[table] if each]
    return rows


def feed(sample: ExportSample, inputs: int) -> dict[str, int]:
    """Read changed files; how many there were, and how many were refused."""
    counts = {"inputs": 0, "refused": 0}

    def one() -> None:
        counts["inputs"] += 1
        try:
            sample.load()
        except InvalidArchive:
            counts["refused"] += 1

    @hypothesis_settings(inputs)
    @given(corrupt_bytes(sample))
    def tear(data: bytes) -> None:
        sample.changed.write_bytes(data)
        one()

    @hypothesis_settings(inputs)
    @given(rewritten(sample))
    def rewrite(rows: Rows) -> None:
        sample.write(rows)
        one()

    tear()
    rewrite()
    return counts


def test_unchanged_export_is_imported(sample: ExportSample) -> None:
    sample.changed.write_bytes(sample.bytes)
    sample.load()


def test_record_without_a_field_is_rejected_with_its_position(sample: ExportSample) -> None:
    bylines = [{name: value for name, value in row.items() if name != "user_id"} for row in sample.rows["byline"]]
    sample.write({**sample.rows, "byline": bylines})
    with pytest.raises(InvalidArchive, match="byline, record 1: a field is missing"):
        sample.load()


def test_changed_export_is_imported_completely_or_rejected(sample: ExportSample) -> None:
    counts = feed(sample, 40)
    assert 0 < counts["refused"] < counts["inputs"]


@pytest.mark.long
def test_many_changed_exports_are_imported_or_rejected(sample: ExportSample, record_property: Record) -> None:
    for name, figure in feed(sample, choose_rounds(300, 1_000)).items():
        record_property(name, figure)
