"""Which network addresses the server may connect to on a user's behalf (docs/operate/security.md).

A host name from a user can resolve to this machine, its network, or a cloud's metadata service. Only addresses
of the public internet are allowed (IANA's special-purpose registries; RFC 6890).
"""

from ipaddress import IPv4Network, IPv6Network, ip_address

# Besides what ipaddress calls not global: relay and transition addresses, which forward to other addresses.
_REFUSED_4 = tuple(IPv4Network(text) for text in ("192.0.0.0/24", "192.88.99.0/24", "240.0.0.0/4"))
_GLOBAL_6 = IPv6Network(
    "2000::/3"
)  # all that is assigned to the internet (RFC 4291); mapped addresses and NAT64 are outside
_REFUSED_6 = tuple(
    IPv6Network(text)
    for text in (
        "2001::/23",  # IETF protocol assignments, including Teredo (RFC 2928, 4380)
        "2001:db8::/32",  # documentation (RFC 3849)
        "2002::/16",  # 6to4: an IPv4 address inside (RFC 3056)
        "3fff::/20",  # documentation (RFC 9637)
    )
)


def is_public_address(address: str) -> bool:
    """Whether an IP address belongs to the public internet.

    False for this machine, private and link-local networks, carrier-grade NAT, multicast, reserved and
    documentation ranges, IPv4 inside IPv6 in any form, and anything that isn't an IP address.
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    if parsed.is_multicast or not parsed.is_global:
        return False
    if parsed.version == 4:
        return not any(parsed in network for network in _REFUSED_4)
    return (
        parsed.scope_id is None
        and parsed in _GLOBAL_6
        and not any(parsed in network for network in _REFUSED_6)
    )  # fmt: skip
