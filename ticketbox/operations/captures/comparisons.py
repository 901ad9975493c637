"""Comparing two captures: what differs between them, within a budget."""

from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.captures.capture import ErrorEntry, NetworkEntry, Stream
from ticketbox.domain.captures.comparison.differences import (
    ComparedError,
    ComparedRequest,
    Difference,
    compare_errors,
    compare_properties,
    compare_requests,
)
from ticketbox.domain.captures.comparison.selection import DEFAULT_TOKENS, FULL_TOKENS, select_differences
from ticketbox.domain.captures.intake.entry_sequence import EntrySequence
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import InvalidField
from ticketbox.domain.tickets.records import CaptureSummary
from ticketbox.operations.core.lookups import CaptureId, find_readable
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.operations.core.services import Services
from ticketbox.operations.tickets.ticket_detail import Detail
from ticketbox.store.captures import captures
from ticketbox.store.captures.captures import StoredCapture
from ticketbox.store.core import blobs
from ticketbox.store.file.database import Read


class CompareCaptures(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The captures can be of different tickets. Without `other`, the capture is compared with the one before it."""

    capture_id: CaptureId
    other: Annotated[CaptureId, Meta(description="Another capture. Default: the ticket's previous one.")] | None = None
    detail: Annotated[Detail, Meta(description="`full` has about 9,000 tokens.")] = Detail.SUMMARY


class ComparedCapture(CaptureSummary, frozen=True):
    """One of the two captures."""

    ticket_id: str
    url: str


class CaptureComparison(msgspec.Struct, frozen=True):
    """What differs between two captures; what isn't listed is the same.

    `environment` lists properties of page and browser. `errors` lists those of one capture only before those of both.
    `requests` lists those that failed in either capture before those with other outcomes and those of one capture
    only; `same_requests` counts the addresses that succeeded in both.
    """

    capture: ComparedCapture
    other: ComparedCapture
    environment: list[Difference]
    errors: list[ComparedError]
    requests: list[ComparedRequest]
    same_requests: int
    omitted_errors: int
    omitted_requests: int


class PackedCapture(msgspec.Struct, frozen=True):
    """A capture with its errors and requests as they are stored."""

    stored: StoredCapture
    errors: tuple[str, bytes]
    network: tuple[str, bytes]


async def compare_contents(
    services: Services, actor: Actor, args: CompareCaptures, pair: tuple[PackedCapture, PackedCapture]
) -> CaptureComparison:
    """Compare two captures on a thread."""
    return await services.rendering.run(actor.share, _build_comparison, args, *pair)


def _build_comparison(args: CompareCaptures, packed: PackedCapture, other: PackedCapture) -> CaptureComparison:
    mine, theirs = packed.stored.capture, other.stored.capture
    errors = compare_errors(_unpack_errors(packed), _unpack_errors(other))
    requests, same = compare_requests(_unpack_network(packed), mine.page, _unpack_network(other), theirs.page)
    tokens = FULL_TOKENS if args.detail is Detail.FULL else DEFAULT_TOKENS
    listed_errors, listed_requests = select_differences(errors, requests, tokens)
    return CaptureComparison(
        capture=_summarize(packed.stored),
        other=_summarize(other.stored),
        environment=compare_properties(mine.page, mine.environment, theirs.page, theirs.environment),
        errors=listed_errors,
        requests=listed_requests,
        same_requests=same,
        omitted_errors=len(errors) - len(listed_errors),
        omitted_requests=len(requests) - len(listed_requests),
    )


def _unpack_errors(packed: PackedCapture) -> EntrySequence[ErrorEntry]:
    return EntrySequence(ErrorEntry, blobs.unpack_content(*packed.errors))


def _unpack_network(packed: PackedCapture) -> EntrySequence[NetworkEntry]:
    return EntrySequence(NetworkEntry, blobs.unpack_content(*packed.network))


def _summarize(stored: StoredCapture) -> ComparedCapture:
    fields = msgspec.structs.asdict(stored.summary)
    return ComparedCapture(**fields, ticket_id=stored.capture.ticket_id, url=stored.capture.page.url)


@operation(
    "compare_captures", scope=Scope.READ, budget=Budget.READ, rest="GET /captures/{capture_id}/comparison",
    finish=compare_contents,
    tool=Tool(
        "Compare captures",
        "Use this to see why a bug occurs in one and not in the other.",
        {"capture_id": "cap_1b4e7h0k3n6q"},
    ),
)  # fmt: skip
def compare_captures(tx: Read, actor: Actor, args: CompareCaptures) -> tuple[PackedCapture, PackedCapture]:
    """Compare the environment, errors and requests of two captures."""
    key = find_readable(tx, actor, "capture", args.capture_id).key
    other = captures.find_previous_capture(tx, key) if args.other is None else _find_other(tx, actor, args.other)
    if other is None:
        raise InvalidField("other", "no earlier capture of the ticket; send the id of another capture")
    if other == key:
        raise InvalidField("other", "the same capture; send the id of another one")
    return _load_packed(tx, key), _load_packed(tx, other)


def _find_other(tx: Read, actor: Actor, public_id: str) -> int:
    return find_readable(tx, actor, "capture", public_id).key


def _load_packed(tx: Read, key: int) -> PackedCapture:
    stored = captures.load_capture(tx, key)
    errors, network = (blobs.load_packed(tx, stored.streams[each]) for each in (Stream.ERRORS, Stream.NETWORK))
    return PackedCapture(stored, errors, network)
