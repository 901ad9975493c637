"""How often a listener reads: the first event at once, what follows closely together."""

import asyncio

from ticketbox.domain.core.policy import ANONYMOUS
from ticketbox.operations.core.listeners import PAUSE_SECONDS, Listener


def test_the_first_event_is_read_at_once_and_those_that_follow_closely_together() -> None:
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


def test_an_end_isnt_held_up_by_the_pause() -> None:
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
