"""`ticketbox check`: report whether a file and its environment are sound. Only `--compact` changes the file."""

import contextlib
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ticketbox import __version__
from ticketbox.cli.check.environment import check_environment
from ticketbox.cli.check.findings import Finding, Report, Severity
from ticketbox.cli.core.email_server import add_email_options, find_connection_fault, read_email_options
from ticketbox.cli.core.options import add_db_option, add_json_option
from ticketbox.cli.core.output import exit_on_problem, exit_with_error, format_bytes, format_counts, print_json
from ticketbox.cli.core.progress import Progress

if TYPE_CHECKING:
    from ticketbox.domain.events.email_server import EmailServer
    from ticketbox.store.file.check import BlobCheck, Inspection

LISTED_FAULTS = 5
MIN_FREE_BYTES = 10_000_000


@click.command()
@add_db_option
@add_json_option
@click.option("--public-url", help="The server's public URL, to check that it can be reached there.")
@add_email_options
@click.option("--compact", is_flag=True, help="Then shrink the file, if there is no problem.")
@exit_on_problem
def check(
    db: Path,
    as_json: bool,
    public_url: str | None,
    smtp_url: str | None,
    smtp_url_file: Path | None,
    smtp_from: str | None,
    compact: bool,
) -> None:
    """Check the whole file and its environment, and print what was found.

    The server can keep running. The exit status is 1 if there is a problem, otherwise 0.
    """
    from ticketbox.settings import parse_public_url
    from ticketbox.store.file.check import sqlite_version

    if not db.exists():
        exit_with_error(f"{db}: no such file")
    report = Report(str(db), ok=True, version=__version__, sqlite_version=sqlite_version)
    if not as_json:
        click.echo(f"{db}, with ticketbox {__version__} and SQLite {sqlite_version}")
    address = parse_public_url(public_url, "", 0, tls=False) if public_url else None
    relay = read_email_options(smtp_url, smtp_url_file, smtp_from)
    for finding in chain(_check_file(db, report, address), _check_email_server(relay)):
        report.findings.append(finding)
        if not as_json:
            click.echo(f"  {finding.level:<8} {finding.words}")
            if finding.advice:
                click.echo(f"  {'':<8} → {finding.advice}")
    problems = sum(finding.level is Severity.PROBLEM for finding in report.findings)
    report.ok = not problems
    if compact and report.ok:
        with Progress(quiet=True) as progress:
            report.given_back = _compact(db, progress)
        if not as_json:
            click.echo(f"  {Severity.OK:<8} {format_bytes(report.given_back)} freed")
    if as_json:
        print_json(report)
    else:
        click.echo(f"{problems} {'problem' if problems == 1 else 'problems'}." if problems else "No problems.")
    sys.exit(0 if report.ok else 1)


def _check_file(db: Path, report: Report, public_url: str | None) -> Iterator[Finding]:
    from ticketbox.store.file.check import open_inspection
    from ticketbox.store.file.log_identity import refuse_lost_log
    from ticketbox.store.file.migrate import UnusableFile

    try:
        refuse_lost_log(db)
    except UnusableFile as error:
        yield Finding(Severity.PROBLEM, "log", "the write-ahead log isn't the server's", str(error))
        return
    yield from _check_checksum(db)
    restore = f"restore a backup: ticketbox restore BACKUP --db {db} --force (docs/operate/backups.md)"
    try:
        report.bytes = db.stat().st_size
        with open_inspection(db) as inspection:
            if not inspection.is_ticketbox_file():
                words = "not a ticketbox file"
                advice = f"choose another file with --db; if ticketbox created this one, {restore}"
                yield Finding(Severity.PROBLEM, "file", words, advice)
                return
            yield (schema := _check_schema(inspection, report))
            if schema.level is not Severity.PROBLEM:
                yield from _check_contents(inspection, db, report, restore)
    except (UnusableFile, OSError) as error:
        yield Finding(Severity.PROBLEM, "file", f"can't read the file: {error}", restore)
    yield from check_environment(db, report, public_url)


def _check_checksum(db: Path) -> Iterator[Finding]:
    from ticketbox.store.file.checksums import has_checksum, verify_checksum
    from ticketbox.store.file.migrate import UnusableFile

    if not has_checksum(db):
        return
    try:
        verify_checksum(db)
    except (UnusableFile, OSError) as error:
        words, _, advice = str(error).partition("; ")
        yield Finding(Severity.PROBLEM, "checksum", words, advice)
    else:
        yield Finding(Severity.OK, "checksum", "the file matches its checksum")


def _check_email_server(relay: "EmailServer | None") -> Iterator[Finding]:
    if relay is None:
        return
    _print_step(f"connecting to the email server {relay.host}")
    if why := find_connection_fault(relay):
        yield Finding(
            Severity.WARNING,
            "mail server",
            f"the email server {relay.host} can't be used: {why}",
            "fix --smtp-url or the email server",
        )
    else:
        yield Finding(Severity.OK, "mail server", f"connected to the email server {relay.host}")


def _compact(db: Path, progress: Progress) -> int:
    """Shrink the file. While a server has it open, leave checkpoints to that server; otherwise lock the file."""
    from ticketbox.app import lock_file
    from ticketbox.store.file.compaction import compact_file
    from ticketbox.store.file.migrate import UnusableFile

    try:
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(lock_file(db))
            except UnusableFile:
                return compact_file(db, checkpoints=False, report=progress)
            return compact_file(db, checkpoints=True, report=progress)
    except UnusableFile as error:
        return exit_with_error(str(error))


def _check_schema(inspection: "Inspection", report: Report) -> Finding:
    from ticketbox.store.file.migrate import find_newest_number, find_schema_fault

    current, newest = inspection.read_schema_number(), find_newest_number()
    report.schema, report.newest_schema = current, newest
    if current == newest:
        return Finding(Severity.OK, "schema", f"schema {current:04}, this version's newest")
    if fault := find_schema_fault(current):
        words, _, advice = fault.partition("; ")
        return Finding(Severity.PROBLEM, "schema", words, advice)
    words = f"schema {current:04} is older than this version's {newest:04}"
    advice = "nothing: the next `ticketbox serve` copies the file and migrates it"
    return Finding(Severity.NOTE, "schema", words, advice)


def _check_contents(inspection: "Inspection", db: Path, report: Report, restore: str) -> Iterator[Finding]:
    _print_step(f"reading every page of {format_bytes(report.bytes)}")
    faults = inspection.list_page_faults()
    if faults:
        yield Finding(Severity.PROBLEM, "pages", f"the file is damaged: {_list_first(faults)}", restore)
    else:
        yield Finding(Severity.OK, "pages", "pages, indexes and constraints OK")
    _print_step("checking foreign keys")
    lost = inspection.list_broken_references()
    if lost:
        yield Finding(Severity.PROBLEM, "references", f"broken foreign keys: {_list_first(lost)}", restore)
    else:
        yield Finding(Severity.OK, "references", "foreign keys OK")
    report.rows = inspection.count_rows()
    report.newest_change = inspection.find_newest_change()
    yield Finding(Severity.OK, "rows", format_counts(report.rows))
    yield _check_hashes(inspection, restore)
    if report.schema == report.newest_schema:
        yield _check_storage(inspection)
        yield from _check_email(inspection)
    orphans = inspection.measure_orphans()
    if orphans.count:
        words = f"unused blobs: {orphans.count:,} ({format_bytes(orphans.bytes)})"
        yield Finding(Severity.NOTE, "orphans", words, "nothing: the server deletes them within minutes")
    unused = inspection.list_unused_files()
    if unused:
        words = f"unused files in the assets folder: {len(unused):,} ({_list_first(unused)})"
        yield Finding(Severity.NOTE, "orphans", words, "nothing: the server erases them within 20 minutes")
    empty = inspection.measure_free_bytes()
    if empty > MIN_FREE_BYTES and empty > report.bytes // 4:
        words = f"{format_bytes(empty)} of the file are free; new rows will use this space"
        yield Finding(Severity.NOTE, "empty", words, f"to shrink the file: ticketbox check --db {db} --compact")


def _check_storage(inspection: "Inspection") -> Finding:
    faults = inspection.list_storage_faults()
    if not faults:
        return Finding(Severity.OK, "storage", "the storage of companies is counted correctly")
    lines = [f"{each.company}: {each.counted or 0:,} bytes counted, {each.stored:,} stored" for each in faults]
    advice = "ticketbox export and import count again (docs/operate/export-import.md); report this fault"
    return Finding(Severity.PROBLEM, "storage", f"wrong storage of companies: {_list_first(lines)}", advice)


def _check_email(inspection: "Inspection") -> Iterator[Finding]:
    mail = inspection.load_email_failures()
    if mail.failing:
        words = f"emails that failed and will be retried: {mail.failing:,}; last error: {mail.error}"
        yield Finding(Severity.WARNING, "mail", words, "fix --smtp-url, --smtp-from or the email server")
    if mail.dead:
        words = f"emails abandoned in the last 30 days: {mail.dead:,}; last error: {mail.error}"
        yield Finding(Severity.NOTE, "mail", words, "nothing: the notifications are in people's inboxes")


def _check_hashes(inspection: "Inspection", restore: str) -> Finding:
    total = inspection.measure_blob_bytes()
    wrong: list[str] = []
    count = 0
    hidden = not sys.stderr.isatty()
    with click.progressbar(length=total, label="pictures, files and streams", file=sys.stderr, hidden=hidden) as bar:
        for blob in inspection.check_blobs():
            count += 1
            bar.update(blob.stored)
            if not blob.sound:
                wrong.append(_describe_blob(blob))
    if inspection.folder is not None and not inspection.folder.path.is_dir():
        words = f"the assets folder {inspection.folder.path} isn't there, with {len(wrong):,} of {count:,} blobs"
        return Finding(Severity.PROBLEM, "contents", words, "mount the folder (docs/operate/assets.md), or " + restore)
    if wrong:
        words = f"{len(wrong):,} of {count:,} blobs don't match their hashes: {_list_first(wrong)}"
        return Finding(Severity.PROBLEM, "contents", words, restore)
    return Finding(Severity.OK, "contents", f"{count:,} blobs ({format_bytes(total)}) match their hashes")


def _describe_blob(blob: "BlobCheck") -> str:
    if blob.file is None:
        return f"blob {blob.key}"
    return f"{blob.file}" if blob.file.exists() else f"{blob.file} (missing)"


def _print_step(step: str) -> None:
    if sys.stderr.isatty():
        click.echo(f"  … {step}", err=True)


def _list_first(lines: list[str]) -> str:
    more = len(lines) - LISTED_FAULTS
    return "; ".join(lines[:LISTED_FAULTS]) + (f"; and {more} more" if more > 0 else "")
