"""Running a reproduction with the Playwright that is installed here, for Node or for Python.

The package for Python has Node and Playwright's library with it, but not the test runner. A reproduction needs only a
page, so a few lines replace the runner. They run all rounds in one browser, each in a new profile.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from ticketbox.cli.client.verify.session import NO_SESSION, Session
from ticketbox.cli.core.processes import capture_output
from ticketbox.domain.captures.reproduction.pack import SPEC
from ticketbox.domain.captures.reproduction.verdict import Observation

ROUND_SECONDS = 180
_SHOWN_LINES = 15
# What Node and a browser need of the environment; everything else stays here (docs/use/verifications.md, "Options").
_PASSED = frozenset({
    "PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TMP", "TEMP", "TZ", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE",
    "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_DIRS", "XDG_RUNTIME_DIR",
    "FONTCONFIG_FILE", "FONTCONFIG_PATH", "LD_LIBRARY_PATH", "PLAYWRIGHT_BROWSERS_PATH", "CHROME_DEVEL_SANDBOX",
    "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT",
    "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)",
})  # fmt: skip

_FIND_NODE_PACKAGE = "process.stdout.write(require.resolve('@playwright/test/package.json'))"
_FIND_PYTHON_PACKAGE = "import playwright, sys; sys.stdout.write(playwright.__file__)"
_CONFIG = """\
export default {
  testDir: '.', outputDir: 'results', reporter: 'line', retries: 0, workers: 1, timeout: 120_000,
  use: { launchOptions: %s, trace: %s, storageState: %s },
};
"""
_RUNNER = """\
import { chromium } from %(core)s;
import { fileURLToPath } from 'node:url';

let options = {};
test.use = ({ contextOptions, ...others }) => (options = { ...options, ...contextOptions, ...others });

export async function test(name, run) {
  let browser = await chromium.launch(%(launch)s);
  for (const result of JSON.parse(process.env.REPRODUCTION_RESULTS)) {
    process.env.REPRODUCTION_RESULT = result;
    if (!browser.isConnected()) browser = await chromium.launch(%(launch)s); // it crashed in the round before
    const context = await browser.newContext({ ...options, storageState: %(state)s });
    if (%(traced)s) await context.tracing.start({ screenshots: true, snapshots: true });
    try {
      await run({ page: await context.newPage() }, { file: fileURLToPath(%(spec)s) });
    } catch (error) {
      console.error(error.message);
    } finally {
      if (%(traced)s) await context.tracing.stop({ path: 'results/trace.zip' }).catch(() => {});
      await context.close().catch(() => {});
      console.log(%(ended)s);
    }
  }
  await browser.close();
}
"""
_NO_BROWSER = "npx playwright install"  # what Playwright recommends then, in both languages
_NO_SANDBOX = re.compile(r"without --no-sandbox|No usable sandbox|sandbox_host_linux|setuid_sandbox|zygote_host_impl")
_SETUP_FAILED = re.compile(r"[Tt]he setup script failed: .*")
_SETUP_PREFIX = "SETUP_"  # what a script of --setup gets of the environment, too
_ENDED = "ticketbox: the round has ended"


class PlaywrightError(Exception):
    """Playwright is missing, or couldn't run the test; the text says why and what to do."""


class Runner(NamedTuple):
    """A command that runs the test of a folder: once, or all rounds together."""

    name: str
    command: list[str]
    runs_all: bool

    @property
    def install_command(self) -> str:
        """What installs Playwright's browser."""
        return "npx playwright install chromium" if self.name == "Node" else "playwright install chromium"


def prepare_runner(
    folder: Path, browser: str | None, session: Session = NO_SESSION, *, sandboxed: bool = True, traced: bool = False
) -> Runner:
    """Add to a folder with a pack what its test needs to run here. `browser` is the path of another Chromium.

    `sandboxed` turns Chromium's sandbox on, which Playwright leaves off. With `traced`, each round leaves a trace
    (`find_trace`).
    Raises PlaywrightError if Playwright is installed neither for Node in the current folder nor for Python.
    """
    state = "undefined" if session.storage_state is None else json.dumps(str(session.storage_state))
    launch = json.dumps({"chromiumSandbox": sandboxed} | ({} if browser is None else {"executablePath": browser}))
    folder.joinpath("package.json").write_text('{"type": "module"}')
    modules = folder / "node_modules" / "@playwright"
    modules.mkdir(parents=True)
    node, package = shutil.which("node"), _find_node_package()
    if node is not None and package is not None:
        modules.joinpath("test").symlink_to(package, target_is_directory=True)
        folder.joinpath("playwright.config.js").write_text(_CONFIG % (launch, "'on'" if traced else "'off'", state))
        return Runner(
            "Node", [node, str(package / "cli.js"), "test", "--config", "playwright.config.js"], runs_all=False
        )
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
        "state": state,
        "spec": json.dumps((folder / SPEC).as_uri()),
        "traced": json.dumps(traced),
        "ended": json.dumps(_ENDED),
    }
    modules.joinpath("test", "index.mjs").write_text(_RUNNER % values)
    executable = driver / ("node.exe" if sys.platform == "win32" else "node")
    return Runner("Python", [str(executable), "--no-warnings", SPEC], runs_all=True)


def run_rounds(
    runner: Runner,
    folder: Path,
    base_url: str,
    rounds: int,
    session: Session = NO_SESSION,
    *,
    offline: bool = False,
    live: bool = False,
) -> Iterator[Observation]:
    """Run the test several times; yield what each round observed when it ends.

    `offline`: other sites add nothing. `live`: the server at `base_url` answers all calls.

    Raises PlaywrightError if a round didn't write that.
    """
    results = [folder / f"result-{number}.json" for number in range(1, rounds + 1)]
    for each in results:
        each.unlink(missing_ok=True)  # a pack's folder may have one of an earlier run
    for together in [results] if runner.runs_all else [[each] for each in results]:
        yield from _run(runner, folder, base_url, together, session, offline=offline, live=live)


def _run(
    runner: Runner, folder: Path, base_url: str, results: list[Path], session: Session, *, offline: bool, live: bool
) -> Iterator[Observation]:
    prefixes = () if session.setup is None else (_SETUP_PREFIX,)
    kept = {
        name: value
        for name, value in os.environ.items()
        if name.upper() in _PASSED or name.upper().startswith(prefixes)
    }
    written = {"REPRODUCTION_RESULT": str(results[0]), "REPRODUCTION_RESULTS": json.dumps([*map(str, results)])}
    if session.setup is not None:
        written["REPRODUCTION_SETUP"] = str(session.setup)
    if offline:
        written["REPRODUCTION_OFFLINE"] = "1"
    if live:
        written["REPRODUCTION_LIVE"] = "1"
    try:
        process = subprocess.Popen(  # noqa: S603 (the Playwright that was found)
            runner.command, cwd=folder, env={**kept, "BASE_URL": base_url, **written}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        )  # fmt: skip
    except OSError as error:
        raise PlaywrightError(f"Playwright for {runner.name} doesn't start: {error}") from error
    seconds = ROUND_SECONDS * len(results)
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    with process:
        try:
            for result in results:
                yield _read_round(runner, process, result, timer, seconds)
            process.wait()
        finally:
            timer.cancel()
            process.kill()


def _read_round(
    runner: Runner, process: subprocess.Popen[str], result: Path, timer: threading.Timer, seconds: int
) -> Observation:
    """Wait for the end of a round, and read what it observed."""
    said = deque[str](maxlen=_SHOWN_LINES)
    for line in process.stdout or ():
        if line.rstrip() == _ENDED:
            break
        said.append(line)
    try:
        return msgspec.json.decode(result.read_bytes(), type=Observation)
    except (OSError, msgspec.DecodeError) as error:
        if timer.finished.is_set():
            raise PlaywrightError(f"the test didn't end within {seconds} s") from error
        output = "".join(said).strip()
        if failed := _SETUP_FAILED.search(output):
            raise PlaywrightError(f"--setup: {failed[0]}") from error
        if _NO_BROWSER in output:
            raise PlaywrightError(
                f"Playwright for {runner.name} has no browser here; run `{runner.install_command}`, or name an "
                "installed Chromium with --browser"
            ) from error
        if _NO_SANDBOX.search(output):
            raise PlaywrightError(
                "Chromium doesn't start with its sandbox here, such as in a container or as root; add --no-sandbox to "
                "run it without, if you trust the capture and the application"
            ) from error
        raise PlaywrightError(f"the test didn't run (Playwright for {runner.name}):\n{output}") from error


def find_trace(folder: Path) -> Path | None:
    """Return the trace that the last round left in a folder, if it was traced."""
    return next(folder.glob("results/**/trace.zip"), None)


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
