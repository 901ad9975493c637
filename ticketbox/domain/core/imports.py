"""Imports of many modules."""

import contextlib
import gc
from collections.abc import Generator


@contextlib.contextmanager
def pause_garbage_collection() -> Generator[None]:
    """Import without the cyclic garbage collector, and exempt what is there at the end from later collections.

    Modules create many objects and hardly any garbage. Looking for it takes a tenth of the time of a start.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
