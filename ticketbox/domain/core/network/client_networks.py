"""The network that one client controls."""

from ipaddress import IPv6Network, ip_address


def get_client_network(address: str) -> str:
    """Return the network that one client controls: an IPv6 /64, or one IPv4 address."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    return address if parsed.version == 4 else str(IPv6Network((int(parsed) >> 64 << 64, 64)))
