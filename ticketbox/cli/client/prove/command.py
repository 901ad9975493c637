"""`ticketbox prove` (docs/use/criteria.md, "Prove it")."""

import click


@click.command()
@click.option("--url", help="The server's address.  [default: that of the last sign-in]")
@click.option("--criterion", help="The criterion that the command checks: its number or id.  [default: the open one]")
@click.argument("key")
@click.argument("command", nargs=-1, required=True)
def prove(key: str, command: tuple[str, ...], criterion: str | None, url: str | None) -> None:
    """Run a command, and post its result as evidence that a criterion of a ticket is met.

    Write the command after `--`: ticketbox prove WEB-42 --criterion 2 -- npm test. Posted are the command, its exit
    status, the commit, the duration, and the last 50 lines of the output without secrets. Exit status: that of the
    command; 16 if it passed, but nothing was posted; 127 if there is no such command. Without running it: 1 refused,
    2 wrong usage, 3 the ticket has no criteria, 4 not signed in.
    """
    from ticketbox.cli.client.prove.proving import prove_criterion

    prove_criterion(key, criterion, list(command), url)
