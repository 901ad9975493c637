"""The address of a server: its parts, and how people configure it for the command line and the local MCP server."""

import re
from urllib.parse import urlsplit

from ticketbox.domain.core.network.host_names import build_authority


def parse_server_url(text: str) -> str:
    """Return a server's address without a slash at the end, and without the path of its MCP endpoint or API.

    Raises ValueError for anything that isn't an http or https address; its message says what is expected.
    """
    text = text.strip()
    try:
        parts = urlsplit(text)
        authority = build_authority(parts)
    except ValueError:
        parts, authority = urlsplit(""), ""
    if parts.scheme not in {"http", "https"} or not authority or parts.username is not None:
        shown = text if parts.username is None else "an address with a user name"
        raise ValueError(f"{shown} isn't a server's address, such as https://tickets.example.org")
    path = re.sub(r"(/mcp|/api(/v1)?)?/*$", "", parts.path)
    return f"{parts.scheme}://{authority}{path}"


def get_origin(public_url: str) -> str:
    """Return the origin of a public URL, as browsers send it in Origin (RFC 6454): without its path."""
    return public_url.removesuffix(urlsplit(public_url).path)


def get_path(public_url: str) -> str:
    """Return the path of a public URL: empty, or such as `/tickets`, without a slash at its end."""
    return urlsplit(public_url).path
