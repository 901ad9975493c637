"""`ticketbox capture import` (docs/use/command-line.md, "Import a file")."""

from pathlib import Path
from typing import Any

import click

from ticketbox.cli.client.commands import URL_OPTION
from ticketbox.cli.client.connection import Server, connect, decode_body, exit_with_problem
from ticketbox.cli.client.imports.files import build_parts, read_file
from ticketbox.cli.client.imports.report import Report
from ticketbox.cli.client.terminal import escape_json, escape_line, print_line
from ticketbox.cli.core.output import exit_with_error
from ticketbox.domain.captures.imports.recording import ImportProblem, Recording


def _send(
    file: Path, project: str | None, ticket: str | None, title: str | None, labels: tuple[str, ...], attach: bool,
    wants_json: bool, url: str | None,
) -> None:  # fmt: skip
    if project and ticket:
        raise click.UsageError("use --project for a new ticket, or --ticket for an existing one, not both")
    if ticket and (title or labels):
        raise click.UsageError("--title and --label are for a new ticket")
    try:
        recording = read_file(file)
    except ImportProblem as problem:
        exit_with_error(f"{escape_line(str(file))}: {escape_line(str(problem))}")
    envelope: dict[str, Any] = {"project_id": project, "ticket_id": ticket, "title": title, "labels": list(labels)}
    is_trace = isinstance(recording, Recording) and recording.trace is not None
    envelope["keep_trace"] = is_trace and attach
    parts = build_parts(recording, {name: value for name, value in envelope.items() if value})
    if attach and not is_trace:
        parts["attachments"] = (file.name, file.read_bytes(), "application/octet-stream")
    with connect(url) as server:
        response = server.send("create_capture", {}, parts)
        if not response.is_success:
            exit_with_problem(server.url, response)
        if isinstance(recording, Report):
            is_again = ticket is not None or (project is None and recording.is_of_ticket)
            _send_rest(
                server, recording, decode_body(response)["ticket_id"], is_own=not project and not ticket,
                is_again=is_again,
            )  # fmt: skip
    if wants_json:
        click.echo(escape_json(response.text))
    else:
        made = decode_body(response)
        print_line(f"{escape_line(made['capture_id'])} on {escape_line(made['url'])}")


def _send_rest(server: Server, report: Report, ticket: str, *, is_own: bool, is_again: bool) -> None:
    """Send what the extension would send after the capture.

    `is_own`: the report says which ticket or project. `is_again`: the ticket was there before.
    The keys are the extension's, so that nothing is counted or added twice.
    """
    if report.annotations:
        found = decode_body(server.call("get_ticket", {"ticket_id": ticket, "include": ["capture"]}))
        screenshot = found["capture"]["screenshot"]
        server.call("save_annotations", {"asset_id": screenshot["id"], "annotations": report.annotations})
    if report.assignee and is_own:
        server.call("assign_ticket", {"ticket_id": ticket, "user_id": report.assignee})
    if is_again:
        key = f"{report.capture['id']}-seen"
        counted = server.call("add_occurrence", {"ticket_id": ticket, "idempotency_key": key})
        if decode_body(counted)["resolved"] and "idempotency-replayed" not in counted.headers:
            server.call("update_ticket", {"ticket_id": ticket, "resolved": False})
    if report.comment:
        key = f"{report.capture['id']}-comment"
        server.call("add_comment", {"ticket_id": ticket, "body": report.comment, "idempotency_key": key})


import_ = click.Command(
    "import",
    callback=_send,
    params=[
        click.Argument(["file"], type=click.Path(exists=True, dir_okay=False, path_type=Path)),
        click.Option(["--project"], help="The project of a new ticket.  [default: by the page's address]"),
        click.Option(["--ticket"], help="Attach the capture to this ticket instead of a new one."),
        click.Option(["--title"], help="The new ticket's title.  [default: the first error, or the file's title]"),
        click.Option(["--label", "labels"], multiple=True, help="A label of the new ticket. Can be repeated."),
        click.Option(["--attach"], is_flag=True, help="Attach the file as well. Secrets in it aren't removed."),
        click.Option(["--json", "wants_json"], is_flag=True, help="Print the server's JSON."),
        URL_OPTION,
    ],
    help="""Create a capture from a file of another tool: steps, console, requests, errors and the last screenshot.

    FILE is a trace.zip of Playwright, a HAR file, or a report that the browser extension downloaded. The
    server removes secrets, as from every capture.
    """,
)
