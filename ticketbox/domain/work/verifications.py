"""Verifications: what the reproduction of a ticket's bug did on a commit (docs/use/verifications.md)."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from ticketbox.domain.core.records import By
from ticketbox.domain.tickets.records import Verdict

MAX_ROUNDS = 20


class Verification(msgspec.Struct, frozen=True):
    """A run of a ticket's reproduction against a commit. It never changes.

    `branch` is null if none was named. `console` are the errors in the console, `screenshot` and `trace`
    the ids of attachments of the ticket; they are null if there are none, or they were deleted.
    """

    id: str
    ticket_id: str
    capture_id: str | None
    commit: str
    branch: str | None
    base_url: str
    verdict: Verdict
    rounds: int
    console: list[str]
    screenshot: str | None
    trace: str | None
    created: By


class Proof(Protocol):
    """What the gate reads of a verification."""

    @property
    def capture(self) -> int | None:
        """The internal key of the capture that was replayed."""
        ...

    @property
    def commit(self) -> str:
        """The commit that was tried, in lower case, whole or abbreviated."""
        ...

    @property
    def verdict(self) -> Verdict:
        """What the reproduction did."""
        ...

    @property
    def created_at(self) -> int:
        """When it was posted, in epoch milliseconds."""
        ...


def is_same_commit(first: str, second: str) -> bool:
    """Whether two hashes, either of them abbreviated, can be those of one commit."""
    return first.startswith(second) or second.startswith(first)


def is_fix_proven(newest_first: Sequence[Proof], reopened_at: int) -> bool:
    """Whether verifications prove that a ticket's bug is fixed.

    The newest one must be `gone`, posted after the ticket was last reopened, and an earlier one of the same capture
    `reproduced` on another commit. A commit on which the bug was ever reproduced proves nothing.
    """
    if not newest_first:
        return False
    after, *before = newest_first
    reproduced = [each for each in before if each.verdict is Verdict.REPRODUCED]
    return (
        after.verdict is Verdict.GONE
        and after.created_at >= reopened_at
        and not any(is_same_commit(each.commit, after.commit) for each in reproduced)
        and any(each.capture == after.capture for each in reproduced)
    )
