"""A finger on a page: Chromium itself tells a swipe from a long press, and what it then drags is sent to the test."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Self

from playwright.async_api import Locator, Page

STEPS = 8


class Finger:
    """One finger, put down, moved and lifted. A context manager; the page needs a context with `has_touch`."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._sent: list[asyncio.Task[Any]] = []
        self._dragged: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._at = (0.0, 0.0)

    async def __aenter__(self) -> Self:
        self._session = await self._page.context.new_cdp_session(self._page)
        self._session.on("Input.dragIntercepted", lambda sent: self._dragged.set_result(sent["data"]))
        await self._session.send("Input.setInterceptDrags", {"enabled": True})
        # touches that are made of a mouse go through the recognition of gestures, which sent touches don't
        touches = {"enabled": True, "configuration": "mobile"}
        await self._session.send("Emulation.setEmitTouchEventsForMouse", touches)
        return self

    async def __aexit__(self, *_: object) -> None:
        for each in self._sent:
            each.cancel()
        await asyncio.gather(*self._sent, return_exceptions=True)
        await self._session.detach()

    async def down(self, on: Locator) -> None:
        """Touch the middle of something."""
        box = await on.bounding_box()
        assert box
        self._at = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        self._touch("mousePressed", *self._at)

    async def long_press(self, on: Locator) -> None:
        """Touch something and stay, until the browser drags it. Raises TimeoutError if it doesn't."""
        await self.down(on)
        await asyncio.wait_for(asyncio.shield(self._dragged), 5)

    async def move(self, x: float, y: float) -> None:
        """Move to a place in the window, in steps."""
        (left, top), self._at = self._at, (x, y)
        for step in range(1, STEPS + 1):
            part = step / STEPS
            await self._to("dragOver" if step > 1 else "dragEnter", left + (x - left) * part, top + (y - top) * part)
            await asyncio.sleep(0.02)

    async def up(self) -> None:
        """Lift it, and drop what it drags."""
        if self.drags:
            await self._to("drop", *self._at)
        self._touch("mouseReleased", *self._at)

    @property
    def drags(self) -> bool:
        """Whether the browser took the touch for a drag."""
        return self._dragged.done()

    async def _to(self, kind: str, x: float, y: float) -> None:
        if self.drags:
            data = self._dragged.result()
            await self._session.send("Input.dispatchDragEvent", {"type": kind, "x": x, "y": y, "data": data})
        else:
            self._touch("mouseMoved", x, y)

    def _touch(self, kind: str, x: float, y: float) -> None:
        event = {"type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1}
        # not awaited: the browser may answer only when the gesture is over
        self._start(self._session.send("Input.dispatchMouseEvent", event))

    def _start(self, sending: Coroutine[Any, Any, Any]) -> None:
        self._sent.append(asyncio.create_task(sending))
