"""The command `ticketbox capture blame` (docs/use/command-line.md)."""

import json
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import click
import httpx2

from ticketbox.cli.client.captures.captures import find_capture_id
from ticketbox.cli.client.commands import build_command
from ticketbox.cli.client.connection import ExitStatus, Server, decode_body
from ticketbox.cli.client.repository.places import Place, Repository
from ticketbox.cli.client.terminal import Style, escape_json, escape_line, print_line, print_table, style
from ticketbox.cli.core.output import exit_with_error
from ticketbox.cli.core.processes import capture_output

Json = dict[str, Any]

_MAX_FRAMES = 5  # of each error
_HEADER = re.compile(r"([0-9a-f]{40,64}) ")


def blame_line(revision: str, place: Place) -> Json | None:
    """Return the commit that wrote a line: hash, author, date and summary; None if git can't say.

    Source: the "porcelain format" of https://git-scm.com/docs/git-blame.
    """
    top = capture_output("git", "rev-parse", "--show-toplevel").strip()  # `git blame` takes a path, not a pathspec
    line = f"-L{place.line},{place.line}"
    found = capture_output("git", "-C", top, "blame", "--porcelain", line, revision, "--", place.file)
    header = _HEADER.match(found)
    if header is None:
        return None
    facts: dict[str, str] = {}
    for text in found.split("\n")[1:]:
        name, _, value = text.partition(" ")
        facts.setdefault(name, value)
    written = datetime.fromtimestamp(int(facts["author-time"]), UTC)
    return {
        "commit": header[1],
        "author": facts["author"],
        "date": written.date().isoformat(),
        "summary": facts["summary"],
    }


def _find_lines(errors: list[Json], repository: Repository) -> Iterator[Json]:
    """Yield each line of the repository that an error passed through, innermost first, and its commit."""
    seen: set[tuple[str, int]] = set()
    for error in errors:
        places = [place for frame in error["frames"] if (place := repository.find_place(frame)) is not None]
        for place in places[:_MAX_FRAMES]:
            if (place.file, place.line) in seen:
                continue
            seen.add((place.file, place.line))
            yield {
                "error": error["message"].split("\n", 1)[0],
                "file": place.file,
                "line": place.line,
                "function": place.function,
                "moved": place.moved,
                "changed": place.changed,
                "commit": None if place.changed else blame_line(repository.revision, place),
            }


def _read_errors(server: Server, given: Json, _: Json) -> httpx2.Response:
    return server.call("get_errors", {**given, "capture_id": find_capture_id(server, given["capture_id"])})


def _print_lines(response: httpx2.Response, settings: Json) -> None:
    """Print for each error the lines that it passed through, with the commit of each."""
    errors = decode_body(response)["items"]
    if not errors:
        exit_with_error("this capture has no errors", ExitStatus.NOTHING)
    repository = Repository(settings["revision"])
    if repository.is_empty:
        exit_with_error("this folder isn't in a git repository, or it doesn't have this revision")
    found = list(_find_lines(errors, repository))
    if settings["as_json"]:
        click.echo(escape_json(json.dumps({"items": found}, ensure_ascii=False)))
        return
    if not found:
        exit_with_error("no frame of the errors is in a file of this repository", ExitStatus.NOTHING)
    for message in dict.fromkeys(each["error"] for each in found):
        print_line(style(escape_line(message), fg="red"))
        rows = [_build_row(each) for each in found if each["error"] == message]
        print_table(["place", "function", "commit", "date", "author", "summary"], rows, flexible=5, styles=_STYLES)


def _build_row(line: Json) -> list[str]:
    place = f"{line['file']}:{line['line']}"
    commit: Json | None = line["commit"]
    if commit is None:
        note = "this line isn't in the revision any more" if line["changed"] else "not known to git"
        return [place, line["function"] or "", "", "", "", note]
    summary = f"{commit['summary']}{' (the line has moved)' if line['moved'] else ''}"
    return [place, line["function"] or "", commit["commit"][:12], commit["date"], commit["author"], summary]


_STYLES: Sequence[Style] = ({}, {"dim": True}, {"fg": "yellow"}, {"dim": True}, {}, {})
_REVISION = click.Option(["--revision"], default="HEAD", show_default=True, help="The commit that was captured.")
_JSON = click.Option(["--json", "as_json"], is_flag=True, help="Print the lines as JSON.")

blame = build_command(
    "blame", "get_errors", _print_lines, arguments=("capture_id",), hidden=("cursor",), options=[_REVISION, _JSON],
    call=_read_errors, as_json=False,
)  # fmt: skip
blame.help = (
    "Show who last changed the lines that a capture's errors passed through.\n\n"
    "Run it in the repository of the page. Git runs on this machine, and nothing that it says is sent."
)
