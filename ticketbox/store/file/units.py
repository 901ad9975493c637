"""Units of work that wait for the writer, and their results."""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec

from ticketbox.store.file.transactions import CommittedEvent, Write


class UnitOfWork(msgspec.Struct):
    """A unit of work that waits for the writer."""

    work: Callable[[Write], Any]
    future: asyncio.Future[Any]
    since: float


class UnitResult(msgspec.Struct):
    """The result of a unit, until it is returned to the caller."""

    value: Any = None
    error: BaseException | None = None
    events: list[CommittedEvent] = []
    destroys: bool = False
    after_commit: list[Callable[[], None]] = []
    deletes_words: bool = False


def return_results(units: list[UnitOfWork], results: list[UnitResult]) -> None:
    """Return the results to the callers who still wait, after what the units want done after their commit."""
    for result in results:
        for call in result.after_commit:
            call()
    for unit, result in zip(units, results, strict=True):
        if unit.future.done():
            continue
        if result.error is not None:
            unit.future.set_exception(result.error)
        else:
            unit.future.set_result(result.value)
