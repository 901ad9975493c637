"""Options for what accounts and companies may have at most (docs/operate/configuration.md, "Ceilings")."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ticketbox.cli.core.options import SIZE
from ticketbox.domain.core.fairness.ceilings import DEFAULT_COMPANIES, MAX_PER_MINUTE

F = TypeVar("F", bound=Callable[..., Any])

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
]


def add_ceiling_options(function: F) -> F:
    """Add the options."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function
