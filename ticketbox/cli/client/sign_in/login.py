"""`ticketbox login` and `ticketbox logout` (docs/use/command-line.md, "Sign in")."""

import click

from ticketbox.cli.core.output import exit_with_error

_SCOPES = ("read", "comments", "tickets:write", "tickets:assign")


@click.command()
@click.option("--url", help="The server's address.  [default: that of the last sign-in]")
@click.option("--mcp", "for_mcp", is_flag=True, help="Sign in for `ticketbox mcp`, the local MCP server.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(_SCOPES),
    help="Request only this. Can be used several times.  [default: all]",
)
@click.option("--open/--no-open", "open_browser", default=True, help="Open the page in a browser.")
def login(url: str | None, for_mcp: bool, scopes: tuple[str, ...], open_browser: bool) -> None:
    """Sign in to a server in the browser, for commands that call it.

    The tokens are kept in the system's keyring, or in a file that only you can read. SERVICE_API_TOKEN takes precedence
    over them.
    """
    from ticketbox.cli.client.connection import find_server_url
    from ticketbox.cli.client.sign_in.credentials import Resource, lock_credentials, save_grant
    from ticketbox.cli.client.sign_in.oauth import sign_in

    address = find_server_url(url)
    resource = Resource.MCP if for_mcp else Resource.API

    def show_address(page: str) -> None:
        click.echo(f"Approve the command line in your browser:\n\n  {page}\n", err=True)
        if open_browser:
            import webbrowser

            webbrowser.open(page)

    grant = sign_in(address, resource, scopes, show_address)
    with lock_credentials():
        save_grant(address, resource, grant)
    click.echo(f"Signed in to {address}" + (" for ticketbox mcp" if for_mcp else ""))


@click.command()
@click.option("--url", help="The server's address.  [default: that of the last sign-in]")
def logout(url: str | None) -> None:
    """Revoke and forget the sign-ins of `ticketbox login`."""
    from ticketbox.cli.client.connection import find_server_url
    from ticketbox.cli.client.sign_in.credentials import Resource
    from ticketbox.cli.client.sign_in.oauth import sign_out

    address = find_server_url(url)
    ended = [resource for resource in Resource if sign_out(address, resource)]
    if not ended:
        exit_with_error(f"you aren't signed in to {address}")
    click.echo(f"Signed out of {address}")
