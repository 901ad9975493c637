"""Processor time to resolve a stack with a large source map: `uv run --group dev python -m bench.source_maps`.

The maps are those of Next's own server, which webpack and SWC wrote: minified and not. Each round reads the map and
resolves twenty frames from its whole length, with their functions and the lines around them, as the job does.
"""

import re
import time

from bench.machine import describe_machine, format_table
from tests.support.npm import install_once
from ticketbox.domain.captures.capture import Frame
from ticketbox.domain.captures.source_maps.resolution import Script, identify_script, resolve_frames
from ticketbox.domain.captures.source_maps.source_map import SourceMap

PACKAGES = ("next@16.4.6", "react@19.3.1", "react-dom@19.3.1")
MAPS = (
    "app-page.runtime.prod.js",
    "app-page-turbo.runtime.prod.js",
    "app-page.runtime.dev.js",
    "server.runtime.prod.js",
)
FRAMES = 20
ROUNDS = 7
_WORD = re.compile(r"\w+\(")


def list_frames(name: str, bundle: str) -> list[Frame]:
    """List frames at calls from the whole length of a bundle, the last one at its end."""
    lines = bundle.splitlines()
    calls = [(line, each.start()) for line, text in enumerate(lines) for each in _WORD.finditer(text)]
    step = max(1, len(calls) // FRAMES)
    return [Frame(url=name, line=line + 1, column=column + 1) for line, column in calls[::-step][:FRAMES]]


def main() -> None:
    """Print the least processor time of each map over the rounds."""
    folder = install_once(*PACKAGES) / "next" / "dist" / "compiled" / "next-server"
    rows: list[list[object]] = []
    for name in MAPS:
        data, bundle = (folder / f"{name}.map").read_bytes(), (folder / name).read_text("utf-8")
        times: list[float] = []
        resolved = 0
        for _ in range(ROUNDS):
            frames = list_frames(name, bundle)
            script: Script = identify_script(frames[0])
            started = time.process_time()
            resolved = resolve_frames(frames, {script: SourceMap(data)})
            times.append(time.process_time() - started)
        rows.append([name, f"{len(data) / 1e6:.1f}", f"{resolved} of {FRAMES}", f"{min(times) * 1000:.0f}"])
    print(describe_machine())
    print(format_table(["map", "MB", "frames resolved", "processor time, ms"], rows))


if __name__ == "__main__":
    main()
