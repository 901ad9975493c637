"""`ticketbox backup` and `restore`: whole copies of the file, out and back in."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ticketbox.cli.common import counted, db_option, fail, in_bytes, json_option, print_json
from ticketbox.cli.progress import Progress

if TYPE_CHECKING:
    from ticketbox.store.file.backup import FinishedCopy


@click.command()
@click.argument("dest", type=click.Path(path_type=Path))
@db_option
@json_option
@click.option("--force", is_flag=True, help="Replace a file that is there already.")
def backup(dest: Path, db: Path, as_json: bool, force: bool) -> None:
    """Copy the file to DEST, a file or a folder, and read the copy back.

    Works beside a running server, which goes on writing meanwhile. DEST appears when it is whole.
    """
    from ticketbox.store.file.backup import back_up, make_backup_name
    from ticketbox.store.file.migrate import UnusableFile

    if not db.exists():
        fail(f"{db}: there is no such file")
    if dest.is_dir():
        dest /= make_backup_name(db)
    try:
        with Progress(quiet=as_json) as tell:
            made = back_up(db, dest, replace=force, tell=tell)
    except UnusableFile as error:
        fail(str(error))
    else:
        _report(made, as_json, f"{dest} is a sound copy of {db}")


@click.command()
@click.argument("src", type=click.Path(dir_okay=False, path_type=Path))
@db_option
@json_option
@click.option("--force", is_flag=True, help="Restore over a file that is there; it is kept beside.")
def restore(src: Path, db: Path, as_json: bool, force: bool) -> None:
    """Put the backup SRC in the place of the file, once a copy of it is read back.

    Stop the server first. A damaged backup, and one of a newer version, is refused, and nothing is changed.
    """
    from ticketbox.app import locked
    from ticketbox.store.file import backup as store
    from ticketbox.store.file.migrate import UnusableFile

    if not src.exists():
        fail(f"{src}: there is no such file")
    try:
        with locked(db), Progress(quiet=as_json) as tell:
            made = store.restore_backup(src, db, force=force, tell=tell)
    except UnusableFile as error:
        fail(str(error))
    else:
        _report(made, as_json, f"{db} is restored from {src}")


def _report(made: "FinishedCopy", as_json: bool, words: str) -> None:
    if as_json:
        print_json(made)
        return
    click.echo(f"{words}: {in_bytes(made.bytes)} in {made.seconds:.1f} s, {counted(made.rows)}")
    if made.kept:
        click.echo(f"What was there is kept as {made.kept}")
