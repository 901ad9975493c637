"""Choosing which failure of a capture is the bug (docs/use/reproduce.md, "What the test looks for")."""

from ticketbox.domain.captures.capture import ConsoleEntry, ErrorEntry, NetworkEntry, Stream
from ticketbox.domain.captures.intake.entry_sequence import EntrySequence
from ticketbox.domain.captures.records import Capture, DescribedFailure
from ticketbox.domain.captures.reproduction.bug import describe_failure, find_failure
from ticketbox.domain.core.access.policy import Actor, Kind
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import Conflict, InvalidField, TicketArchived
from ticketbox.domain.tickets.records import Failure
from ticketbox.operations.captures.processing.stream_processing import NO_SUCH_FAILURE
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.lookups import CaptureId, find_writable
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.operations.core.services import Services
from ticketbox.operations.tickets.recording import record_ticket_event
from ticketbox.store.captures import captures
from ticketbox.store.core import blobs, bylines
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.file.database import Read, Write
from ticketbox.store.tickets import tickets


class ChooseBug(Failure, frozen=True, forbid_unknown_fields=True):
    """Reproductions look for this failure alone. Proofs of another one count no longer."""

    capture_id: CaptureId


async def describe_choice(
    services: Services, actor: Actor, args: ChooseBug, context: RequestContext
) -> DescribedFailure | None:
    """Read the failure on a thread; None if the capture has none with this name that a test can look for."""

    def load(tx: Read) -> dict[Stream, tuple[str, bytes]]:
        stored = captures.load_capture(tx, find_writable(tx, actor, "capture", args.capture_id).key)
        return {
            stream: blobs.load_packed(tx, blob)
            for stream, blob in stored.streams.items()
            if stream.value == args.stream
        }

    packed = await services.read(load, actor.fair_share)
    return await services.rendering.run(actor.fair_share, _find_failure, packed, args)


def _find_failure(packed: dict[Stream, tuple[str, bytes]], wanted: Failure) -> DescribedFailure | None:
    contents = {stream: blobs.unpack_content(*content) for stream, content in packed.items()}
    streams = (
        EntrySequence(ConsoleEntry, contents.get(Stream.CONSOLE, b"[]")),
        EntrySequence(NetworkEntry, contents.get(Stream.NETWORK, b"[]")),
        EntrySequence(ErrorEntry, contents.get(Stream.ERRORS, b"[]")),
    )
    found = find_failure(streams, wanted)
    return found and describe_failure(found)


@operation(
    "choose_bug",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="PUT /captures/{capture_id}/bug",
    refuses=(Conflict, TicketArchived),
    prepare=describe_choice,
    tool=Tool(
        "Choose the bug",
        "Use this if the capture's `bug` isn't the failure that the ticket is about.",
        {"capture_id": "cap_1b4e7h0k3n6q", "stream": "errors", "entry": "14"},
        idempotent=True,
    ),
)
def choose_bug(tx: Write, actor: Actor, args: ChooseBug, found: DescribedFailure | None) -> Capture:
    """Choose which failure of a capture is the bug. A token can't replace what somebody else chose."""
    row = find_writable(tx, actor, "capture", args.capture_id)
    ticket = captures.load_ticket_key(tx, row.key)
    if tickets.load_state(tx, ticket).is_archived:
        raise TicketArchived
    if found is None:
        raise InvalidField("entry", NO_SUCH_FAILURE)
    capture = captures.load_capture(tx, row.key).capture
    chosen = capture.bug and capture.bug.chosen
    if chosen is not None and actor.kind is not Kind.SESSION and chosen.token_id != actor.token_id:
        raise Conflict(f"{chosen.user.name} chose the bug of this capture; a person changes it on the ticket's page")
    captures.choose_bug(tx, row.key, found, bylines.ensure_byline(tx, actor))
    record_ticket_event(
        tx, actor, VisibleRow(ticket, row.project, row.company, row.role, row.within), "capture.bug_chosen",
        capture_id=args.capture_id, bug=found.text,
    )  # fmt: skip
    return captures.load_capture(tx, row.key).capture
