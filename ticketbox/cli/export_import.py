"""`ticketbox export` and `ticketbox import`: companies or everything, as one zip (docs/operate/export-import.md)."""

from pathlib import Path
from typing import Any

import click

from ticketbox.cli.common import db_option, fail, json_option, operate, print_json, refusals
from ticketbox.cli.progress import Progress


@click.command("export")
@click.argument("target", metavar="DEST", type=click.Path(dir_okay=False, path_type=Path))
@db_option
@click.option("--company", metavar="ID", help="One company alone; left out: everything.")
@json_option
def export(target: Path, db: Path, company: str | None, as_json: bool) -> None:
    """Write companies with all their tickets, captures and files into a zip.

    Works beside a running server. There is no secret in it: no password, no token.
    """
    from ticketbox.store.export_import.transfer import CompanyNotFound, export_file
    from ticketbox.store.file.migrate import UnusableFile, prepare_file

    if not db.exists():
        fail(f"{db}: there is no such file")
    if target.exists():
        fail(f"{target}: there is a file already; name another, or remove it")
    try:
        with Progress(quiet=as_json) as tell:
            prepare_file(db, lambda line: click.echo(line, err=True))
            manifest = export_file(db, target, company, lambda doing, count: tell(doing, count=count))
    except UnusableFile as error:
        fail(str(error))
    except CompanyNotFound:
        fail(f"{company}: there is no such company; `ticketbox user list` and the web app show ids")
    except OSError as error:
        fail(f"{target}: it can't be written: {error.strerror}")
    else:
        counts = {name[8:-7]: entry.records for name, entry in manifest.entries.items() if name.startswith("records/")}
        _report(as_json, target, counts, "written")


@click.command("import")
@click.argument("source", metavar="SRC", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@db_option
@click.option("--from", "tracker", type=click.Choice(["github", "jira", "linear"]), help="Another tracker's file.")
@click.option("--project", metavar="ID", help="With --from: the project that the tickets go to.")
@click.option("--user", metavar="EMAIL", help="With --from: in whose name.")
@click.option("--dry-run", is_flag=True, help="With --from: only show what would become of it.")
@json_option
@refusals
def import_(
    source: Path, db: Path, tracker: str | None, project: str | None, user: str | None, dry_run: bool, as_json: bool
) -> None:
    """Read an export into a file: a new one, or beside what is there.

    All of it, or nothing: what is damaged, newer or there already is refused, and the file stays as it was. With
    --from, make tickets of GitHub's issues (JSON), or of Jira's or Linear's CSV.
    """
    if tracker is not None:
        if project is None or user is None:
            fail("--from needs --project and --user")
        return _take_over(
            source, db, {"tracker": tracker, "project_id": project, "user": user, "dry_run": dry_run}, as_json
        )
    if project is not None or user is not None or dry_run:
        fail("--project, --user and --dry-run go with --from")
    return _import(source, db, as_json)


def _import(source: Path, db: Path, as_json: bool) -> None:
    from ticketbox.store.export_import.archive import InvalidArchive
    from ticketbox.store.export_import.transfer import import_file
    from ticketbox.store.file.migrate import UnusableFile, prepare_file

    try:
        with Progress(quiet=as_json) as tell:
            if db.exists():
                prepare_file(db, lambda line: click.echo(line, err=True))
            counts = import_file(db, source, lambda doing, count: tell(doing, count=count))
    except (UnusableFile, InvalidArchive) as error:
        fail(str(error))
    except OSError as error:
        fail(f"{db}: it can't be written: {error.strerror}")
    else:
        _report(as_json, db, counts, "read")


def _take_over(source: Path, db: Path, arguments: dict[str, Any], as_json: bool) -> None:
    with Progress(quiet=True) as tell:
        tell(f"taking over {source.name}")
        taken = operate(db, "take_over", {**arguments, "data": source.read_bytes()})
    if as_json:
        return print_json(taken)
    click.echo(f"{taken.tickets:,} tickets, {taken.comments:,} comments")
    for state in taken.states:
        resolved = ", resolved" if state.resolved else ""
        click.echo(f"  {state.tickets:>6,}  {state.state or '(no state)'} → {state.column}{resolved}")
    click.echo(f"  priorities: {', '.join(f'{name} {count:,}' for name, count in taken.priorities.items())}")
    click.echo(f"  labels: {', '.join(taken.labels) or 'none'}")
    click.echo("All of them are made." if taken.done else "Nothing is changed: this was a dry run.")
    return None


def _report(as_json: bool, file: Path, counts: dict[str, int], done: str) -> None:
    if as_json:
        print_json({"file": str(file), "bytes": file.stat().st_size, "records": counts})
    else:
        shown = ", ".join(f"{counts.get(name, 0):,} {name}" for name in ("company", "project", "ticket", "capture"))
        click.echo(f"{file}: {done} ({shown})")
