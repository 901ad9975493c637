"""One server for each test worker, and a separate company for each test."""

import functools
import os
import ssl
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from httpx._transports import default

from tests.support.operation_cases import Stage, open_stage
from tests.support.seed import NO_REFILLS, PatchedServer, Seed, create_seed
from tests.support.server import Box, World, copy_initialized_file, run_server

# Files that take minutes, the longest first: a file stays on one worker.
SLOWEST = (
    "tests/binary/test_executable.py", "tests/http/core/test_schemathesis.py", "tests/e2e/core/test_every_page.py",
    "tests/agents/test_coding_agents.py", "tests/agents/test_mcp_clients.py", "tests/e2e/core/test_server_pages.py",
    "tests/e2e/extension/test_outbox.py", "tests/binary/", "tests/fault/attacks/", "tests/e2e/failing_tests/",
    "tests/machine/", "tests/e2e/extension/", "tests/mcp/", "tests/upgrade/", "tests/fault/", "tests/e2e/",
    "tests/fuzz/",
)  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    """Keep compiled modules in pytest's cache if they must not be left behind; compiling is half of a start."""
    load_certificates_once()
    cache = getattr(config, "cache", None)  # not there under `-p no:cacheprovider`
    if sys.dont_write_bytecode and cache is not None:
        del os.environ["PYTHONDONTWRITEBYTECODE"]
        sys.dont_write_bytecode = False
        sys.pycache_prefix = str(cache.mkdir("compiled"))
        os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix  # for the workers and the processes that they start


def load_certificates_once() -> None:
    """Let the clients of a process share the authorities' certificates, which each `httpx.get` loads in 30 ms."""
    create = default.create_ssl_context  # pyright: ignore[reportPrivateImportUsage] (there is no public way)
    load = functools.cache(lambda _: create())

    def create_or_share(verify: Any = True, cert: Any = None, trust_env: bool = True) -> ssl.SSLContext:
        if verify is True and cert is None and trust_env:
            return load(os.environ.get("SSL_CERT_FILE"))
        return create(verify, cert, trust_env)

    default.create_ssl_context = create_or_share  # pyright: ignore[reportPrivateImportUsage]


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """One more than there are cores, because a test mostly waits for servers and browsers; none to debug or rerun.

    A debugger needs the terminal, which a worker doesn't have (pytest-xdist does the same for `--pdb`). Without workers
    `--lf` doesn't even import the files in which nothing failed.
    """
    if config.getoption("trace") or config.getoption("lf"):
        return 0
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with the files that take minutes, so that no worker has one left when the others are done."""

    def find_place(item: pytest.Item) -> int:
        starts = (item.nodeid.startswith(prefix) for prefix in SLOWEST)
        return next((place for place, is_start in enumerate(starts) if is_start), len(SLOWEST))

    items.sort(key=find_place)


@pytest.fixture(scope="session")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """A real server that trusts the tests' X-Forwarded-For, so that each client has its own address."""
    with run_server(
        tmp_path_factory.mktemp("box"), "--trusted-proxy", "127.0.0.1/32", "--client-metadata", "on"
    ) as running:
        yield running


@pytest.fixture
def world(box: Box) -> Iterator[World]:
    """A company, project, owner and token that no other test uses."""
    yield World(box)
    box.close_clients()


@pytest.fixture(scope="session")
def exact_box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """A server whose limits are exact: they stay exhausted, however long a busy machine takes to check passwords."""
    db = copy_initialized_file(tmp_path_factory.mktemp("exact"))
    with PatchedServer(NO_REFILLS, db, "--trusted-proxy", "127.0.0.1/32") as running:
        yield running


@pytest.fixture
def exact_world(exact_box: Box) -> Iterator[World]:
    """A company on the server whose limits are exact."""
    yield World(exact_box)
    exact_box.close_clients()


@pytest.fixture
def other(world: World) -> World:
    """A second company with nobody in common with the first."""
    return World(world.box, "Zoe")


@pytest.fixture(scope="session")
def stage(box: Box) -> Iterator[Stage]:
    """One stage for each worker: for refusals, and for rows that no other test looks at."""
    with open_stage(box) as stage:
        yield stage


@pytest.fixture(scope="session")
def seed(tmp_path_factory: pytest.TempPathFactory) -> Seed:
    """A file that is copied, never changed."""
    return create_seed(tmp_path_factory.mktemp("seed"))
