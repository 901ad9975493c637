"""Create the demo's file from its data, through the same operations that people and agents use.

The loader sets the clock, so every change gets the time it would have after some weeks of work.
"""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ticketbox.demo.dataset import (
    DemoCompanyStep,
    DemoStep,
    DemoTicket,
    read_company,
    read_screenshot,
    read_tickets,
)
from ticketbox.demo.sending import HookAddress, build_capture_parts, build_delivery
from ticketbox.domain.accounts import secrets
from ticketbox.domain.core.access.policy import Via
from ticketbox.domain.core.access.scopes import RoleName
from ticketbox.domain.core.clock import HOUR, MINUTE, Clock
from ticketbox.domain.core.fairness.limits import RateLimiter
from ticketbox.jobs.git import apply_waiting
from ticketbox.operations.captures.processing.intake import Upload
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
    """The ids of a created ticket, its capture and its screenshot, and its key."""

    ticket_id: str
    key: str
    capture_id: str | None = None
    screenshot_id: str | None = None


class Loader:
    """Runs the operations that create the company and its tickets. The demo's today is the day of `clock.now`."""

    def __init__(self, dispatcher: Dispatcher, database: Database, clock: DemoClock) -> None:
        self._dispatch = dispatcher.dispatch
        self._database = database
        self._operations = load_registry()
        self._clock = clock
        self._today = datetime.fromtimestamp(clock.now / 1000, UTC).date()
        self._company = read_company()
        self._user_ids: dict[str, str] = {}
        self._project_ids: dict[str, str] = {}
        self._column_ids: dict[tuple[str, str], str] = {}
        self._credentials: dict[str, RequestContext] = {}
        self._leases: dict[str, str] = {}  # by ticket
        self._hooks: dict[str, HookAddress] = {}  # by project
        self._tickets: dict[str, LoadedTicket] = {}  # by title

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
            policy = {
                "url_patterns": project.url_patterns,
                "capture_policy": {"bodies": "on"},
                "done_approval": project.done_approval,
            }
            await self._run_as(by, "update_project", project_id=project_id, **policy)
            await self._run_as(by, "create_column", project_id=project_id, name="Review", position=REVIEW_POSITION)
            columns = await self._run_as(by, "list_columns", project_id=project_id)
            self._column_ids |= {(project.name, column.name): column.id for column in columns.items}
            hook = await self._run_as(by, "create_git_hook", project_id=project_id, name=project.repository)
            self._hooks[project.name] = HookAddress(hook.url.rpartition("/")[2], hook.secret)

    async def run_company_step(self, step: DemoCompanyStep) -> None:
        """Run one step of the company's history."""
        args = dict(step.args)
        if "project" in args:
            args["project_id"] = self._project_ids[args.pop("project")]
        await self._run_as(step.by, step.operation, **args)

    async def create_ticket(self, ticket: DemoTicket) -> None:
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
            self._tickets[ticket.title] = LoadedTicket(created.id, created.key)
            return
        parts = build_capture_parts(ticket.capture, fields, self._clock.now)
        receipt = await self._run_as(ticket.by, "create_capture", **parts)
        created = await self._run_as(ticket.by, "get_ticket", ticket_id=receipt.ticket_id)
        self._tickets[ticket.title] = LoadedTicket(
            receipt.ticket_id, created.key, receipt.capture_id, created.capture.screenshot_id
        )

    async def run_step(self, ticket: DemoTicket, step: DemoStep) -> None:
        """Run one step of a ticket's history."""
        loaded = self._tickets[ticket.title]
        if step.operation == "receive_git_delivery":
            await self._deliver(build_delivery(self._hooks[ticket.project], step.args, loaded.key, self._clock.now))
            return
        args = await self._build_args(ticket, loaded, step)
        if step.operation == "stop_work":
            args["lease"] = self._leases.pop(loaded.ticket_id)
        result = await self._run_as(step.by, step.operation, **args)
        if step.operation == "start_work":
            self._leases[loaded.ticket_id] = result.lease

    async def _build_args(self, ticket: DemoTicket, loaded: LoadedTicket, step: DemoStep) -> dict[str, Any]:
        args = dict(step.args)
        if step.operation == "save_annotations":
            return args | {"asset_id": loaded.screenshot_id}
        args["ticket_id"] = loaded.ticket_id
        if "column" in args:
            args["column_id"] = self._column_ids[ticket.project, args.pop("column")]
        if "person" in args:
            args["user_id"] = self._user_ids[args.pop("person")]
        if "other" in args:
            args["other"] = self._tickets[args["other"]].ticket_id
        if "due_in_days" in args:
            args["due_on"] = (self._today + timedelta(days=args.pop("due_in_days"))).isoformat()
        if step.operation == "add_verification":
            args["capture_id"] = loaded.capture_id
            if "screenshot" in args:
                args["screenshot"] = await self._attach(loaded, step.by, args["screenshot"])
        return args

    async def _attach(self, loaded: LoadedTicket, by: str, picture: str) -> str:
        """Attach a picture to a ticket, and return its id."""
        file = Upload(f"{picture}.webp", read_screenshot(picture))
        return (await self._run_as(by, "add_attachment", ticket_id=loaded.ticket_id, file=file)).id

    async def _deliver(self, delivery: dict[str, Any]) -> None:
        """Receive a delivery of a repository, and apply it as the server's job does."""
        await self._dispatch(self._operations["receive_git_delivery"], delivery, RequestContext())
        await self._database.write(apply_waiting)

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
            token = {"user": self._user_ids[person], "label": client.label, "scopes": SCOPES, "expires_days": 365}
            issued = await self._run_as_operator("issue_token", **token)
            self._credentials[by] = RequestContext(secret_hash=secrets.hash_secret(issued.secret), via=client.via)
        context = msgspec.structs.replace(self._credentials[by])
        return await self._dispatch(self._operations[operation], args, context)


async def create_demo(path: Path, report_progress: Callable[[int, int], None] = lambda _done, _total: None) -> None:
    """Create the demo's file, whole or not at all. `report_progress` receives the steps done and their total."""
    part = path.with_name(path.name + ".part")
    _remove(part)
    prepare_file(part)
    clock = DemoClock(Clock().now())
    database = await Database.open(part, Clock(now=lambda: clock.now, monotonic=clock.monotonic), readers=1)
    services = Services(database, RateLimiter(clock.monotonic), "http://localhost")
    try:
        await _load(Loader(Dispatcher(services), database, clock), clock, report_progress)
    finally:
        services.close()
        await database.close()
    part.replace(path)


async def _load(loader: Loader, clock: DemoClock, report_progress: Callable[[int, int], None]) -> None:
    end = clock.now
    plan = _build_plan(loader)
    clock.now = end - int(plan[0].hours_ago * HOUR) - 24 * HOUR
    await loader.create_company()
    for done, planned in enumerate(plan, 1):
        # No change is in the future, and no two have the same time.
        clock.now = max(clock.now + 1_000, min(end - MINUTE, end - int(planned.hours_ago * HOUR)))
        await planned.run()
        report_progress(done, len(plan))


class _Change(NamedTuple):
    """A change: when it is made, and its number among the changes of its ticket."""

    hours_ago: float
    number: int
    run: Callable[[], Awaitable[None]]


def _build_plan(loader: Loader) -> list[_Change]:
    """List all changes, first the oldest."""
    plan = [_Change(step.hours_ago, 0, partial(loader.run_company_step, step)) for step in read_company().history]
    for ticket in read_tickets():
        plan.append(_Change(ticket.hours_ago, 0, partial(loader.create_ticket, ticket)))
        plan += [
            _Change(ticket.hours_ago - step.hours_later, number, partial(loader.run_step, ticket, step))
            for number, step in enumerate(ticket.history, 1)
        ]
    return sorted(plan, key=lambda each: (-each.hours_ago, each.number))


def _remove(path: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
