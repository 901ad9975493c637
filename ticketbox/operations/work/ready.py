"""The queue of ready tickets: claim the next one, and send a ticket to agents (docs/use/work-sessions.md)."""

from functools import partial
from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.companies.records import ColumnKind
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.clock import MINUTE
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import ApprovalRequired, TicketArchived
from ticketbox.domain.tickets.records import Priority, Status, Ticket
from ticketbox.domain.work.leases import PROVISIONAL_MS
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.inputs import Labels, normalize_labels
from ticketbox.operations.core.live.listeners import Subscription
from ticketbox.operations.core.live.provisional import ProvisionalClaim, ProvisionalClaims
from ticketbox.operations.core.live.waiting import NothingYet, WaitSeconds
from ticketbox.operations.core.lookups import (
    ColumnId,
    ProjectId,
    TicketId,
    UserId,
    Version,
    find_writable,
    find_writable_column,
)
from ticketbox.operations.core.names import check_labels, resolve_user_id
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.operations.core.services import Services
from ticketbox.operations.tickets.lookups import find_writable_ticket, load_ticket
from ticketbox.operations.tickets.placement.placing import place_ticket
from ticketbox.operations.tickets.recording import record_ticket_event
from ticketbox.operations.tickets.ticket_detail import GetTicket, TicketDetail, load_detail
from ticketbox.operations.work.claims import StartWork, claim_ticket
from ticketbox.operations.work.leases import LeaseMinutes, Run
from ticketbox.operations.work.repositories import Repository
from ticketbox.store.companies import columns, projects
from ticketbox.store.companies.labels import ensure_labels
from ticketbox.store.core import bylines
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.file.database import Write
from ticketbox.store.tickets import comments, positions, records, tickets
from ticketbox.store.work import ready, sessions
from ticketbox.store.work.ready import ReadyFilter

LAST_COMMENTS = 3
# The events after which a ticket of the project can have become ready.
_WAKING = frozenset({
    "ticket.created", "ticket.updated", "ticket.moved", "ticket.restored", "ticket.archived", "ticket.assigned",
    "ticket.unlinked", "ticket.work_stopped", "ticket.work_stale", "ticket.work_finished",
})  # fmt: skip


class ClaimNextTicket(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A ticket must match all the given filters."""

    project_id: ProjectId
    column_id: Annotated[ColumnId, Meta(description="Default: all columns of kind `todo`.")] | None = None
    labels: Annotated[Labels, Meta(description="All of these labels.")] = []
    priority: Priority | None = None
    assignee: UserId | None = None
    run: Run | None = None
    repository: Repository | None = None
    lease_minutes: LeaseMinutes = 60
    wait_seconds: WaitSeconds = 0


class ClaimedTicket(TicketDetail, frozen=True, kw_only=True):
    """The ticket as get_ticket returns it, with its last three comments, and its lease, which is shown only once."""

    lease: str | None


class EarlierClaims(msgspec.Struct, frozen=True):
    """The claims that earlier calls of the same run made after a wait, and that no call followed."""

    lost: list[ProvisionalClaim]
    all: ProvisionalClaims


async def find_lost_claims(
    services: Services, actor: Actor, args: ClaimNextTicket, context: RequestContext
) -> EarlierClaims:
    """Find what the same run claimed before, if the answer may not have reached it."""
    claims = services.provisional_claims
    return EarlierClaims([] if args.run is None else claims.list_of_run(actor.credential, args.run.strip()), claims)


@operation(
    "claim_next_ticket",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.READ,
    rest="POST /projects/{project_id}/claim-next",
    secret=True,
    waits=True,
    prepare=find_lost_claims,
    tool=Tool(
        "Claim the next ticket",
        "Use this to get work: it starts work on the first ready ticket, or waits for one. Keep `lease`.",
        {"project_id": "Webshop", "labels": ["agent"], "run": "laptop, worktree 2"},
        tool_set="core",
        unlisted=("repository",),
    ),
)
def claim_next_ticket(tx: Write, actor: Actor, args: ClaimNextTicket, earlier: EarlierClaims) -> ClaimedTicket | None:
    """Claim the first ready ticket of a project for one run.

    If there is none, the answer is null. A ticket is ready if it is active, unresolved, unclaimed, not blocked by an
    unresolved ticket, and in a column of kind `todo`. The most urgent comes first, then the highest on the board. After
    a wait the claim lasts five minutes, unless the token makes another call about the ticket; meanwhile the same `run`
    gets it again.
    """
    row = find_writable(tx, actor, "project", args.project_id)
    if args.repository is not None:
        args.repository.build_repository()  # refuse it now, not after a wait
    agent_label = projects.load_agent_label(tx, row.project).casefold()
    unusual = [each for each in args.labels if each.strip().casefold() != agent_label]  # that one may be unused yet
    check_labels(tx, actor, unusual, "labels", row.company)
    wanted = ReadyFilter(
        column=None if args.column_id is None else find_writable_column(tx, actor, args.column_id, row.project).key,
        labels=tuple(normalize_labels(args.labels)),
        priority=args.priority,
        assignee=(
            None if args.assignee is None else resolve_user_id(tx, actor, args.assignee, row.project, "assignee")
        ),
    )
    has_waited = tx.origin.has_waited
    ticket = None if has_waited else _find_lost_ticket(tx, row.project, earlier.lost)
    ticket = ticket or ready.find_next_ticket(tx, row.project, wanted)
    if ticket is None:
        raise NothingYet(None, Subscription(_WAKING, row.project))
    minutes = min(args.lease_minutes, PROVISIONAL_MS // MINUTE) if has_waited else args.lease_minutes
    work = StartWork(ticket_id=ticket, run=args.run, repository=args.repository, lease_minutes=minutes)
    lease = claim_ticket(tx, actor, *find_writable_ticket(tx, actor, ticket), work)
    found = records.find_ticket(tx, actor.viewer, ticket, Status.ACTIVE)
    assert found is not None
    detail = load_detail(tx, actor, *found, GetTicket(ticket_id=ticket))
    claim = _describe_claim(row.project, detail, tx.now, args.lease_minutes)
    if minutes < args.lease_minutes:
        tx.after_commit.append(partial(earlier.all.add, actor.credential, claim, tx.now))
    else:
        tx.after_commit.append(partial(earlier.all.forget, actor.credential, claim.session_id))
    row, _ = find_writable_ticket(tx, actor, ticket)
    detail = msgspec.structs.replace(detail, comments=comments.list_last_comments(tx, row.key, LAST_COMMENTS))
    return ClaimedTicket(**msgspec.structs.asdict(detail), lease=lease)


def _find_lost_ticket(tx: Write, project: int, lost: list[ProvisionalClaim]) -> str | None:
    """Find the ticket of a project whose claim a run may not know of, and still has."""
    held = (each for each in lost if each.project == project and sessions.find_current_session(tx, each.session_id))
    return next((each.ticket_id for each in held), None)


def _describe_claim(project: int, ticket: TicketDetail, now: int, minutes: int) -> ProvisionalClaim:
    assert ticket.claim is not None
    assets = [] if ticket.capture is None else ticket.capture.assets
    names = [ticket.id, ticket.key or "", *(each.id for each in (*ticket.captures, *assets, *ticket.attachments))]
    return ProvisionalClaim(
        project=project,
        ticket_id=ticket.id,
        session_id=ticket.claim.session_id,
        run=ticket.claim.run,
        names=frozenset(name.lower() for name in names),
        ends=now + PROVISIONAL_MS,
        until=now + minutes * MINUTE,
    )


class SendToAgent(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """If the ticket is at the top of that column and has the label, this changes nothing."""

    ticket_id: TicketId
    expected_version: Version | None = None


@operation(
    "send_to_agent",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="POST /tickets/{ticket_id}/send-to-agent",
    refuses=(TicketArchived, ApprovalRequired),
)
def send_to_agent(tx: Write, actor: Actor, args: SendToAgent) -> Ticket:
    """Add the project's agent label to a ticket, and move it to the top of the first column of kind `todo`."""
    row, state = find_writable_ticket(tx, actor, args.ticket_id, args.expected_version)
    before = load_ticket(tx, actor, state.id)
    agent_label = ensure_labels(tx, row.company, [projects.load_agent_label(tx, row.project)])
    labels = normalize_labels([*before.labels, *agent_label])
    column = columns.find_first_of_kind(tx, row.project, ColumnKind.TODO)
    is_placed = column is None or (column == state.column and positions.is_on_top(tx, column, row.key))
    if labels == before.labels and is_placed:
        return before
    tickets.mark_updated(tx, row.key, bylines.ensure_byline(tx, actor))
    if labels != before.labels:
        tickets.update_ticket(tx, row.key, labels=labels)
        changes = {"labels": {"from": before.labels, "to": labels}}
        record_ticket_event(tx, actor, row, "ticket.updated", fields=["labels"], changes=changes)
    if column is not None and not is_placed:
        target = VisibleRow(column, row.project, row.company, row.role, within=True)
        place_ticket(tx, actor, state, target, positions.find_top_position(tx, column))
    return load_ticket(tx, actor, state.id)
