"""Work that several clients or agents do at the same time."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar


class Participant(Protocol):
    """A client or an agent."""

    @property
    def name(self) -> str:
        """What a failure is reported with."""
        ...


T = TypeVar("T", bound=Participant)


def do_with_each(each_of: Sequence[T], work: Callable[[T], object], at_a_time: int) -> None:
    """Do something with each, so many at a time, and raise all failures together, each with its name."""
    with ThreadPoolExecutor(at_a_time) as threads:
        done = [(each.name, threads.submit(work, each)) for each in each_of]
    failures: list[Exception] = []
    for name, future in done:
        error = future.exception()
        if isinstance(error, Exception):
            error.add_note(f"It is {name} that failed.")
            failures.append(error)
        elif error is not None:
            raise error  # what skips a test
    if failures:
        raise ExceptionGroup("some failed", failures)
