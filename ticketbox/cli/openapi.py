"""`ticketbox openapi`."""

import click


@click.command()
@click.option("--public-url", default="http://localhost:8420", help="The server's URL in the document.")
def openapi(public_url: str) -> None:
    """Print the API's OpenAPI 3.1 document."""
    import json

    from ticketbox.http.openapi.document import build_document
    from ticketbox.operations.catalogue import load_registry

    click.echo(json.dumps(build_document(load_registry(), public_url.rstrip("/")), indent=2, ensure_ascii=False))
