"""`ticketbox serve`: everything, in one process."""

import contextlib
import socket
import sys
from collections.abc import Callable, Generator
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ticketbox.cli.common import SPAN, db_option, fail, refusals
from ticketbox.cli.mail_server import mail_options, mail_server
from ticketbox.domain.core.problems import InvalidField
from ticketbox.settings import DEFAULT_HOST, DEFAULT_KEEP, DEFAULT_PORT, Settings, public_url

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop


STOP_SECONDS = 7


@click.command()
@db_option
@click.option("--host", default=DEFAULT_HOST, show_default=True, help="The address to listen on.")
@click.option("--port", default=DEFAULT_PORT, show_default=True, type=click.IntRange(0, 65535))
@click.option(
    "--unix-socket", type=click.Path(dir_okay=False, path_type=Path), help="Listen here for a proxy, and on no port."
)
@click.option("--public-url", "given_url", help="The address that browsers use.")
@click.option("--tls-cert", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="PEM, with the chain.")
@click.option("--tls-key", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="PEM.")
@click.option("--trusted-proxy", "proxies", multiple=True, help="A CIDR whose X-Forwarded-For is believed.")
@click.option(
    "--allow-private-addresses", is_flag=True, help="Let apps and webhooks name addresses of your own network."
)
@click.option("--backup-every", type=SPAN, help="Make a backup this often, such as 6h.  [default: never]")
@click.option(
    "--backup-keep", default=DEFAULT_KEEP, show_default=True, type=click.IntRange(1), help="How many of them to keep."
)
@click.option(
    "--backup-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Their folder.  [default: backups, beside the file]",
)
@click.option(
    "--drop-captures-after",
    type=SPAN,
    help="Remove the captures of tickets that were archived so long ago, such as 180d.  [default: never]",
)
@mail_options
@click.option("--log-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--open/--no-open", "open_browser", default=None, help="Open the set-up address in a browser.")
@refusals
def serve(
    db: Path,
    host: str,
    port: int,
    unix_socket: Path | None,
    given_url: str | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    proxies: tuple[str, ...],
    allow_private_addresses: bool,
    backup_every: int | None,
    backup_keep: int,
    backup_dir: Path | None,
    drop_captures_after: int | None,
    smtp_url: str | None,
    smtp_url_file: Path | None,
    smtp_from: str | None,
    log_format: str,
    open_browser: bool | None,
) -> None:
    """Serve one file."""
    if (tls_cert is None) != (tls_key is None):
        fail("--tls-cert and --tls-key go together")
    _check_certificate(tls_cert, tls_key)
    if unix_socket is not None and given_url is None:
        fail("--unix-socket needs --public-url, the address at which the proxy is reached")
    relay = mail_server(smtp_url, smtp_url_file, smtp_from)
    with listen(host, port) if unix_socket is None else _listen_locally(unix_socket) as listener:
        port = listener.getsockname()[1] if unix_socket is None else port
        settings = Settings(
            db=db,
            host=host,
            port=port,
            public_url=public_url(given_url, host, port, tls=tls_cert is not None),
            public_url_given=given_url is not None,
            unix_socket=unix_socket,
            tls_cert=tls_cert,
            tls_key=tls_key,
            trusted_proxies=tuple(_network(text) for text in proxies),
            allow_private_addresses=allow_private_addresses,
            backup_every=backup_every,
            backup_keep=backup_keep,
            backup_dir=backup_dir,
            drop_captures_after=drop_captures_after,
            relay=relay,
            log_format=log_format,
        )
        run(settings, listener, open_browser=on_a_desktop() if open_browser is None else open_browser)


def run(settings: Settings, listener: socket.socket, *, open_browser: bool, words: str = "") -> None:
    """Serve until a signal says stop; `words` are printed when it begins.

    Exits with status 1 for a file that can't be served.
    """
    import asyncio

    from ticketbox.logs import configure
    from ticketbox.store.file.migrate import UnusableFile

    configure(settings.log_format)
    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(_serve(settings, listener, open_browser, words))
    except UnusableFile as error:
        fail(str(error))


async def _serve(settings: Settings, listener: socket.socket, open_browser: bool, words: str) -> None:
    from ticketbox.app import opened
    from ticketbox.jobs import systemd
    from ticketbox.server import serve_until_stopped

    async with opened(settings) as appliance:
        if not settings.secure and not settings.public_url.startswith(
            ("http://localhost", "http://127.", "http://[::1]")
        ):
            click.echo(
                "ticketbox: without https, browsers keep no session on this address; "
                "give --tls-cert and --tls-key, or a proxy's address with --public-url",
                err=True,
            )
        address = await _set_up_address(appliance)

        def ready() -> None:
            click.echo(f"ticketbox serves {settings.db} at {settings.public_url}")
            if address is not None:
                click.echo(f"Set it up here, within 30 minutes:\n\n  {address}\n")
            click.echo(words, nl=False)
            sys.stdout.flush()
            systemd.tell("READY=1", f"STATUS=serves {settings.db} at {settings.public_url}")
            if open_browser and (address or words):
                import webbrowser

                webbrowser.open(address or settings.public_url)

        def stopping() -> None:
            systemd.tell("STOPPING=1")
            appliance.services.listeners.close()

        await serve_until_stopped(appliance.asgi(), settings, listener, STOP_SECONDS, ready, stopping)


async def _set_up_address(appliance: "object") -> str | None:
    """The one-time address of a file that isn't set up yet."""
    from ticketbox.app import Appliance
    from ticketbox.operations.catalogue import registry
    from ticketbox.operations.core.context import RequestContext

    assert isinstance(appliance, Appliance)
    dispatch, operations = appliance.dispatcher.dispatch, registry()
    if (await dispatch(operations["get_set_up"], {}, RequestContext(operator=True))).done:
        return None
    made = await dispatch(operations["open_set_up"], {}, RequestContext(operator=True))
    return f"{appliance.settings.public_url}/setup/{made.secret}"


def listen(host: str, port: int) -> socket.socket:
    from ticketbox.server import listen

    try:
        return listen(host, port)
    except OSError as error:
        return fail(f"can't listen on {host} port {port}: {error.strerror}")


@contextlib.contextmanager
def _listen_locally(path: Path) -> Generator[socket.socket]:
    from ticketbox.server import listen_locally

    with contextlib.ExitStack() as stack:
        try:
            listener = stack.enter_context(listen_locally(path))
        except OSError as error:
            fail(f"can't listen on {path}: {error.strerror}")
        else:
            yield listener


def _loop_factory() -> "Callable[[], AbstractEventLoop] | None":
    """uvloop's where it can be had; it isn't made for Windows."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def _check_certificate(certificate: Path | None, key: Path | None) -> None:
    import ssl

    if certificate is None:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as error:
        fail(f"--tls-cert {certificate} and --tls-key {key}: {error.strerror or error}")


def _network(text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text, strict=False)
    except ValueError:
        raise InvalidField("trusted-proxy", f"{text} is no CIDR, such as 10.0.0.0/8") from None


def on_a_desktop() -> bool:
    """Whether somebody sits in front of this: a terminal, and not over ssh."""
    import os

    return sys.stdout.isatty() and "SSH_CONNECTION" not in os.environ
