"""Events: a ticket's history, the list and the stream of all events, and a company's audit log.

The stream continues where the list ends, with the same query.
"""

from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Access, Role, Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import InvalidField
from ticketbox.domain.events.records import AuditEvent, Event
from ticketbox.operations.core.content import Content, render_csv
from ticketbox.operations.core.live.listeners import EventBatch, Subscription
from ticketbox.operations.core.live.waiting import DEFAULT_WAIT_SECONDS, NothingYet, WaitSeconds
from ticketbox.operations.core.lookups import CompanyId, Id, TicketId, find_membership, find_readable_ticket
from ticketbox.operations.core.paging import NEWEST, Cursor, Limit, Page, build_page, decode_cursor
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.store.events import events
from ticketbox.store.file.database import Read

BATCH = 50


class EventType(StrEnum):
    """The types of events."""

    TICKET_CREATED = "ticket.created"
    TICKET_UPDATED = "ticket.updated"
    TICKET_MOVED = "ticket.moved"
    TICKET_ASSIGNED = "ticket.assigned"
    TICKET_UNASSIGNED = "ticket.unassigned"
    TICKET_ARCHIVED = "ticket.archived"
    TICKET_RESTORED = "ticket.restored"
    TICKET_DELETED = "ticket.deleted"
    TICKET_LINKED = "ticket.linked"
    TICKET_UNLINKED = "ticket.unlinked"
    TICKET_WORK_STARTED = "ticket.work_started"
    TICKET_WORK_STOPPED = "ticket.work_stopped"
    TICKET_WORK_PROGRESS = "ticket.work_progress"
    TICKET_WORK_FINISHED = "ticket.work_finished"
    TICKET_WORK_STALE = "ticket.work_stale"
    TICKET_GIT_LINKED = "ticket.git_linked"
    TICKET_GIT_CHANGED = "ticket.git_changed"
    TICKET_GIT_HELD = "ticket.git_held"
    TICKET_QUESTION_ASKED = "ticket.question_asked"
    TICKET_QUESTION_ANSWERED = "ticket.question_answered"
    TICKET_APPROVAL_REQUESTED = "ticket.approval_requested"
    TICKET_APPROVED = "ticket.approved"
    TICKET_DECLINED = "ticket.declined"
    TICKET_OCCURRED = "ticket.occurred"
    COMMENT_CREATED = "comment.created"
    COMMENT_UPDATED = "comment.updated"
    COMMENT_DELETED = "comment.deleted"
    CAPTURE_ATTACHED = "capture.attached"
    CAPTURE_BUG_CHOSEN = "capture.bug_chosen"
    CAPTURE_CONFIRMED = "capture.confirmed"
    CAPTURE_DELETED = "capture.deleted"
    CAPTURE_EXPECTATION_ADDED = "capture.expectation_added"
    CAPTURE_EXPECTATION_CONFIRMED = "capture.expectation_confirmed"
    CAPTURE_EXPECTATION_REMOVED = "capture.expectation_removed"
    ATTACHMENT_ADDED = "attachment.added"
    ATTACHMENT_DELETED = "attachment.deleted"
    ANNOTATIONS_SAVED = "annotations.saved"
    VERIFICATION_ADDED = "verification.added"
    CRITERION_ADDED = "criterion.added"
    CRITERION_CHANGED = "criterion.changed"
    CRITERION_REMOVED = "criterion.removed"
    EVIDENCE_ADDED = "evidence.added"
    MEMBER_INVITED = "member.invited"
    MEMBER_JOINED = "member.joined"
    MEMBER_CHANGED = "member.changed"
    MEMBER_REMOVED = "member.removed"
    TOKEN_CREATED = "token.created"  # noqa: S105 (a name)
    TOKEN_REVOKED = "token.revoked"  # noqa: S105 (a name)
    ACCOUNT_PASSWORD_CHANGED = "account.password_changed"  # noqa: S105 (a name)
    ACCOUNT_ADDRESS_CHANGED = "account.address_changed"
    ACCOUNT_DISABLED = "account.disabled"
    ACCOUNT_ENABLED = "account.enabled"
    COMPANY_CHANGED = "company.changed"
    PROJECT_CREATED = "project.created"
    PROJECT_CHANGED = "project.changed"
    PROJECT_REMOVED = "project.removed"
    COLUMN_CREATED = "column.created"
    COLUMN_CHANGED = "column.changed"
    COLUMN_REMOVED = "column.removed"
    LABEL_CREATED = "label.created"
    LABEL_CHANGED = "label.changed"
    LABEL_MERGED = "label.merged"
    LABEL_REMOVED = "label.removed"
    GIT_HOOK_CREATED = "git_hook.created"
    GIT_HOOK_CHANGED = "git_hook.changed"
    GIT_HOOK_REMOVED = "git_hook.removed"
    SOURCE_MAP_ADDED = "source_map.added"
    SOURCE_MAP_DELETED = "source_map.deleted"
    VIEW_CREATED = "view.created"
    VIEW_CHANGED = "view.changed"
    VIEW_REMOVED = "view.removed"
    REPORT_KEY_CREATED = "report_key.created"
    REPORT_KEY_CHANGED = "report_key.changed"
    REPORT_KEY_REMOVED = "report_key.removed"
    WEBHOOK_CREATED = "webhook.created"
    WEBHOOK_CHANGED = "webhook.changed"
    WEBHOOK_REMOVED = "webhook.removed"


class TicketHistory(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """An archived ticket still has its history."""

    ticket_id: TicketId
    limit: Limit = 50
    cursor: Cursor | None = None


@operation(
    "get_ticket_history",
    scope=Scope.READ,
    budget=Budget.READ,
    rest="GET /tickets/{ticket_id}/history",
    tool=Tool(
        "Read a ticket's history",
        "Use this to see who changed what on a ticket, and when.",
        {"ticket_id": "WEB-42"},
        tool_set="triage",
    ),
)
def get_ticket_history(tx: Read, actor: Actor, args: TicketHistory) -> Page[Event]:
    """List a ticket's events, oldest first."""
    ticket = find_readable_ticket(tx, actor, args.ticket_id)
    (after,) = decode_cursor(actor, args) or (0,)
    return build_page(actor, args, events.list_history(tx, ticket.key, after, args.limit + 1))


After = Annotated[Id, Meta(description="The id of the last event that the caller has.")]
Types = Annotated[list[EventType], Meta(min_length=1, max_length=30, description="Return only events of these types.")]


class ListEvents(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Events after `after`; all events by default."""

    after: After | None = None
    types: Types | None = None
    limit: Limit = 50
    cursor: Cursor | None = None


@operation("list_events", scope=Scope.READ, budget=Budget.READ, rest="GET /events")
def list_events(tx: Read, actor: Actor, args: ListEvents) -> Page[Event]:
    """List the events that the caller can access, oldest first."""
    (after,) = decode_cursor(actor, args) or (0 if args.after is None else _decode_event_id("after", args.after),)
    return build_page(
        actor, args, events.list_visible_events(tx, actor.viewer, after, _parse_types(args.types), args.limit + 1)
    )


class WaitForEvents(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Events after `after`; events from now on by default."""

    after: After | None = None
    types: Types | None = None
    limit: Limit = 50
    cursor: Cursor | None = None
    wait_seconds: WaitSeconds = DEFAULT_WAIT_SECONDS


class NewEvents(msgspec.Struct, frozen=True):
    """New events, oldest first. `last` is the id to send as `after` in the next call, also if there are none.

    `next_cursor` is null unless more events are available now.
    """

    items: list[Event]
    next_cursor: str | None
    last: str


@operation(
    "wait_for_events",
    scope=Scope.READ,
    budget=Budget.READ,
    rest="GET /events/wait",
    tool=Tool(
        "Wait for events",
        "Use this to sleep until something changes; then call it with `last` as `after`.",
        {"types": ["comment.created", "ticket.moved"], "wait_seconds": 50},
        tool_set="triage",
    ),
    waits=True,
)
def wait_for_events(tx: Read, actor: Actor, args: WaitForEvents) -> NewEvents:
    """Return new events that the caller can access, oldest first; if there are none, wait for them."""
    newest = events.find_newest_key(tx)
    (after,) = decode_cursor(actor, args) or (newest if args.after is None else _decode_event_id("after", args.after),)
    types = _parse_types(args.types)
    entries = events.list_visible_events(tx, actor.viewer, min(after, newest), types, args.limit + 1)
    page = build_page(actor, args, entries)
    last = events.encode_event_id(entries[args.limit - 1][0] if page.next_cursor else newest)
    new = NewEvents(page.items, page.next_cursor, last)
    if not new.items:
        raise NothingYet(new, Subscription(None if types is None else frozenset(types)), after=last, cursor=None)
    return new


StreamName = Annotated[
    str, Meta(min_length=1, max_length=64, description="A name that the client chooses for its event stream.")
]


class StreamEvents(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Events after `last_event` or `after`; new events by default."""

    after: After | None = None
    last_event: Annotated[Id, Meta(description="The same, from a client that reconnects.")] | None = None
    types: Types | None = None
    stream: StreamName | None = None


@operation(
    "stream_events", scope=Scope.READ, budget=Budget.READ, inline=True, rest="GET /events/stream", live=True,
    media=("text/event-stream",),
)  # fmt: skip
def stream_events(tx: Read, actor: Actor, args: StreamEvents) -> EventBatch:
    """Stream the events that the caller can access as they happen, as server-sent events."""
    newest = events.find_newest_key(tx)
    after = newest
    if args.last_event is not None:
        after = _decode_event_id("Last-Event-ID", args.last_event)
    elif args.after is not None:
        after = _decode_event_id("after", args.after)
    types, since = _parse_types(args.types), min(after, newest)
    newer = events.list_visible_events(tx, actor.viewer, since, types, BATCH)
    more = len(newer) == BATCH
    last = newer[-1][0] if more else newest
    return EventBatch([event for _, event in newer], events.encode_event_id(last), more, reset=after > newest)


def _decode_event_id(field: str, event_id: str) -> int:
    key = events.decode_event_id(event_id)
    if key is None:
        raise InvalidField(field, "this isn't the id of an event")
    return key


def _parse_types(types: list[EventType] | None) -> list[str] | None:
    return None if types is None else [kind.value for kind in types]


class AuditFormat(StrEnum):
    """The format of the audit log."""

    JSON = "json"
    CSV = "csv"


class Audit(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """`format=csv` returns the same page as a table."""

    company_id: CompanyId
    format: AuditFormat = AuditFormat.JSON
    limit: Limit = 50
    cursor: Cursor | None = None


@operation(
    "get_audit", scope=Access.SESSION, budget=Budget.READ, rest="GET /companies/{company_id}/audit",
    media=("text/csv",),
)  # fmt: skip
def get_audit(tx: Read, actor: Actor, args: Audit) -> Page[AuditEvent] | Content:
    """List a company's audit log, newest first. Requires the role admin. `X-Next-Cursor` has a CSV's next cursor."""
    key = find_membership(actor, args.company_id, Role.ADMIN).company
    (before,) = decode_cursor(actor, args) or (NEWEST,)
    page = build_page(actor, args, events.list_audit_log(tx, key, before, args.limit + 1))
    return page if args.format is AuditFormat.JSON else _render_audit_csv(page)


_AUDIT_HEAD = ("id", "at", "type", "user_id", "user", "token_id", "token", "via", "project_id", "ticket_id", "data")


def _render_audit_csv(page: Page[AuditEvent]) -> Content:
    rows = (
        (
            event.id, event.at, event.type, event.by.user.id, event.by.user.name, event.by.token_id,
            event.by.token_label, event.by.via, event.project_id, event.ticket_id,
            msgspec.json.encode(event.data).decode(),
        )
        for event in page.items
    )  # fmt: skip
    return render_csv("audit.csv", _AUDIT_HEAD, rows, page.next_cursor)
