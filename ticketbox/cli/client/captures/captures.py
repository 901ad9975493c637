"""The commands of `ticketbox capture` (docs/use/command-line.md)."""

import re
import sys
from pathlib import Path
from typing import Any

import click
import httpx2

from ticketbox.cli.client.commands import build_command
from ticketbox.cli.client.connection import ExitStatus, Server, decode_body
from ticketbox.cli.client.terminal import escape_line, escape_text, format_age, format_count, print_line, style
from ticketbox.cli.core.output import exit_with_error, format_bytes

Json = dict[str, Any]

_NO_CAPTURE = "this ticket has no capture"
_ENDINGS = {"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp", "application/json": "har"}


def print_capture(found: Json, ticket: str) -> None:
    """Print a capture with its errors, failed requests, steps, and the console entries of its excerpt."""
    page, counts = found["page"], found["counts"]
    print_line(f"{style('Capture', bold=True)} {escape_line(found['id'])}, {format_age(found['captured_at'])}")
    if found.get("external"):
        by = found.get("confirmed")
        state = f"confirmed by {by['user']['name']}" if by else "not confirmed"
        print_line(f"  external: somebody without an account sent it; {escape_line(state)}")
    print_line(f"  {escape_line(page['url'])}")
    environment = found["environment"]
    names = [environment.get("browser"), environment.get("os"), _format_size(environment.get("viewport"))]
    if any(names):
        print_line(style("  " + escape_line(" · ".join(filter(None, names))), dim=True))
    if measured := _describe_performance(environment):
        print_line(style(f"  {escape_line(measured)}", dim=True))
    numbers = [
        format_count(counts["errors"], "error"),
        f"{counts['failed_requests']:,} of {format_count(counts['network'], 'request')} failed",
        format_count(counts["console"], "console line"),
    ]
    print_line(f"  {', '.join(numbers)}")
    print_line(style(f"  {escape_line(found['health_summary'])}", dim=True))
    if bug := found["bug"]:
        by = f"chosen by {bug['chosen']['user']['name']}" if bug["chosen"] else "the last one that a step led to"
        print_line(f"  the bug: {_shorten(bug['text'])} ({escape_line(by)})")
    for group in _list_items(found, "error_groups"):
        times = f" ({group['count']} times)" if group["count"] > 1 else ""
        print_line(f"  {style('error', fg='red')}    {_shorten(group['message'])}{times}")
        if group["source"]:
            print_line(style(f"           {_shorten(group['source'])}", dim=True))
    for group in _list_items(found, "failed_requests"):
        times = f" ({group['count']} times)" if group["count"] > 1 else ""
        outcome = group["status"] or group["error"] or "no response"
        print_line(
            f"  {style('request', fg='yellow')}  {escape_line(str(outcome))} {escape_line(group['method'])} "
            f"{_shorten(group['url'])}{times}"
        )
    for step in _list_items(found, "actions"):
        print_line(f"  {style('step', fg='cyan')}     {step['number']}. {_shorten(step['words'])}")
    for entry in _list_items(found, "console"):
        if entry["level"] in {"error", "assert", "warn"}:
            print_line(f"  {style('console', fg='magenta')}  {_shorten(' '.join(entry['args']))}")
    print_line(style(f"  ticketbox capture screenshot {ticket}; ticketbox capture har {ticket}", dim=True))


def _list_items(found: Json, stream: str) -> list[Json]:
    part: Json | None = found.get(stream)
    return [] if part is None else part["items"]


def _describe_performance(environment: Json) -> str:
    """Describe the release, the web vitals and the longest frame of an environment in a line."""
    vitals: Json = environment.get("vitals") or {}
    parts = [f"release {environment['release']}"] if environment.get("release") else []
    for name, value in vitals.items():
        label = name.removesuffix("_ms").upper()
        parts.append(f"{label} {value:.0f} ms" if name.endswith("_ms") else f"{label} {value:.3g}")
    if frames := environment.get("long_frames"):
        parts.append(f"longest frame {max(frame['duration_ms'] for frame in frames):.0f} ms")
    return " · ".join(parts)


def _format_size(size: Json | None) -> str:
    return f"{size['width']} × {size['height']}" if size else ""


def _shorten(text: str) -> str:
    line = escape_line(text.strip().split("\n", 1)[0])
    return line if len(line) <= 300 else line[:299] + "…"


def _read_capture(server: Server, given: Json, _: Json) -> httpx2.Response:
    return server.call("get_ticket", {"include": ["capture"], "status": "all", **given})


def _print_capture(response: httpx2.Response, _: Json) -> None:
    found = decode_body(response)
    if found["capture"] is None:
        exit_with_error(_NO_CAPTURE, ExitStatus.NOTHING)
    print_capture(found["capture"], escape_line(found.get("key") or found["id"]))


def _read_har(server: Server, given: Json, _: Json) -> httpx2.Response:
    return server.call("get_har", {"capture_id": find_capture_id(server, given["capture_id"])})


def find_capture_id(server: Server, wanted: str) -> str:
    """Return the id of a capture, or of the richest capture of a ticket."""
    if wanted.startswith("cap_"):
        return wanted
    found = decode_body(_read_capture(server, {"ticket_id": wanted, "include": []}, {}))
    if found["capture"] is None:
        exit_with_error(_NO_CAPTURE, ExitStatus.NOTHING)
    return found["capture"]["id"]


def _save(response: httpx2.Response, settings: Json) -> None:
    """Write the response to a file, by default in the current folder, or to standard output for `-`."""
    target: str | None = settings["output"]
    if target == "-":
        sys.stdout.buffer.write(response.content)
        return
    path = Path(target) if target is not None else Path(_name_file(response))
    if target is None and path.exists():
        exit_with_error(f"{escape_line(str(path))}: the file exists; name another one with --output")
    try:
        path.write_bytes(response.content)
    except OSError as error:
        exit_with_error(f"can't write {escape_line(str(path))}: {error.strerror}")
    click.echo(f"{escape_text(str(path))}: {format_bytes(len(response.content))}", err=True)


def _name_file(response: httpx2.Response) -> str:
    """Name a file after the ticket in the response's address; a server can't choose where it is written."""
    parts = [part for part in response.request.url.path.split("/") if re.fullmatch(r"[\w-]+", part)]
    kind = response.headers.get("content-type", "").partition(";")[0]
    return f"{parts[-2]}.{_ENDINGS.get(kind, 'bin')}"


_OUTPUT = click.Option(
    ["--output", "-o"], metavar="FILE", help="The file to write; `-` is standard output.  [default: named by its id]"
)

show = build_command("show", "get_ticket", _print_capture, hidden=("include", "detail", "status"), call=_read_capture)
har = build_command(
    "har", "get_har", _save, arguments=("capture_id",), options=[_OUTPUT], call=_read_har, as_json=False
)
screenshot = build_command("screenshot", "get_screenshot", _save, options=[_OUTPUT], as_json=False)
