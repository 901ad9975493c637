"""Options for what accounts and companies may have at most (docs/operate/configuration.md, "Ceilings")."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import click

from ticketbox.cli.core.options import SIZE
from ticketbox.domain.core.fairness.ceilings import (
    DEFAULT_COMPANIES,
    DEFAULT_REPORTS_PER_DAY,
    DEFAULT_REPORTS_PER_MINUTE,
    MAX_PER_MINUTE,
    Ceilings,
)

F = TypeVar("F", bound=Callable[..., Any])

_NAMES = tuple(name for name in Ceilings.__struct_fields__ if name != "refusals")
_OPTIONS = [
    click.option(
        "--max-reads-per-minute",
        default=MAX_PER_MINUTE,
        show_default=True,
        type=click.IntRange(1, MAX_PER_MINUTE),
        help="The most reads per minute that a token can have; a company can't set more.",
    ),
    click.option(
        "--max-writes-per-minute",
        default=MAX_PER_MINUTE,
        show_default=True,
        type=click.IntRange(1, MAX_PER_MINUTE),
        help="The most writes per minute that a token can have; a company can't set more.",
    ),
    click.option(
        "--max-companies-per-account",
        default=DEFAULT_COMPANIES,
        show_default=True,
        type=click.IntRange(0),
        help="How many companies an account can create; with 0 only the operator can.",
    ),
    click.option(
        "--max-storage-per-company",
        type=SIZE,
        help="How much a company's captures and attachments may take, such as 20GB.  [default: no limit]",
    ),
    click.option(
        "--max-reports-per-minute",
        default=DEFAULT_REPORTS_PER_MINUTE,
        show_default=True,
        type=click.IntRange(1, MAX_PER_MINUTE),
        help="The most reports without an account per minute and report key.",
    ),
    click.option(
        "--max-reports-per-day",
        default=DEFAULT_REPORTS_PER_DAY,
        show_default=True,
        type=click.IntRange(0, MAX_PER_MINUTE),
        help="The most reports without an account per day and report key; with 0 there are none.",
    ),
]


def add_ceiling_options(function: F) -> F:
    """Add the options. The function gets them together, as `ceilings`."""

    @functools.wraps(function)
    def collect(*args: Any, **given: Any) -> Any:
        ceilings = Ceilings(**{each: given.pop(f"max_{each}") for each in _NAMES})
        return function(*args, ceilings=ceilings, **given)

    command: Any = collect
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
