"""Agents at work in the demo. Each start replaces their sessions, and they give signs of life while it is served."""

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import msgspec

from ticketbox.demo.dataset import DemoAgent, DemoCompany, read_agents, read_company
from ticketbox.demo.loader import SCOPES
from ticketbox.domain.accounts import secrets
from ticketbox.domain.core.access.policy import Via
from ticketbox.domain.core.clock import Clock
from ticketbox.domain.core.fairness.limits import RateLimiter
from ticketbox.domain.core.problems import Problem
from ticketbox.operations.catalogue import load_registry
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.services import Services
from ticketbox.store.file.database import Database

SIGN_OF_LIFE_SECONDS = 60.0


class LiveSession(msgspec.Struct, frozen=True):
    """A session of a demo agent that runs: what it needs to report."""

    caller: RequestContext
    ticket_id: str
    lease: str


class DemoAgents:
    """The agents of a demo's file; a server may be running on it."""

    def __init__(self, db: Path) -> None:
        self._db = db
        self._sessions: list[LiveSession] = []
        self._operations = load_registry()

    def start(self) -> None:
        """End what the agents did before, and let each begin to work again."""
        asyncio.run(self._use(self._start))

    def keep_alive(self) -> None:
        """Give signs of life in a thread, as long as the process runs."""
        threading.Thread(target=self._report, name="demo agents", daemon=True).start()

    def renew(self) -> None:
        """Renew the claims, which is a sign of life."""
        asyncio.run(self._use(self._renew))

    def _report(self) -> None:
        while self._sessions:
            time.sleep(SIGN_OF_LIFE_SECONDS)
            self.renew()

    async def _use(self, work: Any) -> None:
        clock = Clock()
        database = await Database.open(self._db, clock, readers=1, checkpoints=False)
        services = Services(database, RateLimiter(clock.monotonic), "")
        try:
            await work(Dispatcher(services))
        finally:
            services.close()
            await database.close()

    async def _renew(self, dispatcher: Dispatcher) -> None:
        # a session that a person ended is over
        for session in list(self._sessions):
            args = {"ticket_id": session.ticket_id, "lease": session.lease}
            try:
                await self._call(dispatcher, session.caller, "report_progress", **args)
            except Problem:
                self._sessions.remove(session)

    async def _start(self, dispatcher: Dispatcher) -> None:
        company = read_company()
        for agent in read_agents():
            try:
                await self._begin(dispatcher, company, agent)
            except Problem:
                continue  # somebody uses the ticket, or has changed the demo otherwise

    async def _begin(self, dispatcher: Dispatcher, company: DemoCompany, agent: DemoAgent) -> None:
        person, _, key = agent.by.partition("/")
        client = company.clients[key]
        email = f"{person}@example.org"
        caller = await self._issue_token(dispatcher, email, client.label, client.via)
        found = await self._call(dispatcher, caller, "search", q=f'"{agent.title}"')
        ticket = next((each for each in found.items if each.title == agent.title), None)
        if ticket is None or ticket.resolved:
            return
        if ticket.claim is not None and ticket.claim.by.token_label == client.label:
            await self._release(dispatcher, email, ticket.id)
        work = {"ticket_id": ticket.id, "run": agent.run, "branch": agent.branch}
        lease = (await self._call(dispatcher, caller, "start_work", **work)).lease
        session = LiveSession(caller, ticket.id, lease)
        report = {"ticket_id": ticket.id, "lease": lease}
        await self._call(dispatcher, caller, "report_progress", **report, **agent.progress)
        if agent.question is not None:
            await self._call(dispatcher, caller, "ask_human", **report, **agent.question)
        if agent.is_done:
            await self._call(dispatcher, caller, "finish_work", **report, resolved=True)
        self._sessions.append(session)

    async def _issue_token(self, dispatcher: Dispatcher, email: str, label: str, via: Via) -> RequestContext:
        """Replace the agent's token by a new one."""
        operator = RequestContext(operator=True)
        for token in (await self._call(dispatcher, operator, "list_issued_tokens", user=email)).items:
            if token.label == label:
                await self._call(dispatcher, operator, "revoke_issued_token", token_id=token.id)
        issued = await self._call(dispatcher, operator, "issue_token", user=email, label=label, scopes=SCOPES)
        return RequestContext(secret_hash=secrets.hash_secret(issued.secret), via=via)

    async def _release(self, dispatcher: Dispatcher, email: str, ticket_id: str) -> None:
        """Release the claim of the last start as the person behind the agent, whose password nobody knows."""
        password = secrets.generate_secret()
        await self._call(dispatcher, RequestContext(operator=True), "set_password", user=email, password=password)
        visitor = RequestContext(address="192.0.2.99", user_agent="Mozilla/5.0 (demo)")
        opened = await self._call(dispatcher, visitor, "create_session", email=email, password=password)
        web = RequestContext(secret_hash=secrets.hash_secret(opened.secret), cookie=True, via=Via.WEB)
        await self._call(dispatcher, web, "stop_work", ticket_id=ticket_id)
        await self._call(dispatcher, web, "delete_session")

    async def _call(self, dispatcher: Dispatcher, caller: RequestContext, name: str, **args: Any) -> Any:
        return await dispatcher.dispatch(self._operations[name], args, msgspec.structs.replace(caller))
