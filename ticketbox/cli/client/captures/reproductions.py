"""The command `ticketbox capture reproduce` (docs/use/reproduce.md)."""

import io
import re
import zipfile
from pathlib import Path
from typing import Any

import click
import httpx2

from ticketbox.cli.client.captures.captures import find_capture_id
from ticketbox.cli.client.commands import build_command
from ticketbox.cli.client.connection import Server
from ticketbox.cli.client.terminal import escape_text
from ticketbox.cli.core.output import exit_with_error

Json = dict[str, Any]

MAX_UNPACKED = 256 * 1024 * 1024  # bytes


def unpack_files(archive: bytes, folder: Path) -> list[str]:
    """Write the files of a pack to a folder. Raises ValueError if the server's archive isn't one."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            infos = opened.infolist()
            # the server chooses the names: none may lead out of the folder
            if not all(re.fullmatch(r"[a-z]+(\.[a-z]+)*|README\.md", info.filename) for info in infos):
                raise ValueError("the server's archive has a file name that isn't allowed")
            if sum(info.file_size for info in infos) > MAX_UNPACKED:
                raise ValueError("the server's archive is too large")
            folder.mkdir(parents=True, exist_ok=True)
            for info in infos:
                folder.joinpath(info.filename).write_bytes(opened.read(info))
    except zipfile.BadZipFile as error:
        raise ValueError("the server's answer isn't a zip archive") from error
    return [info.filename for info in infos]


def _read_reproduction(server: Server, given: Json, _: Json) -> httpx2.Response:
    return server.call("get_reproduction", {"capture_id": find_capture_id(server, given["capture_id"])})


def _save_reproduction(response: httpx2.Response, settings: Json) -> None:
    """Write the files to a folder, or the archive to a file that ends in .zip."""
    given: str | None = settings["output"]
    path = Path(given or f"reproduction-{response.request.url.path.split('/')[-2]}")
    if given is None and path.exists():
        exit_with_error(f"{escape_text(str(path))}: the folder exists; name another one with --output")
    try:
        if path.suffix == ".zip":
            path.write_bytes(response.content)
            click.echo(escape_text(str(path)), err=True)
            return
        names = unpack_files(response.content, path)
    except OSError as error:
        exit_with_error(f"can't write {escape_text(str(path))}: {error.strerror}")
    except ValueError as error:
        exit_with_error(str(error))
    click.echo(escape_text(f"{path}: {', '.join(names)}"), err=True)


_OUTPUT = click.Option(
    ["--output", "-o"],
    metavar="DIR|FILE",
    help="The folder for the files, or the .zip file to write.  [default: a folder named by the capture's id]",
)

reproduce = build_command(
    "reproduce", "get_reproduction", _save_reproduction, arguments=("capture_id",), options=[_OUTPUT],
    call=_read_reproduction, as_json=False,
)  # fmt: skip
