"""Importing tickets from other trackers, from the command line (docs/operate/export-import.md)."""

from collections import Counter
from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.companies.records import ColumnKind
from ticketbox.domain.core.access.policy import Actor, Via
from ticketbox.domain.core.access.scopes import Access
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import NotFound
from ticketbox.domain.tickets.records import Priority
from ticketbox.domain.tickets.tracker_formats import ImportedTicket, Tracker, read_tickets
from ticketbox.operations.core.inputs import Email
from ticketbox.operations.core.lookups import ProjectId
from ticketbox.operations.core.registry import operation
from ticketbox.operations.tickets.recording import record_ticket_event
from ticketbox.operations.tickets.tickets import insert_ticket, resolve_target
from ticketbox.store.accounts import actors, users
from ticketbox.store.companies import columns, members
from ticketbox.store.core import bylines
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.events import webhook_outbox
from ticketbox.store.file.database import Read, Write
from ticketbox.store.tickets import assignments, comments, positions, tickets
from ticketbox.store.tickets.tickets import NewTicket


class ImportTickets(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The tickets are created by a member who may write in the project."""

    tracker: Tracker
    data: bytes
    project_id: ProjectId
    user: Annotated[Email, Meta(description="The email address of the member who creates the tickets.")]
    dry_run: bool = False


class StateMapping(msgspec.Struct, frozen=True):
    """A state in the other tracker: the number of tickets that have it, and the column they are imported to."""

    state: str
    tickets: int
    column: str
    resolved: bool


class ImportedTickets(msgspec.Struct, frozen=True):
    """What was imported, or would be."""

    tickets: int
    comments: int
    states: list[StateMapping]
    priorities: dict[str, int]
    labels: list[str]
    due_dates: int
    unread_due_dates: int
    assigned: int
    unknown_assignees: list[str]
    done: bool


@operation("import_tickets", scope=Access.OPERATOR, budget=Budget.NONE)
def import_tickets(tx: Write, actor: Actor, args: ImportTickets) -> ImportedTickets:
    """Import tickets from another tracker's file, all or none; with `dry_run`, only report what would be imported.

    The tickets are added to the top of their columns, in the order of the file. An open ticket is added to the column
    with the name of its state, or the first one. A resolved ticket is added to such a column of kind `done`, or the
    first of that kind; on a board without one, to the column with the name of its state, or the last one. Members who
    see the project are assigned by their email addresses. Nobody is notified, no webhook is called, and
    nobody watches the tickets.
    """
    account = users.find_account_by_email(tx, args.user)
    if account is None:
        raise NotFound("account")
    owner = actors.load_user_as_actor(tx, account.key, Via.CLI)
    row, first = resolve_target(tx, owner, args.project_id, None)
    board = columns.list_columns(tx, row.project)
    done = {key: column for key, column in board if column.kind is ColumnKind.DONE}
    names = {key: column.name for key, column in board}
    imported = read_tickets(args.tracker, args.data)

    def choose_column(ticket: ImportedTicket) -> int:
        """Choose a ticket's column. The last column of several with the same name wins."""
        fitting = list(done.items()) if ticket.resolved and done else board
        named = [key for key, column in fitting if column.name.casefold() == ticket.state.casefold()]
        if named:
            return named[-1]
        return (next(iter(done), board[-1][0])) if ticket.resolved else first

    people = _find_assignees(tx, row, imported)
    states: dict[tuple[str, int, bool], int] = {}
    for ticket in imported:
        column = choose_column(ticket)
        at = (ticket.state, column, ticket.resolved or column in done)
        states[at] = states.get(at, 0) + 1
    if not args.dry_run:
        while webhook_outbox.has_new_events(tx):  # of before
            webhook_outbox.create_deliveries(tx)
        _import_tickets(tx, owner, row, [(choose_column(ticket), ticket) for ticket in imported], people)
        webhook_outbox.skip_new_events(tx, row.company)
    return ImportedTickets(
        tickets=len(imported),
        comments=sum(len(ticket.comments) for ticket in imported),
        states=[StateMapping(state, count, names[key], resolved) for (state, key, resolved), count in states.items()],
        priorities={level.value: n for level in Priority if (n := sum(each.priority is level for each in imported))},
        labels=sorted({label for ticket in imported for label in ticket.labels}, key=str.casefold),
        due_dates=sum(ticket.due_on is not None for ticket in imported),
        unread_due_dates=sum(ticket.unread_due_date for ticket in imported),
        assigned=sum(not people.keys().isdisjoint(ticket.assignees) for ticket in imported),
        unknown_assignees=sorted({each for ticket in imported for each in ticket.assignees} - people.keys()),
        done=not args.dry_run,
    )


def _find_assignees(tx: Read, row: VisibleRow, imported: list[ImportedTicket]) -> dict[str, int]:
    """Find the members who see the project among the assignees, by what the file calls them: an email address."""
    found: dict[str, int] = {}
    for name in {each for ticket in imported for each in ticket.assignees}:
        account = users.find_account_by_email(tx, name)
        key = None if account is None else members.find_user_who_sees(tx, row.project, account.user.id)
        if key is not None:
            found[name] = key
    return found


def _import_tickets(
    tx: Write, owner: Actor, row: VisibleRow, imported: list[tuple[int, ImportedTicket]], people: dict[str, int]
) -> None:
    counts = Counter(column for column, _ in imported)
    places = {key: positions.find_top_position(tx, key) - (n - 1) * positions.GAP for key, n in counts.items()}
    for column, ticket in imported:
        key = _import_ticket(tx, owner, row, column, places[column], ticket)
        for user in {people[each] for each in ticket.assignees if each in people}:
            assignments.assign_user(tx, key, user)
        places[column] += positions.GAP


def _import_ticket(tx: Write, owner: Actor, row: VisibleRow, column: int, position: int, ticket: ImportedTicket) -> int:
    new = NewTicket(
        project=row.project,
        column=column,
        position=position,
        title=ticket.title,
        description=f"{ticket.description}\n\n*Imported from {ticket.key}*".strip()[:100_000],
        priority=ticket.priority,
        labels=ticket.labels,
        due_on=None if ticket.due_on is None else ticket.due_on.isoformat(),
        source_url=None,
    )
    ticket_row, _ = insert_ticket(tx, owner, row, new, notifies=False, watches=False)
    byline = bylines.ensure_byline(tx, owner)
    # afterwards, not as a new ticket's page: that of an issue doesn't say where its bug is, nor makes tickets similar
    tickets.update_ticket(tx, ticket_row.key, source_url=ticket.url, resolved=ticket.resolved)
    for body in ticket.comments:
        key = comments.insert_comment(tx, ticket_row.key, body, byline)
        record_ticket_event(tx, owner, ticket_row, "comment.created", comment_id=comments.load_comment(tx, key).id)
    return ticket_row.key
