"""The network that one client controls."""

from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

MAX_KNOWN = 1_000

_NAT64 = IPv6Network("64:ff9b::/96")


@lru_cache(MAX_KNOWN)
def find_ipv4(address: str) -> str:
    """Return the IPv4 address in a mapped IPv6 one (RFC 4291, 2.5.5.2; RFC 6052), else the address itself.

    A socket for both versions reports every IPv4 client with a mapped address.
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        if parsed in _NAT64:
            return str(IPv4Address(int(parsed) & 0xFFFF_FFFF))
    return address


def get_client_network(address: str) -> str:
    """Return the network that one client controls: an IPv6 /64, or one IPv4 address."""
    address = find_ipv4(address)
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    return address if parsed.version == 4 else str(IPv6Network((int(parsed) >> 64 << 64, 64)))
