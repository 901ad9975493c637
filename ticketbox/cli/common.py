"""What several commands share: the file, the way to an operation, the words of a refusal."""

import functools
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from ticketbox.domain.core.problems import Problem
from ticketbox.settings import default_db

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


class Span(click.ParamType[int]):
    """A span of time as a figure and a unit, `30m`, `6h` or `180d`; seconds inside."""

    name = "span"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read it."""
        found = re.fullmatch(r"([1-9]\d{0,4})([mhd])", str(value).strip().lower())
        if found is None:
            self.fail(f"{value!r} is no span of time, such as 30m, 6h or 180d", param, ctx)
        return int(found[1]) * {"m": 60, "h": 3600, "d": 86400}[found[2]]


SPAN = Span()


def db_option(function: F) -> F:
    """`--db`, for every command that works on a file."""
    return click.option(
        "--db",
        type=click.Path(dir_okay=False, path_type=Path),
        default=default_db,
        show_default="in the platform's data folder",
        help="The SQLite file.",
    )(function)


def json_option(function: F) -> F:
    """`--json`, where a script would want it."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)


def operate(db: Path, name: str, arguments: dict[str, Any], *, create: bool = False) -> Any:
    """Carry out one operation of the machine's shell on a file, beside a running server or without one.

    Never checkpoints: that is the server's. Exits with the refusal's words and status 1.
    """
    import asyncio

    if not create and not db.exists():
        fail(f"{db}: there is no such file; make one with `ticketbox init` or `ticketbox serve`")
    return asyncio.run(_operate(db, name, arguments))


async def _operate(db: Path, name: str, arguments: dict[str, Any]) -> Any:
    from ticketbox.domain.core.clock import Clock
    from ticketbox.domain.core.limits import RateLimiter
    from ticketbox.operations.catalogue import registry
    from ticketbox.operations.core.context import RequestContext
    from ticketbox.operations.core.dispatch import Dispatcher
    from ticketbox.operations.core.services import Services
    from ticketbox.store.file.database import Database
    from ticketbox.store.file.migrate import UnusableFile, prepare_file

    try:
        prepare_file(db, lambda line: click.echo(line, err=True))
    except UnusableFile as error:
        fail(str(error))
    clock = Clock()
    database = await Database.open(db, clock, readers=1, checkpoints=False)
    services = Services(database, RateLimiter(clock.monotonic), "")
    try:
        return await Dispatcher(services).dispatch(registry()[name], arguments, RequestContext(operator=True))
    finally:
        services.close()
        await database.close()


def refusals(function: F) -> F:
    """Print a refusal in words on standard error, and exit with status 1."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Problem as problem:
            fail(problem.detail)

    return wrapped  # type: ignore[return-value]


def fail(words: str) -> Any:
    """Say what is wrong and exit with status 1."""
    click.echo(f"ticketbox: {words}", err=True)
    sys.exit(1)


def print_json(value: object) -> None:
    """Print a value as one line of JSON."""
    click.echo(msgspec.json.encode(value).decode())


def read_password(from_stdin: bool) -> str:
    """A password from standard input, or asked for twice at a terminal."""
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        fail("give the password on standard input with --password-stdin")
    return click.prompt("Password", hide_input=True, confirmation_prompt=True)


def without_none(**arguments: Any) -> dict[str, Any]:
    """The arguments that were given."""
    return {name: value for name, value in arguments.items() if value is not None}


def counted(rows: Mapping[str, int]) -> str:
    """What a file holds, in words."""
    told = [f"{count:,} {one if count == 1 else many}" for name, (one, many) in _NOUNS.items()
            if (count := rows.get(name, 0))]  # fmt: skip
    return ", ".join(told) if told else "the file is empty: nobody set it up yet"


def in_bytes(count: float) -> str:
    """A size in words."""
    for unit in ("bytes", "KB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:,.0f} {unit}" if unit == "bytes" else f"{count:,.1f} {unit}"
        count /= 1000
    raise AssertionError
