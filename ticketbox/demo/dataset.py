"""The demo's data: company, tickets and agents in `data/*.json`, `data/captures/` and `data/screenshots/`.

An author (`by`) is `person/client`. The client is `web`, a session in the web app, or one of `company.json`, an access
token. A file that doesn't fit its Struct raises msgspec.ValidationError.
"""

from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ticketbox.domain.captures.actions import ActionEntry
from ticketbox.domain.captures.capture import (
    ConsoleEntry,
    ErrorEntry,
    NetworkEntry,
    Page,
    Stream,
    StreamHealth,
)
from ticketbox.domain.captures.environment import Environment
from ticketbox.domain.core.access.policy import Via
from ticketbox.domain.core.access.scopes import RoleName
from ticketbox.domain.tickets.records import Priority

T = TypeVar("T")

DATA = Path(__file__).with_name("data")


class DemoPerson(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A member of the company."""

    name: str
    role: RoleName


class DemoClient(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An access token: its label, and the surface it is used on."""

    label: str
    via: Via


class DemoProject(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A project."""

    name: str
    url_patterns: list[str]


class DemoCompany(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The company with its people and clients by key. One person is the owner."""

    name: str
    people: dict[str, DemoPerson]
    clients: dict[str, DemoClient]
    projects: list[DemoProject]


class DemoStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An operation on a ticket.

    `hours_later` counts from the ticket's creation. In `args`, `column` is a column's name and `person` a person's
    key; the loader replaces them with ids and adds the id of the ticket or of its screenshot.
    """

    hours_later: float
    by: str
    operation: str
    args: dict[str, Any] = {}


class DemoTicket(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A ticket with its history. `hours_ago` counts from the demo's creation, `capture` names a file."""

    project: str
    hours_ago: float
    by: str
    title: str
    description: str = ""
    priority: Priority = Priority.NONE
    labels: list[str] = []
    capture: str | None = None
    history: list[DemoStep] = []


class DemoAgent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An agent that works on a ticket while the demo is served: what it reports, and what it asks."""

    by: str
    title: str
    run: str
    branch: str
    progress: dict[str, Any]
    question: dict[str, Any] | None = None


class DemoCapture(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A capture as the extension records it.

    Times are milliseconds since the page began to load. `health` has an entry for each stream that isn't complete.
    """

    page: Page
    environment: Environment
    captured_at: float
    history_started_at: float = 0
    health: dict[Stream, StreamHealth] = {}
    console: list[ConsoleEntry] = []
    network: list[NetworkEntry] = []
    errors: list[ErrorEntry] = []
    actions: list[ActionEntry] = []


def read_company() -> DemoCompany:
    """Read the company."""
    return _read("company.json", DemoCompany)


def read_tickets() -> list[DemoTicket]:
    """Read all tickets."""
    return _read("tickets.json", list[DemoTicket])


def read_agents() -> list[DemoAgent]:
    """Read the agents at work."""
    return _read("agents.json", list[DemoAgent])


def read_capture(name: str) -> DemoCapture:
    """Read a capture without its screenshot."""
    return _read(f"captures/{name}.json", DemoCapture)


def read_screenshot(name: str) -> bytes:
    """Read a capture's screenshot, a WebP image."""
    return (DATA / "screenshots" / f"{name}.webp").read_bytes()


def _read(name: str, shape: type[T]) -> T:
    return msgspec.json.decode((DATA / name).read_bytes(), type=shape)
