"""The repository that a claim is made in: branch, commit and remote of the current folder."""

from ticketbox.cli.core.processes import capture_output
from ticketbox.domain.git.remotes import clean_remote

_MAX_BRANCH = 250
_MAX_REMOTE = 2_000


def describe_repository() -> dict[str, str] | None:
    """Return the current branch, commit and remote, as far as there are any; None outside of a repository.

    The remote is the branch's, or `origin`, without credentials; a path of this machine isn't returned. Sources: the
    documentation of `git symbolic-ref` and of `git ls-remote --get-url`, which doesn't talk to the remote.
    """
    if capture_output("git", "rev-parse", "--is-inside-work-tree").strip() != "true":
        return None
    commit = capture_output("git", "rev-parse", "--verify", "--quiet", "HEAD").strip()  # "" before the first commit
    remote = clean_remote(capture_output("git", "ls-remote", "--get-url")) or ""
    found = {
        "branch": find_branch(),
        "commit": commit,
        "remote": remote if len(remote) <= _MAX_REMOTE else "",
    }
    return {name: value for name, value in found.items() if value} or None


def find_branch() -> str:
    """Return the current branch; "" outside of a repository, if HEAD is detached, or if servers refuse its name."""
    return clean_branch(capture_output("git", "symbolic-ref", "--quiet", "--short", "HEAD").strip())


def clean_branch(name: str) -> str:
    """Return a branch's name, or "" if servers refuse it."""
    return name if name.isprintable() and len(name) <= _MAX_BRANCH else ""
