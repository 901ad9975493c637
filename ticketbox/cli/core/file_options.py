"""Options for what happens to the file: backups, deletion by age, replication (docs/operate/configuration.md)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ticketbox.cli.core.options import DURATION
from ticketbox.settings import DEFAULT_KEEP

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = [
    click.option(
        "--backup-every", type=DURATION, help="Create a backup this often, such as every 6h.  [default: never]"
    ),
    click.option(
        "--backup-keep",
        default=DEFAULT_KEEP,
        show_default=True,
        type=click.IntRange(1),
        help="How many backups to keep.",
    ),
    click.option(
        "--backup-dir",
        type=click.Path(file_okay=False, path_type=Path),
        help="The folder for backups.  [default: backups, next to the file]",
    ),
    click.option(
        "--drop-captures-after",
        type=DURATION,
        help="Delete captures of tickets this long after they were archived, such as 180d.  [default: never]",
    ),
    click.option(
        "--trust-clock", is_flag=True, help="Delete what is old though the clock is far ahead of the newest change."
    ),
    click.option(
        "--assets-dir",
        type=click.Path(file_okay=False, path_type=Path),
        help="Store large files and streams in this folder.  [default: in the database file, or where they are]",
    ),
    click.option(
        "--leave-checkpoints",
        is_flag=True,
        help="Leave checkpoints of the write-ahead log to a replicator, such as Litestream.",
    ),
]


def add_file_options(function: F) -> F:
    """Add the options; each is passed by the name of its setting."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function
