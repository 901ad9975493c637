"""The plugin for pytest, which files failed tests as tickets (docs/use/failing-tests.md).

pytest imports this module in every run of an environment that has ticketbox, so it imports nothing until it is asked.
"""

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: "pytest.Parser") -> None:
    """Add the option that turns the plugin on."""
    group = parser.getgroup("ticketbox", "tickets of failing tests")
    group.addoption(
        "--ticketbox",
        action="store_true",
        default=bool(os.environ.get("TICKETBOX_PYTEST")),
        help="File failed tests as tickets of TICKETBOX_URL, in TICKETBOX_PROJECT. Also by TICKETBOX_PYTEST=1.",
    )


def pytest_configure(config: "pytest.Config") -> None:
    """Load the rest if the plugin is turned on."""
    if config.getoption("ticketbox"):
        from ticketbox.cli.client.failing_tests.plugin import TicketPlugin

        config.pluginmanager.register(TicketPlugin(config), "ticketbox-tickets")
