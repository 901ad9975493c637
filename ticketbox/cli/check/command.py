"""`ticketbox check`: whether a file is sound, in words; it changes no byte of it unless told to compact."""

import contextlib
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ticketbox import __version__
from ticketbox.cli.check.environment import surroundings
from ticketbox.cli.check.findings import Finding, Level, Report
from ticketbox.cli.common import counted, db_option, fail, in_bytes, json_option, print_json, refusals
from ticketbox.cli.mail_server import mail_options, mail_server, refusal
from ticketbox.cli.progress import Progress

if TYPE_CHECKING:
    from ticketbox.domain.events.mail_server import MailServer
    from ticketbox.store.file.check import Inspection

SHOWN = 5
MUCH_ROOM = 10_000_000


@click.command()
@db_option
@json_option
@click.option("--public-url", help="The server's public address, to see whether it is reached there.")
@mail_options
@click.option("--compact", is_flag=True, help="Then give the file's empty room back, if nothing is wrong.")
@refusals
def check(
    db: Path,
    as_json: bool,
    public_url: str | None,
    smtp_url: str | None,
    smtp_url_file: Path | None,
    smtp_from: str | None,
    compact: bool,
) -> None:
    """Read the whole file and say whether it is sound, and what is around it.

    Works beside a running server. The exit status is 0 when nothing is wrong and 1 when there is a problem.
    """
    from ticketbox.settings import public_url as origin
    from ticketbox.store.file.check import sqlite_version

    if not db.exists():
        fail(f"{db}: there is no such file")
    report = Report(str(db), ok=True, version=__version__, sqlite_version=sqlite_version)
    if not as_json:
        click.echo(f"{db}, with ticketbox {__version__} and SQLite {sqlite_version}")
    address = origin(public_url, "", 0, tls=False) if public_url else None
    relay = mail_server(smtp_url, smtp_url_file, smtp_from)
    for finding in chain(_findings(db, report, address), _mail_server(relay)):
        report.findings.append(finding)
        if not as_json:
            click.echo(f"  {finding.level:<8} {finding.words}")
            if finding.advice:
                click.echo(f"  {'':<8} → {finding.advice}")
    problems = sum(finding.level is Level.PROBLEM for finding in report.findings)
    report.ok = not problems
    if compact and report.ok:
        with Progress(quiet=True) as tell:
            report.given_back = _compact(db, tell)
        if not as_json:
            click.echo(f"  {Level.OK:<8} {in_bytes(report.given_back)} given back")
    if as_json:
        print_json(report)
    else:
        click.echo(f"{problems} {'problem' if problems == 1 else 'problems'}." if problems else "Nothing is wrong.")
    sys.exit(0 if report.ok else 1)


def _findings(db: Path, report: Report, public_url: str | None) -> Iterator[Finding]:
    from ticketbox.store.file.check import open_inspection
    from ticketbox.store.file.migrate import UnusableFile

    restore = f"put a backup in its place: ticketbox restore BACKUP --db {db} --force (docs/operate/backups.md)"
    try:
        report.bytes = db.stat().st_size
        with open_inspection(db) as inspection:
            if not inspection.is_ours():
                words = "this is no file of ticketbox's"
                advice = f"name another with --db; if ticketbox did write this one, {restore}"
                yield Finding(Level.PROBLEM, "file", words, advice)
                return
            yield _schema(inspection, report)
            if report.schema <= report.newest_schema:
                yield from _contents(inspection, db, report, restore)
    except (UnusableFile, OSError) as error:
        yield Finding(Level.PROBLEM, "file", f"the file can't be read: {error}", restore)
    yield from surroundings(db, report, public_url)


def _mail_server(relay: "MailServer | None") -> Iterator[Finding]:
    if relay is None:
        return
    _tell(f"knocking at the mail server, {relay.host}")
    if why := refusal(relay):
        yield Finding(Level.WARNING, "mail server", f"{relay.host}: {why}", "mend --smtp-url, or the mail server")
    else:
        yield Finding(Level.OK, "mail server", f"the mail server, {relay.host}, lets ticketbox in")


def _compact(db: Path, tell: Progress) -> int:
    """Beside a server that server empties the log; otherwise it is done here, under the file's lock."""
    from ticketbox.app import locked
    from ticketbox.store.file.compaction import compact_file
    from ticketbox.store.file.migrate import UnusableFile

    try:
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(locked(db))
            except UnusableFile:
                return compact_file(db, checkpoints=False, tell=tell)
            return compact_file(db, checkpoints=True, tell=tell)
    except UnusableFile as error:
        return fail(str(error))


def _schema(inspection: "Inspection", report: Report) -> Finding:
    from ticketbox.store.file.migrate import find_newest_number

    found, newest = inspection.schema(), find_newest_number()
    report.schema, report.newest_schema = found, newest
    if found == newest:
        return Finding(Level.OK, "schema", f"schema {found:04}, the newest that this version knows")
    if found < newest:
        words = f"schema {found:04} is older than this version's {newest:04}"
        return Finding(Level.NOTE, "schema", words, "the next `ticketbox serve` copies the file and migrates it")
    words = f"schema {found:04} is newer than this version's {newest:04}"
    return Finding(Level.PROBLEM, "schema", words, "run the newer ticketbox that wrote it")


def _contents(inspection: "Inspection", db: Path, report: Report, restore: str) -> Iterator[Finding]:
    _tell(f"reading every page of {in_bytes(report.bytes)}")
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
    report.newest_change = inspection.newest_moment()
    yield Finding(Level.OK, "rows", counted(report.rows))
    yield _hashes(inspection, restore)
    if report.schema == report.newest_schema:
        yield from _mail(inspection)
    orphans = inspection.orphans()
    if orphans.count:
        words = f"{orphans.count:,} stored contents ({in_bytes(orphans.bytes)}) that nothing points at"
        yield Finding(Level.NOTE, "orphans", words, "nothing: the server removes them within minutes")
    empty = inspection.free_bytes()
    if empty > MUCH_ROOM and empty > report.bytes // 4:
        words = f"{in_bytes(empty)} of the file are empty; new rows will use them"
        yield Finding(Level.NOTE, "empty", words, f"to give them back: ticketbox check --db {db} --compact")


def _mail(inspection: "Inspection") -> Iterator[Finding]:
    mail = inspection.mail()
    if mail.failing:
        words = f"{mail.failing:,} mails didn't go yet and are tried again; last: {mail.error}"
        yield Finding(Level.WARNING, "mail", words, "mend --smtp-url, --smtp-from or the mail server")
    if mail.dead:
        words = f"{mail.dead:,} mails were given up in the last 30 days; last: {mail.error}"
        yield Finding(Level.NOTE, "mail", words, "nothing: what they would have told stands in people's inboxes")


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
    return Finding(Level.OK, "contents", f"{count:,} stored contents ({in_bytes(total)}) are what their hashes say")


def _tell(words: str) -> None:
    if sys.stderr.isatty():
        click.echo(f"  … {words}", err=True)


def _some(lines: list[str]) -> str:
    more = len(lines) - SHOWN
    return "; ".join(lines[:SHOWN]) + (f"; and {more} more" if more > 0 else "")
