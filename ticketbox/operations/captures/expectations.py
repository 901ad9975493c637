"""What people and agents say is wrong on a captured page (docs/use/reproduce.md, "Bugs that throw nothing")."""

import msgspec

from ticketbox.domain.captures.expectations import MAX_EXPECTATIONS, SentExpectation
from ticketbox.domain.captures.records import Expectation
from ticketbox.domain.captures.redaction.redactor import Redactor
from ticketbox.domain.core.access.policy import Actor, Kind
from ticketbox.domain.core.access.scopes import Access, Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import Conflict, Forbidden, TicketArchived
from ticketbox.operations.captures.processing.stream_processing import prepare_expectation
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.lookups import CaptureId, ExpectationId, Key, find_writable
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.operations.core.services import Services
from ticketbox.operations.tickets.recording import record_ticket_event
from ticketbox.store.accounts.oauth import grants
from ticketbox.store.captures import captures, expectations
from ticketbox.store.companies import projects
from ticketbox.store.core import bylines
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.file.database import Read, Write
from ticketbox.store.tickets import tickets

EXTENSION_PAGE = "/extension/connected"  # where the consent page redirects when the browser extension signs in


def speaks_for_person(tx: Read, actor: Actor) -> bool:
    """Whether a person sent it: in a web session, or with the extension, which signed in on this server's own page.

    A token that somebody pasted into the extension can be an agent's as well.
    """
    if actor.kind is Kind.SESSION:
        return True
    return actor.kind is Kind.OAUTH and grants.is_granted_to(tx, actor.credential, f"{tx.public_url}{EXTENSION_PAGE}")


def store_expectations(
    tx: Write, actor: Actor, capture: int, sent: list[SentExpectation], *, is_external: bool
) -> None:
    """Store the expectations that were sent with a new capture."""
    if not sent:
        return
    byline, is_confirmed = bylines.ensure_byline(tx, actor), not is_external and speaks_for_person(tx, actor)
    for each in sent:
        expectations.insert_expectation(tx, capture, each, byline, is_confirmed=is_confirmed)


class AddExpectation(SentExpectation, forbid_unknown_fields=True, kw_only=True):
    """An expectation of an agent proves nothing until a person confirms it. A capture has 20 at most."""

    capture_id: CaptureId
    idempotency_key: Key | None = None


async def redact_expectation(
    services: Services, actor: Actor, args: AddExpectation, context: RequestContext
) -> SentExpectation:
    """Check the expectation, and remove secrets by the rules of the capture's project."""

    def load_rules(tx: Read) -> list[str]:
        row = find_writable(tx, actor, "capture", args.capture_id)
        return projects.load_project(tx, actor.viewer, row.project).capture_policy.extra_redactions

    redactor = Redactor(await services.read(load_rules, actor.fair_share))
    sent = SentExpectation(**{name: getattr(args, name) for name in SentExpectation.__struct_fields__})
    await services.small_captures.run(actor.fair_share, prepare_expectation, sent, redactor)
    return sent


@operation(
    "add_expectation",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="POST /captures/{capture_id}/expectations",
    creates=True,
    refuses=(Conflict, TicketArchived),
    prepare=redact_expectation,
    tool=Tool(
        "Propose an expectation",
        "Use this for a bug that throws nothing: the test checks it after a person confirms it.",
        {
            "capture_id": "cap_1b4e7h0k3n6q",
            "is": "text",
            "target": {"selectors": ["#total"]},
            "seen": "40.00 €",
            "right": "80.00 €",
        },
        tool_set="core",
        unlisted=("frame", "frame_path", "shown", "at", "idempotency_key"),
    ),
)
def add_expectation(tx: Write, actor: Actor, args: AddExpectation, sent: SentExpectation) -> Expectation:
    """Say what is wrong on a captured page, and what would be right."""
    row = find_writable(tx, actor, "capture", args.capture_id)
    ticket = _find_ticket(tx, row.key, row)
    if expectations.count_expectations(tx, row.key) >= MAX_EXPECTATIONS:
        raise Conflict(f"the capture has {MAX_EXPECTATIONS} expectations already; remove one first")
    is_confirmed = speaks_for_person(tx, actor)
    key = expectations.insert_expectation(
        tx, row.key, sent, bylines.ensure_byline(tx, actor), is_confirmed=is_confirmed
    )
    return _record(tx, actor, ticket, "capture.expectation_added", key)


class ConfirmExpectation(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """If a person has confirmed it already, this changes nothing."""

    expectation_id: ExpectationId


@operation(
    "confirm_expectation",
    scope=Access.SESSION,
    budget=Budget.WRITE,
    rest="POST /expectations/{expectation_id}/confirm",
    refuses=(TicketArchived,),
)
def confirm_expectation(tx: Write, actor: Actor, args: ConfirmExpectation) -> Expectation:
    """Confirm that an expectation describes the bug. From now on, the capture's test checks it.

    Earlier proofs of another bug of the capture count no longer. No token can do this.
    """
    row = find_writable(tx, actor, "expectation", args.expectation_id)
    capture = expectations.load_origin(tx, row.key).capture
    ticket = _find_ticket(tx, capture, row)
    known = expectations.load_expectation(tx, row.key)
    if known.confirmed is not None:
        return known
    expectations.confirm_expectation(tx, capture, row.key, bylines.ensure_byline(tx, actor))
    return _record(tx, actor, ticket, "capture.expectation_confirmed", row.key)


class RemoveExpectation(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The ticket's history keeps what it said."""

    expectation_id: ExpectationId


@operation(
    "remove_expectation",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="DELETE /expectations/{expectation_id}",
    refuses=(TicketArchived,),
)
def remove_expectation(tx: Write, actor: Actor, args: RemoveExpectation) -> None:
    """Remove an expectation. A token can only remove what its owner's tokens proposed, until a person confirms it."""
    row = find_writable(tx, actor, "expectation", args.expectation_id)
    origin = expectations.load_origin(tx, row.key)
    ticket = _find_ticket(tx, origin.capture, row)
    removed = expectations.load_expectation(tx, row.key)
    is_own = removed.confirmed is None and origin.user == actor.user
    if not (speaks_for_person(tx, actor) or is_own):
        raise Forbidden("this expectation is somebody else's, or confirmed; a person removes it on the ticket's page")
    expectations.delete_expectation(tx, origin.capture, row.key)
    _record_event(tx, actor, ticket, "capture.expectation_removed", removed)


def _find_ticket(tx: Read, capture: int, row: VisibleRow) -> VisibleRow:
    """Find the ticket of a capture. Raises TicketArchived."""
    ticket = captures.load_ticket_key(tx, capture)
    if tickets.load_state(tx, ticket).is_archived:
        raise TicketArchived
    return VisibleRow(ticket, row.project, row.company, row.role, row.within)


def _record(tx: Write, actor: Actor, ticket: VisibleRow, event: str, key: int) -> Expectation:
    changed = expectations.load_expectation(tx, key)
    _record_event(tx, actor, ticket, event, changed)
    return changed


def _record_event(tx: Write, actor: Actor, ticket: VisibleRow, event: str, expectation: Expectation) -> None:
    record_ticket_event(
        tx, actor, ticket, event,
        capture_id=expectation.capture_id, expectation_id=expectation.id, expectation=expectation.words,
    )  # fmt: skip
