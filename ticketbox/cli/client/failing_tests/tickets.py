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
MAX_REPLACED = 5  # archived tickets of one fingerprint
PAGE = 100
MAX_TRACE = 20 * 1024 * 1024
_OF_ONE_CALL = {400, 409, 413, 415, 422, 500}  # what this call sent isn't accepted


class _FieldError(msgspec.Struct):
    field: str = ""


class _Problem(msgspec.Struct):
    detail: str
    code: str = ""
    errors: list[_FieldError] = []


class Refusal(Exception):
    """The server refused one call. After every other refusal, the next call fails as well."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


def file_failure(server: Server, project: str, failure: Failure) -> str:
    """File a failure, or count it on the ticket that it already has; return a line that says so."""
    envelope = {
        "project_id": project, "title": failure.title, "description": failure.describe(), "labels": [LABEL]
    }  # fmt: skip
    for number in range(MAX_REPLACED):
        envelope["id"] = f"test-{failure.compute_fingerprint(project)}{f'-{number}' if number else ''}"
        parts: dict[str, UploadedFile] = build_parts(failure.record(), envelope)
        if failure.trace is not None and failure.trace.stat().st_size <= MAX_TRACE:
            parts["attachments"] = ("trace.zip", failure.trace.read_bytes(), "application/zip")
        response = _call(server, "create_capture", {}, parts)
        made = decode_body(response)
        if response.status_code == 201:
            return f"{failure.name}: created {made['url']}"
        try:
            counted = decode_body(_call(server, "add_occurrence", {"ticket_id": made["ticket_id"]}))
        except Refusal as refusal:
            if refusal.code == "ticket_archived":  # an archived ticket is done with: this is a new bug
                continue
            raise
        _reopen(server, made["ticket_id"])
        return f"{failure.name}: {made['url']} ({counted['occurrences']} times)"
    return f"{failure.name}: its tickets are archived; restore one of them"


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
    is_of_project = any(each.field == "project_id" for each in problem.errors)
    if response.status_code in _OF_ONE_CALL and not is_of_project:
        raise Refusal(problem.detail, problem.code)
    exit_with_problem(url, response)


def _reopen(server: Server, ticket_id: str) -> None:
    ticket = _load_ticket(server, ticket_id)
    if ticket["resolved"] or LABEL not in ticket["labels"]:
        labels = [*(each for each in ticket["labels"] if each != LABEL), LABEL]
        changes: Json = {"labels": labels, **({"resolved": False} if ticket["resolved"] else {})}
        _call(server, "update_ticket", {"ticket_id": ticket_id, **changes})
        _call(server, "add_comment", {"ticket_id": ticket_id, "body": f"The test fails again{_name_commit()}."})


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
