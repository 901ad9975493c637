"""Git hooks and the links that they make, as every surface shows them (docs/use/git.md). Outputs have no defaults."""

from enum import StrEnum

import msgspec

from ticketbox.domain.core.records import By, Time


class GitLinkKind(StrEnum):
    """What a ticket's link to a repository leads to."""

    BRANCH = "branch"
    COMMIT = "commit"
    PULL_REQUEST = "pull_request"


class GitState(StrEnum):
    """The state of a pull request. A branch is `closed` once it is deleted, a commit `merged` in the default branch."""

    OPEN = "open"
    MERGED = "merged"
    CLOSED = "closed"


class Checks(StrEnum):
    """What the checks of a branch's or pull request's newest commit say together."""

    PENDING = "pending"
    PASSING = "passing"
    FAILING = "failing"


class GitLink(msgspec.Struct, frozen=True):
    """A branch, commit or pull request that names a ticket.

    `name` is short, such as `#7`. `state` is null for commits of other branches than the default one, `checks` until
    one is reported. `check_count` is how many there are; null if the provider doesn't say.
    """

    kind: GitLinkKind
    url: str
    name: str
    title: str
    state: GitState | None
    checks: Checks | None
    check_count: int | None
    updated: Time


class GitHook(msgspec.Struct, frozen=True):
    """A project's address for a repository's webhooks.

    `last_delivery` is when a signed delivery came last. `old_secret_until` is until when the former secret is valid.
    """

    id: str
    project_id: str
    name: str
    closes_tickets: bool
    last_delivery: Time | None
    old_secret_until: Time | None
    created: By
