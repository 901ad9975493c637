"""`ticketbox mcp`: the local MCP server over stdio."""

import click


@click.command()
def mcp() -> None:
    """Serve MCP on standard input and output to a client on this machine.

    Reads SERVICE_API_TOKEN and TICKETBOX_URL (default: the local server) from the environment.
    """
    import asyncio

    from ticketbox.mcp.stdio import serve

    asyncio.run(serve())
