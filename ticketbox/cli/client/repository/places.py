"""Finding the line of a recorded frame in a repository (docs/use/command-line.md)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ticketbox.cli.core.processes import capture_output

Json = dict[str, Any]

_LINES_BEFORE = 2  # a frame's context begins so many lines before its line, or at the file's first line


@dataclass(frozen=True)
class Place:
    """A line of a tracked file; `moved` says that the frame names another line, `changed` that its text is gone."""

    file: str
    line: int
    function: str | None
    moved: bool = False
    changed: bool = False


class Repository:
    """The tracked files of a revision; `revision` is its commit's hash, or "" if there is none."""

    def __init__(self, revision: str) -> None:
        verified = capture_output("git", "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
        self.revision = verified.strip()
        listed = capture_output("git", "ls-tree", "-r", "-z", "--name-only", "--full-tree", self.revision)
        self._files = [name for name in listed.split("\0") if name]
        self._lines: dict[str, list[str]] = {}

    @property
    def is_empty(self) -> bool:
        """Whether there is no such revision, or the folder isn't in a repository."""
        return not (self.revision and self._files)

    def find_place(self, frame: Json) -> Place | None:
        """Return the line of a frame, preferring its place in the author's file; None if the file isn't tracked."""
        original: Json | None = frame.get("original")
        recorded: Json = original or {**frame, "file": _read_path(frame["url"]), "context": []}
        file, line = self._find_file(recorded["file"]), recorded.get("line")
        if file is None or line is None:
            return None
        function = recorded.get("function")
        lines = self._read_lines(file)
        context: list[str] = recorded["context"]
        if not context:
            return Place(file, line, function, changed=line > len(lines))
        found = _find_context(lines, context, line)
        if found is None:
            return Place(file, line, function, changed=True)
        return Place(file, found, function, moved=found != line)

    def _find_file(self, recorded: str) -> str | None:
        """Return the tracked file whose path ends as the recorded one does; None if none or several end alike."""
        parts = [part for part in re.split(r"[/\\]", recorded.partition("?")[0]) if part not in {"", ".", ".."}]
        if not parts:
            return None
        ranked = sorted(
            ((_count_equal_parts(parts, name.split("/")), name) for name in self._files if name.endswith(parts[-1])),
            reverse=True,
        )
        if not ranked or ranked[0][0] == 0 or (len(ranked) > 1 and ranked[1][0] == ranked[0][0]):
            return None
        return ranked[0][1]

    def _read_lines(self, file: str) -> list[str]:
        if file not in self._lines:
            self._lines[file] = capture_output("git", "show", f"{self.revision}:{file}").split("\n")
        return self._lines[file]


def _read_path(url: str) -> str:
    try:
        return urlsplit(url).path
    except ValueError:  # a page can write any address into a stack
        return ""


def _count_equal_parts(recorded: Sequence[str], tracked: Sequence[str]) -> int:
    """Return how many names at the end of two paths are the same."""
    count = 0
    for ours, theirs in zip(reversed(recorded), reversed(tracked), strict=False):
        if ours != theirs:
            break
        count += 1
    return count


def _find_context(lines: Sequence[str], context: Sequence[str], line: int) -> int | None:
    """Return the number of the line whose surroundings are nearest to where they were recorded; None if it is gone."""
    before = min(_LINES_BEFORE, line - 1)
    if before >= len(context):
        return None
    wanted = [text.strip() for text in context]
    stripped = [text.strip() for text in lines]
    same = [
        start + before + 1
        for start in range(len(lines) - len(wanted) + 1)
        if stripped[start : start + len(wanted)] == wanted
    ] or [number for number, text in enumerate(stripped, 1) if text == wanted[before]]
    return min(same, key=lambda number: abs(number - line), default=None)
