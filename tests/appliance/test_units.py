"""The unit and the container file ask for what there is."""

import re

import click

from tests.docs.pages import ROOT
from ticketbox.cli import main

PACKAGING = ROOT / "packaging"


def known() -> tuple[set[str], set[str]]:
    """The flags of serve, and their variables."""
    command = main.get_command(click.Context(main), "serve")
    assert command is not None
    options = [option for option in command.params if isinstance(option, click.Option)]
    flags = {flag for option in options for flag in (*option.opts, *option.secondary_opts)}
    return flags, {str(option.envvar) for option in options}


def test_the_units_flags_and_variables_are_serves_own() -> None:
    text = (PACKAGING / "ticketbox.service").read_text("utf-8")
    flags, variables = known()
    (start,) = re.findall(r"^ExecStart=/usr/local/bin/ticketbox serve (.*)$", text, re.MULTILINE)
    assert set(re.findall(r"--[\w-]+", start)) <= flags
    assert set(re.findall(r"^Environment=(\w+)=", text, re.MULTILINE)) <= variables
    seconds = re.search(r"^TimeoutStopSec=(\d+)$", text, re.MULTILINE)
    assert seconds is not None
    assert int(seconds[1]) > 10


def test_the_containers_variables_are_serves_own() -> None:
    text = (PACKAGING / "Containerfile").read_text("utf-8")
    found = set(re.findall(r"\b(TICKETBOX_\w+)=", text))
    assert found
    assert found <= known()[1]
