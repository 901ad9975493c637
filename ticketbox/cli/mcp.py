"""`ticketbox mcp`: the local MCP server over stdio."""

import os
import signal

import click


def _check_tool_sets(context: click.Context, option: click.Parameter, text: str) -> str:
    from ticketbox.domain.core.problems import InvalidRequest
    from ticketbox.mcp.tool_sets import parse_tool_sets

    try:
        return ",".join(sorted(parse_tool_sets(text)))
    except InvalidRequest as problem:
        raise click.BadParameter(problem.detail.removeprefix("tools: ")) from None


@click.command()
@click.option(
    "--tools",
    metavar="SETS",
    callback=_check_tool_sets,
    default="core",
    show_default=True,
    envvar="TICKETBOX_TOOLS",
    show_envvar=True,
    help="The sets of tools to list: core, evidence, triage, admin, or all. Separate several by commas.",
)
@click.option(
    "--repository/--no-repository",
    default=True,
    envvar="TICKETBOX_REPOSITORY",
    show_envvar=True,
    help="Send the branch, commit and remote of the folder's git repository with claims and progress.",
)
def mcp(tools: str, repository: bool) -> None:
    """Serve MCP on standard input and output to a client on this machine.

    Reads SERVICE_API_TOKEN and TICKETBOX_URL (default: the local server) from the environment. Without a token, uses
    the sign-in of `ticketbox login --mcp`.
    """
    # asyncio would wait for the thread that reads standard input, which waits for the client.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    import asyncio
    import functools

    from ticketbox.cli.client.repository.checkout import describe_repository
    from ticketbox.cli.client.sign_in.credentials import Resource, find_default_server, load_grant
    from ticketbox.domain.core.network.server_url import parse_server_url
    from ticketbox.mcp.hosted import DEFAULT_URL
    from ticketbox.mcp.stdio import serve

    describe = describe_repository if repository else None
    if os.environ.get("SERVICE_API_TOKEN", "").strip():
        asyncio.run(serve(describe, tools=tools))
        return
    try:
        url = parse_server_url(os.environ.get("TICKETBOX_URL") or find_default_server() or DEFAULT_URL)
    except ValueError:  # the server reports it to the client
        asyncio.run(serve(describe, tools=tools))
        return
    if load_grant(url, Resource.MCP) is None:
        asyncio.run(serve(describe, tools=tools))
    else:
        asyncio.run(serve(describe, url, functools.partial(_load_token, url), tools))


def _load_token(url: str) -> str | None:
    """Return the access token of the sign-in; None if it has ended, which is printed on standard error."""
    from ticketbox.cli.client.sign_in.credentials import Resource
    from ticketbox.cli.client.sign_in.oauth import get_access_token

    try:
        return get_access_token(url, Resource.MCP)
    except SystemExit:
        return None
