"""A server for the tests of event streams and waiting calls: its heart beats often, and its limits are low."""

from collections.abc import Iterator

import pytest

from tests.support.seed import PatchedServer
from tests.support.server import Box, World, copy_initialized_file

LIVELY = """
from ticketbox.operations.core.live import listeners
listeners.HEARTBEAT_SECONDS = 0.5
listeners.MAX_WAITING = 6
listeners.MAX_WAITING_PER_CREDENTIAL = 4
listeners.ACCOUNT_QUOTA = listeners.WAITING_ACCOUNT_QUOTA = listeners.COMPANY_QUOTA = 2.0
from ticketbox.cli import main
main()
"""


@pytest.fixture(scope="session")
def lively(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """A server that checks twice a second, keeps 30 streams, and lets six calls wait, four of one credential."""
    db = copy_initialized_file(tmp_path_factory.mktemp("lively"))
    with PatchedServer(LIVELY, db, "--trusted-proxy", "127.0.0.1/32", "--max-event-streams", "30") as running:
        yield running


@pytest.fixture
def company(lively: Box) -> Iterator[World]:
    """A company on the lively server."""
    yield World(lively)
    lively.close_clients()
