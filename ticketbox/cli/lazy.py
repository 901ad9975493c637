"""A group of commands that are imported when they are called."""

import importlib
from typing import Any

import click


class LazyGroup(click.Group):
    """`commands_in` maps a command's name to `module:attribute`.

    Every flag of every command can also be given in the environment, by its own name: `--public-url` is
    `TICKETBOX_PUBLIC_URL`, whatever the command. Several values of one flag are parted by white space.
    """

    def __init__(self, *args: Any, commands_in: dict[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._commands_in = commands_in

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order given."""
        return list(self._commands_in)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in self._commands_in:
            return None
        module, _, attribute = self._commands_in[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        _read_environment(command)
        return command


def _read_environment(command: click.Command) -> None:
    for option in command.params:
        if isinstance(option, click.Option) and not option.is_eager:
            flag = max(option.opts, key=len).lstrip("-")
            option.envvar = option.envvar or f"TICKETBOX_{flag.upper().replace('-', '_')}"
    if isinstance(command, click.Group):
        for part in command.commands.values():
            _read_environment(part)
