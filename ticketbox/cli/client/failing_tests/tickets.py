"""Tickets of failing tests: one for each fingerprint, counted, and noted when the test passes.

The reporter for Playwright does the same (ticketbox/http/reporters/playwright/tickets.js).
"""

import re
from collections.abc import Collection, Iterator
from typing import Any

from ticketbox.cli.client.connection import Server, decode_body, exit_with_problem
from ticketbox.cli.client.failing_tests.failures import Failure, escape_name, find_commit
from ticketbox.cli.client.imports.files import build_parts

Json = dict[str, Any]

LABEL = "failing-test"
MAX_REPLACED = 5  # archived tickets of one fingerprint
MAX_OPEN = 100
MAX_TRACE = 20 * 1024 * 1024


def file_failure(server: Server, project: str, failure: Failure) -> str:
    """File a failure, or count it on the ticket that it already has; return a line that says so."""
    envelope = {
        "project_id": project, "title": failure.title, "description": failure.describe(), "labels": [LABEL]
    }  # fmt: skip
    parts: dict[str, Any] = {}
    for number in range(MAX_REPLACED):
        envelope["id"] = f"test-{failure.fingerprint}{f'-{number}' if number else ''}"
        parts = build_parts(failure.record(), envelope)
        if failure.trace is not None and failure.trace.stat().st_size <= MAX_TRACE:
            parts["attachments"] = ("trace.zip", failure.trace.read_bytes(), "application/zip")
        response = server.upload("create_capture", {}, parts)
        if not response.is_success:
            exit_with_problem(server.url, response)
        made = decode_body(response)
        if response.status_code == 201:
            return f"{failure.name}: created {made['url']}"
        counted = server.upload("add_occurrence", {"ticket_id": made["ticket_id"]}, {})
        if counted.is_success:
            _reopen(server, made["ticket_id"])
            return f"{failure.name}: {made['url']} ({decode_body(counted)['occurrences']} times)"
        if decode_body(counted).get("code") != "ticket_archived":  # an archived ticket is done with: this is a new bug
            exit_with_problem(server.url, counted)
    return f"{failure.name}: its tickets are archived; restore one of them"


def _reopen(server: Server, ticket_id: str) -> None:
    ticket = _load_ticket(server, ticket_id)
    if ticket["resolved"] or LABEL not in ticket["labels"]:
        labels = [*(each for each in ticket["labels"] if each != LABEL), LABEL]
        changes: Json = {"labels": labels, **({"resolved": False} if ticket["resolved"] else {})}
        server.call("update_ticket", {"ticket_id": ticket_id, **changes})
        server.call("add_comment", {"ticket_id": ticket_id, "body": f"The test fails again{_name_commit()}."})


def note_passes(server: Server, project: str, passed: Collection[str]) -> Iterator[str]:
    """Comment on the tickets whose tests passed, and remove their label; yield lines that say so."""
    if not passed:
        return
    names = {escape_name(each) for each in passed}
    query = {"project_id": project, "label": [LABEL], "resolved": False, "limit": MAX_OPEN}
    for each in decode_body(server.call("list_tickets", query))["items"]:
        ticket = _load_ticket(server, each["id"])
        match = re.search(r"^- Test: `(.+)`$", ticket["description"], re.MULTILINE)
        if match is None or match[1] not in names:
            continue
        times = "one failure" if ticket["occurrences"] == 1 else f"{ticket['occurrences']} failures"
        body = f"The test passes{_name_commit()}, after {times}."
        server.call("add_comment", {"ticket_id": ticket["id"], "body": body})
        labels = [label for label in ticket["labels"] if label != LABEL]
        server.call("update_ticket", {"ticket_id": ticket["id"], "labels": labels})
        yield f"{match[1]}: passes; commented on {ticket['url']}"


def _load_ticket(server: Server, ticket_id: str) -> Json:
    return decode_body(server.call("get_ticket", {"ticket_id": ticket_id, "include": []}))


def _name_commit() -> str:
    commit = find_commit()
    return f" on {commit[:12]}" if commit else ""
