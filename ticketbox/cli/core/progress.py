"""Show the progress of long work: one changing line at a terminal, otherwise one line for each step."""

import sys
import time
from types import TracebackType
from typing import Self

import click

_SECONDS = 0.1


class Progress:
    """Prints progress on standard error. Call it with the step's name and the share or the number that is done.

    With `quiet`, prints nothing unless standard error is a terminal.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._at_terminal = sys.stderr.isatty()
        self._silent = quiet and not self._at_terminal
        self._step = ""
        self._printed_at = 0.0

    def __call__(self, doing: str, share: float | None = None, *, count: int = 0) -> None:
        """Print the step, at most every 0.1 s."""
        is_new = doing != self._step
        if self._silent or (not is_new and not self._at_terminal):
            return
        now = time.monotonic()
        if not is_new and share != 1 and now - self._printed_at < _SECONDS:
            return
        if self._at_terminal:
            figure = f" {share:4.0%}" if share is not None else f" {count:,}" if count else ""
            click.echo(f"\r\x1b[K… {doing}{figure}", err=True, nl=False)
        else:
            click.echo(f"{doing} …", err=True)
        self._step, self._printed_at = doing, now

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        if self._at_terminal and self._step:
            click.echo("\r\x1b[K", err=True, nl=False)
