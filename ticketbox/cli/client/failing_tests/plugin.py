"""The part of the plugin for pytest that runs when it is turned on. It never fails a run."""

import contextlib
import inspect
import io
import os
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from ticketbox.cli.client.connection import Server, find_server_url
from ticketbox.cli.client.failing_tests.failures import Failure
from ticketbox.cli.client.failing_tests.tickets import file_failure, note_passes
from ticketbox.domain.captures.capture import Level

MAX_FAILURES = 20
READ_SECONDS = 5.0  # a server that hangs doesn't hold up a run that passes

_SETTINGS = ("TICKETBOX_URL", "SERVICE_API_TOKEN", "TICKETBOX_PROJECT")
_FILES = "ticketbox_files"


class TicketPlugin:
    """Collects failures, with the traces of the pages of pytest-playwright, and files them at the end of the run."""

    def __init__(self, config: pytest.Config) -> None:
        self._is_worker = hasattr(config, "workerinput")  # of pytest-xdist: the controller files
        self._failures: dict[str, Failure] = {}  # of each test, the first in its newest run that failed
        self._started: set[str] = set()  # tests whose newest run has had no failure
        self._failed: set[str] = set()
        self._passed: set[str] = set()
        self._lines: list[str] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Trace the browser context of a test, unless somebody else does."""
        context = getattr(item, "funcargs", {}).get("context")
        if not _start_tracing(context):
            return (yield)
        has_failed = True
        try:
            result = yield
            has_failed = False
            return result
        finally:
            item.stash[_KEY] = _stop_tracing(context, item.funcargs.get("page"), keep=has_failed)  # type: ignore[attr-defined]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Add the files of the browser to the report, which pytest-xdist sends to the controller."""
        report = yield
        if report.when == "call" and report.failed:
            setattr(report, _FILES, item.stash.get(_KEY, list[str]()))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what a test did."""
        name = report.nodeid
        if report.when == "setup":
            self._started.add(name)
        if report.failed or str(report.outcome) == "rerun":  # of pytest-rerunfailures
            if name in self._started or name not in self._failures:
                self._failures[name] = _describe_report(report)
            self._started.discard(name)
        elif report.when == "call" and report.passed:
            self._passed.add(name)
        if report.failed:
            self._failed.add(name)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a file that can't be loaded: it has no tests, so it has no tickets."""
        line = f"{report.nodeid}: an error outside of tests isn't reported as a ticket"
        if report.failed and line not in self._lines:  # each worker of pytest-xdist has it
            self._lines.append(line)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """File the failures."""
        if self._is_worker:
            return
        missing = [name for name in _SETTINGS if not os.environ.get(name)]
        if missing:
            self._lines.append(f"nothing was reported: {', '.join(missing)} not set")
            return
        output = io.StringIO()
        try:
            with contextlib.redirect_stderr(output):
                self._file()
        except (Exception, SystemExit) as error:  # whatever it is, the run's result is about the tests
            reason = output.getvalue().strip().removeprefix("ticketbox: ") or f"{type(error).__name__}: {error}"
            self._lines.append(f"not everything was reported: {' '.join(reason.split())}")

    def _file(self) -> None:
        project = os.environ["TICKETBOX_PROJECT"]
        url, token = find_server_url(os.environ["TICKETBOX_URL"]), os.environ["SERVICE_API_TOKEN"]
        with Server(url, token, READ_SECONDS) as server:
            for name, failure in list(self._failures.items())[:MAX_FAILURES]:
                failure.is_flaky = name not in self._failed
                try:
                    self._lines.append(file_failure(server, project, failure))
                except Exception as error:  # the others can be filed
                    self._lines.append(f"{name}: not reported: {' '.join(str(error).split())}")
            if (left := len(self._failures) - MAX_FAILURES) > 0:
                self._lines.append(f"{left} more failed tests weren't reported; the limit is {MAX_FAILURES}")
            self._lines += note_passes(server, project, self._passed - self._failures.keys())

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print what was filed."""
        for line in self._lines:
            terminalreporter.write_line(f"ticketbox: {line}")


_KEY = pytest.StashKey[list[str]]()


def _describe_report(report: pytest.TestReport) -> Failure:
    crash = getattr(report.longrepr, "reprcrash", None)
    path, line = _find_place(report)
    message = crash.message if crash is not None else report.longreprtext.strip().rpartition("\n")[2]
    trace, screenshot = (*map(Path, getattr(report, _FILES, [])), None, None)[:2]
    sections = dict(report.sections)  # of each title the last: earlier ones are of runs that were repeated
    outputs = [
        (level, sections[title], source)
        for phase in ("setup", "call", "teardown")
        for level, source in ((Level.LOG, "stdout"), (Level.ERROR, "stderr"), (Level.INFO, "log"))
        if (title := f"Captured {source} {phase}") in sections
    ]
    return Failure(
        name=report.nodeid, message=message or "failed", report=report.longreprtext, path=path, line=line,
        output=[each for each in outputs if each[1].strip()], trace=trace, screenshot=screenshot,
    )  # fmt: skip


def _find_place(report: pytest.TestReport) -> tuple[str, int]:
    """Return the last line of the test's file in the traceback; without one, where the test begins."""
    path, line, _ = report.location
    entries = getattr(getattr(report.longrepr, "reprtraceback", None), "reprentries", [])
    places = [place for each in entries if (place := getattr(each, "reprfileloc", None)) is not None]
    return path, next((each.lineno for each in reversed(places) if each.path == path), (line or 0) + 1)


def _start_tracing(context: Any) -> bool:
    """Start a trace of a browser context of Playwright's synchronous API; return whether it was started."""
    tracing = getattr(context, "tracing", None)
    if tracing is None or inspect.iscoroutinefunction(tracing.start):
        return False
    try:
        tracing.start(screenshots=True, snapshots=True)
    except Exception:  # somebody else traces it, as --tracing does
        return False
    return True


def _stop_tracing(context: Any, page: Any, *, keep: bool) -> list[str]:
    """Stop a trace; return the paths of the trace and of a screenshot if they are kept."""
    try:
        if not keep:
            context.tracing.stop()
            return []
        folder = Path(tempfile.mkdtemp(prefix="ticketbox-pytest-"))
        context.tracing.stop(path=folder / "trace.zip")
        if page is None:
            return [str(folder / "trace.zip")]
        page.screenshot(path=folder / "screenshot.png", timeout=5_000)
        return [str(folder / "trace.zip"), str(folder / "screenshot.png")]
    except Exception:  # the browser is gone
        return []
