"""Telling people of what concerns them, in the transaction of the event that was just recorded."""

from collections.abc import Iterable

from ticketbox.domain.core.policy import Actor
from ticketbox.domain.events.mentions import mentioned
from ticketbox.domain.events.records import Reason
from ticketbox.store.core.visibility import Found
from ticketbox.store.events import email_outbox, notifications
from ticketbox.store.file.database import Write


def notify_mentioned(tx: Write, actor: Actor, found: Found, text: str, before: str = "") -> None:
    """Tell those whom a text mentions and its earlier version didn't."""
    if "@" in text:
        names = notifications.audience(tx, found, actor.user)
        _notify(tx, found, mentioned(text, names) - mentioned(before, names), Reason.MENTION)


def notify_of_comment(tx: Write, actor: Actor, found: Found, body: str) -> None:
    """Tell those whom a new comment mentions, and the others who take part in the ticket."""
    names = notifications.audience(tx, found, actor.user)
    if names:
        _notify(tx, found, mentioned(body, names), Reason.MENTION)
        _notify(tx, found, notifications.participants(tx, found.key) & names.keys(), Reason.REPLY)


def notify_assigned(tx: Write, actor: Actor, found: Found, users: Iterable[int]) -> None:
    """Tell those who were assigned."""
    others = set(users) - {actor.user}
    if others:
        names = notifications.audience(tx, found, actor.user)
        _notify(tx, found, others & names.keys(), Reason.ASSIGNMENT)


def _notify(tx: Write, found: Found, users: Iterable[int], reason: Reason) -> None:
    event = tx.events[-1].id
    notifications.add(tx, users, event, found.key, reason)
    email_outbox.queue(tx, event)
