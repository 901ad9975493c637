"""A proxy for clients that can't send an Authorization header: it adds one and changes nothing else."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator


class TokenProxy:
    """Relays HTTP/1.1 from a free port; `url` is the address for the client."""

    def __init__(self, upstream: str, token: str) -> None:
        host, _, port = upstream.removeprefix("http://").partition(":")
        self._host, self._port, self._token = host, int(port), token
        self._ready = threading.Event()
        self._open: set[asyncio.Task[None]] = set()

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        server = await asyncio.start_server(self._relay, "127.0.0.1", 0)
        self._own = f"localhost:{server.sockets[0].getsockname()[1]}"
        self.url = f"http://{self._own}"
        self._ready.set()
        async with server:
            await self._stop.wait()
        await asyncio.sleep(0.05)  # nothing shows that the task of the connection accepted last has begun
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _relay(self, reading: asyncio.StreamReader, writing: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._pass_on(reading, writing))
        self._open.add(task)
        task.add_done_callback(self._open.discard)
        await asyncio.gather(task, return_exceptions=True)

    async def _pass_on(self, reading: asyncio.StreamReader, writing: asyncio.StreamWriter) -> None:
        writers = [writing]
        try:
            await self._exchange(reading, writers)
        finally:
            for writer in writers:
                writer.close()

    async def _exchange(self, reading: asyncio.StreamReader, writers: list[asyncio.StreamWriter]) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            head = (await reading.readuntil(b"\r\n\r\n")).decode("latin-1")
            # One request a connection, so that this need not know where a body ends.
            lines = [line for line in head.split("\r\n")[:-2] if not line.lower().startswith("connection:")]
            lines = [line.replace(self._own, f"{self._host}:{self._port}") for line in lines]
            lines += [f"Authorization: Bearer {self._token}", "Connection: close", "", ""]
            back, there = await asyncio.open_connection(self._host, self._port)
            writers.append(there)
            there.write("\r\n".join(lines).encode("latin-1"))
            upward = asyncio.create_task(self._copy(reading, there))
            try:
                await self._copy(back, writers[0])
            finally:
                upward.cancel()

    async def _copy(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while part := await source.read(65_536):
                target.write(part)
                await target.drain()


@contextlib.contextmanager
def run_token_proxy(upstream: str, token: str) -> Iterator[str]:
    """Run a proxy that adds the token; yields its address."""
    relay = TokenProxy(upstream, token)
    thread = threading.Thread(target=lambda: asyncio.run(relay._serve()))
    thread.start()
    relay._ready.wait(60)
    try:
        yield relay.url
    finally:
        relay._loop.call_soon_threadsafe(relay._stop.set)
        thread.join(10)
