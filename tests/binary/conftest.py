"""The executable, built once for all tests."""

import os
import subprocess
from pathlib import Path

import filelock
import pytest

from tests.docs.pages import ROOT


@pytest.fixture(scope="session")
def executable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh build, or the one that `TICKETBOX_EXECUTABLE` names."""
    if given := os.environ.get("TICKETBOX_EXECUTABLE"):
        return Path(given).absolute()
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "dist"
    with filelock.FileLock(f"{folder}.lock"):  # the workers share the folder in which it is built
        if not (folder / "SHA256SUMS").exists():  # the last file of a build
            done = subprocess.run(
                [ROOT / "packaging" / "build", folder], capture_output=True, text=True, timeout=900, check=False
            )
            assert done.returncode == 0, done.stdout + done.stderr
    return folder / "ticketbox"
