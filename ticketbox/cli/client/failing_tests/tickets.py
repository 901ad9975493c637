"""Tickets of failing tests: one for each fingerprint, counted, and noted when the test passes.

The reporter for Playwright does the same (ticketbox/http/reporters/playwright/tickets.js).
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NoReturn

import httpx2
import msgspec

from ticketbox.cli.client.connection import Server, UploadedFile, decode_body, exit_with_problem
from ticketbox.cli.client.failing_tests.failures import Failure, find_commit, identify_test
from ticketbox.cli.client.imports.files import build_parts

Json = dict[str, Any]

LABEL = "failing-test"
PAGE = 100
MAX_ASKED = 10_000  # characters
_OF_ONE_CALL = {400, 409, 413, 415, 422, 500}  # what this call sent isn't accepted


class _FieldError(msgspec.Struct):
    field: str = ""


class _Problem(msgspec.Struct):
    detail: str
    errors: list[_FieldError] = []


class Refusal(Exception):
    """The server refused one call. After every other refusal, the next call fails as well."""

    def __init__(self, message: str, *, is_of_trace: bool) -> None:
        super().__init__(message)
        self.is_of_trace = is_of_trace


def file_failure(server: Server, project: str, failure: Failure) -> str:
    """File a failure, or count it on the ticket that it already has; return a line that says so."""
    asked = {"project_id": project, "test": _clip(failure.name), "message": _clip(failure.message)}
    found = decode_body(_call(server, "find_failure", asked))
    ticket: str | None = found["ticket_id"]
    if ticket is None:
        response = _send_capture(server, project, failure, found["capture_id"])
        made = decode_body(response)
        if response.status_code == 201:
            return f"{failure.name}: created {made['url']}"
        ticket = str(made["ticket_id"])  # a run in parallel has just created it
    counted = decode_body(_call(server, "add_occurrence", {"ticket_id": ticket}))
    url = _reopen(server, ticket)
    return f"{failure.name}: {url} ({counted['occurrences']} times)"


def _clip(text: str) -> str:
    """Cut a text that a question can have, and replace halves of characters."""
    return text[:MAX_ASKED].encode(errors="replace").decode()


def _send_capture(server: Server, project: str, failure: Failure, capture_id: str) -> httpx2.Response:
    """Send a capture; one that is refused is sent again without its screenshot, then with its trace as a mere file."""
    recording = failure.record()
    file: bytes | None = None
    while True:
        envelope: Json = {
            "id": capture_id, "project_id": project, "title": failure.title, "description": failure.describe(),
            "labels": [LABEL], "keep_trace": recording.trace is not None,
        }  # fmt: skip
        parts: dict[str, UploadedFile] = build_parts(recording, envelope)
        if file is not None:
            parts["attachments"] = ("trace.zip", file, "application/zip")
        try:
            return _call(server, "create_capture", {}, parts)
        except Refusal as refusal:
            if recording.screenshot is not None and not refusal.is_of_trace:
                recording.screenshot = None
            elif recording.trace is not None:
                file, recording.trace = recording.trace, None
            else:
                raise


def _call(server: Server, name: str, arguments: Json, files: dict[str, UploadedFile] | None = None) -> httpx2.Response:
    """Call an operation and return its response. Raises Refusal; exits with a message if no call succeeds any more."""
    response = server.send(name, arguments, files)
    if not response.is_success:
        _raise_refusal(server.url, response)
    return response


def _raise_refusal(url: str, response: httpx2.Response) -> NoReturn:
    try:
        problem = msgspec.json.decode(response.content, type=_Problem)
    except msgspec.DecodeError:
        problem = _Problem(f"the server answered {response.status_code}")
    fields = {each.field for each in problem.errors}
    if response.status_code in _OF_ONE_CALL and "project_id" not in fields:
        raise Refusal(problem.detail, is_of_trace="trace" in fields)
    exit_with_problem(url, response)


def _reopen(server: Server, ticket_id: str) -> str:
    """Reopen a ticket whose test passed or that was resolved; return its URL."""
    ticket = _load_ticket(server, ticket_id)
    if ticket["resolved"] or LABEL not in ticket["labels"]:
        labels = [*(each for each in ticket["labels"] if each != LABEL), LABEL]
        changes: Json = {"labels": labels, **({"resolved": False} if ticket["resolved"] else {})}
        _call(server, "update_ticket", {"ticket_id": ticket_id, **changes})
        _call(server, "add_comment", {"ticket_id": ticket_id, "body": f"The test fails again{_name_commit()}."})
    return ticket["url"]


def note_passes(server: Server, project: str, passed: Collection[str]) -> Iterator[str]:
    """Comment on the tickets whose tests passed, and remove their label; yield lines that say so."""
    if not passed:
        return
    names = {identify_test(each): each for each in passed}
    for each in _list_open_tickets(server, project):
        try:
            yield from _note_pass(server, each["id"], names)
        except Refusal as refusal:
            yield f"the pass isn't noted on {each['id']}: {refusal}"


def _note_pass(server: Server, ticket_id: str, names: Mapping[str, str]) -> Iterator[str]:
    ticket = _load_ticket(server, ticket_id)
    match = re.search(r"^- Test id: `([0-9a-f]{16})`$", ticket["description"], re.MULTILINE)
    if match is None or match[1] not in names:
        return
    times = "one failure" if ticket["occurrences"] == 1 else f"{ticket['occurrences']} failures"
    body = f"The test passes{_name_commit()}, after {times}."
    _call(server, "add_comment", {"ticket_id": ticket["id"], "body": body})
    labels = [label for label in ticket["labels"] if label != LABEL]
    _call(server, "update_ticket", {"ticket_id": ticket["id"], "labels": labels})
    yield f"{names[match[1]]}: passes; commented on {ticket['url']}"


def _list_open_tickets(server: Server, project: str) -> list[Json]:
    query: Json = {"project_id": project, "label": [LABEL], "resolved": False, "limit": PAGE}
    page = decode_body(_call(server, "list_tickets", query))
    tickets = page["items"]
    while page["next_cursor"]:
        page = decode_body(_call(server, "list_tickets", {**query, "cursor": page["next_cursor"]}))
        tickets += page["items"]
    return tickets


def _load_ticket(server: Server, ticket_id: str) -> Json:
    return decode_body(_call(server, "get_ticket", {"ticket_id": ticket_id, "include": []}))


def _name_commit() -> str:
    commit = find_commit()
    return f" on {commit[:12]}" if commit else ""
