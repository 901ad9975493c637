"""The site: its public URL and hosts, and the proxies that it trusts."""

from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network
from urllib.parse import urlsplit

import msgspec

from ticketbox.domain.core.network.server_url import get_origin, get_path

METADATA = "/.well-known/oauth-protected-resource"


class Site(msgspec.Struct, frozen=True):
    """The server's public URL and hosts, and the proxies that it trusts.

    `hosts` are the accepted Host values; `any_address` also accepts any IP address, because a rebinding attack needs
    a name. `secure` means that browsers use https; `by_socket` that every client is a proxy, because only a proxy
    can open the unix socket.
    """

    public_url: str
    hosts: frozenset[str]
    any_address: bool
    secure: bool
    proxies: Sequence[IPv4Network | IPv6Network] = ()
    by_socket: bool = False

    @property
    def origin(self) -> str:
        """The origin of the public URL."""
        return get_origin(self.public_url)

    @property
    def path(self) -> str:
        """The path of the public URL: empty, or such as `/tickets`."""
        return get_path(self.public_url)

    @property
    def cookie(self) -> str:
        """The session cookie's name."""
        return name_session_cookie(self.public_url)

    @property
    def device_cookie(self) -> str:
        """The name of the cookie by which a browser is known after signing out."""
        return f"{self.cookie}-device"

    @property
    def provider_cookie(self) -> str:
        """The name of the cookie that binds a sign-in at the identity provider to the browser."""
        return f"{self.cookie}-provider"

    def build_metadata_url(self, path: str) -> str:
        """Return the URL of the metadata document for a path (RFC 9728)."""
        return f"{self.origin}{METADATA}{self.path}/{'mcp' if path == '/mcp' else 'api'}"


def name_session_cookie(public_url: str) -> str:
    """Return the name of the session's cookie (RFC 6265bis, 4.1.3).

    The `__Host-` prefix requires https and the path `/`; `__Secure-` requires https. Browsers send the cookies of one
    port to all ports of a host (RFC 6265, 8.5), so a port that isn't the default is part of the name.
    """
    port = urlsplit(public_url).port
    name = "ticketbox" if port is None else f"ticketbox-{port}"
    if not public_url.startswith("https://"):
        return name
    return f"__Secure-{name}" if get_path(public_url) else f"__Host-{name}"
