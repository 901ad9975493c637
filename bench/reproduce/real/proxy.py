"""A reverse proxy that breaks an application: each of its four addresses changes the answers in another way."""

import asyncio
import contextlib
import http.client
import re
import threading
from collections.abc import Iterator
from typing import NamedTuple

from bench.reproduce.real.application import Fault

_DROPPED = {"content-length", "content-encoding", "transfer-encoding", "connection", "etag", "content-security-policy"}
_NOT_SENT = {"accept-encoding", "connection", "if-none-match", "if-modified-since", "range"}
_HEAD_BYTES = 1 << 17


class Variants(NamedTuple):
    """The addresses of an application: with its fault and without it, each also without a backend."""

    broken: str
    fixed: str
    broken_front: str
    fixed_front: str


@contextlib.contextmanager
def serve_variants(port: int, fault: Fault, seen: list[str]) -> Iterator[Variants]:
    """Serve the application on a port in four variants; `seen` gets the path of each answer that was broken."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="proxy")
    thread.start()
    kinds = [(found, backend) for backend in (True, False) for found in (fault, None)]
    proxies = [_Proxy(port, fault_, backend, seen) for fault_, backend in kinds]
    servers = [asyncio.run_coroutine_threadsafe(each.listen(), loop).result(10) for each in proxies]
    try:
        yield Variants(*(f"http://127.0.0.1:{each.sockets[0].getsockname()[1]}" for each in servers))
    finally:
        asyncio.run_coroutine_threadsafe(_end(servers), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


async def _end(servers: list[asyncio.Server]) -> None:
    for each in servers:
        each.close()
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


class _Proxy:
    def __init__(self, port: int, fault: Fault | None, backend: bool, seen: list[str]) -> None:
        self._port, self._fault, self._backend, self._seen = port, fault, backend, seen

    async def listen(self) -> asyncio.Server:
        return await asyncio.start_server(self._handle, "127.0.0.1", 0, limit=_HEAD_BYTES)

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, http.client.HTTPException):
            head = await reader.readuntil(b"\r\n\r\n")
            lines = head.decode("latin-1").split("\r\n")
            method, path, _ = lines[0].split(" ", 2)
            headers = [(name, value.strip()) for name, _, value in (each.partition(":") for each in lines[1:] if each)]
            given = {name.lower(): value for name, value in headers}
            length = int(given.get("content-length", 0))
            is_socket = given.get("upgrade", "").lower() == "websocket"
            if not self._backend and (is_socket or given.get("sec-fetch-dest") == "empty"):
                await reader.readexactly(length)  # or the browser reports a lost connection
                writer.write(_build_answer(502, [("Content-Type", "text/plain")], b"no backend"))
            elif self._fault and (method, bool(re.search(self._fault.path, path))) == (self._fault.method, True):
                body = await reader.readexactly(length)
                writer.write(await asyncio.to_thread(self._break, self._fault, method, path, headers, body))
            else:
                await self._forward(head, is_socket, reader, writer)
            await writer.drain()
        with contextlib.suppress(OSError):
            writer.close()

    def _break(self, fault: Fault, method: str, path: str, headers: list[tuple[str, str]], body: bytes) -> bytes:
        """Answer a request that the fault concerns; one whose body lacks what was `sent` is answered as usual."""
        concerns = fault.sent.encode() in body
        if fault.status and concerns:
            self._seen.append(path)
            return _build_answer(fault.status, [("Content-Type", "text/html")], b"<title>Error</title>Server error")
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        kept = {name: value for name, value in headers if name.lower() not in _NOT_SENT}
        connection.request(method, path, body or None, kept)
        answer = connection.getresponse()
        content = answer.read()
        if concerns and fault.old.encode() in content:
            self._seen.append(path)
            content = content.replace(fault.old.encode(), fault.new.encode())
        sent = [(name, value) for name, value in answer.getheaders() if name.lower() not in _DROPPED]
        connection.close()
        return _build_answer(answer.status, sent, content)

    async def _forward(
        self, head: bytes, is_socket: bool, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Pass on one request and its answer, or the messages of a socket, as they are."""
        above, there = await asyncio.open_connection("127.0.0.1", self._port)
        there.write(head if is_socket else re.sub(rb"(?i)\r\nconnection:[^\r]*", b"\r\nConnection: close", head))
        sending = asyncio.ensure_future(_copy(reader, there))
        try:
            await _copy(above, writer)
        finally:
            sending.cancel()
            there.close()


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await source.read(1 << 16):
            target.write(data)
            await target.drain()


def _build_answer(status: int, headers: list[tuple[str, str]], body: bytes) -> bytes:
    lines = [f"HTTP/1.1 {status} Answer", *(f"{name}: {value}" for name, value in headers)]
    ends = [f"Content-Length: {len(body)}", "Connection: close", "", ""]
    return "\r\n".join([*lines, *ends]).encode("latin-1") + body
