"""`ticketbox export` and `ticketbox import`: companies and whole instances from file to file (docs/moving.md)."""

import sys
from pathlib import Path

import click

from ticketbox.cli.common import db_option, fail, json_option, print_json


@click.command("export")
@click.argument("target", metavar="DEST", type=click.Path(dir_okay=False, path_type=Path))
@db_option
@click.option("--company", metavar="ID", help="One company alone; left out: everything.")
@json_option
def export(target: Path, db: Path, company: str | None, as_json: bool) -> None:
    """Write companies with all their tickets, captures and files into a zip.

    Works beside a running server. There is no secret in it: no password, no token.
    """
    from ticketbox.store.migrate import UnusableFile, prepare
    from ticketbox.store.transfer import NoSuchCompany, export_to

    if not db.exists():
        fail(f"{db}: there is no such file")
    if target.exists():
        fail(f"{target}: there is a file already; name another, or remove it")
    told = Told()
    try:
        prepare(db, lambda line: click.echo(line, err=True))
        manifest = export_to(db, target, company, told.say)
    except UnusableFile as error:
        fail(str(error))
    except NoSuchCompany:
        fail(f"{company}: there is no such company; `ticketbox user list` and the web app show ids")
    except OSError as error:
        fail(f"{target}: it can't be written: {error.strerror}")
    else:
        told.end()
        counts = {name[8:-7]: entry.records for name, entry in manifest.entries.items() if name.startswith("records/")}
        _report(as_json, target, counts, "written")


@click.command("import")
@click.argument("source", metavar="SRC", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@db_option
@json_option
def import_(source: Path, db: Path, as_json: bool) -> None:
    """Read an export into a file: a new one, or beside what is there.

    All of it, or nothing: what is damaged, newer or there already is refused, and the file stays as it was.
    """
    from ticketbox.store.archive import BadArchive
    from ticketbox.store.migrate import UnusableFile, prepare
    from ticketbox.store.transfer import import_from

    told = Told()
    try:
        if db.exists():
            prepare(db, lambda line: click.echo(line, err=True))
        counts = import_from(db, source, told.say)
    except (UnusableFile, BadArchive) as error:
        fail(str(error))
    except OSError as error:
        fail(f"{db}: it can't be written: {error.strerror}")
    else:
        told.end()
        _report(as_json, db, counts, "read")


class Told:
    """Progress: one line that changes at a terminal, plain lines elsewhere."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._open = False

    def say(self, table: str, count: int) -> None:
        """So many records of a kind are done."""
        line = f"{table}: {count:,}"
        click.echo(f"\r\033[K{line}" if self._live else line, err=True, nl=not self._live)
        self._open = self._live

    def end(self) -> None:
        """Leave the terminal's line."""
        if self._open:
            click.echo("", err=True)


def _report(as_json: bool, file: Path, counts: dict[str, int], done: str) -> None:
    if as_json:
        print_json({"file": str(file), "bytes": file.stat().st_size, "records": counts})
    else:
        shown = ", ".join(f"{counts.get(name, 0):,} {name}" for name in ("company", "project", "ticket", "capture"))
        click.echo(f"{file}: {done} ({shown})")
