"""Settings of `ticketbox serve`: each is an option and a `TICKETBOX_…` variable (docs/operate/configuration.md)."""

import os
import re
import sys
from ipaddress import IPv4Network, IPv6Network, ip_address
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from ticketbox.domain.accounts.client_metadata import ClientMetadataMode
from ticketbox.domain.accounts.identity_provider import ProviderSettings
from ticketbox.domain.core.fairness.ceilings import Ceilings
from ticketbox.domain.core.network.host_names import DEFAULT_PORTS, build_authority
from ticketbox.domain.core.problems import InvalidField

if TYPE_CHECKING:
    from ticketbox.domain.events.email_server import EmailServer

_PATH = re.compile(r"(/(?!\.)[A-Za-z0-9._~-]+)+", re.ASCII)
DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8420
DEFAULT_KEEP = 14
DEFAULT_DELIVERIES = 20
DEFAULT_EVENT_STREAMS = 500
DEFAULT_UPLOADS = 4
DEFAULT_UPLOAD_RATE = 4096
DEFAULT_CAPTURE_SECONDS = 5
DEFAULT_QUEUE_SECONDS = 15


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a server. `public_url` has no trailing slash.

    `backup_every`, `drop_captures_after` and `session_idle_seconds` are seconds; None is never. `min_upload_rate` is
    bytes per second; 0 is no minimum. Without a `relay` no emails are sent.
    """

    db: Path
    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    public_url: str
    unix_socket: Path | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None
    trusted_proxies: tuple[IPv4Network | IPv6Network, ...] = ()
    log_format: str = "text"
    public_url_given: bool = False
    allow_private_addresses: bool = False
    client_metadata: ClientMetadataMode = ClientMetadataMode.AUTO
    backup_every: int | None = None
    backup_keep: int = DEFAULT_KEEP
    backup_dir: Path | None = None
    drop_captures_after: int | None = None
    trust_clock: bool = False
    leave_checkpoints: bool = False
    assets_dir: Path | None = None
    max_deliveries: int = DEFAULT_DELIVERIES
    max_event_streams: int = DEFAULT_EVENT_STREAMS
    max_uploads: int = DEFAULT_UPLOADS
    min_upload_rate: int = DEFAULT_UPLOAD_RATE
    max_capture_seconds: int = DEFAULT_CAPTURE_SECONDS
    max_queue_seconds: int = DEFAULT_QUEUE_SECONDS
    session_idle_seconds: int | None = None
    ceilings: Ceilings = msgspec.field(default_factory=Ceilings)
    relay: "EmailServer | None" = None
    provider: ProviderSettings | None = None

    @property
    def secure(self) -> bool:
        """Whether browsers use https."""
        return self.public_url.startswith("https://")

    @property
    def hosts(self) -> frozenset[str]:
        """The Host headers that this server accepts."""
        public = urlsplit(self.public_url)
        hosts = {public.netloc, f"{public.netloc}:{public.port or DEFAULT_PORTS[public.scheme]}"}
        for host in {"localhost", "127.0.0.1", "[::1]", _bracket_ipv6(self.host)}:
            hosts |= {host, f"{host}:{self.port}"}
        return frozenset(hosts)

    @property
    def any_address(self) -> bool:
        """Whether any IP address is accepted as Host: when listening on all addresses without a public URL."""
        return not self.public_url_given and self.host in {"0.0.0.0", "::", ""}  # noqa: S104 (compared, not bound)


def parse_public_url(text: str | None, host: str, port: int, *, tls: bool) -> str:
    """Return the public URL, by default built from host and port. Raises InvalidField for anything else.

    It has no slash at its end. Segments of its path have only characters that are never percent-encoded (RFC 3986,
    2.3), so that a path can be compared with it byte by byte.
    """
    if text is None:
        scheme = "https" if tls else "http"
        name = "localhost" if host in {"0.0.0.0", "::", "", "127.0.0.1"} else _bracket_ipv6(host)  # noqa: S104
        return f"{scheme}://{build_authority(urlsplit(f'//{name}:{port}', scheme))}"
    try:
        parts = urlsplit(text.strip())
        authority = build_authority(parts)
    except ValueError as error:
        raise InvalidField("public-url", f"not a URL: {error}") from None
    if parts.scheme not in {"http", "https"} or not authority or parts.query or parts.fragment or parts.username:
        raise InvalidField("public-url", "use a URL such as https://tickets.example.org")
    path = parts.path.rstrip("/")
    if path and not _PATH.fullmatch(path):
        raise InvalidField("public-url", "the path may have letters, digits, -, _, ~ and dots, such as /tickets")
    return f"{parts.scheme}://{authority}{path}"


def find_default_db() -> Path:
    """Return the path of the default file, in the platform's data folder."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "ticketbox" / "ticketbox.db"


def _bracket_ipv6(host: str) -> str:
    try:
        return f"[{host}]" if ip_address(host).version == 6 else host
    except ValueError:
        return host
