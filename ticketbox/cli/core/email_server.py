"""Options for the email server, and a test of the connection."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ticketbox.cli.core.output import exit_with_error
from ticketbox.domain.core.problems import Problem

if TYPE_CHECKING:
    from ticketbox.domain.events.email_server import EmailServer

F = TypeVar("F", bound=Callable[..., Any])


def add_email_options(function: F) -> F:
    """Add `--smtp-url`, `--smtp-url-file` and `--smtp-from`."""
    function = click.option("--smtp-from", help="The sender of emails, such as 'ticketbox <tickets@example.org>'.")(
        function
    )
    function = click.option(
        "--smtp-url-file",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="A file with that URL, which keeps the password out of the command line.",
    )(function)
    return click.option(
        "--smtp-url", help="The email server for notifications, smtp:// or smtps://.  [default: no emails are sent]"
    )(function)


def read_email_options(url: str | None, url_file: Path | None, sender: str | None) -> "EmailServer | None":
    """Return the email server that the options name; None without one. Exits with status 1 for incomplete options."""
    if url is None and url_file is None:
        return None
    if url is not None and url_file is not None:
        exit_with_error("use --smtp-url or --smtp-url-file, not both")
    from ticketbox.domain.events.email_server import parse_email_server

    try:
        return parse_email_server(
            url or _read_url_file(url_file),
            sender or exit_with_error("--smtp-url requires --smtp-from, the sender of emails"),
        )
    except Problem as problem:
        return exit_with_error(f"--{problem.detail}")


def _read_url_file(file: Path | None) -> str:
    assert file is not None
    try:
        return file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        return exit_with_error(f"can't read --smtp-url-file {file}: {getattr(error, 'strerror', 'not a text file')}")


def find_connection_fault(relay: "EmailServer") -> str | None:
    """Connect and sign in without sending anything; return why that failed, or None."""
    import asyncio

    from ticketbox.jobs.email.smtp import ServerUnreachable, SMTPConnection

    async def connect() -> None:
        async with SMTPConnection(relay, "localhost") as connection:
            await connection.open()

    try:
        asyncio.run(connect())
    except ServerUnreachable as unreachable:
        return str(unreachable)
    return None
