"""The site: its public URL and hosts, and the proxies that it trusts."""

from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network

import msgspec

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
    def cookie(self) -> str:
        """The session cookie's name; the `__Host-` prefix requires https."""
        return "__Host-ticketbox" if self.secure else "ticketbox"

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
        return f"{self.public_url}{METADATA}/{'mcp' if path == '/mcp' else 'api'}"
