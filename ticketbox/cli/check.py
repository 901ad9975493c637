"""`ticketbox check`: whether a file is sound, in words; it never changes a byte of it."""

import shutil
import stat
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from ticketbox import __version__
from ticketbox.cli.common import db_option, fail, json_option, print_json

if TYPE_CHECKING:
    from ticketbox.store.check import Inspection

SHOWN = 5
_NOUNS = {
    "company": ("company", "companies"),
    "project": ("project", "projects"),
    "user": ("account", "accounts"),
    "ticket": ("ticket", "tickets"),
    "comment": ("comment", "comments"),
    "capture": ("capture", "captures"),
    "asset": ("picture or file", "pictures and files"),
    "event": ("event", "events"),
}


class Level(StrEnum):
    """What a finding means: all is well, worth knowing, worth a change, wrong."""

    OK = "ok"
    NOTE = "note"
    WARNING = "warning"
    PROBLEM = "problem"


class Finding(msgspec.Struct, frozen=True):
    """One thing that was looked at, what was found, and what to do about it (empty: nothing)."""

    level: Level
    subject: str
    words: str
    advice: str = ""


class Report(msgspec.Struct):
    """What `--json` prints."""

    file: str
    ok: bool
    version: str
    sqlite_version: str
    schema: int = 0
    newest_schema: int = 0
    bytes: int = 0
    free_bytes: int = 0
    rows: dict[str, int] = {}
    findings: list[Finding] = []


@click.command()
@db_option
@json_option
def check(db: Path, as_json: bool) -> None:
    """Read the whole file and say whether it is sound.

    Works beside a running server. The exit status is 0 when nothing is wrong and 1 when there is a problem.
    """
    from ticketbox.store.check import sqlite_version

    if not db.exists():
        fail(f"{db}: there is no such file")
    report = Report(str(db), ok=True, version=__version__, sqlite_version=sqlite_version)
    if not as_json:
        click.echo(f"{db}, with ticketbox {__version__} and SQLite {sqlite_version}")
    for finding in _findings(db, report):
        report.findings.append(finding)
        if not as_json:
            click.echo(f"  {finding.level:<8} {finding.words}")
            if finding.advice:
                click.echo(f"  {'':<8} → {finding.advice}")
    problems = sum(finding.level is Level.PROBLEM for finding in report.findings)
    report.ok = not problems
    if as_json:
        print_json(report)
    else:
        click.echo(f"{problems} {'problem' if problems == 1 else 'problems'}." if problems else "Nothing is wrong.")
    sys.exit(0 if report.ok else 1)


def _findings(db: Path, report: Report) -> Iterator[Finding]:
    from ticketbox.store.check import inspected
    from ticketbox.store.migrate import UnusableFile

    restore = "put a backup of it in its place (docs/operating.md)"
    try:
        report.bytes = db.stat().st_size
        with inspected(db) as inspection:
            if not inspection.is_ours():
                words = "this is no file of ticketbox's"
                advice = f"name another with --db; if ticketbox did write this one, {restore}"
                yield Finding(Level.PROBLEM, "file", words, advice)
                return
            yield _schema(inspection, report)
            if report.schema <= report.newest_schema:
                yield from _contents(inspection, report, restore)
    except (UnusableFile, OSError) as error:
        yield Finding(Level.PROBLEM, "file", f"the file can't be read: {error}", restore)
    yield from _surroundings(db, report)


def _schema(inspection: "Inspection", report: Report) -> Finding:
    from ticketbox.store.migrate import newest_number

    found, newest = inspection.schema(), newest_number()
    report.schema, report.newest_schema = found, newest
    if found == newest:
        return Finding(Level.OK, "schema", f"schema {found:04}, the newest that this version knows")
    if found < newest:
        words = f"schema {found:04} is older than this version's {newest:04}"
        return Finding(Level.NOTE, "schema", words, "the next `ticketbox serve` copies the file and migrates it")
    words = f"schema {found:04} is newer than this version's {newest:04}"
    return Finding(Level.PROBLEM, "schema", words, "run the newer ticketbox that wrote it")


def _contents(inspection: "Inspection", report: Report, restore: str) -> Iterator[Finding]:
    _tell(f"reading every page of {_size(report.bytes)}")
    faults = inspection.pages()
    if faults:
        yield Finding(Level.PROBLEM, "pages", f"the file is damaged: {_some(faults)}", restore)
    else:
        yield Finding(Level.OK, "pages", "every page, index and constraint is sound")
    _tell("following every reference")
    lost = inspection.references()
    if lost:
        yield Finding(Level.PROBLEM, "references", f"references lead nowhere: {_some(lost)}", restore)
    else:
        yield Finding(Level.OK, "references", "every reference leads somewhere")
    report.rows = inspection.counts()
    told = [f"{count:,} {one if count == 1 else many}" for name, (one, many) in _NOUNS.items()
            if (count := report.rows.get(name, 0))]  # fmt: skip
    yield Finding(Level.OK, "rows", ", ".join(told) if told else "the file is empty: nobody set it up yet")
    yield _hashes(inspection, restore)
    orphans = inspection.orphans()
    if orphans.count:
        words = f"{orphans.count:,} stored contents ({_size(orphans.bytes)}) that nothing points at"
        yield Finding(Level.NOTE, "orphans", words, "nothing: the server removes them within minutes")


def _hashes(inspection: "Inspection", restore: str) -> Finding:
    total = inspection.blob_bytes()
    wrong: list[str] = []
    count = 0
    hidden = not sys.stderr.isatty()
    with click.progressbar(length=total, label="pictures, files and streams", file=sys.stderr, hidden=hidden) as bar:
        for blob in inspection.blobs():
            count += 1
            bar.update(blob.stored)
            if not blob.sound:
                wrong.append(f"blob {blob.key}")
    if wrong:
        words = f"{len(wrong):,} of {count:,} stored contents aren't what their hashes say: {_some(wrong)}"
        return Finding(Level.PROBLEM, "contents", words, restore)
    return Finding(Level.OK, "contents", f"{count:,} stored contents ({_size(total)}) are what their hashes say")


def _surroundings(db: Path, report: Report) -> Iterator[Finding]:
    from ticketbox.store.check import has_wal_fault

    report.free_bytes = shutil.disk_usage(db.absolute().parent).free
    words = f"{_size(report.free_bytes)} of free room beside a file of {_size(report.bytes)}"
    if report.free_bytes < report.bytes:
        advice = "make room: the copy before an upgrade takes as much as the file"
        yield Finding(Level.WARNING, "room", words, advice)
    else:
        yield Finding(Level.OK, "room", words)
    readers = [
        each
        for each in (db, *(db.with_name(db.name + ending) for ending in ("-wal", "-shm")))
        if sys.platform != "win32" and each.exists() and each.stat().st_mode & (stat.S_IROTH | stat.S_IWOTH)
    ]
    if readers:
        names = " ".join(map(str, readers))
        words = "every account of this machine can read the file, and with it what is in the tickets"
        yield Finding(Level.WARNING, "permissions", words, f"chmod o= {names}")
    if has_wal_fault():
        words = (
            "this SQLite is older than 3.51.3 and has a rare fault when two connections checkpoint at once, "
            "so only the server does and commands beside it never do"
        )
        yield Finding(Level.NOTE, "sqlite", words, "nothing; keep other SQLite tools from writing to the file")


def _tell(words: str) -> None:
    if sys.stderr.isatty():
        click.echo(f"  … {words}", err=True)


def _some(lines: list[str]) -> str:
    more = len(lines) - SHOWN
    return "; ".join(lines[:SHOWN]) + (f"; and {more} more" if more > 0 else "")


def _size(count: float) -> str:
    for unit in ("bytes", "KB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:,.0f} {unit}" if unit == "bytes" else f"{count:,.1f} {unit}"
        count /= 1000
    raise AssertionError
