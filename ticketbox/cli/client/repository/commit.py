"""The commit in the current folder."""

import click

from ticketbox.cli.core.processes import capture_output
from ticketbox.domain.work.verifications import is_same_commit


def find_commit() -> str | None:
    """Return the hash of HEAD; None outside of a repository. Warns if files differ from it."""
    commit = capture_output("git", "rev-parse", "HEAD").strip()
    if commit and is_dirty():
        click.echo(f"The working tree has changes that aren't in {commit[:12]}.", err=True)
    return commit or None


def is_dirty() -> bool:
    """Whether tracked files differ from HEAD."""
    return bool(capture_output("git", "status", "--porcelain", "--untracked-files=no").strip())


def is_current(commit: str) -> bool:
    """Whether a commit, whole or abbreviated, is HEAD."""
    head = capture_output("git", "rev-parse", "HEAD").strip()
    return bool(head) and is_same_commit(head, commit.lower())
