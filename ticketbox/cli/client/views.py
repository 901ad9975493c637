"""The commands of `ticketbox view` (docs/use/command-line.md)."""

from typing import Any

import httpx2

from ticketbox.cli.client.commands import build_command
from ticketbox.cli.client.connection import decode_body
from ticketbox.cli.client.terminal import escape_line, print_line, print_page, style

Json = dict[str, Any]

_COLUMNS = ("VIEW", "LAYOUT", "SEEN BY", "CREATED BY", "ID")


def _print_views(response: httpx2.Response, _: Json) -> None:
    page: Json = decode_body(response)
    rows = [
        [
            each["name"], each["layout"], "everybody" if each["shared"] else "you", each["created"]["user"]["name"],
            each["id"],
        ]
        for each in page["items"]
    ]  # fmt: skip
    print_page(page, "views", _COLUMNS, rows, flexible=0, styles=({"fg": "cyan"}, {}, {}, {}, {"dim": True}))


def _print_view(response: httpx2.Response, _: Json) -> None:
    found: Json = decode_body(response)
    print_line(f"{style(escape_line(found['name']), fg='cyan')}  {escape_line(found['id'])}")


def _print_deleted(_: httpx2.Response, __: Json) -> None:
    print_line("Deleted the view")


list_ = build_command("list", "list_views", _print_views, arguments=())
update = build_command("update", "update_view", _print_view, arguments=("view_id",))
delete = build_command("delete", "delete_view", _print_deleted, arguments=("view_id",), as_json=False)
