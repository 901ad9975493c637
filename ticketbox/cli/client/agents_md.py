"""`ticketbox agents-md`: lines for the AGENTS.md of a repository."""

import click


@click.command("agents-md")
@click.option("--url", help="The server's address.  [default: that of `ticketbox login`, or the local one]")
def agents_md(url: str | None) -> None:
    """Print lines for the AGENTS.md of a repository: the server's address and how to work a ticket.

    They contain no secret, so they can be committed: `ticketbox agents-md >> AGENTS.md`.
    """
    from ticketbox.cli.client.connection import find_server_url
    from ticketbox.http.agents.files import render_file

    click.echo(render_file("AGENTS.md", find_server_url(url)), nl=False)
