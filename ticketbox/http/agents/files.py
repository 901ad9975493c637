"""Files for coding agents, with the instance's address filled in. None of them contains a secret."""

from importlib import resources
from typing import Any

from ticketbox import __version__

_FOLDER = resources.files("ticketbox.http.agents") / "files"
_PLACEHOLDER = "{url}"
_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"


def render_file(name: str, url: str) -> str:
    """Return the text of a file for the instance at an address."""
    return (_FOLDER / name).read_text("utf-8").replace(_PLACEHOLDER, url)


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
                "description": "An API token of Settings > API tokens.",
                "isRequired": True,
                "isSecret": True,
            },
        ],
    }
    return {**description, "packages": [package]}
