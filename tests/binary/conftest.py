"""The executable, built once for all tests."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.docs.pages import ROOT
from tests.support.build_once import build_once


@pytest.fixture(scope="session")
def executable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh build, or the one that `TICKETBOX_EXECUTABLE` names."""
    if given := os.environ.get("TICKETBOX_EXECUTABLE"):
        return Path(given).absolute()
    return build_once(tmp_path_factory, "dist", build) / "ticketbox"


def build(folder: Path) -> None:
    """Build the executable in a folder."""
    done = subprocess.run(
        [ROOT / "packaging" / "build", folder], capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
