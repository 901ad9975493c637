"""Following tickets (docs/use/notifications.md, "Watch")."""

import msgspec

from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Access
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.records import Person
from ticketbox.operations.core.lookups import TicketId, find_readable_ticket
from ticketbox.operations.core.registry import operation
from ticketbox.store.events import notifications, watchers
from ticketbox.store.file.database import Write


class FollowTicket(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """If the caller watches the ticket already, this changes nothing."""

    ticket_id: TicketId


class Watchers(msgspec.Struct, frozen=True):
    """Who watches a ticket, the first hundred."""

    watchers: list[Person]


@operation("follow_ticket", scope=Access.SESSION, budget=Budget.WRITE, rest="PUT /tickets/{ticket_id}/follow")
def follow_ticket(tx: Write, actor: Actor, args: FollowTicket) -> Watchers:
    """Watch a ticket: get notifications of comments and questions. A muted ticket is unmuted."""
    ticket = find_readable_ticket(tx, actor, args.ticket_id).key
    watchers.add_watchers(tx, ticket, [actor.user])
    notifications.set_ticket_muted(tx, actor.user, ticket, muted=False)
    return Watchers(watchers.list_watchers(tx, ticket))


class UnfollowTicket(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """If the caller doesn't watch the ticket, this changes nothing."""

    ticket_id: TicketId


@operation("unfollow_ticket", scope=Access.SESSION, budget=Budget.WRITE, rest="DELETE /tickets/{ticket_id}/follow")
def unfollow_ticket(tx: Write, actor: Actor, args: UnfollowTicket) -> Watchers:
    """Stop watching a ticket, until you comment on it, are assigned or mentioned."""
    ticket = find_readable_ticket(tx, actor, args.ticket_id).key
    watchers.remove_watcher(tx, ticket, actor.user)
    return Watchers(watchers.list_watchers(tx, ticket))
