"""The commits of a push, which all providers send in the same form."""

from collections.abc import Sequence

import msgspec

from ticketbox.domain.git.changes import MAX_TITLE, LinkChange, clean_commit, clean_text, clean_url, read_time
from ticketbox.domain.git.records import GitLinkKind, GitState
from ticketbox.domain.git.ticket_references import read_message

MAX_COMMITS = 100


class Commit(msgspec.Struct, frozen=True):
    """A commit, as providers describe it."""

    id: str = ""
    message: str = ""
    url: str = ""
    timestamp: str | None = None


def read_commits(commits: Sequence[Commit], *, lands: bool) -> list[LinkChange]:
    """Read the commits that name a ticket: the newest hundred, oldest first."""
    links: list[LinkChange] = []
    for commit in reversed(commits):
        if len(links) == MAX_COMMITS:
            break
        references = read_message(commit.message)
        if references.named and clean_url(commit.url) and clean_commit(commit.id):
            links.append(
                LinkChange(
                    GitLinkKind.COMMIT,
                    commit.url,
                    commit.id[:10],
                    clean_text(commit.message, MAX_TITLE),
                    GitState.MERGED if lands else None,
                    at=read_time(commit.timestamp),
                    tickets=references.named,
                    fixes=references.fixed,
                    lands=lands,
                )
            )
    return links[::-1]
