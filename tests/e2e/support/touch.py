"""Touch input on a page: Chromium itself distinguishes a swipe from a long press, and reports what it drags."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Self

from playwright.async_api import Locator, Page

from tests.e2e.support.app import find_still_box, wait_for_frames

STEPS = 8


class Touch:
    """One touch: down, move, up. A context manager. The page needs a context with `has_touch`."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._sent: list[asyncio.Task[Any]] = []
        self._dragged: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._at = (0.0, 0.0)

    async def __aenter__(self) -> Self:
        self._session = await self._page.context.new_cdp_session(self._page)
        self._session.on("Input.dragIntercepted", lambda event: self._dragged.set_result(event["data"]))
        await self._session.send("Input.setInterceptDrags", {"enabled": True})
        # emulated by the mouse, because gesture recognition ignores touch events from the protocol
        touches = {"enabled": True, "configuration": "mobile"}
        await self._session.send("Emulation.setEmitTouchEventsForMouse", touches)
        return self

    async def __aexit__(self, *_: object) -> None:
        for each in self._sent:
            each.cancel()
        await asyncio.gather(*self._sent, return_exceptions=True)
        await self._session.detach()

    async def down(self, on: Locator) -> None:
        """Touch the centre of an element."""
        box = await find_still_box(on)
        self._at = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        self._touch("mousePressed", *self._at)

    async def long_press(self, on: Locator) -> None:
        """Touch an element until the browser starts dragging it. Raises TimeoutError if it doesn't."""
        await self.down(on)
        await asyncio.wait_for(asyncio.shield(self._dragged), 30)

    async def move(self, x: float, y: float) -> None:
        """Move to a position in the window, in steps."""
        (left, top), self._at = self._at, (x, y)
        for step in range(1, STEPS + 1):
            part = step / STEPS
            await self._to("dragOver" if step > 1 else "dragEnter", left + (x - left) * part, top + (y - top) * part)
            await asyncio.sleep(0.02)
        if self.is_dragging:  # a browser repeats the event while nothing moves (HTML, "Drag-and-drop processing model")
            await wait_for_frames(self._page)
            await self._to("dragOver", x, y)

    async def up(self) -> None:
        """End the touch, and drop what is dragged."""
        if self.is_dragging:
            await self._to("drop", *self._at)
        self._touch("mouseReleased", *self._at)

    @property
    def is_dragging(self) -> bool:
        """Whether the browser treats the touch as a drag."""
        return self._dragged.done()

    async def _to(self, kind: str, x: float, y: float) -> None:
        if self.is_dragging:
            data = self._dragged.result()
            await self._session.send("Input.dispatchDragEvent", {"type": kind, "x": x, "y": y, "data": data})
        else:
            self._touch("mouseMoved", x, y)

    def _touch(self, kind: str, x: float, y: float) -> None:
        event = {"type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1}
        # not awaited, because the browser may answer only after the gesture
        self._start(self._session.send("Input.dispatchMouseEvent", event))

    def _start(self, sending: Coroutine[Any, Any, Any]) -> None:
        self._sent.append(asyncio.create_task(sending))
