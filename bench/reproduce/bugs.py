"""The 30 seeded bugs: in which application, of which kind, and how a person runs into each.

A step is a role, a name, and the text to type, if any. Before each step the person waits for all answers, but in a race
only where its steps say so.
"""

from typing import NamedTuple

Step = tuple[str, str] | tuple[str, str, str]

EXCEPTION, HTTP, RACE, STALE, TEXT, LAYOUT = "exception", "4xx or 5xx", "race", "stale state", "wrong text", "layout"
WAIT: Step = ("wait", "")
KINDS = (EXCEPTION, HTTP, RACE, STALE, TEXT, LAYOUT)


class Bug(NamedTuple):
    """A seeded bug: the name is that of the branch in the application's source."""

    app: str
    name: str
    kind: str
    steps: list[Step]


def click(*names: str) -> list[Step]:
    """Click buttons."""
    return [("button", name) for name in names]


BUGS = [
    Bug("plain", "owner-null", EXCEPTION, click("Call printer")),
    Bug("plain", "due-format", EXCEPTION, click("Show dates")),
    Bug("plain", "estimate-type", HTTP, click("Add task")),
    Bug("plain", "undefined-id", HTTP, click("Comments of Pay rent")),
    Bug("plain", "late-filter", RACE, click("Show open", "Show done")),
    Bug("plain", "double-add", RACE, click("Add task", "Add task")),
    Bug("plain", "stale-summary", STALE, click("Finish Order paper")),
    Bug("plain", "stale-selection", STALE, click("Pay rent", "Delete Pay rent", "Rename selected")),
    Bug("plain", "plural", TEXT, click("Delete Pay rent", "Delete Call printer")),
    Bug("plain", "overflow", LAYOUT, [("textbox", "Title", "A very long title " * 12), *click("Add task")]),
    Bug("react", "coupon-null", EXCEPTION, [("textbox", "Coupon", "SPRING8"), *click("Apply coupon")]),
    Bug("react", "price-format", EXCEPTION, click("Show Oak table")),
    Bug("react", "negative", HTTP, click("Add Arc lamp", "Less of Arc lamp", "Less of Arc lamp")),
    Bug("react", "method", HTTP, click("Add Paper globe", "Order")),
    Bug("react", "search-order", RACE, [("textbox", "Search", "l"), ("textbox", "Search", "lamp")]),
    Bug("react", "closed-details", RACE, click("Show Paper globe", "Close details")),
    Bug("react", "stale-total", STALE, click("Add Arc lamp", "Add Paper globe", "Less of Paper globe", "Order")),
    Bug("react", "stale-order", STALE, click("Reverse", "Show Arc lamp")),
    Bug("react", "missing-text", TEXT, click("Reverse")),
    Bug("react", "dialog", LAYOUT, click("Show terms")),
    Bug("vue", "nobody-found", EXCEPTION, [("textbox", "Name", "Zoe"), *click("Find people")]),
    Bug("vue", "status", EXCEPTION, click("Mei Tanaka", "Show status")),
    Bug("vue", "email-missing", HTTP, click("Olu Adeyemi", "Save person")),
    Bug("vue", "sort-undefined", HTTP, click("Sort by name")),
    Bug("vue", "early-reload", RACE, click("Olu Adeyemi", "Save person")),
    Bug("vue", "late-person", RACE, [*click("Ida Holm", "Olu Adeyemi", "Call"), WAIT, *click("Call")]),
    Bug("vue", "stale-list", STALE, click("Remove Ida Holm", "Remove Mei Tanaka", "Show last")),
    Bug("vue", "stale-draft", STALE, click("Olu Adeyemi", "Mei Tanaka", "Save person")),
    Bug("vue", "age", TEXT, click("Olu Adeyemi")),
    Bug("vue", "too-wide", LAYOUT, click("Widen")),
]
