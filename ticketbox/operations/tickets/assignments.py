"""Assigning people to tickets, one or many."""

from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.fairness.limits import MAX_BULK, Budget
from ticketbox.domain.core.problems import InvalidField, NotFound, TicketArchived
from ticketbox.domain.tickets.records import Ticket
from ticketbox.operations.core.lookups import TicketId, UserId, Version
from ticketbox.operations.core.meter import Meter
from ticketbox.operations.core.names import resolve_user_id
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.operations.events.notify import notify_assigned
from ticketbox.operations.tickets.lookups import find_writable_ticket, load_ticket
from ticketbox.operations.tickets.placement.moves import BulkResults, TicketIds, apply_to_each
from ticketbox.operations.tickets.recording import record_change
from ticketbox.store.companies import members
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.file.database import Write
from ticketbox.store.tickets import assignments
from ticketbox.store.tickets.tickets import TicketState


class AssignTicket(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The user must be a member of the company who can see the project."""

    ticket_id: TicketId
    user_id: UserId
    expected_version: Version | None = None


@operation(
    "assign_ticket",
    scope=Scope.TICKETS_ASSIGN,
    budget=Budget.WRITE,
    rest="PUT /tickets/{ticket_id}/assignees/{user_id}",
    refuses=(TicketArchived,),
    tool=Tool(
        "Assign a ticket",
        "Use this with user_id `me` for yourself.",
        {"ticket_id": "WEB-42", "user_id": "me"},
        idempotent=True,
        tool_set="core",
        unlisted=("expected_version",),
    ),
)
def assign_ticket(tx: Write, actor: Actor, args: AssignTicket) -> Ticket:
    """Assign a ticket to a member. If the member is already assigned, this changes nothing."""
    row, state = find_writable_ticket(tx, actor, args.ticket_id, args.expected_version)
    user = find_member(tx, actor, row, args.user_id)
    return change_assignees(tx, actor, row, state, [user], [])


class UnassignTicket(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """If the member isn't assigned, this changes nothing."""

    ticket_id: TicketId
    user_id: UserId
    expected_version: Version | None = None


@operation(
    "unassign_ticket",
    scope=Scope.TICKETS_ASSIGN,
    budget=Budget.WRITE,
    rest="DELETE /tickets/{ticket_id}/assignees/{user_id}",
    refuses=(TicketArchived,),
    tool=Tool(
        "Unassign a ticket",
        "Use this when somebody else takes over.",
        {"ticket_id": "WEB-42", "user_id": "me"},
        idempotent=True,
        tool_set="core",
        unlisted=("expected_version",),
    ),
)
def unassign_ticket(tx: Write, actor: Actor, args: UnassignTicket) -> Ticket:
    """Remove a member from a ticket's assignees."""
    row, state = find_writable_ticket(tx, actor, args.ticket_id, args.expected_version)
    user = find_member(tx, actor, row, args.user_id)
    return change_assignees(tx, actor, row, state, [], [user])


class Mode(StrEnum):
    """Whether a bulk assignment adds, removes or replaces assignees."""

    ADD = "add"
    REMOVE = "remove"
    REPLACE = "replace"


class BulkAssignTickets(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """`replace` without users removes all assignees."""

    ticket_ids: TicketIds
    user_ids: Annotated[list[UserId], Meta(max_length=MAX_BULK, description="Up to 50 members, without duplicates.")]
    mode: Mode = Mode.ADD


@operation(
    "bulk_assign_tickets",
    scope=Scope.TICKETS_ASSIGN,
    budget=Budget.WRITE,
    rest="POST /tickets/bulk-assign",
    tool=Tool(
        "Assign many tickets",
        "Use this instead of many calls.",
        {"ticket_ids": ["WEB-42", "WEB-57"], "user_ids": ["me"], "mode": "add"},
        idempotent=True,
        tool_set="core",
    ),
)
def bulk_assign_tickets(tx: Write, actor: Actor, args: BulkAssignTickets, meter: Meter) -> BulkResults:
    """Add, remove or replace assignees of up to 50 tickets. Each ticket succeeds or fails separately."""
    if len(set(args.user_ids)) < len(args.user_ids):
        raise InvalidField("user_ids", "duplicate user in the list")
    if not args.user_ids and args.mode is not Mode.REPLACE:
        raise InvalidField("user_ids", "add at least one user, or use mode replace")

    def assign(public_id: str) -> Ticket:
        row, state = find_writable_ticket(tx, actor, public_id)
        users = [find_member(tx, actor, row, user_id) for user_id in args.user_ids]
        if args.mode is Mode.REMOVE:
            return change_assignees(tx, actor, row, state, [], users)
        present = assignments.list_assignees(tx, row.key)
        surplus = [key for key in present if key not in users] if args.mode is Mode.REPLACE else []
        return change_assignees(tx, actor, row, state, users, surplus)

    return apply_to_each(tx, actor, meter, args.ticket_ids, assign)


def find_member(tx: Write, actor: Actor, row: VisibleRow, user_id: str, field: str = "user_id") -> int:
    """Return the key of a member who can see the ticket's project. Raises NotFound, and InvalidRequest for a name."""
    user = members.find_user_who_sees(tx, row.project, resolve_user_id(tx, actor, user_id, row.project, field))
    if user is None:
        raise NotFound("member")
    return user


def change_assignees(
    tx: Write, actor: Actor, row: VisibleRow, state: TicketState, wanted: list[int], unwanted: list[int]
) -> Ticket:
    """Assign and unassign users, and notify the new assignees. Who is or isn't assigned already is left out."""
    before = assignments.list_assignees(tx, row.key)
    added = [user for user in wanted if assignments.assign_user(tx, row.key, user)]
    removed = [user for user in unwanted if assignments.unassign_user(tx, row.key, user)]
    people = before | assignments.list_assignees(tx, row.key)
    ticket = load_ticket(tx, actor, state.id)
    if added:
        ticket = record_change(tx, actor, row, state.id, "ticket.assigned", users=[people[user] for user in added])
        notify_assigned(tx, actor, row, added)
    if removed:
        ticket = record_change(tx, actor, row, state.id, "ticket.unassigned", users=[people[user] for user in removed])
    return ticket
