"""The set-up file that these tests start from, and one with captures."""

from pathlib import Path

import pytest

from tests.support.seed import Seed, capture_parts, create_seed
from tests.support.server import ok


@pytest.fixture(scope="session")
def seed(tmp_path_factory: pytest.TempPathFactory) -> Seed:
    """A file that is copied, never changed; it holds captures."""
    seed = create_seed(tmp_path_factory.mktemp("seed"))
    folder = tmp_path_factory.mktemp("filled")
    with seed.box(folder) as box, box.client(seed.token) as client:
        for number in range(6):
            ok(client.post("/captures", files=capture_parts(seed.project, number)))
    seed.db.write_bytes(box.db.read_bytes())
    return seed


@pytest.fixture
def db(seed: Seed, tmp_path: Path) -> Path:
    """A copy that nobody serves."""
    return seed.copy(tmp_path)
