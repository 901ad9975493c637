"""The command line. Each command imports what it needs when it runs, so `version` starts fast."""

import click

from ticketbox import __version__
from ticketbox.cli.core.lazy_group import LazyGroup


@click.group(
    cls=LazyGroup,
    commands_in={
        "serve": "ticketbox.cli.serve:serve",
        "init": "ticketbox.cli.init:init",
        "demo": "ticketbox.cli.demo:demo",
        "user": "ticketbox.cli.users:user",
        "token": "ticketbox.cli.tokens:token",
        "ticket": "ticketbox.cli.client.groups:ticket",
        "capture": "ticketbox.cli.client.groups:capture",
        "label": "ticketbox.cli.client.groups:label",
        "sourcemaps": "ticketbox.cli.client.groups:sourcemaps",
        "view": "ticketbox.cli.client.groups:view",
        "verify": "ticketbox.cli.client.verify.command:verify",
        "prove": "ticketbox.cli.client.prove.command:prove",
        "login": "ticketbox.cli.client.sign_in.login:login",
        "logout": "ticketbox.cli.client.sign_in.login:logout",
        "agents-md": "ticketbox.cli.client.agents_md:agents_md",
        "backup": "ticketbox.cli.backup:backup",
        "restore": "ticketbox.cli.backup:restore",
        "assets": "ticketbox.cli.assets:assets",
        "export": "ticketbox.cli.export_import:export",
        "import": "ticketbox.cli.export_import:import_",
        "check": "ticketbox.cli.check.command:check",
        "mcp": "ticketbox.cli.mcp:mcp",
        "openapi": "ticketbox.cli.openapi:openapi",
        "version": "ticketbox.cli.version:version",
    },
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="ticketbox")
def main() -> None:
    """A self-hosted ticket tracker in one process and one SQLite file."""
