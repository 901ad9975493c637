"""Services for operations outside their transactions: worker threads, the database, rate limits, HTTP requests."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

import msgspec

from ticketbox.domain.accounts.client_metadata import ClientMetadata
from ticketbox.domain.accounts.identity_provider import Provider
from ticketbox.domain.core.access.policy import Actor, Kind
from ticketbox.domain.core.fairness.ceilings import Ceilings
from ticketbox.domain.core.fairness.fair_queue import FairQueue, FairShare
from ticketbox.domain.core.fairness.limits import RateLimiter
from ticketbox.domain.core.fairness.processor_time import ProcessorBudgets
from ticketbox.domain.core.problems import Problem, RateLimited
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.live.listeners import Listeners
from ticketbox.operations.core.live.provisional import ProvisionalClaims
from ticketbox.operations.core.workers.pool import Workers
from ticketbox.settings import DEFAULT_CAPTURE_SECONDS, DEFAULT_QUEUE_SECONDS, DEFAULT_UPLOAD_RATE, DEFAULT_UPLOADS
from ticketbox.store.file.database import Database, Origin, Read, Write

T = TypeVar("T")

LATER_SECONDS = 0.5

log = logging.getLogger("ticketbox")


class FetchedResponse(msgspec.Struct, frozen=True):
    """The response of another server."""

    status: int
    media_type: str
    body: bytes


class FetchError(Exception):
    """A request to another server failed or isn't allowed, or the response exceeds a limit. The text says which."""


class Fetch(Protocol):
    """A function that sends a guarded request to another server. Raises FetchError."""

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
        """Send a request. The response has at most `most` bytes and must arrive within `seconds`.

        With `most` 0 the body isn't read. `plain` allows http if private addresses are allowed.
        """
        ...


async def refuse_to_fetch(url: str, **_: Any) -> FetchedResponse:
    """Refuse every request: the command line sends none. Raises FetchError."""
    raise FetchError("requests to other servers are disabled")


class Services:
    """The services for an operation's `prepare` and `finish`, outside the transaction."""

    def __init__(
        self,
        database: Database,
        limiter: RateLimiter,
        public_url: str,
        fetch: Fetch = refuse_to_fetch,
        listeners: Listeners | None = None,
        *,
        allow_private: bool = False,
        sends_email: bool = False,
        client_metadata: ClientMetadata | None = None,
        provider: Provider | None = None,
        max_uploads: int = DEFAULT_UPLOADS,
        min_upload_rate: int = DEFAULT_UPLOAD_RATE,
        max_capture_seconds: float = DEFAULT_CAPTURE_SECONDS,
        max_queue_seconds: float = DEFAULT_QUEUE_SECONDS,
        ceilings: Ceilings | None = None,
        session_idle_seconds: int | None = None,
    ) -> None:
        self.database = database
        self.limiter = limiter
        self.ceilings = Ceilings() if ceilings is None else ceilings
        self.public_url = public_url
        self.fetch = fetch
        self.allow_private = allow_private
        self.sends_email = sends_email
        self.client_metadata = ClientMetadata() if client_metadata is None else client_metadata
        self.provider = provider
        self.listeners = Listeners() if listeners is None else listeners
        self.provisional_claims = ProvisionalClaims()
        self.queue_times = times = database.queue_times
        # An upload of up to 32 MB is in memory until it is stored, so there are few at a time.
        self.uploads = FairQueue(
            "uploads", max_uploads, times, quotas=(max(1, max_uploads // 2), 1), wait_seconds=max_queue_seconds
        )
        self.min_upload_rate = min_upload_rate
        self.max_capture_seconds = max_capture_seconds
        # Each password needs 32 MB, each capture or picture tens of megabytes, so there are few threads.
        self.passwords = Workers("passwords", 2, times, max_queue_seconds)
        budgets = ProcessorBudgets(limiter)
        self.captures = Workers("captures", 1, times, max_queue_seconds, budgets)
        self.small_captures = Workers("small_captures", 1, times, max_queue_seconds, budgets)  # never behind long ones
        self.rendering = Workers("rendering", 1, times, max_queue_seconds, budgets)
        self._workers = self.passwords, self.captures, self.small_captures, self.rendering
        self.credential_last_used: dict[int, int] = {}  # by key, in epoch milliseconds
        self.session_idle_ms = None if session_idle_seconds is None else session_idle_seconds * 1000
        self.last_backup: float | None = None  # epoch seconds
        self.backup_failures: int | None = None  # None: no backups are scheduled
        self.deletes_by_age = True  # not while the clock may be wrong
        self.email_outcomes: Counter[str] = Counter()
        self._later: set[asyncio.Task[None]] = set()

    def is_idle(self, actor: Actor, now: int) -> bool:
        """Whether a session has ended because nobody used it for as long as the operator allows."""
        if self.session_idle_ms is None or actor.kind is not Kind.SESSION:
            return False
        return now - max(actor.used_at, self.credential_last_used.get(actor.credential, 0)) > self.session_idle_ms

    def list_queues(self) -> tuple[FairQueue, ...]:
        """List the queues in which calls wait for their turn."""
        return self.uploads, *(each.queue for each in self._workers), self.database.queue

    async def read(self, query: Callable[[Read], T], fair_share: FairShare) -> T:
        """Read from the database outside the operation's transaction."""
        return await self.database.read(query, fair_share=fair_share)

    def describe_origin(self, context: RequestContext) -> Origin:
        """Describe where a call comes from, for its transaction."""
        return Origin(context.address, context.user_agent, context.device_hash, self.sends_email, context.has_waited)

    def write_later(self, work: Callable[[Write], None]) -> None:
        """Write to the database after the response of this call was sent. A stop of the server loses it."""

        async def write() -> None:
            await asyncio.sleep(LATER_SECONDS)
            try:
                await self.database.write(work)
            except Problem as problem:
                log.warning("a write after a response failed: %s", problem.detail)

        task = asyncio.create_task(write())
        self._later.add(task)
        task.add_done_callback(self._later.discard)

    def limit(self, key: object, name: str, per_minute: int, what: str) -> None:
        """Charge a rate limit that isn't a credential's budget. Raises RateLimited if it is used up."""
        level = self.limiter.consume((name, key), name, per_minute)
        if level.retry_after:
            raise RateLimited(level.retry_after, what)

    def close(self) -> None:
        """Finish running work and accept no more."""
        for task in self._later:
            task.cancel()
        for workers in self._workers:
            workers.close()
