"""Claiming a ticket for a limited time, and recording its branch (docs/use/tickets.md, "Claims")."""

import re
import unicodedata
from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.core.clock import MINUTE, format_rfc3339
from ticketbox.domain.core.limits import Budget
from ticketbox.domain.core.policy import Actor, Kind
from ticketbox.domain.core.problems import AlreadyClaimed, TicketArchived
from ticketbox.domain.core.scopes import Role, Scope
from ticketbox.domain.tickets.records import Ticket
from ticketbox.operations.core.inputs import Branch
from ticketbox.operations.core.lookups import TicketId, Version
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.operations.tickets.lookups import find_writable_ticket, load_ticket
from ticketbox.operations.tickets.recording import record_change
from ticketbox.store.core import bylines
from ticketbox.store.file.database import Write
from ticketbox.store.tickets import tickets
from ticketbox.store.tickets.tickets import TicketState


class StartWork(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Calling this again with the same credential renews the claim."""

    ticket_id: TicketId
    branch: (
        Annotated[Branch, Meta(description="Default: the recorded branch, or `t-…-slug` from the id and title.")] | None
    ) = None
    lease_minutes: Annotated[int, Meta(ge=1, le=1440, description="The duration of the claim.")] = 60
    expected_version: Version | None = None


@operation(
    "start_work",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="POST /tickets/{ticket_id}/work",
    refuses=(TicketArchived, AlreadyClaimed),
    tool=Tool(
        "Start work on a ticket",
        "Use this before you change code for a ticket. It claims the ticket and records the git branch.",
        {"ticket_id": "t-4k7m2q9x", "branch": "t-4k7m2q9x-empty-cart", "lease_minutes": 60},
        name="start_work_on_ticket",
        idempotent=True,
    ),
)
def start_work(tx: Write, actor: Actor, args: StartWork) -> Ticket:
    """Claim a ticket for a limited time and record its branch. Others can't start work until the claim ends."""
    row, state = find_writable_ticket(tx, actor, args.ticket_id, args.expected_version)
    if _is_claimed(tx, state) and not _is_held_by(state, actor):
        raise _build_claim_error(tx, actor, state)
    branch = args.branch or state.branch or f"{state.id}-{slugify(state.title)}"
    until = tx.now + args.lease_minutes * MINUTE
    tickets.claim_ticket(tx, row.key, bylines.ensure_byline(tx, actor), until, branch)
    return record_change(tx, actor, row, state.id, "ticket.work_started", branch=branch, until=format_rfc3339(until))


class StopWork(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Without an active claim, this changes nothing."""

    ticket_id: TicketId
    expected_version: Version | None = None


@operation(
    "stop_work",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="DELETE /tickets/{ticket_id}/work",
    refuses=(TicketArchived, AlreadyClaimed),
    tool=Tool(
        "Stop work on a ticket",
        "Use this when you finish or abandon work on a ticket. It releases the claim and keeps the recorded branch.",
        {"ticket_id": "t-4k7m2q9x"},
        name="stop_work_on_ticket",
        idempotent=True,
    ),
)
def stop_work(tx: Write, actor: Actor, args: StopWork) -> Ticket:
    """Release the claim on a ticket. An admin can release the claims of others."""
    row, state = find_writable_ticket(tx, actor, args.ticket_id, args.expected_version)
    if not _is_claimed(tx, state):
        return load_ticket(tx, actor, state.id)
    if state.claimed_user != actor.user and row.role < Role.ADMIN:
        raise _build_claim_error(tx, actor, state)
    tickets.release_claim(tx, row.key)
    return record_change(tx, actor, row, state.id, "ticket.work_stopped")


def slugify(title: str) -> str:
    """Convert a title to a part of a branch name: `The cart's empty!` becomes `the-cart-s-empty`."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40].rstrip("-") or "work"


def _is_claimed(tx: Write, state: TicketState) -> bool:
    return state.claimed_until is not None and state.claimed_until > tx.now


def _is_held_by(state: TicketState, actor: Actor) -> bool:
    token = None if actor.kind is Kind.SESSION else actor.token_id
    return state.claimed_user == actor.user and state.claimed_token == token


def _build_claim_error(tx: Write, actor: Actor, state: TicketState) -> AlreadyClaimed:
    claim = load_ticket(tx, actor, state.id).claim
    assert claim is not None
    token = f" with {claim.by.token_label}" if claim.by.token_label else ""
    return AlreadyClaimed(f"{claim.by.user.name}{token} is working on this ticket until {claim.until}", claim=claim)
