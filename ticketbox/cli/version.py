"""`ticketbox version`."""

import click

from ticketbox import __version__


@click.command()
def version() -> None:
    """Print the version."""
    click.echo(__version__)
