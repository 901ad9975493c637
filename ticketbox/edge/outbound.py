"""Requests to URLs that users entered (docs/operate/security.md, "Outgoing requests").

The check happens when connecting: the name is resolved once, all of its addresses must be public, and the connection
uses a checked address. So DNS rebinding and unusual spellings of an address have no effect. Redirects aren't followed,
and no proxy is used.
"""

import asyncio
import functools
import socket
import ssl
from collections.abc import Iterable, Mapping
from typing import Any, cast
from urllib.parse import urlsplit

import httpcore2
from httpcore2 import AsyncConnectionPool, AsyncNetworkBackend, AsyncNetworkStream

from ticketbox import __version__
from ticketbox.domain.core.network.host_names import build_authority
from ticketbox.domain.core.network.outbound_addresses import is_public_address
from ticketbox.operations.core.services import FetchedResponse, FetchError

_REFUSED = "its address isn't one of the public internet's"


class Guard(AsyncNetworkBackend):
    """Connects only to public addresses, unless the operator allows private ones."""

    def __init__(self, *, allow_private: bool) -> None:
        self._allow_private = allow_private
        self._backend = cast(AsyncNetworkBackend, httpcore2.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 (part of the interface)
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> AsyncNetworkStream:
        """Resolve the name once, check the addresses and connect. Raises FetchError."""
        for address in await self._resolve(host, port):
            try:
                return await self._backend.connect_tcp(address, port, timeout, local_address, socket_options)
            except httpcore2.ConnectError:
                continue
        raise FetchError("it can't be connected to")

    async def _resolve(self, host: str, port: int) -> list[str]:
        try:
            entries = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            raise FetchError("its name can't be resolved") from None
        addresses = list(dict.fromkeys(cast(str, each[4][0]) for each in entries))
        if not self._allow_private and not all(is_public_address(address) for address in addresses):
            raise FetchError(_REFUSED)
        return addresses


@functools.cache
def _load_tls_context() -> ssl.SSLContext:
    """Load the trusted certificate authorities once, because that takes longer than a request."""
    return httpcore2.default_ssl_context()


class Fetcher:
    """Sends requests over https through the guard, each on a new connection."""

    def __init__(self, *, allow_private: bool = False) -> None:
        self._allow_private = allow_private
        self._guard = Guard(allow_private=allow_private)

    async def __call__(
        self,
        url: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        most: int = 64 * 1024,
        seconds: float = 5.0,
        plain: bool = False,
    ) -> FetchedResponse:
        """Send one request. Raises FetchError if there is no usable answer."""
        if not url.startswith("https://") and not (plain and self._allow_private and url.startswith("http://")):
            raise FetchError("only https is fetched")
        sent = {"User-Agent": f"ticketbox/{__version__}", "Accept-Encoding": "identity", **(headers or {})}
        try:
            async with asyncio.timeout(seconds):
                return await self._send(url, method, sent, body, most)
        except TimeoutError:
            raise FetchError(f"it didn't answer within {seconds:g} s") from None
        except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException, ssl.SSLError, OSError):
            raise FetchError("it can't be connected to, or its certificate isn't trusted") from None
        except ValueError:
            raise FetchError("it is no address") from None

    async def _send(self, url: str, method: str, headers: Mapping[str, str], body: bytes, most: int) -> FetchedResponse:
        address = urlsplit(url)
        authority = build_authority(address)
        target = address._replace(netloc=authority, fragment="").geturl()
        sent = [("Host", authority), *headers.items()]
        tls_context = await asyncio.to_thread(_load_tls_context)
        async with (
            AsyncConnectionPool(ssl_context=tls_context, network_backend=self._guard) as pool,
            pool.stream(method, target, headers=sent, content=body or None) as answer,
        ):
            parts: list[bytes] = []
            if most:
                async for part in answer.aiter_stream():
                    parts.append(part)
                    if sum(map(len, parts)) > most:
                        raise FetchError(f"its answer has more than {most:,} bytes")
            kind = next((value for name, value in answer.headers if name.lower() == b"content-type"), b"")
            media_type = kind.decode("latin-1").partition(";")[0].strip().lower()
            return FetchedResponse(answer.status, media_type, b"".join(parts))
