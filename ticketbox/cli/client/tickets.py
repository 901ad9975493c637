"""The commands of `ticketbox ticket` that read and change tickets (docs/use/command-line.md)."""

import sys
from typing import Any

import click
import httpx2

from ticketbox.cli.client.captures.captures import print_capture
from ticketbox.cli.client.commands import build_command
from ticketbox.cli.client.connection import Server, decode_body
from ticketbox.cli.client.criteria import print_criteria
from ticketbox.cli.client.terminal import (
    Style,
    escape_line,
    escape_text,
    format_age,
    print_line,
    print_page,
    style,
)
from ticketbox.domain.tickets.fields import PROPERTIES

Json = dict[str, Any]

_COLUMNS = ("TICKET", "TITLE", "COLUMN", "PRIORITY", "ASSIGNEES", "LABELS", "UPDATED")
_STYLES: tuple[Style, ...] = ({"fg": "cyan"}, {}, {}, {}, {}, {"dim": True}, {"dim": True})


def get_name(ticket: Json) -> str:
    """Return how people name a ticket: its key, or its id."""
    return escape_line(ticket.get("key") or ticket["id"])


def _print_tickets(response: httpx2.Response, _: Json) -> None:
    page: Json = decode_body(response)
    rows = [
        [
            get_name(each),
            each["title"],
            each.get("column") or "",
            "" if each["priority"] == "none" else each["priority"],
            ", ".join(person["name"] for person in each["assignees"]),
            ", ".join(each["labels"]),
            format_age(each["updated"]["at"]),
        ]
        for each in page["items"]
    ]
    print_page(page, "tickets", _COLUMNS, rows, flexible=1, styles=_STYLES)


def _read_ticket(server: Server, given: Json, _: Json) -> httpx2.Response:
    return server.call("get_ticket", {"include": ["capture", "comments", "criteria"], **given})


def _print_ticket(response: httpx2.Response, _: Json) -> None:
    found: Json = decode_body(response)
    print_line(f"{style(get_name(found), fg='cyan')}  {style(escape_line(found['title']), bold=True)}")
    print_line(escape_line(" · ".join(_list_properties(found))))
    print_line(style(escape_line(" · ".join(_list_authors(found))), dim=True))
    if found.get("url"):
        print_line(style(escape_line(found["url"]), dim=True))
    if found["description"].strip():
        print_line(f"\n{escape_text(found['description'].strip())}")
    if found["criteria"]:
        print_line()
        print_criteria(found["criteria"])
    if found["links"]:
        print_line()
        _print_links(found["links"])
    if found["capture"] is not None:
        print_line()
        print_capture(found["capture"], get_name(found))
    for comment in found.get("comments", []):
        author = f"{comment['by']['user']['name']}, {format_age(comment['by']['at'])}"
        print_line(f"\n{style(escape_line(author), bold=True)}")
        print_line(escape_text(comment["body"].strip()))


def _list_properties(found: Json) -> list[str]:
    claim = found["claim"]
    return list(
        filter(
            None,
            [
                found.get("project"),
                found.get("column"),
                "archived" if found["status"] == "archived" else "",
                "resolved" if found["resolved"] else "unresolved",
                *(field.describe(found.get(field.name)) for field in PROPERTIES),
                "assigned to " + ", ".join(each["name"] for each in found["assignees"]) if found["assignees"] else "",
                f"claimed by {_format_author(claim['by'])}, ends {format_age(claim['until'])}" if claim else "",
                f"in {_format_repository(claim['repository'])}" if claim and claim.get("repository") else "",
            ],
        )
    )


def _format_repository(repository: Json) -> str:
    parts = (repository["branch"], (repository["commit"] or "")[:12], repository["remote"])
    return " ".join(filter(None, parts))


def _list_authors(found: Json) -> list[str]:
    authors = [
        f"{verb} {format_age(found[part]['at'])} by {_format_author(found[part])}"
        for verb, part in (("created", "created"), ("updated", "updated"))
    ]
    reporter = found.get("reporter")
    return authors if reporter is None else [*authors, f"reported by {_format_reporter(reporter)}"]


def _format_reporter(reporter: Json) -> str:
    email = f"<{reporter['email']}>" if reporter["email"] else ""
    user_id = f"(id {reporter['user_id']})" if reporter["user_id"] else ""
    who = " ".join(filter(None, (reporter["name"], email, user_id))) or "somebody without a name"
    return f"{who}, {'verified' if reporter['verified'] else 'not verified'}"


def _format_author(by: Json) -> str:
    label = f" ({by['token_label']})" if by.get("token_label") else ""
    return by["user"]["name"] + label


def _print_created(response: httpx2.Response, _: Json) -> None:
    print_done("Created", decode_body(response))


def _print_moved(response: httpx2.Response, _: Json) -> None:
    found = decode_body(response)
    print_done(f"Moved to {found['column']}:" if found.get("column") else "Moved", found)


def _print_linked(response: httpx2.Response, _: Json) -> None:
    _print_links(decode_body(response)["links"])


def _print_links(links: list[Json]) -> None:
    width = max((len(link["kind"]) for link in links), default=0)
    for link in links:
        kind = style(escape_line(link["kind"].replace("_", " ").ljust(width)), dim=True)
        other = link["ticket"]
        print_line(f"{kind}  {style(get_name(other), fg='cyan')}  {escape_line(other['title'])}")


def print_done(verb: str, found: Json) -> None:
    print_line(f"{escape_line(verb)} {style(get_name(found), fg='cyan')}  {escape_line(found['title'])}")
    if found.get("url"):
        print_line(style(escape_line(found["url"]), dim=True))


def _print_commented(response: httpx2.Response, _: Json) -> None:
    print_line(f"Added comment {escape_line(decode_body(response)['id'])}")


def _print_nothing(_: httpx2.Response, __: Json) -> None:
    """Print nothing: the pages were written as they arrived."""


def _write_csv(server: Server, given: Json, _: Json) -> httpx2.Response:
    """Write every page as it arrives, with one header row."""
    asked = {**given, "limit": 100}
    response = server.call("export_tickets", asked)
    text = response.text
    while True:
        click.echo(escape_text(text) if sys.stdout.isatty() else text, nl=False)
        cursor = response.headers.get("x-next-cursor")
        if cursor is None:
            return response
        response = server.call("export_tickets", {**asked, "cursor": cursor})
        text = response.text.partition("\r\n")[2]


list_ = build_command("list", "list_tickets", _print_tickets, arguments=())
export = build_command(
    "export",
    "export_tickets",
    _print_nothing,
    arguments=(),
    hidden=("limit", "cursor"),
    call=_write_csv,
    as_json=False,
)
show = build_command("show", "get_ticket", _print_ticket, hidden=("include", "detail"), call=_read_ticket)
create = build_command("create", "create_ticket", _print_created, arguments=("title",))
comment = build_command("comment", "add_comment", _print_commented, arguments=("ticket_id", "body"))
move = build_command("move", "move_ticket", _print_moved, arguments=("ticket_id", "column_id"))
link = build_command("link", "link_tickets", _print_linked, arguments=("ticket_id", "kind", "other"))
