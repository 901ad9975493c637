"""Files for coding agents, with the instance's address filled in. None of them contains a secret."""

import io
import zipfile
from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from ticketbox import __version__

_FOLDER = resources.files("ticketbox.http.agents") / "files"
_OLDEST = (1980, 1, 1, 0, 0, 0)  # the time of every file, so that the zip has the same bytes each time
_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"


def render_file(name: str, url: str) -> str:
    """Return the text of a file for the instance at an address."""
    return _fill_in(_FOLDER / name, url)


def list_skills() -> list[str]:
    """List the names of the agent skills."""
    return sorted(skill.name for skill in (_FOLDER / "plugin" / "skills").iterdir())


def render_skills(url: str) -> dict[str, str]:
    """Return the text of each skill by its name, for the instance at an address."""
    return {name: render_file(f"plugin/skills/{name}/SKILL.md", url) for name in list_skills()}


def build_plugin(url: str) -> bytes:
    """Build the zip of the Claude Code plugin, which is also a marketplace, for the instance at an address."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, file in sorted(_list_files(_FOLDER / "plugin", "")):
            archive.writestr(zipfile.ZipInfo(name, _OLDEST), _fill_in(file, url), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _list_files(folder: Traversable, path: str) -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _list_files(entry, f"{path}{entry.name}/")
        else:
            yield path + entry.name, entry


def _fill_in(file: Traversable, url: str) -> str:
    return file.read_text("utf-8").replace("{url}", url).replace("{version}", __version__)


def describe_server(url: str | None) -> dict[str, Any]:
    """Describe the MCP server for registries (server.json, schema of 2025-12-11).

    With an address, describes that instance's endpoint; without one, the package that connects to any instance.
    """
    description: dict[str, Any] = {
        "$schema": _SCHEMA,
        "name": "io.github.ticketbox/ticketbox",
        "title": "ticketbox",
        "description": "Tickets with captures of web pages: find, claim, fix and report bugs. Self-hosted.",
        "version": __version__,
    }
    if url is not None:
        return {**description, "remotes": [{"type": "streamable-http", "url": f"{url}/mcp"}]}
    package = {
        "registryType": "pypi",
        "identifier": "ticketbox",
        "version": __version__,
        "runtimeHint": "uvx",
        "transport": {"type": "stdio"},
        "packageArguments": [{"type": "positional", "value": "mcp"}],
        "environmentVariables": [
            {
                "name": "TICKETBOX_URL",
                "description": "The address of your ticketbox.",
                "placeholder": "https://tickets.example.org",
                "isRequired": True,
            },
            {
                "name": "SERVICE_API_TOKEN",
                "description": "An API token of Settings > Agents and tokens.",
                "isRequired": True,
                "isSecret": True,
            },
        ],
    }
    return {**description, "packages": [package]}
