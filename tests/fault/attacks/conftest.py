"""The servers that are attacked."""

from collections.abc import Iterator

import pytest

from tests.http.events.test_email import FROM, QUICK
from tests.support.mail_server import MailServer, run_mail_server
from tests.support.seed import PatchedServer
from tests.support.server import Box, copy_initialized_file


@pytest.fixture(scope="session")
def box(exact_box: Box) -> Box:
    """A server whose limits are exact."""
    return exact_box


@pytest.fixture(scope="module")
def mail_server() -> Iterator[MailServer]:
    """What came."""
    with run_mail_server() as running:
        yield running


@pytest.fixture(scope="module")
def mailed(tmp_path_factory: pytest.TempPathFactory, mail_server: MailServer) -> Iterator[Box]:
    """A server that sends email."""
    db = copy_initialized_file(tmp_path_factory.mktemp("mailed"))
    flags = ["--smtp-url", f"smtp://{mail_server.host}", *FROM, "--trusted-proxy", "127.0.0.1/32"]
    with PatchedServer(QUICK, db, *flags) as running:
        yield running
