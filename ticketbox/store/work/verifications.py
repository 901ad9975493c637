"""Verifications of tickets."""

from typing import NamedTuple

import msgspec

from ticketbox.domain.core.ids import Prefix, generate_id
from ticketbox.domain.tickets.records import ExpectedWords, Failure, Verdict
from ticketbox.domain.work.verifications import Verification
from ticketbox.store.core.bylines import Bylines
from ticketbox.store.file.database import Read, Row, Write
from ticketbox.store.tickets.records import FAILURE, PROVEN

_SELECT_VERIFICATION = f"""
SELECT n.id, n.public_id, t.public_id, c.public_id, n.commit_hash, n.branch, n.base_url, n.verdict, n.reason,
  {PROVEN}, n.bug, n.expectations, n.rounds, n.live, n.console, s.public_id, r.public_id, n.created_at, n.created_by
FROM verification n JOIN ticket t ON t.id = n.ticket_id LEFT JOIN capture c ON c.id = n.capture_id
LEFT JOIN asset s ON s.id = n.screenshot_id LEFT JOIN asset r ON r.id = n.trace_id
"""


class _VerificationRow(NamedTuple):
    """A row of `_SELECT_VERIFICATION`."""

    key: int
    id: str
    ticket_id: str
    capture_id: str | None
    commit: str
    branch: str | None
    base_url: str
    verdict: str
    reason: str | None
    proven: int
    bug: str | None
    expectations: str
    rounds: int
    live: int
    console: str
    screenshot: str | None
    trace: str | None
    created_at: int
    created_by: int


SELECT_VERIFICATIONS = f"{_SELECT_VERIFICATION} WHERE n.ticket_id = ? AND n.id < ? ORDER BY n.id DESC LIMIT ?"
SELECT_VERIFICATION = f"{_SELECT_VERIFICATION} WHERE n.id = ?"


def list_verifications(tx: Read, ticket: int, before: int, limit: int) -> list[tuple[int, Verification]]:
    """List a ticket's verifications, newest first, each with its key."""
    return _build_verifications(tx, tx.fetch_all(SELECT_VERIFICATIONS, (ticket, before, limit)))


def load_verification(tx: Read, key: int) -> Verification:
    """Load a verification that exists."""
    return _build_verifications(tx, tx.fetch_all(SELECT_VERIFICATION, (key,)))[0][1]


def _build_verifications(tx: Read, records: list[Row]) -> list[tuple[int, Verification]]:
    rows = [_VerificationRow._make(row) for row in records]
    bylines = Bylines(tx, [row.created_by for row in rows])
    return [
        (
            row.key,
            Verification(
                id=row.id,
                ticket_id=row.ticket_id,
                capture_id=row.capture_id,
                commit=row.commit,
                branch=row.branch,
                base_url=row.base_url,
                verdict=Verdict(row.verdict),
                reason=row.reason,
                proven=bool(row.proven),
                bug=None if row.bug is None else msgspec.json.decode(row.bug, type=Failure),
                expectations=msgspec.json.decode(row.expectations, type=list[ExpectedWords]),
                rounds=row.rounds,
                live=bool(row.live),
                console=msgspec.json.decode(row.console, type=list[str]),
                screenshot=row.screenshot,
                trace=row.trace,
                created=bylines.build(row.created_by, row.created_at),
            ),
        )
        for row in rows
    ]


class NewVerification(msgspec.Struct, frozen=True):
    """The fields of a new verification; `capture`, `screenshot` and `trace` are internal keys, `bug` and
    `expectations` are encoded.
    """

    ticket: int
    capture: int | None
    commit: str
    branch: str | None
    base_url: str
    verdict: Verdict
    reason: str | None
    bug: str | None
    expectations: str
    rounds: int
    live: bool
    console: list[str]
    screenshot: int | None
    trace: int | None
    byline: int


INSERT_VERIFICATION = """
INSERT INTO verification (public_id, ticket_id, capture_id, commit_hash, branch, base_url, verdict, reason, proven, bug,
  expectations, rounds, live, console, screenshot_id, trace_id, created_at, created_by)
VALUES (:id, :ticket, :capture, :commit, :branch, :base_url, :verdict, :reason, :verdict = 'gone' AND EXISTS (
    SELECT 1 FROM verification WHERE capture_id = :capture AND verdict = 'reproduced' AND bug IS :bug
      AND expectations = :expectations AND live = :live),
  :bug, :expectations, :rounds, :live, :console, :screenshot, :trace, :now, :byline)
"""


def insert_verification(tx: Write, new: NewVerification) -> int:
    """Insert a verification, and return its key."""
    values = {
        **msgspec.structs.asdict(new),
        "id": generate_id(Prefix.VERIFICATION),
        "verdict": new.verdict.value,
        "console": msgspec.json.encode(new.console).decode(),
        "now": tx.now,
    }
    return tx.insert(INSERT_VERIFICATION, values)


class StoredProof(NamedTuple):
    """What the gate reads of a verification."""

    capture: str | None
    bug: str | None
    chosen_bug: str | None
    is_unconfirmed: bool
    commit: str
    verdict: Verdict
    live: bool
    created_at: int


MAX_PROOFS = 200
SELECT_PROOFS = f"""
SELECT about.public_id, ifnull(v.bug, '') || v.expectations, ifnull({FAILURE}, '') || about.expectations,
  about.summary ->> '$.external' AND about.confirmed_at IS NULL, v.commit_hash, v.verdict, v.live,
  v.created_at
FROM verification v LEFT JOIN capture about ON about.id = v.capture_id AND about.ticket_id = v.ticket_id
JOIN byline b ON b.id = v.created_by JOIN user u ON u.id = b.user_id
WHERE v.ticket_id = :ticket AND (:verifiers = '[]' OR EXISTS (
  SELECT 1 FROM json_each(:verifiers) j WHERE j.value IN (u.public_id, b.token_id)))
ORDER BY v.id DESC LIMIT :limit
"""


def list_proofs(tx: Read, ticket: int, verifiers: str) -> list[StoredProof]:
    """List what the newest 200 verifications of a ticket prove that count, newest first.

    `verifiers` is the JSON list of the users and tokens whose verifications count; everybody's, if it is empty.
    """
    rows = tx.fetch_all(SELECT_PROOFS, {"ticket": ticket, "verifiers": verifiers, "limit": MAX_PROOFS})
    return [
        StoredProof(capture, bug, chosen_bug, bool(is_unconfirmed), commit, Verdict(verdict), bool(live), at)
        for capture, bug, chosen_bug, is_unconfirmed, commit, verdict, live, at in rows
    ]


SELECT_REOPENED = """
SELECT ifnull(max(at), 0) FROM event
WHERE ticket_id = ? AND type IN ('ticket.updated', 'ticket.moved', 'ticket.restored')
  AND data ->> '$.changes.resolved.to' = 0
"""


def find_reopened_at(tx: Read, ticket: int) -> int:
    """Find when a ticket was last reopened, in epoch milliseconds; 0 if it never was."""
    return tx.fetch_value(SELECT_REOPENED, (ticket,))
