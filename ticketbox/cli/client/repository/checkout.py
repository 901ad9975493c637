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
    branch = capture_output("git", "symbolic-ref", "--quiet", "--short", "HEAD").strip()  # "" if HEAD is detached
    commit = capture_output("git", "rev-parse", "--verify", "--quiet", "HEAD").strip()  # "" before the first commit
    remote = clean_remote(capture_output("git", "ls-remote", "--get-url")) or ""
    found = {
        "branch": branch if branch.isprintable() and len(branch) <= _MAX_BRANCH else "",
        "commit": commit,
        "remote": remote if len(remote) <= _MAX_REMOTE else "",
    }
    return {name: value for name, value in found.items() if value} or None
