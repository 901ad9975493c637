"""Work sessions: what a run reports, how it finishes, and who works on what (docs/use/work-sessions.md)."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ticketbox.domain.core.clock import MINUTE
from ticketbox.domain.core.limits import Budget
from ticketbox.domain.core.policy import Actor
from ticketbox.domain.core.problems import AlreadyClaimed, InvalidField, LeaseExpired, TicketArchived
from ticketbox.domain.core.scopes import Scope
from ticketbox.domain.tickets.records import Ticket
from ticketbox.domain.tickets.work import (
    PlanItem,
    StepState,
    Usage,
    WorkLink,
    WorkLinkKind,
    WorkSession,
    WorkState,
)
from ticketbox.operations.core.inputs import CommentBody, Line, Text
from ticketbox.operations.core.lookups import CompanyId, TicketId, Version, resolve_ticket_id
from ticketbox.operations.core.paging import NEWEST, Cursor, Limit, Page, build_page, decode_cursor
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.operations.events.notify import notify_of_comment
from ticketbox.operations.tickets.lookups import find_writable_ticket, load_ticket
from ticketbox.operations.tickets.placing import choose_column, place_ticket
from ticketbox.operations.tickets.recording import record_ticket_event
from ticketbox.operations.tickets.work import Lease, LeaseMinutes
from ticketbox.operations.tickets.work_leases import require_lease
from ticketbox.store.companies import columns
from ticketbox.store.core import bylines
from ticketbox.store.core.visibility import VisibleRow, find_visible_row
from ticketbox.store.file.database import Read, Write
from ticketbox.store.tickets import comments, positions, tickets, work_session_lists, work_sessions
from ticketbox.store.tickets.tickets import TicketState
from ticketbox.store.tickets.work_session_lists import SessionFilter
from ticketbox.store.tickets.work_sessions import Progress

MAX_LINKS = 50


class PlanStep(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A step."""

    text: Annotated[str, Meta(min_length=1, max_length=300), Line]
    state: StepState = StepState.PENDING


class LinkInput(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """`state` is a word such as `open` or `merged`."""

    kind: WorkLinkKind
    url: Annotated[str, Meta(min_length=1, max_length=2_000)]
    state: Annotated[str, Meta(min_length=1, max_length=40), Line] | UnsetType = UNSET


class UsageInput(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Totals of the session so far."""

    input_tokens: Annotated[int, Meta(ge=0, le=2**53)] | UnsetType = UNSET
    output_tokens: Annotated[int, Meta(ge=0, le=2**53)] | UnsetType = UNSET
    cost_usd: Annotated[float, Meta(ge=0, le=1e9)] | UnsetType = UNSET

    def build_usage(self) -> Usage:
        """Return the usage as it is stored and shown."""
        return Usage(
            input_tokens=None if self.input_tokens is UNSET else self.input_tokens,
            output_tokens=None if self.output_tokens is UNSET else self.output_tokens,
            cost_usd=None if self.cost_usd is UNSET else self.cost_usd,
        )


class ReportProgress(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What you leave out doesn't change. With nothing but the lease, this only renews the claim."""

    ticket_id: TicketId
    lease: Lease
    note: Annotated[Text, Meta(min_length=1, description="What you found or do now.")] | UnsetType = UNSET
    plan: Annotated[list[PlanStep], Meta(max_length=50, description="Replaces the plan.")] | UnsetType = UNSET
    links: (
        Annotated[list[LinkInput], Meta(max_length=MAX_LINKS, description="Added; the same `url` is updated.")]
        | UnsetType
    ) = UNSET
    usage: Annotated[UsageInput, Meta(description="Totals so far.")] | UnsetType = UNSET
    lease_minutes: LeaseMinutes = 60


@operation(
    "report_progress",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="POST /tickets/{ticket_id}/work/progress",
    refuses=(TicketArchived, AlreadyClaimed, LeaseExpired),
    tool=Tool(
        "Report progress",
        "Use this while you work, at least every hour, so that people see your plan and the claim lasts.",
        {"ticket_id": "t-4k7m2q9x", "lease": "lease_…", "plan": [{"text": "Write a failing test", "state": "done"}]},
        idempotent=True,
    ),
)
def report_progress(tx: Write, actor: Actor, args: ReportProgress) -> WorkSession:
    """Report a note, plan, links or usage of your work, and renew the claim."""
    row, state = find_writable_ticket(tx, actor, args.ticket_id)
    session = require_lease(tx, actor, state, args.lease)
    work_sessions.renew_session(tx, session, tx.now + args.lease_minutes * MINUTE)
    progress = Progress(
        note=args.note,
        plan=UNSET if args.plan is UNSET else [PlanItem(step.text.strip(), step.state) for step in args.plan],
        links=UNSET if args.links is UNSET else _merge_links(work_sessions.load_links(tx, session), args.links),
        usage=UNSET if args.usage is UNSET else args.usage.build_usage(),
    )
    reported = {
        name: value for name in ("note", "plan", "links", "usage") if (value := getattr(progress, name)) is not UNSET
    }
    if reported:
        work_sessions.update_progress(tx, session, progress)
        if progress.plan is not UNSET:
            done = sum(step.state is StepState.DONE for step in progress.plan)
            reported["plan"] = {"done": done, "steps": len(progress.plan)}
        record_ticket_event(tx, actor, row, "ticket.work_progress", session_id=session.id, **reported)
    return work_session_lists.load_session(tx, session.key)


def _merge_links(stored: list[WorkLink], sent: list[LinkInput]) -> list[WorkLink]:
    """Add links to the stored ones, or update those with the same address. Raises InvalidRequest."""
    links = {link.url: link for link in stored}
    for place, link in enumerate(sent):
        url = link.url.strip()
        if not url.lower().startswith(("https://", "http://")) or not url.isprintable() or " " in url:
            raise InvalidField(f"links[{place}].url", "send a URL that starts with https:// or http://")
        links[url] = WorkLink(link.kind, url, None if link.state is UNSET else link.state)
    if len(links) > MAX_LINKS:
        raise InvalidField("links", f"a session has at most {MAX_LINKS} links")
    return list(links.values())


ColumnName = Annotated[
    str, Meta(min_length=1, max_length=100, description="Move to this column of the project: its id or name.")
]


class FinishWork(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Without `column` and `resolved`, the ticket stays where it is."""

    ticket_id: TicketId
    lease: Lease
    comment: Annotated[CommentBody, Meta(description="The cause, the change, and how you checked it.")] | None = None
    column: ColumnName | None = None
    resolved: Annotated[bool, Meta(description="Whether the ticket is done.")] | None = None
    expected_version: Version | None = None


@operation(
    "finish_work",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="POST /tickets/{ticket_id}/work/finish",
    refuses=(TicketArchived, AlreadyClaimed, LeaseExpired),
    tool=Tool(
        "Finish work on a ticket",
        "Use this when your work is done: it comments, moves or resolves the ticket, and releases the claim.",
        {"ticket_id": "t-4k7m2q9x", "lease": "lease_…", "comment": "Fixed: …", "column": "Review"},
        core=True,
    ),
)
def finish_work(tx: Write, actor: Actor, args: FinishWork) -> Ticket:
    """Comment on a ticket, move or resolve it, and end your work, in one step."""
    row, state = find_writable_ticket(tx, actor, args.ticket_id, args.expected_version)
    session = require_lease(tx, actor, state, args.lease)
    byline = bylines.ensure_byline(tx, actor)
    tickets.mark_updated(tx, row.key, byline)
    if args.comment is not None:
        comment = comments.load_comment(tx, comments.insert_comment(tx, row.key, args.comment, byline))
        record_ticket_event(tx, actor, row, "comment.created", comment_id=comment.id)
        notify_of_comment(tx, actor, row, args.comment)
    if args.column is not None:
        column = _find_column(tx, row, args.column)
        if column.key != state.column:
            place_ticket(tx, actor, state, column, positions.find_top_position(tx, column.key))
    if args.resolved is not None:
        _set_resolved(tx, actor, row, tickets.load_state(tx, row.key), args)
    work_sessions.end_session(tx, session, WorkState.DONE, byline)
    record_ticket_event(tx, actor, row, "ticket.work_finished", session_id=session.id, run=session.run)
    return load_ticket(tx, actor, state.id)


def _find_column(tx: Read, row: VisibleRow, text: str) -> VisibleRow:
    """Find a column of the ticket's project by id or name. Raises InvalidRequest with the valid names."""
    listed = columns.list_columns(tx, row.project)
    wanted = text.strip()
    found = [key for key, column in listed if wanted == column.id or wanted.casefold() == column.name.casefold()]
    if len(found) != 1:
        valid = [column.name for _, column in listed]
        problem = "several columns have this name; send an id" if found else "the ticket's project has no such column"
        raise InvalidField("column", f"{problem} ({', '.join(valid)})", valid=valid)
    return VisibleRow(found[0], row.project, row.company, row.role, within=True)


def _set_resolved(tx: Write, actor: Actor, row: VisibleRow, state: TicketState, args: FinishWork) -> None:
    """Resolve or reopen a ticket, as update_ticket does. Raises InvalidRequest if the given column says otherwise."""
    assert args.resolved is not None
    if state.resolved == args.resolved:
        return
    target = choose_column(tx, row, state, resolved=args.resolved)
    if target is None:
        tickets.update_ticket(tx, row.key, tickets.TicketChanges(resolved=args.resolved))
        changes = {"resolved": {"from": state.resolved, "to": args.resolved}}
        record_ticket_event(tx, actor, row, "ticket.updated", fields=["resolved"], changes=changes)
    elif args.column is not None:
        raise InvalidField("resolved", "the column decides whether the ticket is resolved; send only one of the two")
    else:
        place_ticket(tx, actor, state, target, positions.find_top_position(tx, target.key))


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
    brief=True,
    rest="GET /work-sessions",
    tool=Tool(
        "List work sessions",
        "Use this to see who works or worked on what: plans, notes, questions with answers, links, cost.",
        {"ticket_id": "t-4k7m2q9x"},
    ),
)
def list_work_sessions(tx: Read, actor: Actor, args: ListWorkSessions) -> Page[WorkSession]:
    """List the work sessions of a ticket, a company, or everything that the caller can see."""
    (before,) = decode_cursor(actor, args) or (NEWEST,)
    ticket = None
    if args.ticket_id is not None:
        row = find_visible_row(tx, actor.viewer, "ticket", resolve_ticket_id(tx, actor, args.ticket_id))
        if row is None or not row.within:
            return Page([], None)
        ticket = row.key
    wanted = SessionFilter(ticket=ticket, company=args.company_id, state=args.state)
    return build_page(actor, args, work_session_lists.list_sessions(tx, actor.viewer, wanted, before, args.limit + 1))
