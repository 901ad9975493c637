"""`ticketbox demo`: serve a file with an invented company's tickets."""

import contextlib
import sys
from pathlib import Path

import click

from ticketbox.cli.core.operations import run_operation
from ticketbox.cli.core.output import exit_on_problem, exit_with_error
from ticketbox.cli.serve import is_at_desktop, listen, run
from ticketbox.settings import DEFAULT_HOST, DEFAULT_PORT, Settings, find_default_db, parse_public_url

_NO_SHOP = "  To fix a bug yourself, add `--shop 8421`: a sample shop that you can break for everybody.\n\n"
_REMOVAL = "  Each `ticketbox demo` prints new credentials. To remove the demo, delete its file.\n\n"
TOKEN_LABEL = "demo token"  # noqa: S105 (a label)


@click.command()
@click.option(
    "--db",
    type=click.Path(dir_okay=False, path_type=Path),
    default=lambda: find_default_db().with_name("ticketbox-demo.db"),
    show_default="ticketbox-demo.db in the platform's data folder",
    help="The demo's file; created if it doesn't exist.",
)
@click.option("--host", default=DEFAULT_HOST, show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    default=DEFAULT_PORT,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="The port; 0 picks a free one.",
)
@click.option(
    "--shop",
    "shop_port",
    type=click.IntRange(0, 65535),
    help="Also serve a sample shop on this port, which you can break and then capture; 0 picks a free one.",
)
@click.option("--open/--no-open", "open_browser", default=None, help="Open the demo in a browser.")
@exit_on_problem
def demo(db: Path, host: str, port: int, shop_port: int | None, open_browser: bool | None) -> None:
    """Create a file with a company, two projects and tickets with captures, and serve it."""
    from ticketbox.app import lock_file
    from ticketbox.demo.agents import DemoAgents
    from ticketbox.store.file.migrate import UnusableFile

    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(listen(host, port))
        port = listener.getsockname()[1]
        settings = Settings(db=db, host=host, port=port, public_url=parse_public_url(None, host, port, tls=False))
        credentials, link, agents = "", "", DemoAgents(db)
        try:
            with lock_file(db):
                if not db.exists():
                    _create(db)
                credentials = _issue_credentials(db, settings.public_url)
                link = settings.public_url + _create_link(db)
                agents.start()
        except UnusableFile as error:
            exit_with_error(str(error))
        agents.keep_alive()
        shop = _NO_SHOP if shop_port is None else _start_shop(stack, host, shop_port, settings.public_url)
        run(
            settings,
            listener,
            open_browser=is_at_desktop() if open_browser is None else open_browser,
            message=f"\n  Open {link}\n  The link signs in once, within 15 minutes.\n{credentials}{shop}{_REMOVAL}",
            opens=link,
        )


def _create_link(db: Path) -> str:
    from ticketbox.demo.loader import OWNER_EMAIL

    return run_operation(db, "create_sign_in_link", {"user": OWNER_EMAIL}).path


def _start_shop(stack: contextlib.ExitStack, host: str, port: int, url: str) -> str:
    """Serve the sample shop until the command ends; return the text that says what to do there."""
    from ticketbox.http.sample_shop.server import serve_shop

    listener = stack.enter_context(listen(host, port))
    stack.enter_context(serve_shop(listener))
    address = parse_public_url(None, host, listener.getsockname()[1], tls=False)
    return (
        f"  Capture a bug in the sample shop at {address}\n"
        f"    1. Install and connect the browser extension: {url}/settings/extension\n"
        "    2. Open the shop, press the extension's button and “Record this site”, and reload the page\n"
        "    3. Choose at the bottom of the shop what to break, do what it says, and press the button again\n\n"
    )


def _create(db: Path) -> None:
    import asyncio

    from ticketbox.demo.loader import create_demo

    if not sys.stderr.isatty():
        click.echo("creating the demo…", err=True)
        asyncio.run(create_demo(db))
        return
    with click.progressbar(length=1, label="creating the demo", file=sys.stderr) as bar:

        def report_progress(done: int, total: int) -> None:
            bar.length = total
            bar.update(done - bar.pos)

        asyncio.run(create_demo(db, report_progress))


def _issue_credentials(db: Path, url: str) -> str:
    """Set a new password and issue a new token for the demo's account; return the text that shows them.

    Exits with an error if the file isn't a demo.
    """
    from ticketbox.demo.loader import OWNER_EMAIL, SCOPES
    from ticketbox.domain.accounts.secrets import generate_secret

    accounts = run_operation(db, "list_users", {}).items
    if not accounts or accounts[0].email != OWNER_EMAIL:
        exit_with_error(f"{db}: this file is not a demo; choose another one with --db")
    password = generate_secret()[4:20]
    run_operation(db, "set_password", {"user": OWNER_EMAIL, "password": password})
    for token in run_operation(db, "list_issued_tokens", {"user": OWNER_EMAIL}).items:
        if token.label == TOKEN_LABEL:
            run_operation(db, "revoke_issued_token", {"token_id": token.id})
    token = {"user": OWNER_EMAIL, "label": TOKEN_LABEL, "scopes": SCOPES, "expires_days": 90}
    secret = run_operation(db, "issue_token", token).secret
    return (
        f"\n  Or sign in at {url}\n"
        f"    email     {OWNER_EMAIL}\n    password  {password}\n"
        f"\n  For the API, use this token with {url}/api/v1 and {url}/mcp\n    {secret}\n"
        "\n"
    )
