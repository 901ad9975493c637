"""Linking tickets: blocks, duplicates, relates and parent (docs/use/tickets.md, "Links")."""

from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import ApprovalRequired, Conflict, Forbidden, InvalidField, TicketArchived
from ticketbox.domain.tickets.links import INVERSE, LinkKind, LinkRole, TicketLink, read_role
from ticketbox.operations.core.lookups import TicketId, Version
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.operations.tickets.assignments import change_assignees
from ticketbox.operations.tickets.lookups import find_writable_ticket
from ticketbox.operations.tickets.placement.placing import resolve_ticket
from ticketbox.operations.tickets.recording import record_change
from ticketbox.store.companies import members
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.events import watchers
from ticketbox.store.file.database import Write
from ticketbox.store.tickets import assignments, links, tickets
from ticketbox.store.tickets.tickets import TicketState

MAX_LINKS = 100

Kind = Annotated[
    LinkRole,
    Meta(description="What the ticket is to `other`; for `parent`, `other` is the ticket's parent."),
]
Other = Annotated[TicketId, Meta(description="A ticket of the same company.")]


class LinkTickets(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Repeating a call changes nothing."""

    ticket_id: TicketId
    kind: Kind
    other: Other
    expected_version: Version | None = None


class TicketLinks(msgspec.Struct, frozen=True):
    """A ticket's links after the call, and its version."""

    ticket_id: str
    version: int
    resolved: bool
    links: list[TicketLink]


@operation(
    "link_tickets",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="POST /tickets/{ticket_id}/links",
    refuses=(Conflict, TicketArchived, ApprovalRequired),
    tool=Tool(
        "Link tickets",
        "Use this when a ticket blocks, duplicates or belongs to another one. A duplicate is resolved.",
        {"ticket_id": "WEB-42", "kind": "duplicates", "other": "WEB-57"},
        idempotent=True,
        tool_set="triage",
        unlisted=("expected_version",),
    ),
)
def link_tickets(tx: Write, actor: Actor, args: LinkTickets) -> TicketLinks:
    """Link a ticket to another one of the same company.

    A duplicate is resolved, its assignees are also assigned to the other ticket, and its watchers watch that one. A
    link that would close a cycle is refused with 409.
    """
    row, state = find_writable_ticket(tx, actor, args.ticket_id, args.expected_version)
    other_row, other = _find_other(tx, actor, row, args.other)
    kind, inverted = read_role(args.kind)
    first, second = ((row, state), (other_row, other)) if not inverted else ((other_row, other), (row, state))
    _check_link(tx, kind, first[1].key, second[1].key)
    if links.insert_link(tx, kind, first[1].key, second[1].key):
        _record(tx, actor, "ticket.linked", kind, first, second)
        if kind is LinkKind.DUPLICATES:
            _close_duplicate(tx, actor, first, second)
    return _build_answer(tx, actor, row)


class UnlinkTickets(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """If the tickets aren't linked like this, this changes nothing."""

    ticket_id: TicketId
    kind: Kind
    other: Other
    expected_version: Version | None = None


@operation(
    "unlink_tickets",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="DELETE /tickets/{ticket_id}/links",
    refuses=(TicketArchived,),
    tool=Tool(
        "Unlink tickets",
        "Use this for a wrong link. A former duplicate stays resolved.",
        {"ticket_id": "WEB-42", "kind": "blocks", "other": "WEB-57"},
        idempotent=True,
        tool_set="triage",
        unlisted=("expected_version",),
    ),
)
def unlink_tickets(tx: Write, actor: Actor, args: UnlinkTickets) -> TicketLinks:
    """Remove a link between two tickets."""
    row, state = find_writable_ticket(tx, actor, args.ticket_id, args.expected_version)
    other_row, other = _find_other(tx, actor, row, args.other)
    kind, inverted = read_role(args.kind)
    first, second = ((row, state), (other_row, other)) if not inverted else ((other_row, other), (row, state))
    if links.delete_link(tx, kind, first[1].key, second[1].key):
        _record(tx, actor, "ticket.unlinked", kind, first, second)
    return _build_answer(tx, actor, row)


_Side = tuple[VisibleRow, TicketState]


def _find_other(tx: Write, actor: Actor, row: VisibleRow, text: str) -> _Side:
    """Find the ticket to link to, archived or not. Raises NotFound, Forbidden and InvalidRequest."""
    other_row, other = find_writable_ticket(tx, actor, text, archived=True)
    if other_row.company != row.company:
        raise Forbidden("tickets of different companies can't be linked")
    if other_row.key == row.key:
        raise InvalidField("other", "a ticket can't be linked to itself")
    return other_row, other


def _check_link(tx: Write, kind: LinkKind, first: int, second: int) -> None:
    """Raise Conflict for a link that would close a cycle, a second parent, or too many links."""
    if kind is not LinkKind.RELATES and links.is_reachable(tx, kind, second, first):
        raise Conflict(f"this link would close a cycle of {kind.value!r}; remove one of the other links first")
    if kind is LinkKind.PARENT and not links.is_reachable(tx, kind, first, second) and links.has_parent(tx, first):
        raise Conflict("the ticket has a parent already; remove that link first")
    for key in (first, second):
        if links.count_links(tx, key) >= MAX_LINKS:
            raise Conflict(f"a ticket can have {MAX_LINKS} links; remove one first")


def _record(tx: Write, actor: Actor, type_: str, kind: LinkKind, first: _Side, second: _Side) -> None:
    """Record a change of a link in the history of both tickets; the version of both increases."""
    (row, state), (other_row, other) = first, second
    record_change(tx, actor, row, state.id, type_, kind=kind.value, other=other.id)
    record_change(tx, actor, other_row, other.id, type_, kind=INVERSE[kind].value, other=state.id)


def _close_duplicate(tx: Write, actor: Actor, duplicate: _Side, original: _Side) -> None:
    """Resolve a duplicate, unless it is archived, and assign its assignees to the original as well."""
    (row, state), (original_row, original_state) = duplicate, original
    if not state.is_archived:
        resolve_ticket(tx, actor, row, state, resolved=True)
    watchers.move_watchers(tx, row.key, original_row.key)
    if original_state.is_archived or Scope.TICKETS_ASSIGN not in actor.scopes:
        return
    people = assignments.list_assignees(tx, row.key).values()
    seeing = [members.find_user_who_sees(tx, original_row.project, person.id) for person in people]
    change_assignees(tx, actor, original_row, original_state, [user for user in seeing if user is not None], [])


def _build_answer(tx: Write, actor: Actor, row: VisibleRow) -> TicketLinks:
    state = tickets.load_state(tx, row.key)
    return TicketLinks(state.id, state.version, state.resolved, links.list_links(tx, actor.viewer, row.key))
