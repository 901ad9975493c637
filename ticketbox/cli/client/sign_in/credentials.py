"""Where `ticketbox login` keeps its tokens: the system's keyring if the package `keyring` can use one, else a file.

The file is `credentials.json` in the configuration folder, readable only by its owner. With a keyring it names the
servers, and the tokens are in the keyring.
"""

import contextlib
import importlib
import os
import sys
from collections.abc import Generator
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

from ticketbox.cli.core.output import exit_with_error

SERVICE = "ticketbox"


class Resource(StrEnum):
    """What a token is for; a token for one doesn't work with the other (RFC 8707)."""

    API = "api"
    MCP = "mcp"


class Grant(msgspec.Struct):
    """The tokens of one sign-in. `expires_at` is the epoch second at which the access token expires."""

    client_id: str
    access_token: str
    refresh_token: str
    expires_at: float


class _Entry(msgspec.Struct):
    """A sign-in in the file; without `grant` its tokens are in the keyring."""

    grant: Grant | None = None


class _File(msgspec.Struct):
    default: str | None = None
    servers: dict[str, dict[Resource, _Entry]] = {}


def get_folder(variable: str, otherwise: str) -> Path:
    """Return ticketbox's folder under one of the XDG base directories; on Windows in the local application data."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "ticketbox"
    return Path(os.environ.get(variable) or Path.home() / otherwise) / "ticketbox"


def get_credentials_path() -> Path:
    """Return the path of the file."""
    return get_folder("XDG_CONFIG_HOME", ".config") / "credentials.json"


def find_default_server() -> str | None:
    """Return the server of the last sign-in."""
    return _read().default


def load_grant(url: str, resource: Resource) -> Grant | None:
    """Return the tokens for a server, or None without a sign-in."""
    entry = _read().servers.get(url, {}).get(resource)
    if entry is None or entry.grant is not None:
        return None if entry is None else entry.grant
    keyring = _find_keyring()
    secret = None if keyring is None else keyring.get_password(SERVICE, _name(url, resource))
    return None if secret is None else msgspec.json.decode(secret, type=Grant)


def save_grant(url: str, resource: Resource, grant: Grant, *, make_default: bool = True) -> None:
    """Keep the tokens of a sign-in, and make its server the default one."""
    file = _read()
    in_keyring = _save_to_keyring(url, resource, grant)
    file.servers.setdefault(url, {})[resource] = _Entry(None if in_keyring else grant)
    if make_default:
        file.default = url
    _write(file)


def delete_grant(url: str, resource: Resource) -> None:
    """Forget the tokens of a sign-in."""
    file = _read()
    file.servers.get(url, {}).pop(resource, None)
    if not file.servers.get(url):
        file.servers.pop(url, None)
    if file.default not in file.servers:
        file.default = next(iter(file.servers), None)
    _write(file)
    if (keyring := _find_keyring()) is not None:
        with contextlib.suppress(Exception):  # a keyring raises its own errors for what it doesn't hold
            keyring.delete_password(SERVICE, _name(url, resource))


@contextlib.contextmanager
def lock_credentials() -> Generator[None]:
    """Keep other processes from refreshing the same tokens."""
    from filelock import FileLock

    path = get_credentials_path()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with FileLock(path.with_suffix(".lock"), mode=0o600):
        yield


def write_private_file(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, completely or not at all."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    temporary.replace(path)


def _read() -> _File:
    path = get_credentials_path()
    try:
        return msgspec.json.decode(path.read_bytes(), type=_File)
    except FileNotFoundError:
        return _File()
    except (OSError, msgspec.DecodeError) as error:
        exit_with_error(f"can't read {path}: {error}; delete the file and run `ticketbox login`")


def _write(file: _File) -> None:
    path = get_credentials_path()
    try:
        write_private_file(path, msgspec.json.encode(file))
    except OSError as error:
        exit_with_error(f"can't write {path}: {error.strerror}")


def _name(url: str, resource: Resource) -> str:
    return f"{url}/{resource.value}"


def _find_keyring() -> Any:
    """Return the module `keyring`, or None if it isn't installed."""
    with contextlib.suppress(ImportError):
        return importlib.import_module("keyring")
    return None


def _save_to_keyring(url: str, resource: Resource, grant: Grant) -> bool:
    """Save tokens in the keyring; return False if there is none, or it is locked."""
    keyring = _find_keyring()
    if keyring is None:
        return False
    try:
        keyring.set_password(SERVICE, _name(url, resource), msgspec.json.encode(grant).decode())
    except Exception:  # the backends raise the errors of their libraries
        return False
    return True
