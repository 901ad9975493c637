"""The demo's data: company, tickets and agents in `data/*.json`, captures with their replays, and pictures.

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
    """A project. `repository` is the name of its git hook, `done_approval` its gate for agents."""

    name: str
    url_patterns: list[str]
    repository: str
    done_approval: bool = False


class DemoCompanyStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An operation on the company. In `args`, `project` is a project's name."""

    hours_ago: float
    by: str
    operation: str
    args: dict[str, Any] = {}


class DemoCompany(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The company with its people and clients by key, and what happened outside of tickets. One person is the owner."""

    name: str
    people: dict[str, DemoPerson]
    clients: dict[str, DemoClient]
    projects: list[DemoProject]
    history: list[DemoCompanyStep]


class DemoStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An operation on a ticket.

    `hours_later` counts from the ticket's creation. In `args`, `column` is a column's name, `person` a person's key,
    `other` the title of another ticket, `due_in_days` counts from today, and `screenshot` names a picture to attach;
    the loader replaces them, and adds the id of the ticket, its capture or its screenshot. A delivery to the project's
    git hook has its payload in `args`, with the time added to what it is about, and `{key}` for the ticket's key.
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
    """An agent that works on a ticket while the demo is served: what it reports, and what it asks or wants accepted."""

    by: str
    title: str
    run: str
    branch: str
    progress: dict[str, Any]
    question: dict[str, Any] | None = None
    is_done: bool = False


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
    """Read the picture of a page, a WebP image: a capture's screenshot, or what a verification saw."""
    return (DATA / "screenshots" / f"{name}.webp").read_bytes()


def read_replay(name: str) -> list[dict[str, Any]]:
    """Read a capture's replay, events of rrweb with times as in the capture; empty if it has none."""
    path = DATA / "replays" / f"{name}.json"
    return msgspec.json.decode(path.read_bytes(), type=list[dict[str, Any]]) if path.exists() else []


def _read(name: str, shape: type[T]) -> T:
    return msgspec.json.decode((DATA / name).read_bytes(), type=shape)
