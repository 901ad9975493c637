"""The commands of `ticketbox label` (docs/use/command-line.md)."""

from typing import Any

import httpx2

from ticketbox.cli.client.commands import build_command
from ticketbox.cli.client.connection import decode_body
from ticketbox.cli.client.terminal import escape_line, print_line, print_page, style

Json = dict[str, Any]

_COLUMNS = ("LABEL", "COLOR", "DESCRIPTION", "ID")


def _print_labels(response: httpx2.Response, _: Json) -> None:
    page: Json = decode_body(response)
    rows = [[each["name"], each["color"], each["description"], each["id"]] for each in page["items"]]
    print_page(page, "labels", _COLUMNS, rows, flexible=2, styles=({"fg": "cyan"}, {}, {}, {"dim": True}))


def _print_label(response: httpx2.Response, _: Json) -> None:
    found: Json = decode_body(response)
    print_line(f"{style(escape_line(found['name']), fg='cyan')}  {escape_line(found['color'])}")


def _print_deleted(_: httpx2.Response, __: Json) -> None:
    print_line("Deleted the label")


list_ = build_command("list", "list_labels", _print_labels, arguments=("company_id",))
create = build_command("create", "create_label", _print_label, arguments=("company_id", "name"))
update = build_command("update", "update_label", _print_label, arguments=("label_id",))
merge = build_command("merge", "merge_labels", _print_label, arguments=("label_id", "into"))
delete = build_command("delete", "delete_label", _print_deleted, arguments=("label_id",), as_json=False)
