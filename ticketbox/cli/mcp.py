"""`ticketbox mcp`: the local stdio server for MCP clients."""

import click


@click.command()
def mcp() -> None:
    """Serve MCP on standard input and output, for a client on this machine.

    Reads SERVICE_API_TOKEN and TICKETBOX_URL (default: the local server) from the environment.
    """
    import asyncio

    from ticketbox.mcp.stdio import serve

    asyncio.run(serve())
