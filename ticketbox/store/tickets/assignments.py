"""Assignments of users to tickets."""

import msgspec

from ticketbox.domain.core.records import Person
from ticketbox.store.file.database import Read, Write


def assign_user(tx: Write, key: int, user: int) -> bool:
    """Assign a user; return whether that changed anything."""
    return tx.execute("INSERT OR IGNORE INTO ticket_assignee (ticket_id, user_id) VALUES (?, ?)", (key, user)) > 0


def unassign_user(tx: Write, key: int, user: int) -> bool:
    """Unassign a user; return whether that changed anything."""
    return tx.execute("DELETE FROM ticket_assignee WHERE ticket_id = ? AND user_id = ?", (key, user)) > 0


SELECT_ASSIGNEES = """
SELECT u.id, u.public_id, u.name FROM ticket_assignee a JOIN user u ON u.id = a.user_id WHERE a.ticket_id = ?
"""


def list_assignees(tx: Read, key: int) -> dict[int, Person]:
    """List the assignees of a ticket, by key."""
    rows = tx.fetch_all(SELECT_ASSIGNEES, (key,))
    return {user: Person(user_id, name) for user, user_id, name in rows}


SELECT_ASSIGNEES_OF_TICKETS = """
SELECT a.ticket_id, u.public_id, u.name
FROM json_each(?) k CROSS JOIN ticket_assignee a ON a.ticket_id = k.value JOIN user u ON u.id = a.user_id
"""


def list_assignees_of_tickets(tx: Read, keys: list[int]) -> dict[int, list[Person]]:
    """List the assignees of each ticket; tickets without any are left out."""
    assignees: dict[int, list[Person]] = {}
    for key, public_id, name in (
        tx.fetch_all(SELECT_ASSIGNEES_OF_TICKETS, (msgspec.json.encode(keys).decode(),)) if keys else []
    ):
        assignees.setdefault(key, []).append(Person(public_id, name))
    return assignees


def unassign_from_company(tx: Write, company: int, user: int) -> None:
    """Unassign a user from all tickets of a company that they leave."""
    tx.execute(
        """DELETE FROM ticket_assignee WHERE user_id = ? AND ticket_id IN (
             SELECT t.id FROM ticket t JOIN project p ON p.id = t.project_id WHERE p.company_id = ?)""",
        (user, company),
    )
