"""Names of hosts as protocols send them."""

from urllib.parse import SplitResult

DEFAULT_PORTS = {"http": 80, "https": 443}


def encode_host(name: str) -> str:
    """Return the name of a host in ASCII and lower case, as browsers encode it (UTS 46, non-transitional).

    Raises ValueError for a name that can't be encoded.
    """
    if name.isascii():
        return name.lower()
    import idna

    return idna.encode(name, uts46=True).decode()


def encode_address(address: str) -> str:
    """Return an email address with its domain in ASCII, which every email server supports.

    Raises ValueError for a local part that isn't ASCII, which few do (RFC 6531), and for a domain that is none.
    """
    local, _, domain = address.rpartition("@")
    if not local.isascii():
        raise ValueError("only addresses in ASCII before the @ get email")
    return f"{local}@{encode_host(domain)}"


def build_authority(parts: SplitResult) -> str:
    """Return the host and port of a URL as they are sent in Host and Origin: without the scheme's default port.

    RFC 9110, 4.2.3, and RFC 3986, 3.2.2. Raises ValueError for a host or port that is none.
    """
    host = encode_host(parts.hostname or "")
    if ":" in host:
        host = f"[{host}]"
    return host if parts.port in {None, DEFAULT_PORTS.get(parts.scheme)} else f"{host}:{parts.port}"
