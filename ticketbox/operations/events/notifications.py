"""Notifications and mutes of the signed-in person (docs/use/notifications.md)."""

from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Access
from ticketbox.domain.core.clock import to_epoch_ms
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import InvalidField, NotFound
from ticketbox.domain.events.records import Mutes, Notification
from ticketbox.operations.core.inputs import Nothing
from ticketbox.operations.core.lookups import (
    NotificationId,
    ProjectId,
    TicketId,
    find_readable,
    find_readable_ticket,
)
from ticketbox.operations.core.paging import Cursor, Limit, Page, build_page, decode_cursor
from ticketbox.operations.core.registry import operation
from ticketbox.store.events import notifications
from ticketbox.store.file.database import Read, Write


class ListNotifications(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Which of the caller's notifications to return."""

    unread: Annotated[bool, Meta(description="Return only unread notifications.")] = False
    read: Annotated[bool, Meta(description="Return only notifications that are read.")] = False
    snoozed: Annotated[bool, Meta(description="Return only snoozed notifications, which others don't include.")] = False
    limit: Limit = 50
    cursor: Cursor | None = None


@operation("list_notifications", scope=Access.SESSION, budget=Budget.READ, rest="GET /notifications")
def list_notifications(tx: Read, actor: Actor, args: ListNotifications) -> Page[Notification]:
    """List the caller's notifications, newest first: mentions, assignments and replies.

    A notification that was snoozed is as new as the end of its snooze.
    """
    if args.read and args.unread:
        raise InvalidField("read", "can't be combined with `unread`")
    read = None if args.read == args.unread else args.read
    after = decode_cursor(actor, args, tuple[int, int])
    entries = notifications.list_notifications(tx, actor.viewer, after, args.limit + 1, read=read, snoozed=args.snoozed)
    return build_page(actor, args, entries)


class Unread(msgspec.Struct, frozen=True):
    """The number of unread notifications, up to 1,000."""

    unread: int


@operation(
    "count_unread_notifications", scope=Access.SESSION, budget=Budget.READ, rest="GET /notifications/unread",
)  # fmt: skip
def count_unread_notifications(tx: Read, actor: Actor, args: Nothing) -> Unread:
    """Count the caller's unread notifications."""
    return Unread(notifications.count_unread(tx, actor.viewer))


class ReadNotification(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One of the caller's notifications."""

    notification_id: NotificationId


@operation(
    "read_notification", scope=Access.SESSION, budget=Budget.WRITE, rest="POST /notifications/{notification_id}/read"
)  # fmt: skip
def read_notification(tx: Write, actor: Actor, args: ReadNotification) -> Unread:
    """Mark a notification as read."""
    if not notifications.mark_read(tx, actor.user, args.notification_id):
        raise NotFound("notification")
    return Unread(notifications.count_unread(tx, actor.viewer))


@operation(
    "mark_notification_unread", scope=Access.SESSION, budget=Budget.WRITE,
    rest="POST /notifications/{notification_id}/unread",
)  # fmt: skip
def mark_notification_unread(tx: Write, actor: Actor, args: ReadNotification) -> Unread:
    """Mark a notification as unread."""
    if not notifications.mark_unread(tx, actor.user, args.notification_id):
        raise NotFound("notification")
    return Unread(notifications.count_unread(tx, actor.viewer))


class SnoozeNotification(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Reading the notification, or marking it as unread, ends the snooze."""

    notification_id: NotificationId
    until: Annotated[datetime, Meta(tz=True, description="A time within the next 90 days, in RFC 3339.")]


@operation(
    "snooze_notification", scope=Access.SESSION, budget=Budget.WRITE,
    rest="POST /notifications/{notification_id}/snooze",
    example={"notification_id": "ntf_000000000042", "until": "2026-12-01T08:00:00Z"},
)  # fmt: skip
def snooze_notification(tx: Write, actor: Actor, args: SnoozeNotification) -> Unread:
    """Hide a notification until a time. After that, it is unread and at the top of the list."""
    until = to_epoch_ms(args.until)
    if not tx.now < until <= tx.now + notifications.RETENTION_MS:
        raise InvalidField("until", "must be a time within the next 90 days")
    if not notifications.snooze(tx, actor.user, args.notification_id, until):
        raise NotFound("notification")
    return Unread(notifications.count_unread(tx, actor.viewer))


@operation("read_all_notifications", scope=Access.SESSION, budget=Budget.WRITE, rest="POST /notifications/read")
def read_all_notifications(tx: Write, actor: Actor, args: Nothing) -> Unread:
    """Mark all of the caller's notifications as read, except snoozed ones."""
    notifications.mark_all_read(tx, actor.user)
    return Unread(notifications.count_unread(tx, actor.viewer))


@operation("list_mutes", scope=Access.SESSION, budget=Budget.READ, rest="GET /mutes")
def list_mutes(tx: Read, actor: Actor, args: Nothing) -> Mutes:
    """List the tickets and projects that the caller muted."""
    return notifications.load_mutes(tx, actor.viewer)


class MuteTicket(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The ticket is muted only for the caller."""

    ticket_id: TicketId


@operation("mute_ticket", scope=Access.SESSION, budget=Budget.WRITE, rest="PUT /tickets/{ticket_id}/mute")
def mute_ticket(tx: Write, actor: Actor, args: MuteTicket) -> None:
    """Mute a ticket: get no more notifications about it."""
    notifications.set_ticket_muted(tx, actor.user, find_readable_ticket(tx, actor, args.ticket_id).key, muted=True)


@operation("unmute_ticket", scope=Access.SESSION, budget=Budget.WRITE, rest="DELETE /tickets/{ticket_id}/mute")
def unmute_ticket(tx: Write, actor: Actor, args: MuteTicket) -> None:
    """Unmute a ticket: get notifications about it again."""
    notifications.set_ticket_muted(tx, actor.user, find_readable_ticket(tx, actor, args.ticket_id).key, muted=False)


class MuteProject(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The project is muted only for the caller."""

    project_id: ProjectId


@operation("mute_project", scope=Access.SESSION, budget=Budget.WRITE, rest="PUT /projects/{project_id}/mute")
def mute_project(tx: Write, actor: Actor, args: MuteProject) -> None:
    """Mute a project: get no more notifications about its tickets."""
    notifications.set_project_muted(
        tx, actor.user, find_readable(tx, actor, "project", args.project_id).key, muted=True
    )


@operation("unmute_project", scope=Access.SESSION, budget=Budget.WRITE, rest="DELETE /projects/{project_id}/mute")
def unmute_project(tx: Write, actor: Actor, args: MuteProject) -> None:
    """Unmute a project: get notifications about its tickets again."""
    notifications.set_project_muted(
        tx, actor.user, find_readable(tx, actor, "project", args.project_id).key, muted=False
    )
