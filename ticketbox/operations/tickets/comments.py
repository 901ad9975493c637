"""Comments on tickets."""

import msgspec

from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import Forbidden, TicketArchived
from ticketbox.domain.tickets.records import Comment, Status
from ticketbox.operations.core.inputs import CommentBody
from ticketbox.operations.core.lookups import CommentId, Key, TicketId, find_readable_ticket, find_writable
from ticketbox.operations.core.paging import Cursor, Limit, Page, build_page, decode_cursor
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.operations.events.notify import notify_mentioned, notify_of_comment
from ticketbox.operations.tickets.lookups import find_writable_ticket
from ticketbox.operations.tickets.recording import record_ticket_event
from ticketbox.store.core import bylines
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.file.database import Read, Write
from ticketbox.store.tickets import comments, tickets


class ListComments(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Comments of archived tickets can be read too."""

    ticket_id: TicketId
    limit: Limit = 50
    cursor: Cursor | None = None


@operation(
    "list_comments",
    scope=Scope.READ,
    budget=Budget.READ,
    rest="GET /tickets/{ticket_id}/comments",
    tool=Tool(
        "List comments",
        "Use this for comments that get_ticket omitted.",
        {"ticket_id": "WEB-42"},
        tool_set="triage",
    ),
)
def list_comments(tx: Read, actor: Actor, args: ListComments) -> Page[Comment]:
    """List a ticket's comments, oldest first."""
    row = find_readable_ticket(tx, actor, args.ticket_id)
    (after,) = decode_cursor(actor, args) or (0,)
    return build_page(actor, args, comments.list_comments(tx, row.key, after, args.limit + 1))


class AddComment(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The comment is Markdown."""

    ticket_id: TicketId
    body: CommentBody
    idempotency_key: Key | None = None


@operation(
    "add_comment",
    scope=Scope.COMMENTS,
    budget=Budget.WRITE,
    rest="POST /tickets/{ticket_id}/comments",
    refuses=(TicketArchived,),
    creates=True,
    tool=Tool(
        "Comment on a ticket",
        "Use this to report what you found or did. The comment shows that you wrote it.",
        {"ticket_id": "WEB-42", "body": "Fixed on `fix-cart`."},
        tool_set="core",
    ),
)
def add_comment(tx: Write, actor: Actor, args: AddComment) -> Comment:
    """Add a comment to a ticket."""
    row, _ = find_writable_ticket(tx, actor, args.ticket_id)
    return insert_comment(tx, actor, row, args.body)


def insert_comment(tx: Write, actor: Actor, row: VisibleRow, body: str) -> Comment:
    """Store a comment on a ticket and its event, and notify those whom it concerns."""
    key = comments.insert_comment(tx, row.key, body, bylines.ensure_byline(tx, actor))
    comment = comments.load_comment(tx, key)
    record_ticket_event(tx, actor, row, "comment.created", comment_id=comment.id)
    notify_of_comment(tx, actor, row, body)
    return comment


class EditComment(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """You can edit only your comments."""

    comment_id: CommentId
    body: CommentBody


@operation(
    "edit_comment", scope=Scope.COMMENTS, budget=Budget.WRITE, rest="PATCH /comments/{comment_id}",
    refuses=(TicketArchived,),
    tool=Tool(
        "Edit a comment",
        "Use this to correct or complete a comment that you wrote.",
        {"comment_id": "cmt_2d5g8j1m4q7t", "body": "Fixed on `main`, released in 2.4."},
        idempotent=True,
        tool_set="triage",
    ),
)  # fmt: skip
def edit_comment(tx: Write, actor: Actor, args: EditComment) -> Comment:
    """Replace the text of one of your comments."""
    row, ticket = _find_own_comment(tx, actor, args.comment_id)
    before = comments.load_comment(tx, row.key).body
    comments.update_comment(tx, row.key, args.body)
    record_ticket_event(tx, actor, ticket, "comment.updated", comment_id=args.comment_id)
    notify_mentioned(tx, actor, ticket, args.body, before)
    return comments.load_comment(tx, row.key)


class DeleteComment(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """You can delete only your comments."""

    comment_id: CommentId


@operation(
    "delete_comment",
    scope=Scope.COMMENTS,
    budget=Budget.WRITE,
    rest="DELETE /comments/{comment_id}",
    refuses=(TicketArchived,),
    tool=Tool(
        "Delete a comment",
        "Use this only for a comment that you wrote by mistake.",
        {"comment_id": "cmt_2d5g8j1m4q7t"},
        destructive=True,
        tool_set="admin",
    ),
)
def delete_comment(tx: Write, actor: Actor, args: DeleteComment) -> None:
    """Delete one of your comments. The ticket's history keeps a record of it, without the text."""
    row, ticket = _find_own_comment(tx, actor, args.comment_id)
    comments.delete_comment(tx, row.key, ticket.key)
    record_ticket_event(tx, actor, ticket, "comment.deleted", comment_id=args.comment_id)


def _find_own_comment(tx: Write, actor: Actor, comment_id: str) -> tuple[VisibleRow, VisibleRow]:
    """Find a comment of the caller, and its ticket. Raises Forbidden if somebody else wrote it."""
    row = find_writable(tx, actor, "comment", comment_id)
    keys = comments.load_comment_keys(tx, row.key)
    if keys.user != actor.user:
        raise Forbidden("only its author can edit or delete a comment")
    if tickets.load_state(tx, keys.ticket).status is Status.ARCHIVED:
        raise TicketArchived
    return row, VisibleRow(keys.ticket, row.project, row.company, row.role, row.within)
