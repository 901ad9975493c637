"""How often a listener reads: the first event immediately, the following ones in batches."""

import asyncio

from ticketbox.domain.core.policy import ANONYMOUS
from ticketbox.operations.core.listeners import PAUSE_SECONDS, Listener


def test_first_event_is_read_immediately_and_following_ones_in_batches() -> None:
    async def listen() -> None:
        listener, now = Listener(ANONYMOUS), asyncio.get_running_loop().time
        listener.wake()
        started, readings = now(), 0
        while now() - started < 5 * PAUSE_SECONDS:
            assert await listener.wait(5)
            readings += 1
            for _ in range(20):
                listener.wake()
                await asyncio.sleep(0)
        assert 2 <= readings <= (now() - started) / PAUSE_SECONDS + 1
        assert await listener.wait(5), "what came during the pause was forgotten"
        assert not await listener.wait(PAUSE_SECONDS * 2), "one event was read twice"

    asyncio.run(listen())


def test_end_does_not_wait_for_the_pause() -> None:
    async def listen() -> None:
        listener = Listener(ANONYMOUS)
        listener.wake()
        assert await listener.wait(5)
        listener.end()
        waiting = asyncio.create_task(listener.wait(5))
        for _ in range(5):
            await asyncio.sleep(0)
        assert waiting.done()
        assert listener.ended

    asyncio.run(listen())
