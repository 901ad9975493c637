"""Links between tickets: insert, delete and list them, and look for cycles."""

from ticketbox.domain.tickets.links import INVERSE, LinkedTicket, LinkKind, LinkRole, TicketLink
from ticketbox.domain.tickets.records import Status
from ticketbox.store.core.visibility import WITH_VISIBLE_PROJECTS, Viewer
from ticketbox.store.file.database import Read, Write

_ORDER = list(LinkRole)

INSERT_LINK = "INSERT OR IGNORE INTO ticket_link (kind, ticket_id, other_id) VALUES (?, ?, ?)"


def insert_link(tx: Write, kind: LinkKind, ticket: int, other: int) -> bool:
    """Link two tickets; return whether that changed anything."""
    return tx.execute(INSERT_LINK, (kind.value, *_order_keys(kind, ticket, other))) > 0


DELETE_LINK = "DELETE FROM ticket_link WHERE kind = ? AND ticket_id = ? AND other_id = ?"


def delete_link(tx: Write, kind: LinkKind, ticket: int, other: int) -> bool:
    """Unlink two tickets; return whether that changed anything."""
    return tx.execute(DELETE_LINK, (kind.value, *_order_keys(kind, ticket, other))) > 0


def _order_keys(kind: LinkKind, ticket: int, other: int) -> tuple[int, int]:
    """Return the keys as they are stored: a link without a direction is stored once."""
    return (min(ticket, other), max(ticket, other)) if kind is LinkKind.RELATES else (ticket, other)


SELECT_LINKS = f"""
{WITH_VISIBLE_PROJECTS}, link (kind, forward, ticket_id) AS (
  SELECT kind, 1, other_id FROM ticket_link WHERE ticket_id = :key
  UNION ALL
  SELECT kind, 0, ticket_id FROM ticket_link WHERE other_id = :key
)
SELECT l.kind, l.forward, t.public_id, v.key || '-' || t.number, t.title, t.status, t.resolved
FROM link l CROSS JOIN ticket t ON t.id = l.ticket_id CROSS JOIN visible_project v ON v.id = t.project_id
WHERE v.within ORDER BY t.id
"""


def list_links(tx: Read, viewer: Viewer, key: int) -> list[TicketLink]:
    """List a ticket's links to tickets that the viewer sees, grouped by kind."""
    links = [
        TicketLink(
            LinkRole(kind) if forward else INVERSE[LinkKind(kind)],
            LinkedTicket(id_, key_, title, Status(status), bool(resolved), f"{tx.public_url}/tickets/{id_}"),
        )
        for kind, forward, id_, key_, title, status, resolved in tx.fetch_all(SELECT_LINKS, {**viewer, "key": key})
    ]
    return sorted(links, key=lambda link: _ORDER.index(link.kind))


COUNT_LINKS = """
SELECT (SELECT count(*) FROM ticket_link WHERE ticket_id = ?1) + (SELECT count(*) FROM ticket_link WHERE other_id = ?1)
"""


def count_links(tx: Read, key: int) -> int:
    """Count the links of a ticket."""
    return tx.fetch_value(COUNT_LINKS, (key,))


SELECT_REACHABLE = """
WITH RECURSIVE reachable (id) AS (
  SELECT :start
  UNION
  SELECT l.other_id FROM reachable r CROSS JOIN ticket_link l ON l.ticket_id = r.id AND l.kind = :kind
)
SELECT 1 FROM reachable WHERE id = :wanted
"""


def is_reachable(tx: Read, kind: LinkKind, start: int, wanted: int) -> bool:
    """Whether links of a kind lead from a ticket to another."""
    return tx.fetch_one(SELECT_REACHABLE, {"kind": kind.value, "start": start, "wanted": wanted}) is not None


SELECT_PARENT = "SELECT 1 FROM ticket_link WHERE ticket_id = ? AND kind = 'parent'"


def has_parent(tx: Read, key: int) -> bool:
    """Whether a ticket has a parent."""
    return tx.fetch_one(SELECT_PARENT, (key,)) is not None
