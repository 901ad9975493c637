"""What a run of a reproduction starts with: cookies and storage of a file, and a script of the person's.

docs/use/verifications.md, "Signed-in pages".
"""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click
import msgspec

from ticketbox.cli.client.terminal import escape_line

STORAGE_STATE = "storage-state.json"
_SCRIPTS = (".js", ".mjs", ".cjs", ".ts", ".mts")


class _Cookie(msgspec.Struct):
    name: str
    value: str
    domain: str
    path: str = "/"


class _Origin(msgspec.Struct):
    origin: str
    localStorage: list[dict[str, str]] = []


class _State(msgspec.Struct):
    cookies: list[_Cookie] = []
    origins: list[_Origin] = []


class Session(msgspec.Struct, frozen=True):
    """The files that a run starts with."""

    storage_state: Path | None = None
    setup: Path | None = None


NO_SESSION = Session(None, None)


def prepare_session(storage_state: Path | None, setup: Path | None, base_url: str, folder: Path) -> Session:
    """Copy what a storage state has of the application to a folder, and check the script.

    Exits with wrong usage if a file isn't what its option says, or is of another site.
    """
    if setup is not None and setup.suffix not in _SCRIPTS:
        raise click.UsageError(f"--setup needs a script for Node ({', '.join(_SCRIPTS)})")
    if storage_state is None:
        return Session(None, setup and setup.resolve())
    name = escape_line(str(storage_state))
    try:
        data = storage_state.read_bytes()
        state, sent = msgspec.json.decode(data, type=_State), msgspec.json.decode(data)
    except (OSError, msgspec.DecodeError) as error:
        raise click.UsageError(
            f"{name} isn't a storage state of Playwright ({escape_line(str(error))}); write one with "
            "`npx playwright open --save-storage FILE`"
        ) from error
    parts = urlsplit(base_url)
    origin, host = f"{parts.scheme}://{parts.netloc}", parts.hostname or ""
    is_own = {
        "cookies": [_belongs(each.domain, host) for each in state.cookies],
        "origins": [each.origin == origin for each in state.origins],
    }
    kept: dict[str, list[Any]] = {
        part: [each for each, own in zip(sent.get(part, []), is_own[part], strict=True) if own] for part in is_own
    }
    if not any(kept.values()):
        sites = sorted({each.domain for each in state.cookies} | {each.origin for each in state.origins})
        found = f"is of {escape_line(', '.join(sites[:3]))}" if sites else "is empty"
        raise click.UsageError(f"{name} {found}, and has nothing of {escape_line(origin)}")
    target = folder / STORAGE_STATE
    target.touch(mode=0o600)
    target.write_bytes(msgspec.json.encode(kept))
    return Session(target, setup and setup.resolve())


def _belongs(domain: str, host: str) -> bool:
    """Whether a host gets the cookies of a domain (RFC 6265, section 5.1.3)."""
    suffix = domain.removeprefix(".")
    return host == suffix or (domain.startswith(".") and host.endswith(f".{suffix}"))
