"""The operator's mail server on a command line."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ticketbox.cli.common import fail
from ticketbox.domain.core.problems import Problem

if TYPE_CHECKING:
    from ticketbox.domain.events.mail_server import MailServer

F = TypeVar("F", bound=Callable[..., Any])


def mail_options(function: F) -> F:
    """`--smtp-url`, `--smtp-url-file` and `--smtp-from`."""
    function = click.option("--smtp-from", help="As whom it is sent, such as 'ticketbox <tickets@example.org>'.")(
        function
    )
    function = click.option(
        "--smtp-url-file",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="A file that holds the same, so that the password stands in no command line.",
    )(function)
    return click.option(
        "--smtp-url", help="The mail server for notifications, smtp:// or smtps://.  [default: no mail is sent]"
    )(function)


def mail_server(url: str | None, url_file: Path | None, sender: str | None) -> "MailServer | None":
    """The mail server that was given, if one was. Exits with status 1 for half of one."""
    if url is None and url_file is None:
        return None
    if url is not None and url_file is not None:
        fail("give --smtp-url or --smtp-url-file, not both")
    from ticketbox.domain.events.mail_server import parse_mail_server

    try:
        return parse_mail_server(
            url or _only_line(url_file), sender or fail("--smtp-url needs --smtp-from, as whom mail is sent")
        )
    except Problem as problem:
        return fail(f"--{problem.detail}")


def _only_line(file: Path | None) -> str:
    assert file is not None
    try:
        return file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        return fail(f"--smtp-url-file {file}: it can't be read: {getattr(error, 'strerror', 'it is no text')}")


def refusal(relay: "MailServer") -> str | None:
    """Connect and sign in, as the server would, and send nothing; why that fails, or None."""
    import asyncio

    from ticketbox.jobs.email.smtp import Connection, Unreachable

    async def knock() -> None:
        async with Connection(relay, "localhost") as connection:
            await connection.open()

    try:
        asyncio.run(knock())
    except Unreachable as unreachable:
        return str(unreachable)
    return None
