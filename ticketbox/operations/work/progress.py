"""What a run reports of its work: note, plan, links, usage (docs/use/work-sessions.md, "Progress")."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.clock import MINUTE
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import InvalidField
from ticketbox.domain.git.changes import is_plain_url
from ticketbox.domain.work.records import PlanItem, StepState, Usage, WorkLink, WorkLinkKind, WorkSession
from ticketbox.operations.core.inputs import Line, Text
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.operations.tickets.lookups import find_writable_ticket
from ticketbox.operations.tickets.recording import record_ticket_event
from ticketbox.operations.work.approvals import check_plan
from ticketbox.operations.work.criteria import MAX_CRITERIA, CriterionText, propose_criteria
from ticketbox.operations.work.leases import (
    LEASE_REFUSALS,
    Lease,
    LeasedTicketId,
    LeaseMinutes,
    choose_ticket_id,
    require_lease,
)
from ticketbox.operations.work.repositories import Repository
from ticketbox.store.file.database import Write
from ticketbox.store.work import session_lists, sessions
from ticketbox.store.work.sessions import Progress

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


class ReportProgress(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """What you leave out doesn't change. With nothing but the lease, this only renews the claim."""

    ticket_id: LeasedTicketId = UNSET
    lease: Lease
    note: Annotated[Text, Meta(min_length=1, description="What you found or do now.")] | UnsetType = UNSET
    plan: Annotated[list[PlanStep], Meta(max_length=50, description="Replaces the plan.")] | UnsetType = UNSET
    criteria: (
        Annotated[list[CriterionText], Meta(max_length=MAX_CRITERIA, description="Proposes acceptance criteria.")]
        | UnsetType
    ) = UNSET
    links: (
        Annotated[list[LinkInput], Meta(max_length=MAX_LINKS, description="Added; the same `url` is updated.")]
        | UnsetType
    ) = UNSET
    usage: Annotated[UsageInput, Meta(description="Totals so far.")] | UnsetType = UNSET
    repository: Repository | UnsetType = UNSET
    lease_minutes: LeaseMinutes = 60


@operation(
    "report_progress",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="POST /tickets/{ticket_id}/work/progress",
    refuses=LEASE_REFUSALS,
    tool=Tool(
        "Report progress",
        "Use this while you work, at least every hour, so that people see your plan and the claim lasts.",
        {"lease": "lease_…", "plan": [{"text": "Write a failing test", "state": "done"}]},
        idempotent=True,
        tool_set="core",
        unlisted=("ticket_id", "repository", "lease_minutes"),
    ),
)
def report_progress(tx: Write, actor: Actor, args: ReportProgress) -> WorkSession:
    """Report a note, plan, links or usage of your work, and renew the claim."""
    row, state = find_writable_ticket(tx, actor, choose_ticket_id(args.ticket_id, args.lease))
    session = require_lease(tx, actor, state, args.lease)
    sessions.renew_session(tx, session, tx.now + args.lease_minutes * MINUTE)
    progress = Progress(
        note=args.note,
        plan=UNSET if args.plan is UNSET else [PlanItem(step.text.strip(), step.state) for step in args.plan],
        links=UNSET if args.links is UNSET else _merge_links(sessions.load_links(tx, session), args.links),
        usage=UNSET if args.usage is UNSET else args.usage.build_usage(),
        repository=UNSET if args.repository is UNSET else args.repository.build_repository(),
    )
    reported = {
        name: value for name in ("note", "plan", "links", "usage") if (value := getattr(progress, name)) is not UNSET
    }
    if progress.repository is not UNSET and progress.repository != sessions.load_repository(tx, session):
        reported["repository"] = progress.repository  # local servers add it to every report
    sessions.update_progress(tx, session, progress)
    if args.criteria is not UNSET:
        propose_criteria(tx, actor, row, args.criteria)
    if reported:
        if progress.plan is not UNSET:
            done = sum(step.state is StepState.DONE for step in progress.plan)
            reported["plan"] = {"done": done, "steps": len(progress.plan)}
        record_ticket_event(tx, actor, row, "ticket.work_progress", session_id=session.id, **reported)
    if not (args.plan is UNSET and args.criteria is UNSET):
        check_plan(tx, actor, row, session, sessions.load_plan(tx, session))
    return session_lists.load_session(tx, session.key)


def _merge_links(stored: list[WorkLink], sent: list[LinkInput]) -> list[WorkLink]:
    """Add links to the stored ones, or update those with the same address. Raises InvalidRequest."""
    links = {link.url: link for link in stored}
    for place, link in enumerate(sent):
        url = link.url.strip()
        if not is_plain_url(url):
            raise InvalidField(
                f"links[{place}].url", "send a URL that starts with https:// or http://, in ASCII and without a login"
            )
        links[url] = WorkLink(link.kind, url, None if link.state is UNSET else link.state)
    if len(links) > MAX_LINKS:
        raise InvalidField("links", f"a session has at most {MAX_LINKS} links")
    return list(links.values())
