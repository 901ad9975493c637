"""The packages of packages.toml, installed on demand."""

import functools
import os
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@functools.cache
def load_packages() -> dict[str, dict[str, Any]]:
    """Return the names and exact versions of packages.toml."""
    return tomllib.loads(Path(__file__).with_name("packages.toml").read_text("utf-8"))


def install_or_skip(name: str, install: Callable[[], Path]) -> Path:
    """Install a package. Skips the test if its registry doesn't provide it; with `CI` set, that is a failure."""
    try:
        return install()
    except subprocess.CalledProcessError as error:
        if os.environ.get("CI"):
            raise AssertionError(f"{name} can't be installed: {error.stderr}") from None
        pytest.skip(f"{name} can't be installed: {str(error.stderr).strip().splitlines()[-1:]}")
