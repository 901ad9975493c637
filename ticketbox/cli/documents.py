"""Commands that print and exit."""

import click

from ticketbox import __version__


@click.command()
def version() -> None:
    """Print the version."""
    click.echo(__version__)


@click.command()
@click.option("--public-url", default="http://localhost:8420", help="The server's address in the document.")
def openapi(public_url: str) -> None:
    """Print the API's OpenAPI 3.1 document."""
    import json

    from ticketbox.http.openapi.document import document
    from ticketbox.operations.catalogue import registry

    click.echo(json.dumps(document(registry(), public_url.rstrip("/")), indent=2, ensure_ascii=False))
