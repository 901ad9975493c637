"""Read a password for a command."""

import sys

import click

from ticketbox.cli.core.output import exit_with_error


def read_password(from_stdin: bool) -> str:
    """Read a password from standard input, or ask for it twice at a terminal."""
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        exit_with_error("pass the password on standard input with --password-stdin")
    return click.prompt("Password", hide_input=True, confirmation_prompt=True)
