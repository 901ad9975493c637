"""Counting how often a bug was seen, and finding the ticket of a failing test (docs/use/failing-tests.md)."""

from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.captures.fingerprints import fingerprint_failure
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import Conflict, NotFound, TicketArchived
from ticketbox.operations.core.lookups import Key, ProjectId, TicketId, find_readable
from ticketbox.operations.core.registry import operation
from ticketbox.operations.tickets.lookups import find_writable_ticket
from ticketbox.operations.tickets.recording import record_ticket_event
from ticketbox.store.captures import captures
from ticketbox.store.companies import projects
from ticketbox.store.file.database import Read, Write
from ticketbox.store.tickets import tickets

MAX_REPLACED = 5  # archived tickets of one failure


class AddOccurrence(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The ticket's version stays the same."""

    ticket_id: TicketId
    idempotency_key: Key | None = None


class Occurrence(msgspec.Struct, frozen=True):
    """A ticket whose bug was seen again, and how often by now."""

    ticket_id: str
    occurrences: int
    resolved: bool


@operation(
    "add_occurrence",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="POST /tickets/{ticket_id}/occurrences",
    refuses=(TicketArchived,),
    creates=True,
)
def add_occurrence(tx: Write, actor: Actor, args: AddOccurrence) -> Occurrence:
    """Count that the bug of a ticket was seen again."""
    row, state = find_writable_ticket(tx, actor, args.ticket_id)
    count = tickets.count_occurrence(tx, row.key)
    record_ticket_event(tx, actor, row, "ticket.occurred", occurrences=count)
    return Occurrence(state.id, count, state.resolved)


class FindFailure(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What fails, and how."""

    project_id: ProjectId
    test: Annotated[
        str, Meta(min_length=1, max_length=10_000, description="The test's name.", examples=["cart.spec.js › pays"])
    ]
    message: Annotated[
        str, Meta(max_length=10_000, description="The error.", examples=["Error: expect(received).toBe(expected)"])
    ]


class FailureMatch(msgspec.Struct, frozen=True):
    """The ticket of a failure. If it has none, send a capture with `capture_id` as its id."""

    capture_id: str
    ticket_id: str | None


@operation(
    "find_failure",
    scope=Scope.READ,
    budget=Budget.READ,
    rest="POST /failures/find",
    refuses=(NotFound, Conflict),
    example={"project_id": "proj_9w4k2m7x0c3n", "test": "cart.spec.js › pays", "message": "Error: no total"},
)
def find_failure(tx: Read, actor: Actor, args: FindFailure) -> FailureMatch:
    """Find the ticket that you created for the same failure of a test.

    Failures are the same if project and test are, and the first four lines of the message without numbers, ids and
    addresses. An archived ticket doesn't count: the next failure is another ticket.
    """
    row = find_readable(tx, actor, "project", args.project_id)
    project = projects.load_project(tx, actor.viewer, row.project)
    fingerprint = fingerprint_failure(project.id, args.test, args.message)
    for number in range(MAX_REPLACED):
        capture_id = f"test-{fingerprint}{f'-{number}' if number else ''}"
        known = captures.find_capture_by_client_id(tx, actor.user, capture_id)
        if known is None:
            return FailureMatch(capture_id, None)
        ticket = find_readable(tx, actor, "ticket", known.ticket_id)
        if not tickets.load_state(tx, ticket.key).is_archived:
            return FailureMatch(capture_id, known.ticket_id)
    raise Conflict("the tickets of this failure are archived; restore one of them")
