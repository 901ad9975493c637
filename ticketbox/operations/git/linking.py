"""Apply what a delivery says: link tickets, update their links, and close what landed (docs/use/git.md)."""

from ticketbox.domain.core.access.policy import Actor, Kind, Via
from ticketbox.domain.core.access.scopes import Role
from ticketbox.domain.core.problems import ApprovalRequired
from ticketbox.domain.git.changes import LinkChange
from ticketbox.domain.git.records import GitState
from ticketbox.operations.tickets.placement.placing import resolve_ticket
from ticketbox.operations.tickets.recording import record_ticket_event
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.file.database import Write
from ticketbox.store.git import git_links
from ticketbox.store.git.git_deliveries import WaitingDelivery
from ticketbox.store.git.git_links import LinkState
from ticketbox.store.tickets import tickets


def apply_delivery(tx: Write, delivery: WaitingDelivery) -> None:
    """Apply what a delivery says about tickets of its hook's project."""
    actor = _build_actor(delivery)
    for link in delivery.changes.links:
        _apply_link(tx, actor, delivery, link)
    for check in delivery.changes.checks:
        at = delivery.received_at if check.at is None else check.at
        git_links.record_check(tx, delivery.project, check, min(at, tx.now))


def _build_actor(delivery: WaitingDelivery) -> Actor:
    """Build the actor of a hook: its creator, by a token that is the hook, so that gates for agents apply to it."""
    return Actor(
        delivery.user, delivery.user_id, delivery.user_name, "", 0, delivery.hook_id, delivery.hook_name, Kind.API,
        frozenset(), delivery.company, True, None, (), Via.REST,
    )  # fmt: skip


def _apply_link(tx: Write, actor: Actor, delivery: WaitingDelivery, change: LinkChange) -> None:
    at = min(delivery.received_at if change.at is None else change.at, tx.now)
    known = git_links.list_known(tx, delivery.project, change)
    for link in known:
        _update_link(tx, actor, link, change, at)
    linked = {link.ticket for link in known}
    for ticket in _find_tickets(tx, delivery.project, change.tickets):
        if ticket not in linked and git_links.insert_link(tx, ticket, delivery.project, change, at):
            _record(tx, actor, ticket, "ticket.git_linked", change)
    if not delivery.closes_tickets or not change.lands:
        return
    # Once: what had landed before closes nothing again, even if the ticket was reopened.
    landed = {link.ticket for link in known if link.state is GitState.MERGED}
    for ticket in _find_tickets(tx, delivery.project, change.fixes):
        if ticket not in landed:
            _close_ticket(tx, actor, ticket, change)


def _find_tickets(tx: Write, project: int, names: list[str]) -> list[int]:
    found = (git_links.find_ticket_of_project(tx, project, name) for name in names)
    return list(dict.fromkeys(each for each in found if each is not None))


def _update_link(tx: Write, actor: Actor, link: LinkState, change: LinkChange, at: int) -> None:
    """Update a link, unless the change is older than what it shows. A merged pull request stays merged."""
    if at < link.changed_at or (link.state is GitState.MERGED and change.state is not GitState.MERGED):
        return
    changed = change.state is not link.state
    if changed or (change.url, change.title, change.head or link.head) != (link.url, link.title, link.head):
        git_links.update_link(tx, link.key, change, at)
    if changed:
        _record(tx, actor, link.ticket, "ticket.git_changed", change)


def _close_ticket(tx: Write, actor: Actor, ticket: int, change: LinkChange) -> None:
    """Move a ticket to done, unless a gate of its project keeps it."""
    state = tickets.load_state(tx, ticket)
    if state.resolved or state.is_archived:
        return
    row = _load_row(tx, actor, ticket)
    try:
        tx.run_step(lambda: resolve_ticket(tx, actor, row, state, resolved=True))
    except ApprovalRequired as gate:
        _record(tx, actor, ticket, "ticket.git_held", change, reason=gate.code)


def _record(tx: Write, actor: Actor, ticket: int, type_: str, change: LinkChange, **data: str) -> None:
    state = None if change.state is None else change.state.value
    record_ticket_event(
        tx, actor, _load_row(tx, actor, ticket), type_, kind=change.kind.value, url=change.url, name=change.name,
        title=change.title, state=state, **data,
    )  # fmt: skip


def _load_row(tx: Write, actor: Actor, ticket: int) -> VisibleRow:
    company = actor.company
    assert company is not None
    return VisibleRow(ticket, tickets.load_state(tx, ticket).project, company, Role.MEMBER, within=True)
