"""Reproduce seeded bugs from their captures: `uv run --group dev python -m bench.reproduce`.

Each bug is recorded once, in the buggy application with its API. The capture goes to three projects, whose policies
keep bodies, their shape, or none. Its reproduction then runs against the buggy application and against the fixed one,
both without the API, as `ticketbox verify` runs it: what is gone on the bug, or reproduced on the fix, is false.
"""

import argparse
import io
import json
import os
import statistics
import sys
import tempfile
import time
import zipfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import httpx
import msgspec
from playwright.sync_api import sync_playwright

from bench.machine import describe_machine, format_table
from bench.reproduce.apps import NpmMissingError, build_apps
from bench.reproduce.bugs import BUGS, KINDS, Bug
from bench.reproduce.real.run import run_real
from bench.reproduce.record import record_bug
from bench.reproduce.server import serve_app
from tests.e2e.support.browser import find_shell
from tests.support.operation_cases import build_parts
from tests.support.server import World, ok, run_server
from ticketbox.cli.client.verify.playwright import prepare_runner, run_rounds
from ticketbox.domain.captures.reproduction.expected import ExpectedRun
from ticketbox.domain.captures.reproduction.pack import EXPECTED

POLICIES = ("on", "shape", "off")
NOTHING = "nothing to look for"


class Result(NamedTuple):
    """The verdicts on a bug with one policy, on the buggy and on the fixed application, and the seconds they took."""

    bug: Bug
    policy: str
    on_bug: str
    on_fix: str
    seconds: list[float]
    pack_seconds: float


def main() -> None:
    """Record and reproduce all bugs, or the named ones, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="only these bugs")
    parser.add_argument("--apps", type=Path, help="keep the built applications in this folder")
    parser.add_argument("--real", action="store_true", help="real applications instead; install them first")
    options = parser.parse_args()
    if options.real:
        with tempfile.TemporaryDirectory() as temporary:
            run_real(options.names, options.apps or Path(temporary) / "apps", Path(temporary))
        return
    shell = find_shell()
    if shell is None:
        sys.exit("skipped: this needs Chromium or Chrome on the PATH")
    with tempfile.TemporaryDirectory() as temporary:
        try:
            folders = build_apps(options.apps or Path(temporary) / "apps")
        except NpmMissingError as error:
            sys.exit(f"skipped: {error}")
        bugs = [each for each in BUGS if not options.names or each.name in options.names]
        results = run_bugs(bugs, folders, Path(temporary), shell)
    print(describe_machine())
    print_results(results)


def run_bugs(bugs: list[Bug], folders: dict[str, Path], temporary: Path, shell: str) -> list[Result]:
    """Record and reproduce bugs."""
    results: list[Result] = []
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with run_server(temporary) as box, sync_playwright() as playwright:
        world = World(box)
        projects = {policy: world.new_project(policy, capture_policy={"bodies": policy}) for policy in POLICIES}
        browser = playwright.chromium.launch(executable_path=shell, args=arguments)
        for number, bug in enumerate(bugs):
            parts = record_bug(browser, folders[bug.app], bug)
            for policy in POLICIES:
                api = world.owner.client("tickets:write")
                envelope = {
                    **parts["capture"],
                    "id": f"bug-{number:03}-{policy}-capture",
                    "project_id": projects[policy],
                }
                envelope["title"] = f"{bug.app}: {bug.name}"
                made = ok(api.post("/captures", files=build_parts({**parts, "capture": envelope})))
                folder = temporary / f"{bug.name}-{policy}"
                result = reproduce(api, made["capture_id"], folder, folders[bug.app], bug, policy, shell)
                times = " ".join(f"{each:.1f} s" for each in result.seconds)
                verdicts = f"{result.on_bug:20} {result.on_fix:20}"
                print(f"{bug.app:6} {bug.name:16} {policy:6} {verdicts} {times}", file=sys.stderr)
                results.append(result)
            box.close_clients()
        browser.close()
    return results


def reproduce(api: httpx.Client, capture: str, pack: Path, site: Path, bug: Bug, policy: str, shell: str) -> Result:
    """Run the reproduction of a capture against the buggy and the fixed application."""
    began = time.perf_counter()
    content = api.get(f"/captures/{capture}/reproduction").content
    pack_seconds = time.perf_counter() - began
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(pack)
    expected = msgspec.json.decode(pack.joinpath(EXPECTED).read_bytes(), type=ExpectedRun)
    if expected.is_empty:
        return Result(bug, policy, NOTHING, NOTHING, [], pack_seconds)
    runner = prepare_runner(pack, shell, sandboxed=os.geteuid() != 0)
    verdicts: list[str] = []
    seconds: list[float] = []
    for seeded in (bug.name, ""):
        with serve_app(site, seeded) as address:
            began = time.perf_counter()
            (observed,) = run_rounds(runner, pack, address, 1)
            verdicts.append(observed.verdict.value)
            seconds.append(time.perf_counter() - began)
    return Result(bug, policy, verdicts[0], verdicts[1], seconds, pack_seconds)


def print_results(results: list[Result]) -> None:
    """Print the shares by policy, the verdicts by kind, and the times."""
    rows: list[list[str]] = []
    for policy in POLICIES:
        chosen = [each for each in results if each.policy == policy]
        tried = [each for each in chosen if each.on_bug != NOTHING]
        reproduced = [each for each in tried if each.on_bug == "reproduced"]
        gone = [each for each in reproduced if each.on_fix == "gone"]
        rows.append([
            policy, _share(len(reproduced), len(chosen)), _share(len(gone), len(reproduced)),
            _share(sum(each.on_bug == "gone" for each in chosen), len(chosen)),
            _share(sum(each.on_fix == "reproduced" for each in chosen), len(chosen)),
            str(len(chosen) - len(tried)),
        ])  # fmt: skip
    names = [
        "bodies",
        "reproduced on the bug",
        "of these gone on the fix",
        "false “gone”",
        "false “reproduced”",
        NOTHING,
    ]
    print(format_table(names, rows))
    by_kind = [[kind, *(_count_verdicts(results, kind, policy) for policy in POLICIES)] for kind in KINDS]
    print(format_table(["kind", *POLICIES], by_kind))
    seconds = sorted(value for each in results for value in each.seconds)
    packs = sorted(each.pack_seconds * 1000 for each in results)
    print(f"a round: median {statistics.median(seconds):.1f} s, longest {seconds[-1]:.1f} s")
    print(f"a pack: median {statistics.median(packs):.0f} ms, longest {packs[-1]:.0f} ms")
    print(json.dumps([[each.bug.name, each.policy, each.on_bug, each.on_fix] for each in results]), file=sys.stderr)


def _count_verdicts(results: list[Result], kind: str, policy: str) -> str:
    chosen = [each for each in results if (each.bug.kind, each.policy) == (kind, policy)]
    counts = Counter(
        each.on_bug if each.on_bug == each.on_fix else f"{each.on_bug}, then {each.on_fix}" for each in chosen
    )
    return "; ".join(f"{count} {verdict.replace('_', ' ')}" for verdict, count in counts.most_common())


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole}, {100 * part / whole:.0f} %" if whole else "–"


if __name__ == "__main__":
    main()
