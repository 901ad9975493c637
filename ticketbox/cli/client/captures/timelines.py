"""The command `ticketbox capture timeline` (docs/use/command-line.md)."""

from typing import Any

import httpx2

from ticketbox.cli.client.captures.captures import find_capture_id
from ticketbox.cli.client.commands import build_command
from ticketbox.cli.client.connection import Server, decode_body
from ticketbox.cli.client.terminal import escape_line, format_count, print_line, style

Json = dict[str, Any]

_KINDS = {"pages": "page", "actions": "step", "console": "console", "network": "request", "errors": "error"}
_MORE = "--detail and --around"
_COLORS = {"pages": "cyan", "actions": "cyan", "console": "magenta", "network": "yellow", "errors": "red"}


def _read_timeline(server: Server, given: Json, _: Json) -> httpx2.Response:
    return server.call("get_timeline", {**given, "capture_id": find_capture_id(server, given["capture_id"])})


def _print_timeline(response: httpx2.Response, _: Json) -> None:
    """Print a line for each moment: seconds since the start, kind, text and outcome."""
    found = decode_body(response)
    shown = 0
    for moment in found["items"]:
        print_gap(moment["omitted_before"], "moment", _MORE)
        shown += moment["omitted_before"] + 1
        seconds = f"{(moment['ts'] - found['start']) / 1000:+8.1f} s"
        kind = style(f"{_KINDS[moment['kind']]:8}", fg=_COLORS[moment["kind"]] if _is_notable(moment) else None)
        times = f"×{moment['count']}" if moment["count"] > 1 else ""
        words = " ".join(filter(None, (moment["text"], moment["outcome"], times)))
        print_line(f"{style(seconds, dim=True)}  {kind}  {escape_line(words)}")
    print_gap(found["matched"] - shown, "moment", _MORE)
    print_line(style(escape_line(found["health_summary"]), dim=True))


def _is_notable(moment: Json) -> bool:
    return moment["failed"] or moment["kind"] in {"pages", "actions"}


def print_gap(count: int, noun: str, more: str) -> None:
    """Print how many entries are left out."""
    if count:
        print_line(style(f"            … {format_count(count, noun)} left out; see {more}", dim=True))


timeline = build_command("timeline", "get_timeline", _print_timeline, arguments=("capture_id",), call=_read_timeline)
