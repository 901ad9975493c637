"""Options that several commands share."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ticketbox.settings import find_default_db

F = TypeVar("F", bound=Callable[..., Any])


class Duration(click.ParamType[int]):
    """A duration as a number and a unit, such as `30m`, `6h` or `180d`; converted to seconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the seconds."""
        match = re.fullmatch(r"([1-9]\d{0,4})([mhd])", str(value).strip().lower())
        if match is None:
            self.fail(f"{value!r} is not a duration; use a number and a unit, such as 30m, 6h or 180d", param, ctx)
        return int(match[1]) * {"m": 60, "h": 3600, "d": 86400}[match[2]]


class Size(click.ParamType[int]):
    """A number of bytes, alone or with a unit, such as `500MB` or `20GB`; the units are powers of 1,000."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the bytes."""
        match = re.fullmatch(r"(\d{1,15}) ?([kmgt]b)?", str(value).strip().lower())
        if match is None:
            self.fail(f"{value!r} is not a size; use a number and a unit, such as 500MB or 20GB", param, ctx)
        return int(match[1]) * 1000 ** ["", "kb", "mb", "gb", "tb"].index(match[2] or "")


DURATION = Duration()
SIZE = Size()


def add_db_option(function: F) -> F:
    """Add `--db`, for every command that works on a file."""
    return click.option(
        "--db",
        type=click.Path(dir_okay=False, path_type=Path),
        default=find_default_db,
        show_default="in the platform's data folder",
        help="The SQLite file.",
    )(function)


def add_json_option(function: F) -> F:
    """Add `--json`, for commands whose output a script might read."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)
