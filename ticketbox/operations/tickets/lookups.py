"""Looking up a ticket to read or to write it (docs/use/tokens.md, "Restrictions")."""

from ticketbox.domain.core.ids import parse_ticket_id
from ticketbox.domain.core.policy import Actor
from ticketbox.domain.core.problems import NotFound, TicketArchived, VersionConflict
from ticketbox.domain.tickets.records import Status, Ticket
from ticketbox.operations.core.lookups import find_writable
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.file.database import Read
from ticketbox.store.tickets import tickets
from ticketbox.store.tickets.tickets import TicketState


def find_writable_ticket(
    tx: Read, actor: Actor, text: str, version: int | None = None, *, archived: bool = False
) -> tuple[VisibleRow, TicketState]:
    """A ticket that the caller may change, with its present state.

    Raises NotFound, Forbidden, TicketArchived unless `archived` tickets are welcome, and VersionConflict
    with the current ticket when `version` is given and another.
    """
    found = find_writable(tx, actor, "ticket", parse_ticket_id(text) or "")
    state = tickets.load_state(tx, found.key)
    if state.status is Status.ARCHIVED and not archived:
        raise TicketArchived
    if version is not None and version != state.version:
        raise VersionConflict(
            f"the ticket has version {state.version} now, not {version}; read it again and decide",
            current=load_ticket(tx, actor, state.id),
        )
    return found, state


def load_ticket(tx: Read, actor: Actor, public_id: str) -> Ticket:
    """A ticket as the answer of a write shows it."""
    found = tickets.find_ticket(tx, actor.viewer, public_id, None)
    if found is None:
        raise NotFound("ticket")
    return found[1]
