"""Running a reproduction with the Playwright that is installed here, for Node or for Python.

The package for Python has Node and Playwright's library with it, but not the test runner. A reproduction needs only a
page, so a few lines replace the runner.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import msgspec

from ticketbox.cli.core.processes import capture_output
from ticketbox.domain.captures.reproduction.pack import SPEC
from ticketbox.domain.captures.reproduction.verdict import Observation

ROUND_SECONDS = 180
_SHOWN_LINES = 15
_SECRETS = ("SERVICE_API_TOKEN", "TICKETBOX_LEASE")

_FIND_NODE_PACKAGE = "process.stdout.write(require.resolve('@playwright/test/package.json'))"
_FIND_PYTHON_PACKAGE = "import playwright, sys; sys.stdout.write(playwright.__file__)"
_CONFIG = """\
export default {
  testDir: '.', outputDir: 'results', reporter: 'line', retries: 0, workers: 1, timeout: 120_000,
  use: { launchOptions: %s },
};
"""
_RUNNER = """\
import { chromium } from %(core)s;
import { fileURLToPath } from 'node:url';

export async function test(name, run) {
  const browser = await chromium.launch(%(launch)s);
  try {
    await run({ page: await browser.newPage() }, { file: fileURLToPath(%(spec)s) });
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  } finally {
    await browser.close();
  }
}
"""


class PlaywrightError(Exception):
    """Playwright is missing, or couldn't run the test; the text says why and what to do."""


class Runner(NamedTuple):
    """A command that runs the test of a folder."""

    name: str
    command: list[str]


def prepare_runner(folder: Path, browser: str | None) -> Runner:
    """Add to a folder with a pack what its test needs to run here. `browser` is the path of another Chromium.

    Raises PlaywrightError if Playwright is installed neither for Node in the current folder nor for Python.
    """
    launch = json.dumps({} if browser is None else {"executablePath": browser})
    folder.joinpath("package.json").write_text('{"type": "module"}')
    modules = folder / "node_modules" / "@playwright"
    modules.mkdir(parents=True)
    node, package = shutil.which("node"), _find_node_package()
    if node is not None and package is not None:
        modules.joinpath("test").symlink_to(package, target_is_directory=True)
        folder.joinpath("playwright.config.js").write_text(_CONFIG % launch)
        return Runner("Node", [node, str(package / "cli.js"), "test", "--config", "playwright.config.js"])
    driver = _find_python_driver()
    if driver is None:
        raise PlaywrightError(
            "Playwright isn't installed here; run `npm install --save-dev @playwright/test` and `npx playwright "
            "install chromium`, or `pip install playwright` and `playwright install chromium`"
        )
    modules.joinpath("test").mkdir()
    modules.joinpath("test", "package.json").write_text('{"name": "@playwright/test", "exports": "./index.mjs"}')
    values = {
        "core": json.dumps((driver / "package" / "index.mjs").as_uri()),
        "launch": launch,
        "spec": json.dumps((folder / SPEC).as_uri()),
    }
    modules.joinpath("test", "index.mjs").write_text(_RUNNER % values)
    executable = driver / ("node.exe" if sys.platform == "win32" else "node")
    return Runner("Python", [str(executable), "--no-warnings", SPEC])


def run_round(runner: Runner, folder: Path, base_url: str, number: int) -> Observation:
    """Run the test once, and read what it observed. Raises PlaywrightError if it didn't write that."""
    result = folder / f"result-{number}.json"
    result.unlink(missing_ok=True)  # a pack's folder may have one of an earlier run
    kept = {name: value for name, value in os.environ.items() if name not in _SECRETS}
    environment = {**kept, "BASE_URL": base_url, "REPRODUCTION_RESULT": str(result)}
    try:
        done = subprocess.run(  # noqa: S603 (the Playwright that was found)
            runner.command, cwd=folder, env=environment, capture_output=True, text=True, errors="replace",
            timeout=ROUND_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise PlaywrightError(f"the test didn't end within {ROUND_SECONDS} s") from error
    except OSError as error:
        raise PlaywrightError(f"Playwright for {runner.name} doesn't start: {error}") from error
    try:
        return msgspec.json.decode(result.read_bytes(), type=Observation)
    except (OSError, msgspec.DecodeError) as error:
        said = "\n".join(f"{done.stdout}\n{done.stderr}".strip().splitlines()[-_SHOWN_LINES:])
        raise PlaywrightError(f"the test didn't run (Playwright for {runner.name}):\n{said}") from error


def _find_node_package() -> Path | None:
    """Find `@playwright/test` as a command in the current folder does, without downloading anything."""
    found = capture_output("node", "-e", _FIND_NODE_PACKAGE)
    return Path(found).parent if found else None


def _find_python_driver() -> Path | None:
    """Find the driver of the `playwright` package: of this Python, or of the one in the current environment."""
    for python in (sys.executable, "python3", "python"):
        found = capture_output(python, "-c", _FIND_PYTHON_PACKAGE)
        if found:
            return Path(found).parent / "driver"
    return None
