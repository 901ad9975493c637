"""A world that tests share where nothing of what they do gets in another's way."""

from collections.abc import Iterator

import pytest

from tests.box import Box
from tests.contract.cases import Stage, staged


@pytest.fixture(scope="session")
def stage(box: Box) -> Iterator[Stage]:
    """One stage for each worker: for refusals, and for rows that no other test looks at."""
    with staged(box) as made:
        yield made
