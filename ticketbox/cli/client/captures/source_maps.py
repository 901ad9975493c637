"""The commands of `ticketbox sourcemaps` (docs/use/source-maps.md)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import httpx2

from ticketbox.cli.client.commands import URL_OPTION, build_command
from ticketbox.cli.client.connection import ExitStatus, connect, decode_body
from ticketbox.cli.client.terminal import escape_line, format_count, print_line, print_page
from ticketbox.cli.core.output import exit_with_error, format_bytes
from ticketbox.domain.captures.source_maps.source_map import MAX_BYTES

Json = dict[str, Any]

_COLUMNS = ("SCRIPT", "RELEASE", "SIZE", "ID")


def _print_maps(response: httpx2.Response, _: Json) -> None:
    page: Json = decode_body(response)
    rows = [[each["name"], each["release"], format_bytes(each["bytes"]), each["id"]] for each in page["items"]]
    print_page(page, "source maps", _COLUMNS, rows, flexible=0, styles=({"fg": "cyan"}, {}, {}, {"dim": True}))


def _print_deleted(_: httpx2.Response, __: Json) -> None:
    print_line("Deleted the source map")


def find_maps(folder: Path) -> Iterator[Path]:
    """Yield the source maps in a folder, without those behind links that lead out of it."""
    root = folder.resolve()
    for path in sorted(folder.rglob("*.map")):
        if path.is_file() and path.resolve().is_relative_to(root):
            yield path


@click.command("upload")
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--project", metavar="PROJECT", required=True, help="The project's id, name or key.")
@click.option("--release", metavar="RELEASE", default="", help="The release that the scripts belong to.")
@click.option("--url", help=URL_OPTION.help)
def upload(folder: Path, project: str, release: str, url: str | None) -> None:
    """Upload the source maps in a folder, so that stacks show the author's files.

    A map belongs to the script beside it: `dist/assets/app.js.map` to the address that ends in `/assets/app.js`, if DIR
    is `dist`. Files that aren't usable maps are skipped with a note.
    """
    sent = 0
    with connect(url) as server:
        for path in find_maps(folder):
            name = path.relative_to(folder).as_posix().removesuffix(".map")
            if path.stat().st_size > MAX_BYTES:
                _print_note(name, f"larger than {format_bytes(MAX_BYTES)}")
                continue
            given = {"project_id": project, "release": release, "name": name}
            files = {"file": (path.name, path.read_bytes(), "application/json")}
            response = server.send("upload_source_map", given, files)
            if response.status_code in {400, 413}:
                _print_note(name, response.json().get("detail", ""))
            elif not response.is_success:
                exit_with_error(f"{escape_line(name)}: {escape_line(str(response.json().get('detail', '')))}")
            else:
                sent += 1
    if not sent:
        exit_with_error(f"no source map was uploaded from {escape_line(str(folder))}", ExitStatus.NOTHING)
    print_line(f"Uploaded {format_count(sent, 'source map')}")


def _print_note(name: str, reason: str) -> None:
    click.echo(f"{escape_line(name)}: skipped: {escape_line(reason)}", err=True)


list_ = build_command("list", "list_source_maps", _print_maps, arguments=("project_id",))
delete = build_command("delete", "delete_source_map", _print_deleted, arguments=("source_map_id",), as_json=False)
