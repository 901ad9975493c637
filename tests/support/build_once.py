"""What all workers of a run share: built by the first that needs it."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import filelock
import pytest


def build_once(factory: pytest.TempPathFactory, name: str, build: Callable[[Path], object]) -> Path:
    """Return what `build` creates at a path, in a folder that the workers share. Nobody may change it."""
    base = factory.getbasetemp()
    path = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    with filelock.FileLock(f"{path}.lock"):
        if not path.exists():
            partial = Path(tempfile.mkdtemp(dir=path.parent), name)
            build(partial)
            partial.rename(path)
    return path
