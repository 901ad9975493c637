"""Load of a large team: `uv run --group dev python -m bench.load`, about 22 minutes.

200 agents, each with a token (bench/agents.py), and 50 boards that listen to events, all of one company, with the
default budgets. The abusers are of another company, with a million calls a minute. First ten minutes of that alone;
then, for each noisy neighbour (bench/noisy_neighbours.py), calm and disturbed phases in alternation. The server has
one core and the clients the other; backups run on the server's. The exit status is 1 if a request failed or an event
was lost.
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
from bench.load_report import ALONE, LoadResult, format_report
from bench.machine import (
    CLIENT_CORE,
    cpu_seconds,
    describe_machine,
    group_memory_mb,
    memory_mb,
    pin_to_core,
    reset_peak_memory,
)
from bench.noisy_neighbours import ABUSERS, KINDS, NoisyNeighbour, Task
from bench.seed import SeededFile, seed
from ticketbox.domain.core.fairness.limits import RateLimiter
from ticketbox.operations.catalogue import load_registry
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.services import Services
from ticketbox.store.events.events import encode_event_id
from ticketbox.store.file.database import Database

SAMPLE_SECONDS = 0.2


class Plan(msgspec.Struct, frozen=True):
    """Sizes and times. Each noisy neighbour has `rounds` of a calm and a disturbed phase, each of `beside` seconds.

    `think` is the mean pause between an agent's calls; `settle` is the pause before and after a disturbed phase; both
    are in seconds.
    """

    agents: int = 200
    boards: int = 50
    think: float = 3.0
    seconds: float = 600
    beside: float = 15
    rounds: int = 4
    kinds: Sequence[str] = tuple(KINDS)
    settle: float = 1.0


class Participants(msgspec.Struct):
    """The file, a token for each agent, board and noisy neighbour, and the agents' tickets."""

    seeded: SeededFile
    agents: list[str]
    boards: list[str]
    neighbours: dict[str, str]
    work: list[Work]


def prepare(original: SeededFile, db: Path, plan: Plan) -> Participants:
    """Copy a seeded file, with the default budgets and all tokens, which are limited to its first company."""
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
        *((kind, "tickets:write") for kind in plan.kinds),
    ]
    wanted = [
        {
            "user": people[number % len(people)],
            "label": label,
            "scopes": [scope],
            "company_id": other if label == ABUSERS else company,
        }
        for number, (label, scope) in enumerate(labels)
    ]
    tokens = iter(asyncio.run(issue_tokens(db, wanted)))
    agents, boards = (list(itertools.islice(tokens, count)) for count in (plan.agents, plan.boards))
    return Participants(original._replace(db=db), agents, boards, dict(zip(plan.kinds, tokens, strict=True)), work)


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


async def run(server: Server, participants: Participants, plan: Plan) -> LoadResult:
    """Run the clients alone, then beside each noisy neighbour."""
    result = LoadResult(CallLog())
    before = _newest_event(participants.seeded.db)
    boards = [Board(server, token, result.log) for token in participants.boards]
    agents = [
        Agent(server, number, token, participants.work[number :: plan.agents], plan.think, result.log)
        for number, token in enumerate(participants.agents)
    ]
    async with _run_clients(boards, agents, plan.settle):
        await asyncio.sleep(min(plan.think * 2, plan.seconds))  # until every agent has begun
        await _measure_alone(server, plan, result)
        with contextlib.ExitStack() as stack:
            for kind in plan.kinds:
                result.counts[kind] = {"faults": 0}
                for _ in range(plan.rounds):
                    db, _, project, tickets = participants.seeded
                    task = Task(kind, server.url, str(db), participants.neighbours[kind], project, tickets[0])
                    neighbour = await asyncio.to_thread(NoisyNeighbour, task)
                    stack.callback(neighbour.kill)
                    await _measure_beside(server, neighbour, kind, plan, result)
    events = _events_after(participants.seeded.db, before)
    for board in boards:
        result.boards_with_gaps += board.received != events
    return result


@contextlib.asynccontextmanager
async def _run_clients(boards: list[Board], agents: list[Agent], settle: float) -> AsyncGenerator[None]:
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
        await asyncio.sleep(settle)
        for task in listening:
            task.cancel()
        ended = await asyncio.gather(*listening, return_exceptions=True)
    for each in ended:
        if isinstance(each, Exception):
            raise each


async def _measure_alone(server: Server, plan: Plan, result: LoadResult) -> None:
    client = os.getpid()
    started, cpu, stop = time.monotonic(), (cpu_seconds(server.pid), cpu_seconds(client)), asyncio.Event()
    result.log.phase = ALONE
    watching = asyncio.create_task(repeat(1, lambda: result.memory.append(group_memory_mb(server.pid)), stop))
    await asyncio.sleep(plan.seconds)
    stop.set()
    await watching
    result.log.phase = ""
    seconds = time.monotonic() - started
    result.server_share = (cpu_seconds(server.pid) - cpu[0]) / seconds
    result.client_share = (cpu_seconds(client) - cpu[1]) / seconds


async def _measure_beside(server: Server, neighbour: NoisyNeighbour, kind: str, plan: Plan, result: LoadResult) -> None:
    """Measure a calm phase, then a disturbed one. A call belongs to the phase it began in."""
    more = result.more_memory.setdefault(kind, [])
    result.log.phase = f"calm, {kind}, {len(more)}"
    await asyncio.sleep(plan.beside)
    result.log.phase = ""
    server_before, group_before = memory_mb(server.pid, "VmRSS"), group_memory_mb(server.pid)
    reset_peak_memory(server.pid)
    group: list[float] = []
    stop = asyncio.Event()
    watching = asyncio.create_task(repeat(SAMPLE_SECONDS, lambda: group.append(group_memory_mb(server.pid)), stop))
    neighbour.begin()
    await asyncio.sleep(plan.settle)
    result.log.phase = f"beside, {kind}, {len(more)}"
    await asyncio.sleep(plan.beside)
    result.log.phase = ""
    for name, count in (await asyncio.to_thread(neighbour.end)).items():
        result.counts[kind][name] = result.counts[kind].get(name, 0) + count
    stop.set()
    await watching
    # the server's own peak is exact; that of the server with its worker processes has to be sampled
    more.append(max(memory_mb(server.pid) - server_before, max(group) - group_before))
    await asyncio.sleep(plan.settle)


def _newest_event(db: Path) -> int:
    with contextlib.closing(sqlite3.connect(db)) as connection:
        return connection.execute("SELECT max(id) FROM event").fetchone()[0]


def _events_after(db: Path, after: int) -> list[str]:
    """Return the ids of the company's events after this one, in order."""
    question = "SELECT id FROM event WHERE id > ? AND company_id = 1 AND project_id IS NOT NULL ORDER BY id"
    with contextlib.closing(sqlite3.connect(db)) as connection:
        return [encode_event_id(row[0]) for row in connection.execute(question, (after,))]


def measure(original: SeededFile, db: Path, plan: Plan) -> LoadResult:
    """Prepare a file, serve it and run the plan."""
    participants = prepare(original, db, plan)
    with launch_ticketbox(db) as server, pin_to_core(CLIENT_CORE):
        import uvloop

        return uvloop.run(run(server, participants, plan))


def main() -> None:
    """Measure and print."""
    standard = Plan()
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, default=Path("/tmp/ticketbox-bench"))
    parser.add_argument("--tickets", type=int, default=100_000)
    parser.add_argument("--agents", type=int, default=standard.agents)
    parser.add_argument("--boards", type=int, default=standard.boards)
    parser.add_argument("--think", type=float, default=standard.think, help="mean seconds between an agent's calls")
    parser.add_argument("--seconds", type=float, default=standard.seconds, help="of the part without noisy neighbours")
    parser.add_argument("--beside", type=float, default=standard.beside, help="seconds of each phase, calm or not")
    parser.add_argument("--rounds", type=int, default=standard.rounds)
    parser.add_argument("--only", nargs="*", choices=list(KINDS), default=list(KINDS), dest="kinds")
    options: dict[str, Any] = vars(parser.parse_args())
    folder, tickets = options.pop("folder"), options.pop("tickets")
    plan = Plan(**options)
    original = seed(folder / f"{tickets}.db", tickets)
    print(describe_machine(), f"{tickets:,} tickets; {plan}\n", sep="\n")
    result = measure(original, folder / "load.db", plan)
    print(format_report(result), f"\nload average at the end {os.getloadavg()[0]:.1f}")
    for fault in result.log.faults[:20]:
        print(fault, file=sys.stderr)
    for left in folder.glob("load.db*"):
        left.unlink()
    sys.exit(result.faults > 0)


if __name__ == "__main__":
    main()
