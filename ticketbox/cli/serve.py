"""`ticketbox serve`: run the server."""

import contextlib
import logging
import socket
import sys
from collections.abc import Callable, Generator
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ticketbox.cli.core.ceiling_options import add_ceiling_options
from ticketbox.cli.core.email_server import add_email_options, read_email_options
from ticketbox.cli.core.file_options import add_file_options
from ticketbox.cli.core.options import DURATION, add_db_option
from ticketbox.cli.core.output import exit_on_problem, exit_with_error
from ticketbox.cli.core.provider_options import add_provider_options
from ticketbox.cli.core.sharing_options import add_sharing_options
from ticketbox.domain.accounts.client_metadata import ClientMetadataMode
from ticketbox.domain.accounts.identity_provider import ProviderSettings
from ticketbox.domain.core.fairness.ceilings import Ceilings
from ticketbox.domain.core.problems import InvalidField
from ticketbox.settings import (
    DEFAULT_HOST,
    DEFAULT_PORT,
    Settings,
    parse_public_url,
)

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

STOP_SECONDS = 7


@click.command()
@add_db_option
@click.option("--host", default=DEFAULT_HOST, show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    default=DEFAULT_PORT,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="The port; 0 picks a free one.",
)
@click.option(
    "--unix-socket",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Listen on this socket for a proxy, instead of on a port.",
)
@click.option("--public-url", "given_url", help="The URL that browsers use.")
@click.option(
    "--tls-cert",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The certificate with its chain, as PEM.",
)
@click.option(
    "--tls-key", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="The private key, as PEM."
)
@click.option(
    "--trusted-proxy",
    "proxies",
    multiple=True,
    help="A network (CIDR) whose X-Forwarded-For is trusted. Can be used several times.",
)
@click.option(
    "--allow-private-addresses",
    is_flag=True,
    help="Let apps, webhooks and the identity provider use addresses in your private network.",
)
@click.option(
    "--client-metadata",
    type=click.Choice(["auto", "on", "off"]),
    default="auto",
    show_default=True,
    help="Whether apps can sign in with a metadata document that the server fetches.",
)
@add_file_options
@click.option("--session-idle-timeout", type=DURATION, help="End unused sessions, such as after 8h.  [default: never]")
@add_sharing_options
@add_ceiling_options
@add_email_options
@add_provider_options
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="The format of log lines.",
)
@click.option("--open/--no-open", "open_browser", default=None, help="Open the set-up page in a browser.")
@exit_on_problem
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
    client_metadata: str,
    session_idle_timeout: int | None,
    smtp_url: str | None,
    smtp_url_file: Path | None,
    smtp_from: str | None,
    provider: ProviderSettings | None,
    log_format: str,
    open_browser: bool | None,
    ceilings: Ceilings,
    **named_as_settings: Any,
) -> None:
    """Serve a file: the web app, the API and MCP."""
    if (tls_cert is None) != (tls_key is None):
        exit_with_error("--tls-cert and --tls-key must be used together")
    _check_certificate(tls_cert, tls_key)
    if unix_socket is not None and given_url is None:
        exit_with_error("--unix-socket requires --public-url, the proxy's URL")
    relay = read_email_options(smtp_url, smtp_url_file, smtp_from)
    with listen(host, port) if unix_socket is None else _listen_on_unix_socket(unix_socket) as listener:
        port = listener.getsockname()[1] if unix_socket is None else port
        settings = Settings(
            db=db,
            host=host,
            port=port,
            public_url=parse_public_url(given_url, host, port, tls=tls_cert is not None),
            public_url_given=given_url is not None,
            unix_socket=unix_socket,
            tls_cert=tls_cert,
            tls_key=tls_key,
            trusted_proxies=tuple(_parse_network(text) for text in proxies),
            allow_private_addresses=allow_private_addresses,
            client_metadata=ClientMetadataMode(client_metadata),
            session_idle_seconds=session_idle_timeout,
            relay=relay,
            provider=provider,
            log_format=log_format,
            ceilings=ceilings,
            **named_as_settings,
        )
        run(settings, listener, open_browser=is_at_desktop() if open_browser is None else open_browser)


def run(settings: Settings, listener: socket.socket, *, open_browser: bool, message: str = "", opens: str = "") -> None:
    """Serve until a signal stops it; when ready, print `message` and open `opens`, or the set-up page, in a browser.

    Exits with status 1 for a file that can't be served.
    """
    import asyncio

    from ticketbox.logs import configure
    from ticketbox.store.file.migrate import UnusableFile

    configure(settings.log_format)
    try:
        with asyncio.Runner(loop_factory=_find_loop_factory()) as runner:
            runner.run(_serve(settings, listener, open_browser, message, opens))
    except UnusableFile as error:
        if settings.log_format == "json":
            _log(logging.ERROR, str(error))
            sys.exit(1)
        exit_with_error(str(error))


def _log(level: int, text: str) -> None:
    """Log what is said at a terminal, so that with JSON every line of both outputs is JSON."""
    logging.getLogger("ticketbox").log(level, "%s", text)


async def _serve(settings: Settings, listener: socket.socket, open_browser: bool, message: str, opens: str) -> None:
    from ticketbox.app import open_appliance
    from ticketbox.jobs import systemd
    from ticketbox.logs import format_announcement
    from ticketbox.server import serve_until_stopped

    async with open_appliance(settings) as appliance:
        if not settings.secure and not settings.public_url.startswith(
            ("http://localhost", "http://127.", "http://[::1]")
        ):
            warning = (
                "without https, others in the network can read passwords, sessions and tokens; "
                "use --tls-cert and --tls-key, or set --public-url to the https URL of a proxy"
            )
            if settings.log_format == "json":
                _log(logging.WARNING, warning)
            else:
                click.echo(f"ticketbox: {warning}", err=True)
        address = await _create_set_up_url(appliance)

        def on_ready() -> None:
            serves = f"ticketbox serves {settings.db} at {settings.public_url}"
            if settings.log_format == "json":
                click.echo(format_announcement(serves))
                if address is not None:
                    click.echo(format_announcement(f"set it up within 30 minutes: {address}"))
            else:
                click.echo(serves)
                if address is not None:
                    click.echo(f"Set it up within 30 minutes:\n\n  {address}\n")
                click.echo(message, nl=False)
            sys.stdout.flush()
            systemd.notify("READY=1", f"STATUS=serving {settings.db} at {settings.public_url}")
            if open_browser and (address or opens):
                import webbrowser

                webbrowser.open(address or opens)

        def on_stopping() -> None:
            systemd.notify("STOPPING=1")
            appliance.services.listeners.close()

        await serve_until_stopped(
            appliance.build_application(), settings, listener, STOP_SECONDS, on_ready, on_stopping
        )


async def _create_set_up_url(appliance: "object") -> str | None:
    """Create the one-time set-up URL; None if the file is set up."""
    from ticketbox.app import Appliance
    from ticketbox.operations.catalogue import load_registry
    from ticketbox.operations.core.context import RequestContext

    assert isinstance(appliance, Appliance)
    dispatch, operations = appliance.dispatcher.dispatch, load_registry()
    if (await dispatch(operations["get_set_up"], {}, RequestContext(operator=True))).done:
        return None
    opened = await dispatch(operations["open_set_up"], {}, RequestContext(operator=True))
    return f"{appliance.settings.public_url}/setup/{opened.secret}"


def listen(host: str, port: int) -> socket.socket:
    """Open the listening socket. Exits with status 1 if that fails."""
    from ticketbox.server import listen

    try:
        return listen(host, port)
    except OSError as error:
        return exit_with_error(f"can't listen on {host} port {port}: {error.strerror}")


@contextlib.contextmanager
def _listen_on_unix_socket(path: Path) -> Generator[socket.socket]:
    from ticketbox.server import listen_on_unix_socket

    with contextlib.ExitStack() as stack:
        try:
            listener = stack.enter_context(listen_on_unix_socket(path))
        except OSError as error:
            exit_with_error(f"can't listen on {path}: {error.strerror}")
        else:
            yield listener


def _find_loop_factory() -> "Callable[[], AbstractEventLoop] | None":
    """Return uvloop's factory; None on Windows, which it doesn't support."""
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
        exit_with_error(f"--tls-cert {certificate} and --tls-key {key}: {error.strerror or error}")


def _parse_network(text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text, strict=False)
    except ValueError:
        raise InvalidField("trusted-proxy", f"{text} is not a CIDR, such as 10.0.0.0/8") from None


def is_at_desktop() -> bool:
    """Whether this runs at a terminal on this machine, not over ssh."""
    import os

    return sys.stdout.isatty() and "SSH_CONNECTION" not in os.environ
