"""Verifications: what the reproduction of a ticket's bug did on a commit (docs/use/verifications.md)."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from ticketbox.domain.core.records import By
from ticketbox.domain.tickets.records import ExpectedWords, Failure, Verdict

MAX_ROUNDS = 20


class Verification(msgspec.Struct, frozen=True):
    """A run of a ticket's reproduction against a commit.

    `reason` says why the run wasn't reached, or what differed; it is null if there is nothing to say. `proven`: the
    verdict is `gone`, an earlier run of the same capture, as `live` as this one, saw the bug, and the capture is still
    about that bug. `live`: the server at `base_url` answered all calls. `bug` is
    the failure that the run looked for, null if there is none, and `expectations` what it expected of the page.
    `branch` is null if none was named. `console` are the errors in the console, `screenshot` and `trace` the ids of
    attachments of the ticket; they are null if there are none, or they were deleted.
    """

    id: str
    ticket_id: str
    capture_id: str | None
    commit: str
    branch: str | None
    base_url: str
    verdict: Verdict
    reason: str | None
    proven: bool
    bug: Failure | None
    expectations: list[ExpectedWords]
    rounds: int
    live: bool
    console: list[str]
    screenshot: str | None
    trace: str | None
    created: By


class Proof(Protocol):
    """What the gate reads of a verification."""

    @property
    def capture(self) -> str | None:
        """The id of the capture that was replayed, if it is one of the ticket."""
        ...

    @property
    def bug(self) -> str | None:
        """The failure and the expectations that were looked for, as they are stored."""
        ...

    @property
    def chosen_bug(self) -> str | None:
        """The failure and the expectations that the capture is about now."""
        ...

    @property
    def is_unconfirmed(self) -> bool:
        """Whether somebody without an account sent the capture, and no member has confirmed it."""
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
    def live(self) -> bool:
        """Whether the server answered all calls."""
        ...

    @property
    def created_at(self) -> int:
        """When it was posted, in epoch milliseconds."""
        ...


def is_same_commit(first: str, second: str) -> bool:
    """Whether two hashes, either of them abbreviated, can be those of one commit."""
    return first.startswith(second) or second.startswith(first)


def find_missing_proof(newest_first: Sequence[Proof], reopened_at: int) -> str | None:
    """Say what verifications lack to prove that a ticket's bug is fixed; None if they prove it.

    The newest one must be `gone`, posted after the ticket was last reopened, and an earlier one of the same capture
    and failure `reproduced` on another commit. A commit on which the bug was ever reproduced proves nothing.
    """
    if not newest_first:
        return (
            "no verification counts yet; run `ticketbox verify` on a commit with the bug, which must say reproduced, "
            "then on the commit with the fix, which must say gone"
        )
    after, *before = newest_first
    commit = after.commit[:7]
    if after.verdict is Verdict.UNPROVEN:
        return (
            f"the newest verification says unproven on {commit}, because no run has reproduced the bug; run `ticketbox "
            "verify` on a commit with the bug, which must say reproduced, then again on the one with the fix"
        )
    if after.verdict is not Verdict.GONE:
        return (
            f"the newest verification says {after.verdict.value} on {commit}; run `ticketbox verify` on the commit "
            "with the fix, which must say gone"
        )
    if after.created_at < reopened_at:
        return "the ticket was reopened since it was verified; run `ticketbox verify` on the commit with the new fix"
    if after.capture is None:
        return "the newest verification names no capture of this ticket; send `capture_id`, as `ticketbox verify` does"
    if after.is_unconfirmed:
        return (
            f"somebody without an account sent the capture {after.capture}, so a person must confirm it on the "
            "ticket's page first"
        )
    if after.bug != after.chosen_bug:
        return (
            f"the bug of the capture {after.capture} is another one now; run `ticketbox verify` on a commit with it, "
            "then again on the one with the fix"
        )
    reproduced = [
        each
        for each in before
        if each.verdict is Verdict.REPRODUCED and (each.capture != after.capture or each.bug == after.bug)
    ]
    if any(is_same_commit(each.commit, after.commit) for each in reproduced):
        return f"the bug was also reproduced on {commit}; run `ticketbox verify` on another commit, with the fix"
    same = [each for each in reproduced if each.capture == after.capture]
    if same and not any(each.live is after.live for each in same):
        return (
            f"the run on {commit} was {_name_mode(live=after.live)}, and the one that says reproduced "
            f"{_name_mode(live=not after.live)}; run `ticketbox verify` in the same way on both"
        )
    if not same:
        return (
            f"no verification before it says reproduced for its capture {after.capture}; run `ticketbox verify` on a "
            "commit with the bug, then again on the one with the fix"
        )
    return None


def _name_mode(*, live: bool) -> str:
    return "against the server (`--live`)" if live else "against the recorded answers"
