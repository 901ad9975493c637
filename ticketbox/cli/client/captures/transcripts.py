"""The command `ticketbox capture replay-transcript` (docs/use/command-line.md)."""

from typing import Any

import httpx2

from ticketbox.cli.client.captures.captures import find_capture_id
from ticketbox.cli.client.captures.timelines import print_gap
from ticketbox.cli.client.commands import build_command
from ticketbox.cli.client.connection import Server, decode_body
from ticketbox.cli.client.terminal import escape_line, print_line, style

Json = dict[str, Any]

_KINDS = {"screen": "screen", "pages": "page", "actions": "step", "network": "request", "errors": "error"}
_COLORS = {"pages": "cyan", "actions": "cyan", "network": "yellow", "errors": "red"}


def _read_transcript(server: Server, given: Json, _: Json) -> httpx2.Response:
    capture = find_capture_id(server, given["capture_id"])
    return server.call("get_replay_transcript", {**given, "capture_id": capture})


def _print_transcript(response: httpx2.Response, _: Json) -> None:
    """Print a line for each change: the second, its kind, text and outcome."""
    found = decode_body(response)
    shown = 0
    for line in found["items"]:
        print_gap(line["omitted_before"], "line", "--detail")
        shown += line["omitted_before"] + 1
        kind = style(f"{_KINDS[line['kind']]:8}", fg=_COLORS.get(line["kind"]))
        times = f"×{line['count']}" if line["count"] > 1 else ""
        words = " ".join(filter(None, (line["text"], line["outcome"], times)))
        second = style(f"{line['second']:6} s", dim=True)
        print_line(f"{second}  {kind}  {escape_line(words)}")
    print_gap(found["total"] - shown, "line", "--detail")
    print_line(style(escape_line(found["health_summary"]), dim=True))


transcript = build_command(
    "replay-transcript", "get_replay_transcript", _print_transcript, arguments=("capture_id",), call=_read_transcript
)
