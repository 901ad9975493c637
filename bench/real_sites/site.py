"""What a site is: how to install and serve it, and the walk through it."""

import contextlib
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.launch import Server
from bench.peers.peer import free_port, start_server
from bench.real_sites.walker import Walk, Walker

Start = Callable[[], contextlib.AbstractContextManager[Server]]


class Site(NamedTuple):
    """A site. `start` is its first page; `work` stays on a page; each of `moves` opens another page."""

    name: str
    install: Callable[[Path], Start]
    start: str
    work: Walk
    moves: Sequence[Walk]


@contextlib.contextmanager
def serve(folder: Path, *command: str, **environment: str) -> Generator[Server]:
    """Serve a site during the block. `{port}` in the command is replaced by a free port."""
    port = free_port()
    home = {"HOME": str(folder), **environment}
    with start_server([part.replace("{port}", str(port)) for part in command], port, folder, **home) as server:
        yield server


async def reload(walker: Walker) -> None:
    """Load the page again."""
    await walker.page.reload(wait_until="load")
    await walker.devtools.wait_until_quiet()
