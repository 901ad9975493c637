"""The command `ticketbox capture compare` (docs/use/command-line.md)."""

from typing import Any

import httpx2

from ticketbox.cli.client.captures.captures import find_capture_id
from ticketbox.cli.client.commands import build_command
from ticketbox.cli.client.connection import Server, decode_body
from ticketbox.cli.client.terminal import escape_line, format_age, format_count, print_line, style

Json = dict[str, Any]

_LESS = "{} left out; see --detail"


def _read_comparison(server: Server, given: Json, _: Json) -> httpx2.Response:
    named = {name: find_capture_id(server, given[name]) for name in ("capture_id", "other") if name in given}
    return server.call("compare_captures", {**given, **named})


def _print_comparison(response: httpx2.Response, _: Json) -> None:
    """Print the two captures, then a line for each difference: the first capture's value, `→` that of the other."""
    found = decode_body(response)
    for mark, capture in (("<", found["capture"]), (">", found["other"])):
        ticket = f"{escape_line(capture['ticket_id'])}, {format_age(capture['captured_at'])}"
        print_line(f"{mark} {style(escape_line(capture['id']), bold=True)} of {ticket}")
    for each in found["environment"]:
        values = (escape_line(each[side] or "(none)") for side in ("capture", "other"))
        print_line(f"  {style(escape_line(each['name']), fg='cyan')}  {' → '.join(values)}")
    for error in found["errors"]:
        place = style(f"  {escape_line(error['source'])}", dim=True) if error["source"] else ""
        print_line(f"{_mark(error)} {style('error', fg='red')}    {escape_line(error['message'])}{place}")
    for request in found["requests"]:
        outcomes = (", ".join(request[side]) or "(none)" for side in ("outcomes", "other_outcomes"))
        address = f"{escape_line(request['method'])} {escape_line(request['url'])}"
        print_line(f"{_mark(request)} {style('request', fg='yellow')}  {escape_line(' → '.join(outcomes))}  {address}")
    for count, noun in ((found["omitted_errors"], "error"), (found["omitted_requests"], "request")):
        if count:
            print_line(style(f"  … {_LESS.format(format_count(count, noun))}", dim=True))
    if not (found["environment"] or found["errors"] or found["requests"]):
        print_line("  No differences.")


def _mark(entry: Json) -> str:
    """Return `<` for what only the first capture has, `>` for what only the other has, `=` for both."""
    return "=" if entry["count"] and entry["other_count"] else "<" if entry["count"] else ">"


compare = build_command(
    "compare", "compare_captures", _print_comparison, arguments=("capture_id", "other"), optional=("other",),
    call=_read_comparison,
)  # fmt: skip
