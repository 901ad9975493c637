"""`ticketbox demo`: a file with an invented company's tickets, served to look around in."""

import sys
from pathlib import Path

import click

from ticketbox.cli.common import fail, operate, refusals
from ticketbox.cli.serve import listen, on_a_desktop, run
from ticketbox.settings import DEFAULT_HOST, DEFAULT_PORT, Settings, default_db, public_url

TOKEN_LABEL = "demo token"  # noqa: S105 (a label)


@click.command()
@click.option(
    "--db",
    type=click.Path(dir_okay=False, path_type=Path),
    default=lambda: default_db().with_name("ticketbox-demo.db"),
    show_default="ticketbox-demo.db in the platform's data folder",
    help="The demo's file; it is made if it isn't there.",
)
@click.option("--host", default=DEFAULT_HOST, show_default=True, help="The address to listen on.")
@click.option("--port", default=DEFAULT_PORT, show_default=True, type=click.IntRange(0, 65535))
@click.option("--open/--no-open", "open_browser", default=None, help="Open the demo in a browser.")
@refusals
def demo(db: Path, host: str, port: int, open_browser: bool | None) -> None:
    """Make a file with a company, two projects and tickets with captures, and serve it."""
    from ticketbox.app import locked
    from ticketbox.store.file.migrate import UnusableFile

    with listen(host, port) as listener:
        port = listener.getsockname()[1]
        settings = Settings(db=db, host=host, port=port, public_url=public_url(None, host, port, tls=False))
        words = ""
        try:
            with locked(db):
                if not db.exists():
                    _make(db)
                words = _access(db, settings.public_url)
        except UnusableFile as error:
            fail(str(error))
        run(settings, listener, open_browser=on_a_desktop() if open_browser is None else open_browser, words=words)


def _make(db: Path) -> None:
    import asyncio

    from ticketbox.demo.build import build

    if not sys.stderr.isatty():
        click.echo("making the demo…", err=True)
        asyncio.run(build(db))
        return
    with click.progressbar(length=1, label="making the demo", file=sys.stderr) as bar:

        def tick(done: int, of: int) -> None:
            bar.length = of
            bar.update(done - bar.pos)

        asyncio.run(build(db, tick))


def _access(db: Path, url: str) -> str:
    """A new password and a new token for the demo's account, told in words. Refuses a file that is no demo."""
    from ticketbox.demo.build import EMAIL, SCOPES
    from ticketbox.domain.accounts.secrets import generate_secret

    accounts = operate(db, "list_users", {}).items
    if not accounts or accounts[0].email != EMAIL:
        fail(f"{db}: this file is somebody's already, and no demo; name a new one with --db")
    password = generate_secret()[4:20]
    operate(db, "set_password", {"user": EMAIL, "password": password})
    for token in operate(db, "list_issued_tokens", {"user": EMAIL}).items:
        if token.label == TOKEN_LABEL:
            operate(db, "revoke_issued_token", {"token_id": token.id})
    secret = operate(db, "issue_token", {"user": EMAIL, "label": TOKEN_LABEL, "scopes": SCOPES}).secret
    return (
        f"\n  Sign in at {url}\n"
        f"    e-mail    {EMAIL}\n    password  {password}\n"
        f"\n  Or with an API token, for {url}/api/v1 and {url}/mcp\n    {secret}\n"
        "\n  Each `ticketbox demo` prints new ones. It is an ordinary file: delete it when you are done.\n\n"
    )
