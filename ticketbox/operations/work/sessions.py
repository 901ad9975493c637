"""Lists of work sessions: who works or worked on what (docs/use/work-sessions.md, "Progress")."""

from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.tickets.records import WorkState
from ticketbox.domain.work.records import WorkSession
from ticketbox.operations.core.lookups import CompanyId, TicketId, resolve_ticket_id
from ticketbox.operations.core.names import explain_empty_list, resolve_company_id
from ticketbox.operations.core.paging import NEWEST, Cursor, Limit, Page, build_page, decode_cursor
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.store.core.visibility import find_visible_row
from ticketbox.store.file.database import Read
from ticketbox.store.work import session_lists
from ticketbox.store.work.session_lists import SessionFilter


class ListWorkSessions(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Work sessions that match all the given filters, newest first."""

    ticket_id: TicketId | None = None
    company_id: CompanyId | None = None
    state: Annotated[WorkState, Meta(description="Only sessions in this state.")] | None = None
    limit: Limit = 50
    cursor: Cursor | None = None


@operation(
    "list_work_sessions",
    scope=Scope.READ,
    budget=Budget.READ,
    rest="GET /work-sessions",
    tool=Tool(
        "List work sessions",
        "Use this to see who works or worked on what: plans, notes, questions with answers, links, cost.",
        {"ticket_id": "WEB-42"},
        tool_set="triage",
    ),
)
def list_work_sessions(tx: Read, actor: Actor, args: ListWorkSessions) -> Page[WorkSession]:
    """List the work sessions of a ticket, a company, or everything that the caller can see."""
    (before,) = decode_cursor(actor, args) or (NEWEST,)
    ticket = None
    if args.ticket_id is not None:
        row = find_visible_row(tx, actor.viewer, "ticket", resolve_ticket_id(tx, actor, args.ticket_id))
        if row is None or not row.within:
            return Page([], None, "ticket_id: you can't see this ticket")
        ticket = row.key
    company = None if args.company_id is None else resolve_company_id(actor, args.company_id)
    wanted = SessionFilter(ticket=ticket, company=company, state=args.state)
    page = build_page(actor, args, session_lists.list_sessions(tx, actor.viewer, wanted, before, args.limit + 1))
    return page if page.items else msgspec.structs.replace(page, note=explain_empty_list(tx, actor, company=company))
