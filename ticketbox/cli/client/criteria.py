"""`ticketbox ticket criteria` and `add-criterion` (docs/use/criteria.md)."""

from typing import Any

import click
import httpx2

from ticketbox.cli.client.commands import build_command
from ticketbox.cli.client.connection import decode_body
from ticketbox.cli.client.terminal import escape_line, format_age, style

Json = dict[str, Any]

_COLORS = {"met": "green", "waived": "yellow", "open": "red"}


def print_criteria(criteria: list[Json], *, err: bool = False) -> None:
    """Print the criteria of a ticket by number, each with its newest evidence."""
    for number, criterion in enumerate(criteria, 1):
        state = style(criterion["state"], fg=_COLORS[criterion["state"]])
        proposed = " (proposed)" if criterion["proposed"] else ""
        click.echo(f"{number}. {state}  {escape_line(criterion['text'])}{proposed}", err=err)
        for evidence in criterion["evidence"][:1]:
            click.echo(style(f"   {escape_line(describe_evidence(evidence))}", dim=True), err=err)


def describe_evidence(evidence: Json) -> str:
    """Describe evidence in a line: its grade, result, text, commit, writer and age."""
    result = {True: "passed", False: "failed", None: ""}[evidence["passed"]]
    commit = f"on {evidence['commit'][:7]}{' with changes' if evidence['dirty'] else ''}" if evidence["commit"] else ""
    by = evidence["by"]
    who = f"{by['token_label'] or by['user']['name']}, {format_age(evidence['at'])}"
    grade = f"stale, {evidence['grade']}" if evidence["stale"] else evidence["grade"]
    return " · ".join(filter(None, (grade, " ".join(filter(None, (result, commit))), evidence["text"], who)))


def _print_list(response: httpx2.Response, _: Json) -> None:
    listed: list[Json] = decode_body(response)["criteria"]
    if not listed:
        click.echo("No criteria.", err=True)
    print_criteria(listed)


def _print_added(response: httpx2.Response, _: Json) -> None:
    click.echo(f"Added “{escape_line(decode_body(response)['text'])}”.")


criteria = build_command("criteria", "list_criteria", _print_list)
add_criterion = build_command("add-criterion", "add_criterion", _print_added, arguments=("ticket_id", "text"))
