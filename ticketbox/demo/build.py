"""Filling a file with the demo, through the same operations that people and agents use.

The clock is the demo's own, so that everything stands where it would after some weeks of work.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from ticketbox.demo import office, shop
from ticketbox.demo.pictures import screenshot
from ticketbox.demo.story import Shot, Step, Story
from ticketbox.domain.accounts import secrets
from ticketbox.domain.core.clock import HOUR, MINUTE, Clock
from ticketbox.domain.core.limits import RateLimiter
from ticketbox.domain.core.policy import Via
from ticketbox.operations.catalogue import registry
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.services import Services
from ticketbox.store.file.database import Database
from ticketbox.store.file.migrate import prepare_file

STORIES = [*shop.STORIES, *office.STORIES]
EMAIL = "demo@example.org"
COMPANY = "Lumen & Oak"
SCOPES = ["tickets:write", "tickets:assign"]
PEOPLE = {
    "priya": ("Priya Raman", "admin"),
    "jonas": ("Jonas Weber", "member"),
    "mei": ("Mei Tanaka", "member"),
    "sam": ("Sam Okoye", "member"),
}
# Who writes with what: a session in the web app, or a token with its label and its way in.
TOKENS = {
    "agent": ("Jonas's coding agent", Via.MCP),
    "extension": ("Browser extension", Via.EXTENSION),
    "rest": ("Nightly tests", Via.REST),
}
PATTERNS = {
    "Web shop": ["https://shop.lumenandoak.example/*", "https://preview.lumenandoak.example/*"],
    "Back office": ["https://office.lumenandoak.example/*"],
}


class Hands:
    """The demo's clocks: the wall clock stands where the story is; the other runs so fast that no budget ends."""

    def __init__(self, now: int) -> None:
        self.now = now
        self.steady = 0.0

    def monotonic(self) -> float:
        """A minute for each look."""
        self.steady += 60
        return self.steady


class Builder:
    """Makes the records. `by` everywhere is `person/way`, such as `jonas/agent`."""

    def __init__(self, dispatcher: Dispatcher, hands: Hands) -> None:
        self._dispatch = dispatcher.dispatch
        self._operations = registry()
        self._hands = hands
        self._end = hands.now
        self._people: dict[str, str] = {}
        self._credentials: dict[str, RequestContext] = {}
        self._columns: dict[tuple[str, str], str] = {}
        self._projects: dict[str, str] = {}

    async def found(self, password: str) -> None:
        """The company with its people, projects and tokens."""
        given = {"email": EMAIL, "name": "Dana Moreau", "password": password, "company": COMPANY, "project": "Web shop"}
        made = await self._as_operator("initialize", given)
        self._people["dana"], self._projects["Web shop"] = made.user_id, made.project_id
        for name, (whole, role) in PEOPLE.items():
            person = {"email": f"{name}@example.org", "name": whole, "password": secrets.generate_secret()}
            added = await self._as_operator("add_user", {**person, "company_id": made.company_id, "role": role})
            self._people[name] = added.id
            await self._sign_in(name, person["password"])
        await self._sign_in("dana", password)
        office = {"company_id": made.company_id, "name": "Back office"}
        self._projects["Back office"] = (await self._as("dana/web", "create_project", office)).id
        for name, project in self._projects.items():
            change = {"project_id": project, "url_patterns": PATTERNS[name], "capture_policy": {"bodies": "on"}}
            await self._as("dana/web", "update_project", change)
            await self._as("dana/web", "create_column", {"project_id": project, "name": "Review", "position": 2})
            columns = await self._as("dana/web", "list_columns", {"project_id": project})
            self._columns |= {(name, column.name): column.id for column in columns.items}

    async def tell(self, story: Story) -> Callable[[Step], Any]:
        """Make a story's ticket; gives what makes each of its steps happen."""
        asset = ""
        if story.shot is None:
            given = _given(story, project_id=self._projects[story.project])
            ticket: str = (await self._as(story.by, "create_ticket", given)).id
        else:
            parts = _parts(story, story.shot, self._projects[story.project], self._hands.now)
            receipt = await self._as(story.by, "create_capture", parts)
            ticket = receipt.ticket_id
            found = await self._as(story.by, "get_ticket", {"ticket_id": ticket})
            asset = found.capture.screenshot_id

        async def happen(step: Step) -> None:
            given = dict(step.given)
            if "column" in given:
                given["column_id"] = self._columns[story.project, given.pop("column")]
            if "person" in given:
                given["user_id"] = self._people[given.pop("person")]
            on_picture = step.operation == "save_annotations"
            given |= {"asset_id": asset} if on_picture else {"ticket_id": ticket}
            await self._as(step.by, step.operation, given)

        return happen

    async def _sign_in(self, name: str, password: str) -> None:
        email = EMAIL if name == "dana" else f"{name}@example.org"
        call = RequestContext(address=f"192.0.2.{len(self._credentials)}", user_agent="Mozilla/5.0 (demo)")
        given = {"email": email, "password": password}
        session = await self._dispatch(self._operations["create_session"], given, call)
        self._credentials[f"{name}/web"] = RequestContext(
            secret_hash=secrets.hash_secret(session.secret), cookie=True, via=Via.WEB
        )

    async def _as_operator(self, name: str, given: dict[str, Any]) -> Any:
        return await self._dispatch(self._operations[name], given, RequestContext(operator=True))

    async def _as(self, by: str, name: str, given: dict[str, Any]) -> Any:
        if by not in self._credentials:
            person, way = by.split("/")
            label, via = TOKENS[way]
            wanted = {"user": self._people[_owner(person)], "label": label, "scopes": SCOPES}
            made = await self._as_operator("issue_token", wanted)
            self._credentials[by] = RequestContext(secret_hash=secrets.hash_secret(made.secret), via=via)
        call = msgspec.structs.replace(self._credentials[by])
        return await self._dispatch(self._operations[name], given, call)


def _owner(person: str) -> str:
    """The nightly run has a token of Jonas's."""
    return "jonas" if person == "ci" else person


def _given(story: Story, **more: Any) -> dict[str, Any]:
    return {
        "title": story.title,
        "description": story.description,
        "priority": story.priority,
        "labels": story.labels,
        **more,
    }


def _parts(story: Story, shot: Shot, project: str, now: int) -> dict[str, Any]:
    """The parts of a capture, as an extension sends them."""
    moment = float(now)
    loaded = moment - 1000 * max([entry["ago"] for entry in (*shot.network, *shot.console)], default=3.0)
    streams = {name: _timed(getattr(shot, name), name, moment) for name in ("console", "network", "errors")}
    health = {name: {"status": "ok", **shot.health.get(name, {}), "captured": len(streams[name])} for name in streams}
    envelope = {
        "id": f"demo-{shot.scene}-{story.ago:g}".replace("_", "-").replace(".", "-"),
        "project_id": project,
        "page": {"url": shot.host + shot.page, "title": shot.title},
        "captured_at": moment,
        "health": {**health, "page_loaded_at": loaded, "history_started_at": loaded + 1000 * shot.late},
        "environment": _environment(shot.phone),
        **{name: value for name, value in _given(story).items() if value},
    }
    packed = {name: json.dumps(entries).encode() for name, entries in streams.items()}
    return {"capture": envelope, "screenshot": screenshot(shot.scene), **packed}


def _timed(entries: list[dict[str, Any]], stream: str, moment: float) -> list[dict[str, Any]]:
    """Entries with times and numbers in place of how long ago they were."""
    told: list[dict[str, Any]] = []
    for number, entry in enumerate(sorted(entries, key=lambda entry: -entry["ago"])):
        rest = {name: value for name, value in entry.items() if name != "ago"}
        key: dict[str, Any] = {"id": f"r{number + 1}"} if stream == "network" else {"seq": number + 1}
        told.append({**key, "ts": moment - 1000 * entry["ago"], **rest})
    return told


def _environment(phone: bool) -> dict[str, Any]:
    width, height = (390, 844) if phone else (1280, 760)
    return {
        "browser": "Chrome 142.0" if not phone else "Chrome Mobile 142.0",
        "os": "Linux x86_64" if not phone else "Android 16",
        "viewport": {"width": width, "height": height},
        "screen": {"width": width, "height": height if phone else 900},
        "dpr": 3 if phone else 1,
        "language": "en-GB",
        "timezone": "Europe/Stockholm",
    }


async def build(path: Path, tick: Callable[[int, int], None] = lambda _done, _of: None) -> None:
    """Make the demo's file, whole or not at all; `tick` hears of each step and of how many there are."""
    part = path.with_name(path.name + ".part")
    _remove(part)
    prepare_file(part)
    hands = Hands(Clock().now())
    database = await Database.open(part, Clock(now=lambda: hands.now, monotonic=hands.monotonic), readers=1)
    services = Services(database, RateLimiter(hands.monotonic), "http://localhost")
    try:
        await _fill(Builder(Dispatcher(services), hands), hands, tick)
    finally:
        services.close()
        await database.close()
    part.replace(path)


async def _fill(builder: Builder, hands: Hands, tick: Callable[[int, int], None]) -> None:
    end = hands.now
    plan = [(story.ago, 0, story, None) for story in STORIES]
    plan += [(story.ago - step.after, place, story, step)
             for story in STORIES for place, step in enumerate(story.steps, 1)]  # fmt: skip
    plan.sort(key=lambda entry: (-entry[0], entry[1]))
    hands.now = end - int(plan[0][0] * HOUR) - 24 * HOUR
    await builder.found(secrets.generate_secret())  # `ticketbox demo` sets a password that it can print
    told: dict[str, Callable[[Step], Any]] = {}
    for place, (ago, _, story, step) in enumerate(plan):
        # Nothing happens in the future, nor twice in the same moment.
        hands.now = max(hands.now + 1_000, min(end - MINUTE, end - int(ago * HOUR)))
        if step is None:
            told[story.title] = await builder.tell(story)
        else:
            await told[story.title](step)
        tick(place + 1, len(plan))


def _remove(path: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
