"""Security events: recorded for the account, written to the log, and listed for the person.

The log line is for tools such as fail2ban (docs/operate/monitoring.md, "Security events").
"""

import logging
from functools import partial
from typing import Any

import msgspec

from ticketbox.domain.accounts.security_events import Notice, NoticeKind, Outcome, SecurityAction, SecurityEvent
from ticketbox.domain.core.access.policy import Actor, Via
from ticketbox.domain.core.access.scopes import Access
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.paging import NEWEST, Cursor, Limit, Page, build_page, decode_cursor
from ticketbox.operations.core.recording import record_company_event
from ticketbox.operations.core.registry import operation
from ticketbox.operations.core.services import Services
from ticketbox.store.accounts import security_events
from ticketbox.store.accounts.users import Account
from ticketbox.store.events import email_outbox
from ticketbox.store.file.database import Read, Write

log = logging.getLogger("ticketbox.security")


class ListSecurityEvents(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What happened to the caller's account in the last year."""

    limit: Limit = 50
    cursor: Cursor | None = None


@operation("list_security_events", scope=Access.SESSION, budget=Budget.READ, rest="GET /security-events")
def list_security_events(tx: Read, actor: Actor, args: ListSecurityEvents) -> Page[SecurityEvent]:
    """List sign-ins, sign-outs, and changes of the caller's password, address and tokens, newest first."""
    (before,) = decode_cursor(actor, args) or (NEWEST,)
    return build_page(actor, args, security_events.list_security_events(tx, actor.user, before, args.limit + 1))


def record_security_event(
    tx: Write, actor: Actor, action: SecurityAction, outcome: Outcome = Outcome.DONE, **data: Any
) -> None:
    """Record what happened to the actor's account, and log it after the commit."""
    security_events.insert_security_event(tx, actor.user, action, outcome, actor.via, data)
    tx.after_commit.append(
        partial(log_security_event, action, outcome, tx.origin.address, actor.user_id, actor.via, data)
    )


def record_account_change(tx: Write, actor: Actor, action: SecurityAction, audit_type: str, **data: Any) -> None:
    """Record a change of the account, also in the audit log of every company that the person is a member of."""
    record_security_event(tx, actor, action, **data)
    for membership in actor.memberships:
        record_company_event(tx, actor, audit_type, membership.company, user_id=actor.user_id)


def queue_notice(tx: Write, user: int, kind: NoticeKind, recipient: str, new_address: str = "", key: str = "") -> None:
    """Queue an email to the person about what just happened, if the server has a mail server."""
    if tx.origin.sends_email:
        notice = Notice(kind, tx.now, tx.origin.address, tx.origin.user_agent, new_address, key)
        email_outbox.queue_notice(tx, user, recipient, notice)


def report_refusal(
    services: Services, context: RequestContext, action: SecurityAction, account: Account | None
) -> None:
    """Log an attempt with a wrong password, and record it a moment later.

    Later, so that the response takes as long as that for an account that doesn't exist.
    """
    user_id = "" if account is None else account.user.id
    log_security_event(action, Outcome.FAILED, context.address, user_id, Via.WEB, {})
    if account is None:
        return

    def record(tx: Write) -> None:
        tx.origin = services.describe_origin(context)
        security_events.insert_security_event(tx, account.key, action, Outcome.FAILED, Via.WEB, {})

    services.write_later(record)


def log_security_event(
    action: SecurityAction, outcome: Outcome, address: str, user_id: str, via: Via, data: dict[str, Any]
) -> None:
    """Write the log line. Nothing before the address comes from the caller, so that it can't be forged."""
    fields = {"action": action.value, "outcome": outcome.value, "address": address, "user": user_id, "via": via.value}
    fields |= {name: data[name] for name in ("token_id", "session_id") if name in data}
    log.info("security", extra={"fields": fields})
