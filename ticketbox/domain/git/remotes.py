"""Addresses of remote repositories, without what only their owner may know."""

import re
from urllib.parse import urlsplit

_HOST = r"(?:[A-Za-z0-9_][A-Za-z0-9_.\-]*|\[[0-9A-Fa-f:.]+\])"
_AUTHORITY = re.compile(rf"{_HOST}(?::[0-9]{{1,5}})?")
_SCP = re.compile(rf"[A-Za-z0-9_][A-Za-z0-9_.\-]*@{_HOST}:[^/]\S*")  # git@host:path
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]*")


def clean_remote(remote: str) -> str | None:
    """Return the address of a remote without credentials; None if it isn't one of another machine's repository.

    Removes the user (of SSH only the password), the query and the fragment: each can be a secret. Local paths are
    nobody else's business. Source: "GIT URLS" of https://git-scm.com/docs/git-clone.
    """
    text = remote.strip()
    if not text.isprintable() or " " in text:
        return None
    try:
        parts = urlsplit(text)
    except ValueError:
        return None
    if not parts.netloc:
        return text if _SCP.fullmatch(text) else None
    login, _, host = parts.netloc.rpartition("@")
    if parts.scheme not in {"https", "http", "ssh", "git"} or not _AUTHORITY.fullmatch(host):
        return None
    user = login.partition(":")[0]
    if parts.scheme == "ssh" and _USER.fullmatch(user):
        host = f"{user}@{host}"
    return f"{parts.scheme}://{host}{parts.path}"
