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
    from ticketbox.store.file.migrate import UnusableFile

    try:
        prepare_shared_file(db)
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


def prepare_shared_file(db: Path) -> None:
    """Migrate a file that a server may be running on, after making sure that it can be shared. Raises UnusableFile."""
    from ticketbox.store.file.log_identity import refuse_lost_log
    from ticketbox.store.file.migrate import prepare_file

    refuse_lost_log(db)
    prepare_file(db, lambda line: click.echo(line, err=True))


def drop_none(**arguments: Any) -> dict[str, Any]:
    """Return the arguments that have a value."""
    return {name: value for name, value in arguments.items() if value is not None}
