"""What a delivery says about tickets, whichever provider sent it. It is stored until its turn comes."""

import re
from datetime import UTC, datetime

import msgspec

from ticketbox.domain.core.normalization import normalize_text
from ticketbox.domain.core.unsafe_characters import remove_unsafe
from ticketbox.domain.git.records import Checks, GitLinkKind, GitState

MAX_URL = 2_000
MAX_NAME = 200
MAX_TITLE = 300
MAX_COUNT = 10_000  # of checks

_URL = re.compile(r"https?://[!-~]+", re.IGNORECASE)
_COMMIT = re.compile(r"[0-9a-fA-F]{40}|[0-9a-fA-F]{64}")


class LinkChange(msgspec.Struct, frozen=True):
    """A branch, commit or pull request, and the tickets that it names and fixes.

    `lands` says that what it fixes is now in the default branch. `at` is when it changed, in epoch milliseconds; None
    if the provider doesn't say.
    """

    kind: GitLinkKind
    url: str
    name: str
    title: str = ""
    state: GitState | None = None
    head: str | None = None
    at: int | None = None
    tickets: list[str] = []
    fixes: list[str] = []
    lands: bool = False


class CheckChange(msgspec.Struct, frozen=True):
    """The state of one report about a commit, and how many checks it is about; 0 if the provider doesn't say."""

    head: str
    name: str
    state: Checks
    at: int | None = None
    count: int = 0


class GitChanges(msgspec.Struct, frozen=True):
    """What a delivery says."""

    links: list[LinkChange] = []
    checks: list[CheckChange] = []

    def __bool__(self) -> bool:
        return bool(self.links or self.checks)


def clean_url(url: str) -> str | None:
    """Return an http or https URL; None for anything else."""
    return url if len(url) <= MAX_URL and is_plain_url(url) else None


def is_plain_url(url: str) -> bool:
    """Whether a text is an http or https URL without a login, which could pass for the host."""
    return bool(_URL.fullmatch(url)) and "@" not in url.split("/", 3)[2].partition("?")[0].partition("#")[0]


def clean_text(text: str, most: int) -> str:
    """Return the first line of a text without characters that could mislead, at most so long."""
    line = normalize_text(remove_unsafe(text.strip().partition("\n")[0].strip()))
    return line if len(line) <= most else line[: most - 1] + "…"


def clean_commit(text: str | None) -> str | None:
    """Return a commit's hash; None for anything else, and for the hash of zeros that means none."""
    return text.lower() if text and _COMMIT.fullmatch(text) and text.strip("0") else None


def clean_count(count: int) -> int:
    """Return a number of checks; 0 for one that can't be true."""
    return count if 0 <= count <= MAX_COUNT else 0


def read_time(text: str | None) -> int | None:
    """Read a provider's time as epoch milliseconds: RFC 3339, or GitLab's `2026-01-31 08:09:10 UTC`."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text.removesuffix(" UTC"))
        return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None


def cut_branch(ref: str | None) -> str | None:
    """Return the name of the branch of a ref; None for a tag."""
    return ref.removeprefix("refs/heads/") if ref and ref.startswith("refs/heads/") else None
