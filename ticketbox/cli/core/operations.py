"""Run an operation on a file from the command line."""

from pathlib import Path
from typing import Any

import click

from ticketbox.cli.core.output import exit_with_error


def run_operation(db: Path, name: str, arguments: dict[str, Any], *, create: bool = False) -> Any:
    """Run one operation with the operator's rights on a file; a server may be running on it.

    Never checkpoints: only the server does. Exits with status 1 and a message for a file that can't be used.
    """
    import asyncio

    if not create and not db.exists():
        exit_with_error(f"{db}: no such file; create one with `ticketbox init` or `ticketbox serve`")
    return asyncio.run(_run_operation(db, name, arguments))


async def _run_operation(db: Path, name: str, arguments: dict[str, Any]) -> Any:
    from ticketbox.domain.core.clock import Clock
    from ticketbox.domain.core.fairness.limits import RateLimiter
    from ticketbox.operations.catalogue import load_registry
    from ticketbox.operations.core.context import RequestContext
    from ticketbox.operations.core.dispatch import Dispatcher
    from ticketbox.operations.core.services import Services
    from ticketbox.store.file.database import Database
    from ticketbox.store.file.migrate import UnusableFile, prepare_file

    try:
        prepare_file(db, lambda line: click.echo(line, err=True))
    except UnusableFile as error:
        exit_with_error(str(error))
    clock = Clock()
    database = await Database.open(db, clock, readers=1, checkpoints=False)
    services = Services(database, RateLimiter(clock.monotonic), "")
    try:
        return await Dispatcher(services).dispatch(load_registry()[name], arguments, RequestContext(operator=True))
    finally:
        services.close()
        await database.close()


def drop_none(**arguments: Any) -> dict[str, Any]:
    """Return the arguments that have a value."""
    return {name: value for name, value in arguments.items() if value is not None}
