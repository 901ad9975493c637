"""The set-up file that every test of faults starts from."""

import pytest

from tests.fault.seed import Seed, planted


@pytest.fixture(scope="session")
def seed(tmp_path_factory: pytest.TempPathFactory) -> Seed:
    """A file that is copied, never changed."""
    return planted(tmp_path_factory.mktemp("seed"))
