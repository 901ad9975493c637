"""Claiming a ticket for one run, and recording its branch (docs/use/work-sessions.md)."""

import re
import unicodedata
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta

from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.clock import MINUTE, format_rfc3339
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.tickets.records import Ticket, WorkState
from ticketbox.domain.work.leases import REPEAT_MS, generate_lease, hash_lease, hash_start_key
from ticketbox.operations.core.inputs import Branch
from ticketbox.operations.core.lookups import Key, Version
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.operations.tickets.lookups import find_writable_ticket, load_ticket
from ticketbox.operations.tickets.recording import record_change, record_ticket_event, record_update
from ticketbox.operations.work.leases import (
    LEASE_REFUSALS,
    Lease,
    LeasedTicketId,
    LeaseMinutes,
    Run,
    build_claim_error,
    build_lease_error,
    can_release,
    choose_ticket_id,
    find_session,
    is_own_web_session,
    is_same_run,
    require_lease,
)
from ticketbox.operations.work.repositories import Repository
from ticketbox.store.companies import projects
from ticketbox.store.core import bylines
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.file.database import Write
from ticketbox.store.tickets import tickets
from ticketbox.store.tickets.tickets import TicketState
from ticketbox.store.work import sessions
from ticketbox.store.work.sessions import NewSession, Progress, SessionState


class StartWork(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """With `lease`, this renews the claim. Without it, the run that has the claim gets a new lease, by its `run`."""

    ticket_id: LeasedTicketId = UNSET
    branch: (
        Annotated[Branch, Meta(description="Default: the recorded branch, or `t-…-slug` from the id and title.")] | None
    ) = None
    run: Run | None = None
    repository: Repository | None = None
    lease: Annotated[Lease, Meta(description="Renew the claim with this lease.")] | None = None
    lease_minutes: LeaseMinutes = 60
    expected_version: Version | None = None
    idempotency_key: (
        Annotated[Key, Meta(description="Repeating it within a minute returns a new lease for the same claim.")] | None
    ) = None


class StartedWork(Ticket, frozen=True):
    """A ticket that was claimed. `lease` is shown only once; null if the claim was renewed."""

    lease: str | None


@operation(
    "start_work",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="POST /tickets/{ticket_id}/work",
    refuses=LEASE_REFUSALS,
    secret=True,
    tool=Tool(
        "Start work on a ticket",
        "Use this before you change code for a ticket, and keep `lease`: it renews, reports and finishes.",
        {"ticket_id": "WEB-42", "run": "laptop, worktree 2"},
        name="start_work_on_ticket",
        tool_set="core",
        unlisted=("repository", "expected_version", "idempotency_key"),
    ),
)
def start_work(tx: Write, actor: Actor, args: StartWork) -> StartedWork:
    """Claim a ticket for one run and record its branch. Nobody else can start work until the claim ends.

    A run that lost its lease gets a new one, and the earlier one ends: with the same token and `run`, or by repeating
    the call with its Idempotency-Key within a minute.
    """
    ticket_id = choose_ticket_id(args.ticket_id, args.lease)
    row, state = find_writable_ticket(tx, actor, ticket_id, args.expected_version)
    lease = None
    if args.lease is None:
        lease = claim_ticket(tx, actor, row, state, args)
    else:
        _renew(tx, actor, row, state, require_lease(tx, actor, state, args.lease), args)
    return StartedWork(**msgspec.structs.asdict(load_ticket(tx, actor, state.id)), lease=lease)


def claim_ticket(tx: Write, actor: Actor, row: VisibleRow, state: TicketState, args: StartWork) -> str | None:
    """Claim a ticket for one run, or again for the run that has it; return the lease, if there is a new one.

    Raises AlreadyClaimed.
    """
    start_key = None if args.idempotency_key is None else hash_start_key(actor.credential, args.idempotency_key)
    session = sessions.find_open_session(tx, row.key)
    lease = generate_lease(state.id)
    if session is not None and session.is_current(tx.now):
        if is_own_web_session(actor, session):
            _renew(tx, actor, row, state, session, args)
            return None
        if is_same_run(actor, session, args.run):
            sessions.replace_lease(tx, session, hash_lease(lease))
            _renew(tx, actor, row, state, session, args)
            return lease
        if start_key is None or session.start_key != start_key or session.started_at < tx.now - REPEAT_MS:
            raise build_claim_error(tx, actor, state)
        sessions.replace_lease(tx, session, hash_lease(lease))
        return lease
    if session is not None:
        sessions.end_stale_session(tx, session, row.project, row.company)
    _start(tx, actor, row, state, args, hash_lease(lease), start_key)
    return lease


def _start(
    tx: Write, actor: Actor, row: VisibleRow, state: TicketState, args: StartWork, lease_hash: bytes,
    start_key: bytes | None,
) -> None:  # fmt: skip
    branch = args.branch or state.branch or f"{state.id}-{slugify(state.title)}"
    new = NewSession(
        ticket=row.key,
        byline=bylines.ensure_byline(tx, actor),
        until=tx.now + args.lease_minutes * MINUTE,
        branch=branch,
        lease_hash=lease_hash,
        start_key=start_key,
        run=None if args.run is None else args.run.strip(),
        needs_plan_approval=actor.is_agent and bool(projects.load_gates(tx, row.project).plan_approval),
        repository=None if args.repository is None else args.repository.build_repository(),
    )
    session_id = sessions.start_session(tx, new)
    event = {
        "branch": branch, "until": format_rfc3339(new.until), "run": new.run, "session_id": session_id,
        "repository": new.repository,
    }  # fmt: skip
    record_update(tx, actor, row, "ticket.work_started", **event)


def _renew(
    tx: Write, actor: Actor, row: VisibleRow, state: TicketState, session: SessionState, args: StartWork
) -> None:
    """Renew a claim. A new branch is a change of the ticket; more time and a new lease aren't, and have no event."""
    sessions.renew_session(tx, session, tx.now + args.lease_minutes * MINUTE)
    repository = None if args.repository is None else args.repository.build_repository()
    if repository is not None and repository != sessions.load_repository(tx, session):
        sessions.update_progress(tx, session, Progress(repository=repository))
        record_ticket_event(tx, actor, row, "ticket.work_progress", session_id=session.id, repository=repository)
    if args.branch is None or args.branch == state.branch:
        return
    tickets.set_branch(tx, row.key, args.branch)
    changes = {"branch": {"from": state.branch, "to": args.branch}}
    record_update(tx, actor, row, "ticket.updated", fields=["branch"], changes=changes)


class StopWork(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Requires the lease, except in the web app. Without an active claim, this changes nothing."""

    ticket_id: LeasedTicketId = UNSET
    lease: (
        Annotated[Lease, Meta(description="The lease of the claim; only people in the web app need none.")] | None
    ) = None
    expected_version: Version | None = None


@operation(
    "stop_work",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="DELETE /tickets/{ticket_id}/work",
    refuses=LEASE_REFUSALS,
    tool=Tool(
        "Stop work on a ticket",
        "Use this when you abandon work on a ticket. It releases the claim and keeps the recorded branch.",
        {"ticket_id": "WEB-42", "lease": "lease_…"},
        name="stop_work_on_ticket",
        idempotent=True,
        tool_set="core",
        unlisted=("expected_version",),
    ),
)
def stop_work(tx: Write, actor: Actor, args: StopWork) -> Ticket:
    """Release the claim on a ticket.

    In a web session, the person behind the claim and admins can release it without the lease.
    """
    ticket_id = choose_ticket_id(args.ticket_id, args.lease)
    row, state = find_writable_ticket(tx, actor, ticket_id, args.expected_version)
    if args.lease is None:
        session = sessions.find_open_session(tx, row.key)
        if session is None or not session.is_current(tx.now):
            return load_ticket(tx, actor, state.id)
        if not can_release(actor, row, session):
            raise build_claim_error(tx, actor, state)
    else:
        session = find_session(tx, actor, state, args.lease)
        if session is not None and session.state == WorkState.DONE:
            return load_ticket(tx, actor, state.id)
        if session is None or not session.is_current(tx.now):
            raise build_lease_error(tx, actor, state, session)
    sessions.end_session(tx, session, WorkState.DONE, bylines.ensure_byline(tx, actor))
    return record_change(tx, actor, row, state.id, "ticket.work_stopped", session_id=session.id)


def slugify(title: str) -> str:
    """Convert a title to a part of a branch name: `The cart's empty!` becomes `the-cart-s-empty`."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40].rstrip("-") or "work"
