"""Replies to people without an account who reported a ticket, by email (docs/use/reports.md, "Reply to a reporter")."""

from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.accounts.security_events import Notice, NoticeKind
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Access
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.patterns import match_whole
from ticketbox.domain.core.problems import Conflict, NotFound, TicketArchived
from ticketbox.domain.tickets.records import Comment
from ticketbox.operations.core.lookups import Key, TicketId
from ticketbox.operations.core.registry import operation
from ticketbox.operations.tickets.comments import insert_comment
from ticketbox.operations.tickets.lookups import find_writable_ticket
from ticketbox.store.events import email_outbox
from ticketbox.store.file.database import Write
from ticketbox.store.reports import reports

MAX_REPLY = 10_000


class ReplyToReporter(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What the reporter gets, as plain text."""

    ticket_id: TicketId
    body: Annotated[
        str,
        Meta(min_length=1, max_length=MAX_REPLY, description="The reply, as plain text.",
             examples=["Which browser do you use?"]),
        match_whole(r"[^\x00]*"),
    ]  # fmt: skip
    idempotency_key: Key | None = None


@operation(
    "reply_to_reporter", scope=Access.SESSION, budget=Budget.WRITE, rest="POST /tickets/{ticket_id}/reporter/replies",
    refuses=(TicketArchived, Conflict), creates=True,
)  # fmt: skip
def reply_to_reporter(tx: Write, actor: Actor, args: ReplyToReporter) -> Comment:
    """Send an email to the person who reported a ticket without an account.

    The ticket keeps it as a comment that begins with "To the reporter:". Requires that the reporter gave an email
    address and that the server sends email.
    """
    row, _ = find_writable_ticket(tx, actor, args.ticket_id)
    reporter = reports.find_reporter(tx, row.key)
    if reporter is None:
        raise NotFound("reporter")
    if not reporter.email:
        raise Conflict("the reporter gave no email address")
    if not tx.origin.sends_email:
        raise Conflict("this server sends no email; the operator sets --smtp-url")
    title = reports.load_reported_title(tx, row.key)
    reply = Notice(
        NoticeKind.REPORT_REPLY, tx.now, "", "", name=reporter.name or reporter.email, title=title, text=args.body
    )
    email_outbox.queue_notice(tx, actor.user, reporter.email, reply)
    return insert_comment(tx, actor, row, f"To the reporter:\n\n{args.body}")
