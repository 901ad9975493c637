"""Leases: the secret that lets one run, and nobody else, continue a work session (docs/use/work-sessions.md)."""

from typing import Annotated

from msgspec import Meta, UnsetType

from ticketbox.domain.core.access.policy import Actor, Kind
from ticketbox.domain.core.access.scopes import Role
from ticketbox.domain.core.clock import format_rfc3339
from ticketbox.domain.core.problems import AlreadyClaimed, InvalidField, LeaseExpired, Problem, TicketArchived
from ticketbox.domain.tickets.records import WorkState
from ticketbox.domain.work.leases import hash_lease, parse_ticket
from ticketbox.operations.core.inputs import Line
from ticketbox.operations.core.lookups import TicketId
from ticketbox.operations.tickets.lookups import load_ticket
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.file.database import Read
from ticketbox.store.tickets.tickets import TicketState
from ticketbox.store.work import sessions
from ticketbox.store.work.sessions import SessionState

Lease = Annotated[str, Meta(min_length=1, max_length=100, description="The lease of your claim; it names the ticket.")]
# A lease names its ticket, so a call that sends one needs no `ticket_id`. In REST it is part of the path.
LeasedTicketId = TicketId | UnsetType
LeaseMinutes = Annotated[int, Meta(ge=1, le=1440, description="The claim ends after this unless renewed.")]
Run = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=80,
        description="A label of this run alone: with it you get a lost lease again.",
        examples=["ci-7"],
    ),
    Line,
]
# What an operation that takes a lease refuses.
LEASE_REFUSALS = (TicketArchived, AlreadyClaimed, LeaseExpired)


def choose_ticket_id(ticket_id: LeasedTicketId, lease: str | None) -> str:
    """Return the ticket that a call is about: the given one, or the one of its lease. Raises InvalidRequest."""
    if isinstance(ticket_id, str):
        return ticket_id
    named = None if lease is None else parse_ticket(lease)
    if named is None:
        raise InvalidField("ticket_id", "send the ticket's id, or the complete lease of your claim")
    return named


def require_lease(tx: Read, actor: Actor, ticket: TicketState, lease: str) -> SessionState:
    """Find the open session that a lease belongs to; only the user who started it can use its lease.

    Raises AlreadyClaimed with the claim if another session has the ticket, and LeaseExpired if none has.
    """
    session = find_session(tx, actor, ticket, lease)
    if session is not None and session.is_current(tx.now):
        return session
    raise build_lease_error(tx, actor, ticket, session)


def find_session(tx: Read, actor: Actor, ticket: TicketState, lease: str) -> SessionState | None:
    """Find the session of a ticket that a lease of the caller's belongs to, open or not."""
    session = sessions.find_session_by_lease(tx, ticket.key, hash_lease(lease))
    return None if session is None or session.user != actor.user else session


def build_lease_error(tx: Read, actor: Actor, ticket: TicketState, session: SessionState | None) -> Problem:
    """Return the problem for a lease that doesn't hold the ticket's claim; `session` is the lease's own session."""
    if is_claimed(tx, ticket):
        return build_claim_error(tx, actor, ticket)
    if session is None:
        return LeaseExpired("this isn't a lease of this ticket, and nobody works on it; start work to claim it")
    if session.ended_at is not None and session.state == WorkState.DONE:
        return LeaseExpired(f"this work ended at {format_rfc3339(session.ended_at)}; start work to claim it again")
    return LeaseExpired(f"the lease expired at {format_rfc3339(session.expires_at)}; start work to claim it again")


def is_claimed(tx: Read, ticket: TicketState) -> bool:
    """Whether somebody works on a ticket."""
    session = sessions.find_open_session(tx, ticket.key)
    return session is not None and session.is_current(tx.now)


def build_claim_error(tx: Read, actor: Actor, ticket: TicketState) -> AlreadyClaimed:
    """Return the problem for a ticket that somebody works on; it says how the caller can continue, or take it back."""
    claim = load_ticket(tx, actor, ticket.id).claim
    assert claim is not None
    token = f" with {claim.by.token_label}" if claim.by.token_label else ""
    run = f", run {claim.run}," if claim.run else ""
    advice = "choose another ticket, or wait until then"
    if actor.token_id is not None and claim.by.token_id == actor.token_id:
        advice = (
            f"if that is your run, start work again with run “{claim.run}” for a new lease; otherwise {advice}"
            if claim.run
            else "that claim is your token's, but has no run: only its lease continues it, or a person releases it"
        )
    who = f"{claim.by.user.name}{token}{run} is working on this ticket until {claim.until}"
    return AlreadyClaimed(f"{who}; {advice}", claim=claim)


def is_own_web_session(actor: Actor, session: SessionState) -> bool:
    """Whether a person started a session in the web app and is there again: they continue it without a lease."""
    return actor.kind is Kind.SESSION and session.user == actor.user and session.token_id is None


def is_same_run(actor: Actor, session: SessionState, run: str | None) -> bool:
    """Whether a call comes from the run of a session, which it names, with the session's token: it lost the lease."""
    return run is not None and session.run == run.strip() and session.token_id == actor.token_id is not None


def can_release(actor: Actor, row: VisibleRow, session: SessionState) -> bool:
    """Whether a person can end a session without its lease: the one behind it, or an admin, in the web app."""
    return actor.kind is Kind.SESSION and (session.user == actor.user or row.role >= Role.ADMIN)
