"""Which addresses a stranger may send this server to: one test for each class."""

import pytest

from ticketbox.domain.core.network.outbound_addresses import is_public_address


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "93.184.215.14", "223.255.255.1", "2606:4700:4700::1111", "2a00:1450:4001:82f::200e"]
)
def test_public_addresses_are_public(address: str) -> None:
    assert is_public_address(address)


CLASSES = {
    "this machine": ["127.0.0.1", "127.1.2.3", "::1", "0.0.0.0", "::"],
    "private": ["10.0.0.1", "172.16.0.1", "172.31.255.254", "192.168.1.1", "fc00::1", "fd12:3456::1"],
    "link-local": ["169.254.0.1", "169.254.169.254", "fe80::1", "fe80::1%eth0", "2606:4700::1%eth0"],
    "site-local": ["fec0::1"],
    "carrier-grade NAT": ["100.64.0.1", "100.127.255.254"],
    "multicast": ["224.0.0.1", "239.255.255.255", "ff02::1", "ff0e::1"],
    "broadcast and reserved": ["255.255.255.255", "240.0.0.1", "0.1.2.3", "4000::1", "::2", "100::1"],
    "documentation": ["192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1", "3fff::1"],
    "benchmarks": ["198.18.0.1", "198.19.255.255", "2001:2::1"],
    "protocols": ["192.0.0.1", "192.0.0.8", "192.0.0.170", "2001:1::1"],
    "IPv4 in IPv6": ["::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:8.8.8.8", "::127.0.0.1", "::ffff:0:8.8.8.8"],
    "NAT64": ["64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::1"],
    "6to4": ["2002:7f00:1::1", "2002:808:808::1", "192.88.99.1"],
    "Teredo": ["2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001::1"],
    "no address at all": ["", "localhost", "2130706433", "0x7f.1", "127.1", "1.1.1.1.", " 1.1.1.1", "1.1.1.1:80"],
}


@pytest.mark.parametrize(("kind", "address"), [(kind, each) for kind, listed in CLASSES.items() for each in listed])
def test_all_other_addresses_are_private(kind: str, address: str) -> None:
    assert not is_public_address(address), kind
