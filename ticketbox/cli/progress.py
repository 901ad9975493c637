"""How far long work is: a line that changes at a terminal, a line for each step elsewhere."""

import sys
import time
from types import TracebackType
from typing import Self

import click

_SECONDS = 0.1


class Progress:
    """Tells on standard error; call it with what is being done, and the share that is done, or how many are.

    Away from a terminal a `quiet` one says nothing, for a script that reads standard output.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._at_terminal = sys.stderr.isatty()
        self._silent = quiet and not self._at_terminal
        self._doing = ""
        self._told = 0.0

    def __call__(self, doing: str, share: float | None = None, *, count: int = 0) -> None:
        """Tell what is being done."""
        fresh = doing != self._doing
        if self._silent or (not fresh and not self._at_terminal):
            return
        now = time.monotonic()
        if not fresh and share != 1 and now - self._told < _SECONDS:
            return
        if self._at_terminal:
            figure = f" {share:4.0%}" if share is not None else f" {count:,}" if count else ""
            click.echo(f"\r\x1b[K… {doing}{figure}", err=True, nl=False)
        else:
            click.echo(f"{doing} …", err=True)
        self._doing, self._told = doing, now

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        if self._at_terminal and self._doing:
            click.echo("\r\x1b[K", err=True, nl=False)
