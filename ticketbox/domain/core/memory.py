"""Return memory to the system (docs/operate/reliability.md, "Fair queues"). Only glibc must be asked."""

import ctypes
import sys
from functools import cache
from typing import Any

_M_MMAP_THRESHOLD = -3
_LARGE = 256 * 1024


@cache
def _load_libc() -> Any:
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None)
    return libc if hasattr(libc, "malloc_trim") and hasattr(libc, "mallopt") else None


def return_large_blocks() -> None:
    """Let the allocator return large blocks when they are freed: by default it keeps the sizes that it has seen."""
    if (libc := _load_libc()) is not None:
        libc.mallopt(_M_MMAP_THRESHOLD, _LARGE)


def return_free_memory() -> None:
    """Return the free memory of all threads to the system."""
    if (libc := _load_libc()) is not None:
        libc.malloc_trim(0)
