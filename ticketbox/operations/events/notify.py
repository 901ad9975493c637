"""Notify people of an event, in the transaction that recorded it."""

from collections.abc import Collection, Iterable

from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.events.mentions import find_mentions
from ticketbox.domain.events.records import Reason
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.events import email_outbox, notifications, watchers
from ticketbox.store.file.database import Write


def notify_mentioned(tx: Write, actor: Actor, row: VisibleRow, text: str, before: str = "") -> None:
    """Notify the people whom a text mentions and its earlier version didn't."""
    if "@" in text:
        names = notifications.list_audience(tx, row, actor.user)
        _notify_watching(tx, row, find_mentions(text, names) - find_mentions(before, names), Reason.MENTION)


def notify_of_comment(tx: Write, actor: Actor, row: VisibleRow, body: str) -> None:
    """Notify the people whom a new comment mentions, and the ticket's watchers. The caller becomes one."""
    watchers.add_watchers(tx, row.key, [actor.user])
    names = notifications.list_audience(tx, row, actor.user)
    if names:
        _notify_watching(tx, row, find_mentions(body, names), Reason.MENTION)
        _notify(tx, row, watchers.list_watching_users(tx, row.key) & names.keys(), Reason.REPLY)


def notify_assigned(tx: Write, actor: Actor, row: VisibleRow, users: Collection[int]) -> None:
    """Notify the people who were assigned. They become watchers."""
    watchers.add_watchers(tx, row.key, users)
    others = set(users) - {actor.user}
    if others:
        names = notifications.list_audience(tx, row, actor.user)
        _notify(tx, row, others & names.keys(), Reason.ASSIGNMENT)


def notify_of_question(tx: Write, row: VisibleRow, owner: int, reason: Reason) -> None:
    """Notify the ticket's watchers, and the owner of the token that asks, that a person is needed."""
    names = notifications.list_audience(tx, row, 0)
    _notify(tx, row, (watchers.list_watching_users(tx, row.key) | {owner}) & names.keys(), reason)


def _notify_watching(tx: Write, row: VisibleRow, users: set[int], reason: Reason) -> None:
    """Notify people, who become watchers."""
    watchers.add_watchers(tx, row.key, users)
    _notify(tx, row, users, reason)


def _notify(tx: Write, row: VisibleRow, users: Iterable[int], reason: Reason) -> None:
    event = tx.events[-1].id
    notifications.insert_notifications(tx, users, event, row.key, reason)
    email_outbox.queue_notifications(tx, event)
