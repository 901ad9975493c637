"""Print results and errors of commands."""

import functools
import io
import sys
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TextIO, TypeVar

import click
import msgspec

from ticketbox.domain.core.problems import Problem

F = TypeVar("F", bound=Callable[..., Any])

_NOUNS = {
    "company": ("company", "companies"),
    "project": ("project", "projects"),
    "user": ("account", "accounts"),
    "ticket": ("ticket", "tickets"),
    "comment": ("comment", "comments"),
    "capture": ("capture", "captures"),
    "asset": ("picture or file", "pictures and files"),
    "event": ("event", "events"),
}


def write_any_text(*streams: TextIO) -> None:
    """Let streams write every character: UTF-8 into files and pipes, escapes if a terminal doesn't have a character.

    Python would use the code page of Windows for files and pipes, and fail at the first emoji.
    """
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            if stream.isatty():
                stream.reconfigure(errors="backslashreplace")
            else:
                stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def exit_on_problem(function: F) -> F:
    """Wrap a command: print the detail of a Problem on standard error and exit with status 1."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Problem as problem:
            exit_with_error(problem.detail)

    return run  # type: ignore[return-value]


def exit_with_error(message: str, status: int = 1) -> NoReturn:
    """Print an error message on standard error and exit."""
    click.echo(f"ticketbox: {message}", err=True)
    sys.exit(status)


def print_json(value: object) -> None:
    """Print a value as one line of JSON."""
    click.echo(msgspec.json.encode(value).decode())


def format_counts(rows: Mapping[str, int]) -> str:
    """Format the numbers of rows in a file's tables: "1 company, 2 projects"."""
    parts = [f"{count:,} {one if count == 1 else many}" for name, (one, many) in _NOUNS.items()
             if (count := rows.get(name, 0))]  # fmt: skip
    return ", ".join(parts) if parts else "the file is empty: it isn't set up yet"


def format_bytes(count: float) -> str:
    """Format a size: "1.5 MB"."""
    for unit in ("bytes", "KB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:,.0f} {unit}" if unit == "bytes" else f"{count:,.1f} {unit}"
        count /= 1000
    raise AssertionError
