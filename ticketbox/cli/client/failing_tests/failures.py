"""What a failed test says about its failure: a title, a description, and a recording."""

import hashlib
import os
import time
from pathlib import Path

import msgspec

from ticketbox.cli.client.imports.files import MAX_TITLE, MAX_TRACE
from ticketbox.domain.captures.capture import ConsoleEntry, ErrorEntry, ErrorKind, Frame, Level, Stream
from ticketbox.domain.captures.fields import LINE
from ticketbox.domain.captures.imports.recording import Recording, clip_text

MAX_SHOWN = 4_000


class Failure(msgspec.Struct):
    """A failure of a test. `report` is what the runner prints; the files are those of its browser, if it has one."""

    name: str
    message: str
    report: str
    path: str
    line: int
    output: list[tuple[Level, str, str]]
    is_flaky: bool = False
    trace: Path | None = None
    screenshot: Path | None = None

    @property
    def first_line(self) -> str:
        """The first line of the message."""
        return " ".join(self.message.strip().partition("\n")[0].split())

    @property
    def title(self) -> str:
        """The title of its ticket."""
        return f"{self.name.rpartition('/')[2]}: {self.first_line}"[:MAX_TITLE]

    def describe(self) -> str:
        """Describe the failure in Markdown; one line names the test, for when it passes."""
        verb = "is flaky: it failed, and passed when it was repeated" if self.is_flaky else "failed"
        shown = clip_text(self.report)[-MAX_SHOWN:].replace("```", "'''")
        commit = find_commit()
        facts = [f"Test: `{escape_name(self.name)}`", f"Place: `{self.path}:{self.line}`"]
        facts += [f"Test id: `{identify_test(self.name)}`"]
        facts += [f"Commit: `{commit}`"] if commit else []
        facts += [f"Run: {os.environ['CI_JOB_URL']}"] if os.environ.get("CI_JOB_URL") else []
        return f"A test {verb}.\n\n```\n{shown}\n```\n\n" + "".join(f"- {fact}\n" for fact in facts)

    def record(self) -> Recording:
        """Return what was recorded: error and output of the test, and the trace of its browser for the server."""
        recording = Recording(Stream.CONSOLE, Stream.ERRORS)
        recording.page_url = "about:blank"
        end = time.time() * 1_000
        name, separator, rest = self.message.partition(": ")
        if not separator or not name.replace(".", "").isidentifier():
            name, rest = "", self.message
        frame = Frame(self.path, self.name.rpartition("::")[2][:LINE] or None, self.line)
        recording.add(
            ErrorEntry(0, end, ErrorKind.ERROR, clip_text(rest), name[:LINE], clip_text(self.report), [frame])
        )
        for level, text, source in self.output:
            recording.add(ConsoleEntry(0, end, level, [clip_text(text)], source=source))
        if self.screenshot is not None:
            recording.screenshot = self.screenshot.read_bytes()
        if self.trace is not None and self.trace.stat().st_size <= MAX_TRACE:
            recording.trace = self.trace.read_bytes()
        return recording


def escape_name(name: str) -> str:
    """Return the name of a test as descriptions have it, in one line."""
    return " ".join(name.replace("`", "'").split())


def identify_test(name: str) -> str:
    """Return an id that a test has in descriptions: something in its name may be redacted there."""
    return hashlib.sha256(name.encode()).hexdigest()[:16]


def find_commit() -> str:
    """Return the commit that CI says it tests, or an empty text."""
    found = (os.environ.get(name) for name in ("GITHUB_SHA", "CI_COMMIT_SHA", "TICKETBOX_COMMIT"))
    return next(filter(None, found), "")
