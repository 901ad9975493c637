"""Taking tickets over from other trackers, from the machine's own shell (docs/operate/export-import.md)."""

from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.core.limits import Budget
from ticketbox.domain.core.policy import Actor, Via
from ticketbox.domain.core.problems import NotFound
from ticketbox.domain.core.scopes import Access
from ticketbox.domain.tickets.records import Priority
from ticketbox.domain.tickets.tracker_formats import ImportedTicket, Tracker, read_tickets
from ticketbox.operations.core.inputs import Email
from ticketbox.operations.core.lookups import ProjectId
from ticketbox.operations.core.registry import operation
from ticketbox.operations.tickets.recording import record_ticket_event
from ticketbox.operations.tickets.tickets import insert_ticket, resolve_target
from ticketbox.store.accounts import credentials, users
from ticketbox.store.companies import columns
from ticketbox.store.core import bylines
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.file.database import Write
from ticketbox.store.tickets import comments, positions, tickets
from ticketbox.store.tickets.tickets import NewTicket


class ImportTickets(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The tickets are written in the name of a member who may write."""

    tracker: Tracker
    data: bytes
    project_id: ProjectId
    user: Annotated[Email, Meta(description="Who brings them.")]
    dry_run: bool = False


class UserMapping(msgspec.Struct, frozen=True):
    """A state of the other tracker: how many tickets have it, and the column that they go to."""

    state: str
    tickets: int
    column: str
    resolved: bool


class ImportedTickets(msgspec.Struct, frozen=True):
    """What was taken over, or would be."""

    tickets: int
    comments: int
    states: list[UserMapping]
    priorities: dict[str, int]
    labels: list[str]
    done: bool


@operation("take_over", scope=Access.OPERATOR, budget=Budget.NONE)
def take_over(tx: Write, actor: Actor, args: ImportTickets) -> ImportedTickets:
    """Make tickets of another tracker's file, all or none; with `dry_run` only tell what would be made.

    A state goes to the column of that name; one without to the first column, or to the last if it is a resolved one.
    """
    account = users.find_account_by_email(tx, args.user)
    if account is None:
        raise NotFound("account")
    owner = credentials.load_user_as_actor(tx, account.key, Via.CLI)
    found, first = resolve_target(tx, owner, args.project_id, None)
    board = columns.list_columns(tx, found.project)
    named = {column.name.casefold(): key for key, column in board}
    names = {key: column.name for key, column in board}
    foreign = read_tickets(args.tracker, args.data)

    def place(ticket: ImportedTicket) -> int:
        return named.get(ticket.state.casefold(), board[-1][0] if ticket.resolved else first)

    states: dict[tuple[str, int, bool], int] = {}
    for ticket in foreign:
        at = (ticket.state, place(ticket), ticket.resolved)
        states[at] = states.get(at, 0) + 1
    if not args.dry_run:
        for ticket in foreign:
            _import_ticket(tx, owner, found, place(ticket), ticket)
    return ImportedTickets(
        tickets=len(foreign),
        comments=sum(len(ticket.comments) for ticket in foreign),
        states=[UserMapping(state, count, names[key], resolved) for (state, key, resolved), count in states.items()],
        priorities={level.value: n for level in Priority if (n := sum(each.priority is level for each in foreign))},
        labels=sorted({label for ticket in foreign for label in ticket.labels}, key=str.casefold),
        done=not args.dry_run,
    )


def _import_ticket(tx: Write, owner: Actor, found: VisibleRow, column: int, ticket: ImportedTicket) -> None:
    new = NewTicket(
        project=found.project,
        column=column,
        position=positions.find_end_position(tx, column),
        title=ticket.title,
        description=f"{ticket.description}\n\n*Taken over: {ticket.key}*".strip()[:100_000],
        priority=ticket.priority,
        labels=ticket.labels,
        source_url=ticket.url,
    )
    at, _ = insert_ticket(tx, owner, found, new)
    byline = bylines.ensure_byline(tx, owner)
    if ticket.resolved:
        tickets.update_ticket(tx, at.key, tickets.TicketChanges(resolved=True))
    for body in ticket.comments:
        key = comments.insert_comment(tx, at.key, body, byline)
        record_ticket_event(tx, owner, at, "comment.created", comment_id=comments.load_comment(tx, key).id)
