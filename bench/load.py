"""Load of a large team: `uv run --group dev python -m bench.load`, about ten minutes.

200 agents, each with a token (bench/agents.py), and 50 boards that listen to events, all of one company, with the
default budgets. The server has one core and the clients the other. The exit status is 1 if a request failed or an
event was lost. tests/fault/test_load.py lets noisy neighbours work beside a smaller team.
"""

import argparse
import asyncio
import contextlib
import itertools
import os
import shutil
import sqlite3
import sys
import time
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from bench.agents import Agent, Board, CallLog, Work, repeat
from bench.launch import Server, launch_ticketbox
from bench.load_report import LoadResult, format_report
from bench.machine import (
    CLIENT_CORE,
    cpu_seconds,
    describe_machine,
    group_memory_mb,
    pin_to_core,
)
from bench.seed import SeededFile, seed
from ticketbox.domain.core.fairness.limits import RateLimiter
from ticketbox.operations.catalogue import load_registry
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.services import Services
from ticketbox.store.events.events import encode_event_id
from ticketbox.store.file.database import Database

SETTLE_SECONDS = 1.0


class Plan(msgspec.Struct, frozen=True):
    """Sizes and times in seconds: `think` is the mean pause between an agent's calls."""

    agents: int = 200
    boards: int = 50
    think: float = 3.0
    seconds: float = 600


class Participants(msgspec.Struct):
    """The file, a token for each agent, board and other client, and the agents' tickets."""

    seeded: SeededFile
    agents: list[str]
    boards: list[str]
    others: dict[str, str]
    work: list[Work]


def prepare(original: SeededFile, db: Path, plan: Plan, others: Sequence[str] = (), stranger: str = "") -> Participants:
    """Copy a seeded file, with the default budgets and all tokens, which are limited to its first company.

    `others`: labels of further tokens; the `stranger` is of another company, with a million calls a minute.
    """
    shutil.copyfile(original.db, db)
    connection = sqlite3.connect(db)
    with contextlib.closing(connection), connection:
        connection.execute("UPDATE company SET reads_per_minute = NULL, writes_per_minute = NULL WHERE id <> 2")
        (company,), (other,) = connection.execute("SELECT public_id FROM company WHERE id < 3 ORDER BY id")
        people = [row[0] for row in connection.execute("SELECT public_id FROM user ORDER BY id")]
        columns: dict[int, list[str]] = {}
        for project, column in connection.execute("SELECT project_id, public_id FROM board_column ORDER BY id"):
            columns.setdefault(project, []).append(column)
        work = [
            Work(ticket, name, columns[project])
            for ticket, name, project in connection.execute(
                """SELECT t.public_id, p.public_id, p.id FROM ticket t JOIN project p ON p.id = t.project_id
                   WHERE p.company_id = 1 AND t.status = 'active' ORDER BY t.id"""
            )
        ]

    labels = [
        *((f"agent {number}", "tickets:write") for number in range(plan.agents)),
        *((f"board {number}", "read") for number in range(plan.boards)),
        *((label, "tickets:write") for label in others),
    ]
    wanted = [
        {
            "user": people[number % len(people)],
            "label": label,
            "scopes": [scope],
            "company_id": other if label == stranger else company,
        }
        for number, (label, scope) in enumerate(labels)
    ]
    tokens = iter(asyncio.run(issue_tokens(db, wanted)))
    agents, boards = (list(itertools.islice(tokens, count)) for count in (plan.agents, plan.boards))
    return Participants(original._replace(db=db), agents, boards, dict(zip(others, tokens, strict=True)), work)


async def issue_tokens(db: Path, wanted: list[dict[str, Any]]) -> list[str]:
    """Issue tokens as the command line does, but open the file once; return their secrets."""
    database = await Database.open(db, readers=1)
    services = Services(database, RateLimiter(time.monotonic), "")
    issue, dispatcher = load_registry()["issue_token"], Dispatcher(services)
    tokens = await asyncio.gather(
        *(dispatcher.dispatch(issue, arguments, RequestContext(operator=True)) for arguments in wanted)
    )
    services.close()
    await database.close()
    return [token.secret for token in tokens]


@contextlib.asynccontextmanager
async def work(server: Server, participants: Participants, plan: Plan) -> AsyncGenerator[LoadResult]:
    """Let all agents and boards work during the block; the result is complete after it."""
    result = LoadResult(CallLog())
    before = _newest_event(participants.seeded.db)
    boards = [Board(server, token, result.log) for token in participants.boards]
    agents = [
        Agent(server, number, token, participants.work[number :: plan.agents], plan.think, result.log)
        for number, token in enumerate(participants.agents)
    ]
    async with _run_clients(boards, agents):
        await asyncio.sleep(min(plan.think * 2, plan.seconds))  # until every agent has begun
        yield result
    events = _events_after(participants.seeded.db, before)
    result.boards_with_gaps = sum(board.received != events for board in boards)


@contextlib.asynccontextmanager
async def _run_clients(boards: list[Board], agents: list[Agent]) -> AsyncGenerator[None]:
    """Run boards and agents during the block; at its end stop the agents first."""
    stop = asyncio.Event()
    listening = [asyncio.create_task(board.run()) for board in boards]
    async with asyncio.timeout(30):
        await asyncio.gather(*(board.listening.wait() for board in boards))
    working = [asyncio.create_task(agent.run(stop)) for agent in agents]
    try:
        yield
    finally:
        stop.set()
        await asyncio.gather(*working)
        await asyncio.sleep(SETTLE_SECONDS)
        for task in listening:
            task.cancel()
        ended = await asyncio.gather(*listening, return_exceptions=True)
    for each in ended:
        if isinstance(each, Exception):
            raise each


async def measure(server: Server, participants: Participants, plan: Plan) -> LoadResult:
    """Run the plan and measure the server meanwhile."""
    async with work(server, participants, plan) as result:
        client = os.getpid()
        started, cpu, stop = time.monotonic(), (cpu_seconds(server.pid), cpu_seconds(client)), asyncio.Event()
        result.log.is_measured = True
        watching = asyncio.create_task(repeat(1, lambda: result.memory.append(group_memory_mb(server.pid)), stop))
        await asyncio.sleep(plan.seconds)
        stop.set()
        await watching
        result.log.is_measured = False
        seconds = time.monotonic() - started
        result.server_share = (cpu_seconds(server.pid) - cpu[0]) / seconds
        result.client_share = (cpu_seconds(client) - cpu[1]) / seconds
    return result


def _newest_event(db: Path) -> int:
    with contextlib.closing(sqlite3.connect(db)) as connection:
        return connection.execute("SELECT max(id) FROM event").fetchone()[0]


def _events_after(db: Path, after: int) -> list[str]:
    """Return the ids of the company's events after this one, in order."""
    question = "SELECT id FROM event WHERE id > ? AND company_id = 1 AND project_id IS NOT NULL ORDER BY id"
    with contextlib.closing(sqlite3.connect(db)) as connection:
        return [encode_event_id(row[0]) for row in connection.execute(question, (after,))]


def main() -> None:
    """Measure and print."""
    standard = Plan()
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, default=Path("/tmp/ticketbox-bench"))
    parser.add_argument("--tickets", type=int, default=100_000)
    parser.add_argument("--agents", type=int, default=standard.agents)
    parser.add_argument("--boards", type=int, default=standard.boards)
    parser.add_argument("--think", type=float, default=standard.think, help="mean seconds between an agent's calls")
    parser.add_argument("--seconds", type=float, default=standard.seconds)
    options: dict[str, Any] = vars(parser.parse_args())
    folder, tickets = options.pop("folder"), options.pop("tickets")
    plan = Plan(**options)
    original = seed(folder / f"{tickets}.db", tickets)
    print(describe_machine(), f"{tickets:,} tickets; {plan}\n", sep="\n")
    participants = prepare(original, folder / "load.db", plan)
    with launch_ticketbox(folder / "load.db") as server, pin_to_core(CLIENT_CORE):
        import uvloop

        result = uvloop.run(measure(server, participants, plan))
    print(format_report(result), f"\nload average at the end {os.getloadavg()[0]:.1f}")
    for fault in result.log.faults[:20]:
        print(fault, file=sys.stderr)
    for left in folder.glob("load.db*"):
        left.unlink()
    sys.exit(result.faults > 0)


if __name__ == "__main__":
    main()
