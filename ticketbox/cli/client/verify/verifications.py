"""`ticketbox ticket verifications` (docs/use/verifications.md)."""

from typing import Any

import click
import httpx2

from ticketbox.cli.client.commands import build_command
from ticketbox.cli.client.connection import decode_body
from ticketbox.cli.client.terminal import Style, escape_line, format_age, print_table

Json = dict[str, Any]

_COLUMNS = ("VERDICT", "COMMIT", "BRANCH", "ROUNDS", "POSTED", "BY", "BASE URL", "REASON")
_STYLES: tuple[Style, ...] = ({"bold": True}, {"fg": "cyan"}, {}, {}, {}, {}, {"dim": True}, {})


def _name_verdict(verification: Json) -> str:
    """Name a verdict; that a bug is gone proves nothing while no earlier run saw it."""
    verdict = verification["verdict"]
    return "unproven" if verdict == "gone" and not verification["proven"] else verdict.replace("_", " ")


def _print_verifications(response: httpx2.Response, _: Json) -> None:
    page: Json = decode_body(response)
    if not page["items"]:
        click.echo("No verifications.", err=True)
        return
    rows = [
        [
            _name_verdict(each),
            each["commit"][:12],
            each.get("branch") or "",
            str(each["rounds"]),
            format_age(each["created"]["at"]),
            each["created"].get("token_label") or each["created"]["user"]["name"],
            each["base_url"],
            "; ".join([*(expected["words"] for expected in each["expectations"]), *filter(None, [each["reason"]])]),
        ]
        for each in page["items"]
    ]
    print_table(_COLUMNS, rows, flexible=7, styles=_STYLES)
    if page["next_cursor"]:
        click.echo(f"There are more: add --cursor {escape_line(page['next_cursor'])}", err=True)


verifications = build_command("verifications", "list_verifications", _print_verifications)
