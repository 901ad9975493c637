"""`ticketbox assets`: move large contents to a folder and back (docs/operate/assets.md)."""

from pathlib import Path

import click

from ticketbox.cli.core.options import add_db_option, add_json_option
from ticketbox.cli.core.output import exit_with_error, format_bytes, print_json
from ticketbox.cli.core.progress import Progress


@click.group()
def assets() -> None:
    """Keep large files and streams in a folder or in the database file."""


@assets.command()
@click.argument("folder", required=False, type=click.Path(file_okay=False, path_type=Path))
@click.option("--into-file", is_flag=True, help="Move them back into the database file, and remove the folder.")
@add_db_option
@add_json_option
def move(folder: Path | None, into_file: bool, db: Path, as_json: bool) -> None:
    """Move large files and streams to FOLDER.  [default: the folder that the file has]

    Stop the server first. It can be interrupted and run again.
    """
    from ticketbox.app import lock_file
    from ticketbox.store.file.folder import moves
    from ticketbox.store.file.migrate import UnusableFile, prepare_file

    if not db.exists():
        exit_with_error(f"{db}: no such file")
    if into_file and folder is not None:
        exit_with_error("FOLDER and --into-file can't be used together")
    try:
        with lock_file(db), Progress(quiet=as_json) as progress:
            prepare_file(db, lambda line: click.echo(line, err=True))
            moved = moves.move_into_file(db, progress) if into_file else moves.move_to_folder(db, folder, progress)
    except UnusableFile as error:
        exit_with_error(str(error))
    else:
        if as_json:
            print_json(moved)
        else:
            click.echo(f"{moved.count:,} contents moved ({format_bytes(moved.bytes)})")
