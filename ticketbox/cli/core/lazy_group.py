"""A click group that imports a command when it is called."""

import contextlib
import importlib
import re
import sys
from collections.abc import Generator
from typing import Any

import click

from ticketbox.cli.core.output import write_any_text


class LazyGroup(click.Group):
    """`commands_in` maps a command's name to `module:attribute`.

    Every option of every command can also be set by an environment variable: `--public-url` by
    `TICKETBOX_PUBLIC_URL`. Several values of one option are separated by white space.
    """

    def __init__(self, *args: Any, commands_in: dict[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._commands_in = commands_in

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Parse the group's arguments; an error repeats no token."""
        write_any_text(sys.stdout, sys.stderr)
        with _hiding_tokens():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Parse a command's arguments and run it; an error repeats no token."""
        with _hiding_tokens():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of `commands_in`."""
        return list(self._commands_in)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; return None for an unknown name."""
        if cmd_name not in self._commands_in:
            return None
        module, _, attribute = self._commands_in[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        _set_environment_variables(command)
        return command


@contextlib.contextmanager
def _hiding_tokens() -> Generator[None]:
    """Remove tokens from the message of a usage error, which standard error and logs would keep."""
    try:
        yield
    except click.UsageError as error:
        message = re.sub(r"tok_\w+", "tok_…", error.message)
        if message == error.message:
            raise
        advice = "A token must not be an argument; set SERVICE_API_TOKEN."
        raise click.UsageError(f"{message} {advice}", error.ctx) from None


def _set_environment_variables(command: click.Command) -> None:
    for option in command.params:
        if isinstance(option, click.Option) and not option.is_eager:
            flag = max(option.opts, key=len).lstrip("-")
            option.envvar = option.envvar or f"TICKETBOX_{flag.upper().replace('-', '_')}"
    if isinstance(command, click.Group):
        for subcommand in command.commands.values():
            _set_environment_variables(subcommand)
