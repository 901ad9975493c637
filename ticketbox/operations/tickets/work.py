"""Claiming a ticket while working on it, and recording the branch: a lease (docs/use/tickets.md, "Claims")."""

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
    """A start by the one who holds the claim renews it."""

    ticket_id: TicketId
    branch: (
        Annotated[Branch, Meta(description="Left out: the recorded branch, or `t-…-slug` made from the title.")] | None
    ) = None
    lease_minutes: Annotated[int, Meta(ge=1, le=1440, description="How long the claim holds.")] = 60
    expected_version: Version | None = None


@operation(
    "start_work",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="POST /tickets/{ticket_id}/work",
    refuses=(TicketArchived, AlreadyClaimed),
    tool=Tool(
        "Start work on a ticket",
        "Use this before you change code for a ticket: it claims the ticket and records the git branch.",
        {"ticket_id": "t-4k7m2q9x", "branch": "t-4k7m2q9x-empty-cart", "lease_minutes": 60},
        name="start_work_on_ticket",
        idempotent=True,
    ),
)
def start_work(tx: Write, actor: Actor, args: StartWork) -> Ticket:
    """Claim a ticket for a while and record the branch; others who start meanwhile are refused."""
    found, state = find_writable_ticket(tx, actor, args.ticket_id, args.expected_version)
    if _claim(tx, state) and not _is_held_by(state, actor):
        raise _already_claimed(tx, actor, state)
    branch = args.branch or state.branch or f"{state.id}-{slugify(state.title)}"
    until = tx.now + args.lease_minutes * MINUTE
    tickets.claim_ticket(tx, found.key, bylines.ensure_byline(tx, actor), until, branch)
    return record_change(tx, actor, found, state.id, "ticket.work_started", branch=branch, until=format_rfc3339(until))


class StopWork(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Stopping where nobody works changes nothing."""

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
        "Use this when you are done with a ticket or give it up: it ends the claim; the branch stays recorded.",
        {"ticket_id": "t-4k7m2q9x"},
        name="stop_work_on_ticket",
        idempotent=True,
    ),
)
def stop_work(tx: Write, actor: Actor, args: StopWork) -> Ticket:
    """End the claim on a ticket: one's own (whatever the token), or as an admin anybody's."""
    found, state = find_writable_ticket(tx, actor, args.ticket_id, args.expected_version)
    if not _claim(tx, state):
        return load_ticket(tx, actor, state.id)
    if state.claimed_user != actor.user and found.role < Role.ADMIN:
        raise _already_claimed(tx, actor, state)
    tickets.release_claim(tx, found.key)
    return record_change(tx, actor, found, state.id, "ticket.work_stopped")


def slugify(title: str) -> str:
    """A title as a part of a branch's name: `The cart's empty!` becomes `the-cart-s-empty`."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40].rstrip("-") or "work"


def _claim(tx: Write, state: TicketState) -> bool:
    return state.claimed_until is not None and state.claimed_until > tx.now


def _is_held_by(state: TicketState, actor: Actor) -> bool:
    token = None if actor.kind is Kind.SESSION else actor.token_id
    return state.claimed_user == actor.user and state.claimed_token == token


def _already_claimed(tx: Write, actor: Actor, state: TicketState) -> AlreadyClaimed:
    claim = load_ticket(tx, actor, state.id).claim
    assert claim is not None
    token = f" with {claim.by.token_label}" if claim.by.token_label else ""
    return AlreadyClaimed(f"{claim.by.user.name}{token} works on this until {claim.until}", claim=claim)
