"""Create the demo's file from its data, through the same operations that people and agents use.

The loader sets the clock, so every change gets the time it would have after some weeks of work.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from ticketbox.demo.dataset import (
    DemoCapture,
    DemoStep,
    DemoTicket,
    read_capture,
    read_company,
    read_screenshot,
    read_tickets,
)
from ticketbox.domain.accounts import secrets
from ticketbox.domain.captures.capture import HealthStatus, Stream, StreamHealth
from ticketbox.domain.core.access.policy import Via
from ticketbox.domain.core.access.scopes import RoleName
from ticketbox.domain.core.clock import HOUR, MINUTE, Clock
from ticketbox.domain.core.fairness.limits import RateLimiter
from ticketbox.operations.catalogue import load_registry
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.services import Services
from ticketbox.store.file.database import Database
from ticketbox.store.file.migrate import prepare_file

OWNER_EMAIL = "demo@example.org"
SCOPES = ["tickets:write", "tickets:assign"]
REVIEW_POSITION = 2


class DemoClock:
    """A wall clock that the loader sets, and a monotonic clock that is too fast for any rate limit."""

    def __init__(self, now: int) -> None:
        self.now = now
        self._elapsed = 0.0

    def monotonic(self) -> float:
        """Return a time one minute after the last one."""
        self._elapsed += 60
        return self._elapsed


class LoadedTicket(msgspec.Struct, frozen=True):
    """The ids of a created ticket and of its screenshot."""

    ticket_id: str
    screenshot_id: str | None


class Loader:
    """Runs the operations that create the company and its tickets."""

    def __init__(self, dispatcher: Dispatcher, clock: DemoClock) -> None:
        self._dispatch = dispatcher.dispatch
        self._operations = load_registry()
        self._clock = clock
        self._company = read_company()
        self._user_ids: dict[str, str] = {}
        self._project_ids: dict[str, str] = {}
        self._column_ids: dict[tuple[str, str], str] = {}
        self._credentials: dict[str, RequestContext] = {}
        self._leases: dict[str, str] = {}  # by ticket

    async def create_company(self) -> None:
        """Create the company with its people and projects. All passwords are random and then forgotten."""
        people, projects = self._company.people, self._company.projects
        owner = next(key for key, person in people.items() if person.role is RoleName.OWNER)
        password = secrets.generate_secret()
        created = await self._run_as_operator(
            "initialize",
            email=OWNER_EMAIL,
            name=people[owner].name,
            password=password,
            company=self._company.name,
            project=projects[0].name,
        )
        self._user_ids[owner], self._project_ids[projects[0].name] = created.user_id, created.project_id
        await self._sign_in(owner, OWNER_EMAIL, password)
        for key, person in people.items():
            if key != owner:
                email, password = f"{key}@example.org", secrets.generate_secret()
                user = {"email": email, "name": person.name, "password": password, "role": person.role}
                added = await self._run_as_operator("add_user", company_id=created.company_id, **user)
                self._user_ids[key] = added.id
                await self._sign_in(key, email, password)
        by = f"{owner}/web"
        for project in projects:
            if project.name not in self._project_ids:
                added = await self._run_as(by, "create_project", company_id=created.company_id, name=project.name)
                self._project_ids[project.name] = added.id
            project_id = self._project_ids[project.name]
            policy = {"url_patterns": project.url_patterns, "capture_policy": {"bodies": "on"}}
            await self._run_as(by, "update_project", project_id=project_id, **policy)
            await self._run_as(by, "create_column", project_id=project_id, name="Review", position=REVIEW_POSITION)
            columns = await self._run_as(by, "list_columns", project_id=project_id)
            self._column_ids |= {(project.name, column.name): column.id for column in columns.items}

    async def create_ticket(self, ticket: DemoTicket) -> LoadedTicket:
        """Create a ticket as it is before its history."""
        fields = {
            "project_id": self._project_ids[ticket.project],
            "title": ticket.title,
            "description": ticket.description,
            "priority": ticket.priority,
            "labels": ticket.labels,
        }
        if ticket.capture is None:
            created = await self._run_as(ticket.by, "create_ticket", **fields)
            return LoadedTicket(created.id, None)
        parts = _build_capture_parts(ticket.capture, fields, self._clock.now)
        receipt = await self._run_as(ticket.by, "create_capture", **parts)
        created = await self._run_as(ticket.by, "get_ticket", ticket_id=receipt.ticket_id)
        return LoadedTicket(receipt.ticket_id, created.capture.screenshot_id)

    async def run_step(self, ticket: DemoTicket, loaded: LoadedTicket, step: DemoStep) -> None:
        """Run one step of a ticket's history."""
        args = dict(step.args)
        if "column" in args:
            args["column_id"] = self._column_ids[ticket.project, args.pop("column")]
        if "person" in args:
            args["user_id"] = self._user_ids[args.pop("person")]
        if step.operation == "save_annotations":
            args["asset_id"] = loaded.screenshot_id
        else:
            args["ticket_id"] = loaded.ticket_id
        if step.operation == "stop_work":
            args["lease"] = self._leases.pop(loaded.ticket_id)
        result = await self._run_as(step.by, step.operation, **args)
        if step.operation == "start_work":
            self._leases[loaded.ticket_id] = result.lease

    async def _sign_in(self, person: str, email: str, password: str) -> None:
        context = RequestContext(address=f"192.0.2.{len(self._credentials)}", user_agent="Mozilla/5.0 (demo)")
        args = {"email": email, "password": password}
        session = await self._dispatch(self._operations["create_session"], args, context)
        self._credentials[f"{person}/web"] = RequestContext(
            secret_hash=secrets.hash_secret(session.secret), cookie=True, via=Via.WEB
        )

    async def _run_as_operator(self, operation: str, **args: Any) -> Any:
        return await self._dispatch(self._operations[operation], args, RequestContext(operator=True))

    async def _run_as(self, by: str, operation: str, **args: Any) -> Any:
        """Run an operation as `person/client`; a client's token is issued when it is first used."""
        if by not in self._credentials:
            person, _, key = by.partition("/")
            client = self._company.clients[key]
            token = {"user": self._user_ids[person], "label": client.label, "scopes": SCOPES}
            issued = await self._run_as_operator("issue_token", **token)
            self._credentials[by] = RequestContext(secret_hash=secrets.hash_secret(issued.secret), via=client.via)
        context = msgspec.structs.replace(self._credentials[by])
        return await self._dispatch(self._operations[operation], args, context)


def _build_capture_parts(name: str, fields: dict[str, Any], now: int) -> dict[str, Any]:
    """Return the parts of a capture as the extension sends them. `now` is the capture's time."""
    capture = read_capture(name)
    loaded_at = now - capture.captured_at
    for entry in (*capture.console, *capture.network, *capture.errors, *capture.actions):
        entry.ts += loaded_at
    envelope = {
        "id": f"demo-capture-{name}",
        "page": capture.page,
        "environment": capture.environment,
        "captured_at": float(now),
        "health": {
            **{stream.value: _build_stream_health(capture, stream) for stream in Stream},
            "page_loaded_at": loaded_at,
            "history_started_at": loaded_at + capture.history_started_at,
        },
        **fields,
    }
    streams = {stream.value: msgspec.json.encode(getattr(capture, stream)) for stream in Stream}
    return {"capture": msgspec.to_builtins(envelope), "screenshot": read_screenshot(name), **streams}


def _build_stream_health(capture: DemoCapture, stream: Stream) -> StreamHealth:
    health = capture.health.get(stream, StreamHealth(HealthStatus.OK))
    return msgspec.structs.replace(health, captured=len(getattr(capture, stream)))


async def create_demo(path: Path, report_progress: Callable[[int, int], None] = lambda _done, _total: None) -> None:
    """Create the demo's file, whole or not at all. `report_progress` receives the steps done and their total."""
    part = path.with_name(path.name + ".part")
    _remove(part)
    prepare_file(part)
    clock = DemoClock(Clock().now())
    database = await Database.open(part, Clock(now=lambda: clock.now, monotonic=clock.monotonic), readers=1)
    services = Services(database, RateLimiter(clock.monotonic), "http://localhost")
    try:
        await _load(Loader(Dispatcher(services), clock), clock, report_progress)
    finally:
        services.close()
        await database.close()
    part.replace(path)


async def _load(loader: Loader, clock: DemoClock, report_progress: Callable[[int, int], None]) -> None:
    end = clock.now
    tickets = read_tickets()
    plan = [(ticket.hours_ago, 0, ticket, None) for ticket in tickets]
    plan += [(ticket.hours_ago - step.hours_later, number, ticket, step)
             for ticket in tickets for number, step in enumerate(ticket.history, 1)]  # fmt: skip
    plan.sort(key=lambda entry: (-entry[0], entry[1]))
    clock.now = end - int(plan[0][0] * HOUR) - 24 * HOUR
    await loader.create_company()
    loaded: dict[str, LoadedTicket] = {}
    for done, (hours_ago, _, ticket, step) in enumerate(plan, 1):
        # No change is in the future, and no two have the same time.
        clock.now = max(clock.now + 1_000, min(end - MINUTE, end - int(hours_ago * HOUR)))
        if step is None:
            loaded[ticket.title] = await loader.create_ticket(ticket)
        else:
            await loader.run_step(ticket, loaded[ticket.title], step)
        report_progress(done, len(plan))


def _remove(path: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
