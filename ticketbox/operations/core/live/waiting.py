"""Waiting calls: an operation that has no result yet waits for events and runs again (docs/use/events.md)."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.live import listeners
from ticketbox.operations.core.live.listeners import EVERYTHING, Listener, Listeners, Subscription, collect_company_keys

T = TypeVar("T")

MAX_WAIT_SECONDS = 50
DEFAULT_WAIT_SECONDS = 25  # many gateways end a request after 30 seconds, and many clients a call after 60

WaitSeconds = Annotated[int, Meta(ge=0, description="Seconds to wait for something new, at most 50; 0 doesn't wait.")]


class NothingYet(Exception):
    """A waiting operation's handler found nothing: run it again after the next event that its subscription includes.

    `result` is the answer if nothing comes in time. `changes` are arguments to replace before the next run, such as
    the position to continue after.
    """

    def __init__(self, result: Any, subscription: Subscription = EVERYTHING, **changes: Any) -> None:
        super().__init__("nothing yet")
        self.result = result
        self.subscription = subscription
        self.changes = changes


async def wait_for_result(
    run: Callable[[msgspec.Struct, bool], Awaitable[T]],
    args: msgspec.Struct,
    context: RequestContext,
    open_listeners: Listeners,
) -> T:
    """Call `run` with the arguments until it returns or the arguments' `wait_seconds` are over.

    `run` raises NothingYet; its second argument says that it ran before. In between the call holds no transaction,
    thread or connection to the file. Each run checks the caller's access, so a revoked credential ends the wait with
    Unauthorized. The wait ends with the empty result when the client disconnects or cancels the call, or the server
    stops.
    Raises what `run` raises, and RateLimited and Unavailable if too many calls wait.
    """
    seconds = min(getattr(args, "wait_seconds", 0), MAX_WAIT_SECONDS)
    now = asyncio.get_running_loop().time
    deadline = now() + seconds
    published = open_listeners.published
    try:
        return await run(args, False)
    except NothingYet as nothing:
        if not seconds:
            return nothing.result
        latest = nothing
    assert context.actor is not None
    with open_listeners.wait(context.actor, context.call_id) as listener:
        if open_listeners.published != published:
            listener.wake()  # an event was published between the run and now
        async with _end_with_client(listener, context):
            while not listener.ended and now() < deadline:
                listener.subscription = latest.subscription
                args = msgspec.structs.replace(args, **latest.changes)
                await listener.wait(min(deadline - now(), listeners.HEARTBEAT_SECONDS))
                if listener.ended:
                    break
                try:
                    return await run(args, True)
                except NothingYet as nothing:
                    latest = nothing
                listener.companies = collect_company_keys(context.actor)
    return latest.result


@contextlib.asynccontextmanager
async def _end_with_client(listener: Listener, context: RequestContext) -> AsyncGenerator[None]:
    """End the listener when the client disconnects."""
    if context.wait_for_disconnect is None:
        yield
        return
    watching = asyncio.ensure_future(context.wait_for_disconnect())
    watching.add_done_callback(lambda _: listener.end())
    try:
        yield
    finally:
        watching.cancel()
