"""How the demo's tickets are written down: who saw what, and what became of it.

Times are hours: `ago` before the demo was made, `after` since the ticket was.
"""

from typing import Any

import msgspec

from ticketbox.demo.streams import SHOP, Entry


class Shot(msgspec.Struct, kw_only=True):
    """A capture: a scene of `pictures`, and what the browser recorded."""

    scene: str
    page: str
    title: str
    host: str = SHOP
    console: list[Entry] = []
    network: list[Entry] = []
    errors: list[Entry] = []
    health: dict[str, Any] = {}
    late: float = 0
    phone: bool = False


class Step(msgspec.Struct):
    """Something that happened to a ticket: an operation, by a token or session, hours after the ticket was made."""

    after: float
    by: str
    operation: str
    given: dict[str, Any] = {}


class Story(msgspec.Struct, kw_only=True):
    """A ticket and its history. `by` names an actor of `build.ACTORS`."""

    project: str
    ago: float
    by: str
    title: str
    description: str = ""
    priority: str = "none"
    labels: list[str] = []
    shot: Shot | None = None
    steps: list[Step] = []


def says(after: float, by: str, body: str) -> Step:
    """A comment."""
    return Step(after, by, "add_comment", {"body": body})


def moves(after: float, by: str, column: str) -> Step:
    """A move to the column of this name."""
    return Step(after, by, "move_ticket", {"column": column})


def assigns(after: float, by: str, person: str) -> Step:
    """Somebody gets the ticket."""
    return Step(after, by, "assign_ticket", {"person": person})


def starts(after: float, by: str, branch: str, minutes: int = 60) -> Step:
    """Somebody claims the ticket."""
    return Step(after, by, "start_work", {"branch": branch, "lease_minutes": minutes})


def stops(after: float, by: str) -> Step:
    """The claim ends."""
    return Step(after, by, "stop_work")


def resolves(after: float, by: str) -> Step:
    """The ticket is resolved."""
    return Step(after, by, "update_ticket", {"resolved": True})


def archives(after: float, by: str) -> Step:
    """The ticket leaves the board."""
    return Step(after, by, "archive_ticket")


def marks(after: float, by: str, *annotations: dict[str, Any]) -> Step:
    """Marks on the screenshot."""
    return Step(after, by, "save_annotations", {"annotations": list(annotations)})


def box(kind: str, x: int, y: int, width: int, height: int, text: str = "") -> dict[str, Any]:
    """A mark that is a box."""
    return {"kind": kind, "geometry": {"x": x, "y": y, "width": width, "height": height}, "text": text}


def arrow(x1: int, y1: int, x2: int, y2: int, text: str = "") -> dict[str, Any]:
    """An arrow."""
    return {"kind": "arrow", "geometry": {"x1": x1, "y1": y1, "x2": x2, "y2": y2}, "text": text}
