"""`ticketbox ticket`, `label`, `view` and `capture`. Commands load the registry, so each loads when it is called."""

import click

from ticketbox.cli.core.lazy_group import LazyGroup


@click.group(
    cls=LazyGroup,
    commands_in={
        "list": "ticketbox.cli.client.tickets:list_",
        "export": "ticketbox.cli.client.tickets:export",
        "show": "ticketbox.cli.client.tickets:show",
        "create": "ticketbox.cli.client.tickets:create",
        "comment": "ticketbox.cli.client.tickets:comment",
        "move": "ticketbox.cli.client.tickets:move",
        "claim": "ticketbox.cli.client.work:claim",
        "next": "ticketbox.cli.client.work:next_",
        "finish": "ticketbox.cli.client.work:finish",
        "link": "ticketbox.cli.client.tickets:link",
        "criteria": "ticketbox.cli.client.criteria:criteria",
        "add-criterion": "ticketbox.cli.client.criteria:add_criterion",
        "verifications": "ticketbox.cli.client.verify.verifications:verifications",
        "renew": "ticketbox.cli.client.work:renew",
        "stop": "ticketbox.cli.client.work:stop",
    },
)
def ticket() -> None:
    """List, create and work on tickets of a server.

    Uses the API token in SERVICE_API_TOKEN, or the sign-in of `ticketbox login`. Exit status: 0 done, 1 refused, 2
    wrong usage, 3 nothing there, 4 not signed in, 5 server not reachable, 6 conflict, such as a claim by another.
    """


@click.group(
    cls=LazyGroup,
    commands_in={
        "show": "ticketbox.cli.client.captures.captures:show",
        "timeline": "ticketbox.cli.client.captures.timelines:timeline",
        "replay-transcript": "ticketbox.cli.client.captures.transcripts:transcript",
        "har": "ticketbox.cli.client.captures.captures:har",
        "import": "ticketbox.cli.client.imports.command:import_",
        "reproduce": "ticketbox.cli.client.captures.reproductions:reproduce",
        "screenshot": "ticketbox.cli.client.captures.captures:screenshot",
    },
)
def capture() -> None:
    """Show the capture of a ticket and its timeline, and save its requests, picture, or a test that reproduces it.

    Uses the API token in SERVICE_API_TOKEN, or the sign-in of `ticketbox login`. The exit
    statuses are those of `ticketbox ticket`.
    """


@click.group(
    cls=LazyGroup,
    commands_in={
        "list": "ticketbox.cli.client.labels:list_",
        "create": "ticketbox.cli.client.labels:create",
        "update": "ticketbox.cli.client.labels:update",
        "merge": "ticketbox.cli.client.labels:merge",
        "delete": "ticketbox.cli.client.labels:delete",
    },
)
def label() -> None:
    """List and change the labels of a company's tickets.

    Uses the API token in SERVICE_API_TOKEN, or the sign-in of `ticketbox login`. The exit
    statuses are those of `ticketbox ticket`.
    """


@click.group(
    cls=LazyGroup,
    commands_in={
        "upload": "ticketbox.cli.client.captures.source_maps:upload",
        "list": "ticketbox.cli.client.captures.source_maps:list_",
        "delete": "ticketbox.cli.client.captures.source_maps:delete",
    },
)
def sourcemaps() -> None:
    """Upload, list and delete the source maps of a project.

    Uses the API token in SERVICE_API_TOKEN, or the sign-in of `ticketbox login`. The exit
    statuses are those of `ticketbox ticket`.
    """


@click.group(
    cls=LazyGroup,
    commands_in={
        "list": "ticketbox.cli.client.views:list_",
        "update": "ticketbox.cli.client.views:update",
        "delete": "ticketbox.cli.client.views:delete",
    },
)
def view() -> None:
    """List, rename, share and delete saved views of projects.

    Uses the API token in SERVICE_API_TOKEN, or the sign-in of `ticketbox login`. The exit
    statuses are those of `ticketbox ticket`.
    """
