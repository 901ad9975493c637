"""What a failed test says about its failure: a fingerprint, a title, a description, and a recording."""

import contextlib
import hashlib
import os
import re
import time
from pathlib import Path

import msgspec

from ticketbox.cli.client.imports.files import MAX_TITLE
from ticketbox.cli.client.imports.recording import ImportProblem, Recording, clip_text
from ticketbox.cli.client.imports.trace import read_trace
from ticketbox.domain.captures.capture import ConsoleEntry, ErrorEntry, ErrorKind, Frame, Level, Stream
from ticketbox.domain.captures.fields import LINE

MAX_SHOWN = 4_000

# Each stops within a few characters of where it starts: messages may be one word of any length.
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{0,30}://[^\s'\"<>)\]]+", re.IGNORECASE)
_CHANGING = re.compile(
    r"\b(?:0x[0-9a-f]+|(?=[0-9a-f-]{0,64}[0-9])[0-9a-f-]{7,})\b|[0-9]+(?:[.,][0-9]+)*", re.IGNORECASE
)


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

    def compute_fingerprint(self, project: str) -> str:
        """Return what is the same for failures of one test of a project in the same way."""
        plain = _CHANGING.sub("#", _ADDRESS.sub("@", self.first_line))
        return hashlib.sha256(f"{project}\0{self.name}\0{plain}".encode()).hexdigest()[:40]

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
        """Return what was recorded: the trace of the browser, and error and output of the test."""
        recording = Recording(Stream.CONSOLE, Stream.ERRORS)
        if self.trace is not None:
            with contextlib.suppress(ImportProblem):
                recording = read_trace(self.trace)
        end = recording.captured_at or time.time() * 1_000
        name, separator, rest = self.message.partition(": ")
        if not separator or not name.replace(".", "").isidentifier():
            name, rest = "", self.message
        frame = Frame(self.path, self.name.rpartition("::")[2][:LINE] or None, self.line)
        recording.add(
            ErrorEntry(0, end, ErrorKind.ERROR, clip_text(rest), name[:LINE], clip_text(self.report), [frame])
        )
        for level, text, source in self.output:
            recording.add(ConsoleEntry(0, end, level, [clip_text(text)], source=source))
        recording.page_url = recording.page_url or "about:blank"
        if self.screenshot is not None:
            recording.screenshot = self.screenshot.read_bytes()
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
