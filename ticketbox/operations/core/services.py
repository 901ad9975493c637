"""What an operation may use outside its transaction: worker threads, questions, buckets."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

import msgspec

from ticketbox.domain.core.limits import RateLimiter
from ticketbox.domain.core.problems import RateLimited
from ticketbox.operations.core.listeners import Listeners
from ticketbox.store.file.database import Database, Read

T = TypeVar("T")


class FetchedResponse(msgspec.Struct, frozen=True):
    """The answer of another server."""

    status: int
    media_type: str
    body: bytes


class FetchError(Exception):
    """Another server can't be asked, or mustn't be, or its answer breaks a bound. The text says which."""


class Fetch(Protocol):
    """The one way out to other servers, guarded. Raises Unreachable."""

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
        """Send one request; the answer has at most `most` bytes, and comes within `seconds`.

        With `most` 0 nothing is read of its body. `plain` allows http where private addresses are allowed.
        """
        ...


async def refuse_to_fetch(url: str, **_: Any) -> FetchedResponse:
    """The way out of a command line: there is none."""
    raise FetchError("this doesn't fetch")


class Services:
    """What an operation's `prepare` and `finish` may use outside a transaction."""

    def __init__(
        self,
        database: Database,
        limiter: RateLimiter,
        public_url: str,
        fetch: Fetch = refuse_to_fetch,
        listeners: Listeners | None = None,
        *,
        allow_private: bool = False,
        mails: bool = False,
    ) -> None:
        self.database = database
        self.limiter = limiter
        self.public_url = public_url
        self.fetch = fetch
        self.allow_private = allow_private
        self.mails = mails
        self.listeners = Listeners() if listeners is None else listeners
        self.used: dict[int, int] = {}
        self.last_backup: float | None = None
        self.mailed: Counter[str] = Counter()
        # Two at a time: hashing and pictures take whole cores and tens of megabytes.
        self._workers = ThreadPoolExecutor(2, thread_name_prefix="work")

    async def work(self, function: Callable[..., T], *arguments: Any) -> T:
        """Run something slow on a worker thread."""
        return await asyncio.get_running_loop().run_in_executor(self._workers, function, *arguments)

    async def read(self, question: Callable[[Read], T]) -> T:
        """Ask the database outside the operation's own transaction."""
        return await self.database.read(question)

    def limit(self, key: object, name: str, per_minute: int, what: str) -> None:
        """Draw on a bucket that isn't a credential's; raises RateLimited when it is empty."""
        level = self.limiter.draw((name, key), name, per_minute)
        if level.retry_after:
            raise RateLimited(level.retry_after, what)

    def close(self) -> None:
        """Let running work end and take no more."""
        self._workers.shutdown(cancel_futures=True)
