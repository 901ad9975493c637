"""Stacks of minified bundles, resolved with the maps that Vite, webpack and esbuild write.

A small app throws in functions of all kinds (tests/support/bundled_app). Node runs it from its sources, which shows
where each frame is, and from each bundle.
"""

import json
from pathlib import Path

import pytest

from tests.agents.packages import install_or_skip
from tests.support import npm
from tests.support.bundlers import BUILDS, PACKAGES, build_app, run
from ticketbox.domain.captures.source_maps.frames import Frame
from ticketbox.domain.captures.source_maps.resolution import identify_script, resolve_frames
from ticketbox.domain.captures.source_maps.source_map import SourceMap
from ticketbox.domain.captures.source_maps.stacks import parse_stack

SHARE = 0.99
# in the map of webpack's minifier, `await` has no place, so the frame of an async function is at what is before it
WRONG = {("webpack", "load", ("main.js", 36))}


@pytest.fixture(scope="module")
def modules() -> Path:
    return install_or_skip("the bundlers", lambda: npm.install_once(*PACKAGES))


def read_stacks(output: str, part: str) -> dict[str, list[Frame]]:
    return {
        case: [frame for frame in parse_stack(stack) if part in frame.url] for case, stack in json.loads(output).items()
    }


@pytest.mark.long
def test_frames_of_minified_bundles_are_resolved(modules: Path, tmp_path: Path) -> None:
    """Every frame has a place in a source, and functions that a minifier inlined have none (bench/RESULTS.md)."""
    total = 0
    wrong: list[tuple[str, str, tuple[str, int | None]]] = []
    for bundler in BUILDS:
        folder = build_app(bundler, modules, tmp_path / bundler)
        bundle = folder / "out" / "main.mjs"
        found = SourceMap(bundle.with_name("main.mjs.map").read_bytes())
        expected = read_stacks(run(folder / "src" / "main.js"), "/src/")
        actual = read_stacks(run(bundle), "/out/main.mjs")
        assert len(expected) == 12
        for case, frames in expected.items():
            resolve_frames(actual[case], {identify_script(frame): found for frame in actual[case]})
            places = [(frame.url.rpartition("/src/")[2], frame.line) for frame in frames]
            originals = [frame.original for frame in actual[case] if frame.original]
            assert len(originals) == len(actual[case]), (bundler, case)
            resolved = [(each.file.rpartition("src/")[2], each.line) for each in originals]
            total += len(resolved)
            wrong += [(bundler, case, place) for place in resolved if place not in places]
    assert total >= 240
    assert len(wrong) <= (1 - SHARE) * total, (total, wrong)
    assert WRONG.issuperset(wrong), wrong
