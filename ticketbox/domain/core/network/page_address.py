"""Addresses of pages, as people and captures send them: text that others can open, so it is checked on arrival."""

import re
from urllib.parse import urlsplit

# as browsers read them (URL Standard): any slashes after the scheme, a login up to the last @, \ like /
_WEB = re.compile(
    r"""(https?):[/\\]*(?:[^/\\?#]*@)?([^/\\?#@\s"<>^`{|}]+)([/\\][^?#]*)?((?:[?#].*)?)""", re.IGNORECASE | re.DOTALL
)
_FILE = re.compile(r"file:(?://([^/\\?#@]*))?([/\\][^?#]*)((?:[?#].*)?)", re.IGNORECASE | re.DOTALL)
_DROPPED = re.compile(r"[\x00-\x1f\x7f]")


def normalize_page_address(text: str) -> str | None:
    """Return an http, https or file address without a login, whose path has one slash at its beginning and no \\.

    Returns None for every other text.
    """
    text = _DROPPED.sub("", text).strip(" ")
    if found := _WEB.fullmatch(text):
        scheme, host, path, rest = found[1].lower(), found[2], found[3], found[4]
    elif found := _FILE.fullmatch(text):
        scheme, host, path, rest = "file", found[1] or "", found[2], found[3]
    else:
        return None
    try:
        urlsplit(f"{scheme}://{host}/").port  # noqa: B018 (raises for what isn't a host)
    except ValueError:
        return None
    return f"{scheme}://{host}{normalize_path(path) if path else ''}{rest}"


def normalize_path(path: str) -> str:
    """Return a path with one slash at its beginning and no \\, so that it names no other host."""
    return "/" + path.replace("\\", "/").lstrip("/")
