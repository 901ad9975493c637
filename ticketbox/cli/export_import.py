"""`ticketbox export` and `ticketbox import`: companies as a zip file (docs/operate/export-import.md)."""

from pathlib import Path
from typing import Any

import click

from ticketbox.cli.core.operations import prepare_shared_file, run_operation
from ticketbox.cli.core.options import add_db_option, add_json_option
from ticketbox.cli.core.output import exit_on_problem, exit_with_error, print_json
from ticketbox.cli.core.progress import Progress


@click.command("export")
@click.argument("target", metavar="DEST", type=click.Path(dir_okay=False, path_type=Path))
@add_db_option
@click.option("--company", metavar="ID", help="Export only this company.  [default: all]")
@add_json_option
def export(target: Path, db: Path, company: str | None, as_json: bool) -> None:
    """Write companies with all their tickets, captures and files to a zip file.

    The server can keep running. The zip contains no passwords and no tokens.
    """
    from ticketbox.store.export_import.transfer import CompanyNotFound, export_file
    from ticketbox.store.file.folder.contents import MissingContent
    from ticketbox.store.file.migrate import UnusableFile

    if not db.exists():
        exit_with_error(f"{db}: no such file")
    if target.exists():
        exit_with_error(f"{target}: the file exists; choose another name or delete it")
    try:
        with Progress(quiet=as_json) as progress:
            prepare_shared_file(db)
            manifest = export_file(db, target, company, lambda doing, count: progress(doing, count=count))
    except UnusableFile as error:
        exit_with_error(str(error))
    except MissingContent as error:
        exit_with_error(f"{db}: {error.detail}")
    except CompanyNotFound:
        exit_with_error(f"{company}: no such company; the address of its page in the web app contains the id")
    except OSError as error:
        exit_with_error(f"can't write {target}: {error.strerror}")
    else:
        counts = {name[8:-7]: entry.records for name, entry in manifest.entries.items() if name.startswith("records/")}
        _print_counts(as_json, target, counts, "written")


@click.command("import")
@click.argument("source", metavar="SRC", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@add_db_option
@click.option(
    "--from", "tracker", type=click.Choice(["github", "jira", "linear"]), help="Import the file of another tracker."
)
@click.option("--project", metavar="ID", help="With --from: the project for the tickets.")
@click.option("--user", metavar="EMAIL", help="With --from: the account that creates the tickets.")
@click.option("--dry-run", is_flag=True, help="With --from: only show what would be imported.")
@add_json_option
@exit_on_problem
def import_(
    source: Path, db: Path, tracker: str | None, project: str | None, user: str | None, dry_run: bool, as_json: bool
) -> None:
    """Import an export into a new or an existing file.

    Imports all of it or nothing: a damaged or newer export, or one whose companies exist already, is refused. With
    --from, create tickets from GitHub issues (JSON), or from a CSV file of Jira or Linear.
    """
    if tracker is not None:
        if project is None or user is None:
            exit_with_error("--from requires --project and --user")
        return _import_from_tracker(
            source, db, {"tracker": tracker, "project_id": project, "user": user, "dry_run": dry_run}, as_json
        )
    if project is not None or user is not None or dry_run:
        exit_with_error("--project, --user and --dry-run require --from")
    return _import(source, db, as_json)


def _import(source: Path, db: Path, as_json: bool) -> None:
    from ticketbox.store.export_import.archive import InvalidArchive
    from ticketbox.store.export_import.transfer import import_file
    from ticketbox.store.file.migrate import UnusableFile

    try:
        with Progress(quiet=as_json) as progress:
            if db.exists():
                prepare_shared_file(db)
            counts = import_file(db, source, lambda doing, count: progress(doing, count=count))
    except (UnusableFile, InvalidArchive) as error:
        exit_with_error(str(error))
    except OSError as error:
        exit_with_error(f"can't write {db}: {error.strerror}")
    else:
        _print_counts(as_json, db, counts, "read")


def _import_from_tracker(source: Path, db: Path, arguments: dict[str, Any], as_json: bool) -> None:
    with Progress(quiet=True) as progress:
        progress(f"importing {source.name}")
        result = run_operation(db, "import_tickets", {**arguments, "data": source.read_bytes()})
    if as_json:
        return print_json(result)
    click.echo(f"{result.tickets:,} tickets, {result.comments:,} comments")
    for state in result.states:
        resolved = ", resolved" if state.resolved else ""
        click.echo(f"  {state.tickets:>6,}  {state.state or '(no state)'} → {state.column}{resolved}")
    click.echo(f"  priorities: {', '.join(f'{name} {count:,}' for name, count in result.priorities.items())}")
    click.echo(f"  labels: {', '.join(result.labels) or 'none'}")
    unread = f" ({result.unread_due_dates:,} can't be read)" if result.unread_due_dates else ""
    click.echo(f"  due dates: {result.due_dates:,}{unread}")
    unknown = f" (no members: {', '.join(result.unknown_assignees)})" if result.unknown_assignees else ""
    click.echo(f"  assigned: {result.assigned:,}{unknown}")
    click.echo("All of them were created." if result.done else "Dry run: nothing was created.")
    return None


def _print_counts(as_json: bool, file: Path, counts: dict[str, int], done: str) -> None:
    if as_json:
        print_json({"file": str(file), "bytes": file.stat().st_size, "records": counts})
    else:
        summary = ", ".join(f"{counts.get(name, 0):,} {name}" for name in ("company", "project", "ticket", "capture"))
        click.echo(f"{file}: {done} ({summary})")
