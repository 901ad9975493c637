"""`ticketbox backup` and `ticketbox restore`: copy the file and put a copy back (docs/operate/backups.md)."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ticketbox.cli.core.options import add_db_option, add_json_option
from ticketbox.cli.core.output import exit_with_error, format_bytes, format_counts, print_json
from ticketbox.cli.core.progress import Progress

if TYPE_CHECKING:
    from ticketbox.store.file.backup import FinishedCopy


@click.command()
@click.argument("dest", type=click.Path(path_type=Path))
@add_db_option
@add_json_option
@click.option("--force", is_flag=True, help="Replace an existing file.")
def backup(dest: Path, db: Path, as_json: bool, force: bool) -> None:
    """Copy the file to DEST, a file or a folder, and check the copy.

    The server can keep running. DEST appears when the copy is complete.
    """
    from ticketbox.store.file.backup import back_up, build_backup_name
    from ticketbox.store.file.log_identity import refuse_lost_log
    from ticketbox.store.file.migrate import UnusableFile

    if not db.exists():
        exit_with_error(f"{db}: no such file")
    if dest.is_dir():
        dest /= build_backup_name(db)
    try:
        with Progress(quiet=as_json) as progress:
            copy = back_up(db, dest, lambda: refuse_lost_log(db), replace=force, report=progress)
    except UnusableFile as error:
        exit_with_error(str(error))
    else:
        _print_copy(copy, as_json, f"Copied {db} to {dest}")


@click.command()
@click.argument("src", type=click.Path(dir_okay=False, path_type=Path))
@add_db_option
@add_json_option
@click.option("--force", is_flag=True, help="Replace an existing file; it is kept under another name.")
@click.option(
    "--assets-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder for the backup's assets.  [default: the folder of the replaced file, or next to the file]",
)
def restore(src: Path, db: Path, as_json: bool, force: bool, assets_dir: Path | None) -> None:
    """Replace the file by the backup SRC, after checking a copy of it.

    Stop the server first. A damaged backup, or one of a newer version, is refused and nothing changes.
    """
    from ticketbox.app import lock_file
    from ticketbox.store.file.migrate import UnusableFile
    from ticketbox.store.file.restore import restore_backup

    if not src.exists():
        exit_with_error(f"{src}: no such file")
    try:
        with lock_file(db), Progress(quiet=as_json) as progress:
            copy = restore_backup(src, db, force=force, assets_dir=assets_dir, report=progress)
    except UnusableFile as error:
        exit_with_error(str(error))
    else:
        _print_copy(copy, as_json, f"Restored {db} from {src}")


def _print_copy(copy: "FinishedCopy", as_json: bool, message: str) -> None:
    if as_json:
        print_json(copy)
        return
    click.echo(f"{message}: {format_bytes(copy.bytes)} in {copy.seconds:.1f} s, {format_counts(copy.rows)}")
    if copy.kept:
        click.echo(f"The previous file is now {copy.kept}")
