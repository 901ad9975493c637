"""Finding a ticket to read or write (docs/use/tokens.md, "Restrictions")."""

from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.problems import NotFound, TicketArchived, VersionConflict
from ticketbox.domain.tickets.records import Status, Ticket
from ticketbox.operations.core.lookups import find_writable, resolve_ticket_id
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.file.database import Read
from ticketbox.store.tickets import records, tickets
from ticketbox.store.tickets.tickets import TicketState


def find_writable_ticket(
    tx: Read, actor: Actor, text: str, version: int | None = None, *, archived: bool = False
) -> tuple[VisibleRow, TicketState]:
    """Find a ticket that the caller may change, and its state.

    Raises NotFound, Forbidden, TicketArchived unless `archived` is true, and VersionConflict with the current ticket
    if `version` is given and differs.
    """
    row = find_writable(tx, actor, "ticket", resolve_ticket_id(tx, actor, text))
    state = tickets.load_state(tx, row.key)
    if state.status is Status.ARCHIVED and not archived:
        raise TicketArchived
    if version is not None and version != state.version:
        raise VersionConflict(
            f"the ticket has version {state.version}, not {version}; read it again before you change it",
            current=load_ticket(tx, actor, state.id),
        )
    return row, state


def load_ticket(tx: Read, actor: Actor, public_id: str) -> Ticket:
    """Load a ticket of any status. Raises NotFound."""
    row = records.find_ticket(tx, actor.viewer, public_id, None)
    if row is None:
        raise NotFound("ticket")
    return row[1]
