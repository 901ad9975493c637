"""A busy day in minutes: `uv run --group dev python -m bench.load`, about 22 minutes.

200 agents with a token each (bench/agents.py) and 50 boards that listen, all of one company, with the default
budgets. First ten minutes of this alone; then each of those who disturb (bench/disturbing.py) for some seconds, in turn
with as many calm ones beside it. The server has one core, everybody else the other; backups run on the server's.
It ends with status 1 when anything was refused or lost that shouldn't have been.
"""

import argparse
import asyncio
import contextlib
import itertools
import os
import shutil
import sqlite3
import statistics
import sys
import time
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from bench.agents import Agent, Board, Record, Work, every
from bench.disturbing import KINDS, Disturber, Task
from bench.machine import CLIENT_CORE, cpu_seconds, describe, memory_mb, percentile, pinned, start_highest, table
from bench.seed import Seeded, seed
from bench.serving import Server, ticketbox
from ticketbox.domain.core.limits import RateLimiter
from ticketbox.operations.catalogue import registry
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.services import Services
from ticketbox.store.events.events import encode_event_id
from ticketbox.store.file.database import Database

READS = {"search", "list of 50", "get_ticket"}
STEPS = ("search", "list of 50", "get_ticket", "claim", "comment", "move", "let go")
ALONE = "alone"


class Plan(msgspec.Struct, frozen=True):
    """How large and how long; `rounds` of `beside` seconds calm and `beside` seconds disturbed, for each kind.

    `think` is the mean of seconds between an agent's calls; `settle` seconds pass before a disturbed phase and after.
    """

    agents: int = 200
    boards: int = 50
    think: float = 3.0
    seconds: float = 600
    beside: float = 15
    rounds: int = 4
    kinds: Sequence[str] = tuple(KINDS)
    settle: float = 1.0


class Found(msgspec.Struct):
    """What a run showed: of the alone part memory in MB, once a second, and processor time as a share of a core.

    `more_memory` is the highest of each disturbed phase above what there was before it.
    """

    record: Record
    missed: int = 0
    memory: list[float] = []
    more_memory: dict[str, list[float]] = {}
    server_share: float = 0
    client_share: float = 0
    saw: dict[str, dict[str, int]] = {}

    @property
    def faults(self) -> int:
        """Everything that shouldn't have been."""
        return len(self.record.faults) + self.missed + sum(each["faults"] for each in self.saw.values())


class Cast(msgspec.Struct):
    """The file with its tokens: one for each agent, each board and each who disturbs, and the agents' tickets."""

    seeded: Seeded
    agents: list[str]
    boards: list[str]
    others: dict[str, str]
    work: list[Work]


def prepare(original: Seeded, db: Path, plan: Plan) -> Cast:
    """A copy of a seeded file with the default budgets and all tokens, pinned to its first company."""
    shutil.copyfile(original.db, db)
    connection = sqlite3.connect(db)
    with contextlib.closing(connection), connection:
        connection.execute("UPDATE company SET reads_per_minute = NULL, writes_per_minute = NULL")
        (company,) = connection.execute("SELECT public_id FROM company WHERE id = 1").fetchone()
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
        {"user": people[number % len(people)], "label": label, "scopes": [scope], "company_id": company}
        for number, (label, scope) in enumerate(labels)
    ]
    tokens = iter(asyncio.run(_issued(db, wanted)))
    agents, boards = (list(itertools.islice(tokens, count)) for count in (plan.agents, plan.boards))
    return Cast(original._replace(db=db), agents, boards, dict(zip(plan.kinds, tokens, strict=True)), work)


async def _issued(db: Path, wanted: list[dict[str, Any]]) -> list[str]:
    """The secrets of new tokens, made as the command line makes them, but with the file opened once."""
    database = await Database.open(db, readers=1)
    services = Services(database, RateLimiter(time.monotonic), "")
    issue, dispatcher = registry()["issue_token"], Dispatcher(services)
    made = await asyncio.gather(*(dispatcher.dispatch(issue, given, RequestContext(operator=True)) for given in wanted))
    services.close()
    await database.close()
    return [token.secret for token in made]


async def run(server: Server, cast: Cast, plan: Plan) -> Found:
    """Let them all work, and disturb them."""
    found = Found(Record())
    before = _newest(cast.seeded.db)
    boards = [Board(server, token, found.record) for token in cast.boards]
    agents = [
        Agent(server, number, token, cast.work[number :: plan.agents], plan.think, found.record)
        for number, token in enumerate(cast.agents)
    ]
    async with _all(boards, agents, plan.settle):
        await asyncio.sleep(min(plan.think * 2, plan.seconds))  # until every agent is under way
        await _alone(server, plan, found)
        with contextlib.ExitStack() as stack:
            for kind in plan.kinds:
                found.saw[kind] = {"faults": 0}
                for _ in range(plan.rounds):
                    task = Task(kind, server.url, str(cast.seeded.db), cast.others[kind], cast.seeded.project,
                                cast.seeded.tickets[0])  # fmt: skip
                    disturber = await asyncio.to_thread(Disturber, task)
                    stack.callback(disturber.kill)
                    await _beside(server, disturber, kind, plan, found)
    events = _events(cast.seeded.db, before)
    for board in boards:
        found.missed += board.heard != events
    return found


@contextlib.asynccontextmanager
async def _all(boards: list[Board], agents: list[Agent], settle: float) -> AsyncGenerator[None]:
    """Boards that listen and agents that work meanwhile; at the end the agents go home first."""
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


async def _alone(server: Server, plan: Plan, found: Found) -> None:
    own = os.getpid()
    started, cpu, stop = time.monotonic(), (cpu_seconds(server.pid), cpu_seconds(own)), asyncio.Event()
    found.record.phase = ALONE
    watching = asyncio.create_task(every(1, lambda: found.memory.append(memory_mb(server.pid, "VmRSS")), stop))
    await asyncio.sleep(plan.seconds)
    stop.set()
    await watching
    found.record.phase = ""
    taken = time.monotonic() - started
    found.server_share = (cpu_seconds(server.pid) - cpu[0]) / taken
    found.client_share = (cpu_seconds(own) - cpu[1]) / taken


async def _beside(server: Server, disturber: Disturber, kind: str, plan: Plan, found: Found) -> None:
    """Some calm seconds, then as many with one who disturbs. Each phase counts what was begun in it."""
    more = found.more_memory.setdefault(kind, [])
    found.record.phase = f"calm, {kind}, {len(more)}"
    await asyncio.sleep(plan.beside)
    found.record.phase = ""
    before = memory_mb(server.pid, "VmRSS")
    start_highest(server.pid)
    disturber.begin()
    await asyncio.sleep(plan.settle)
    found.record.phase = f"beside, {kind}, {len(more)}"
    await asyncio.sleep(plan.beside)
    found.record.phase = ""
    for name, count in (await asyncio.to_thread(disturber.end)).items():
        found.saw[kind][name] = found.saw[kind].get(name, 0) + count
    more.append(memory_mb(server.pid) - before)
    await asyncio.sleep(plan.settle)


def _newest(db: Path) -> int:
    with contextlib.closing(sqlite3.connect(db)) as connection:
        return connection.execute("SELECT max(id) FROM event").fetchone()[0]


def _events(db: Path, after: int) -> list[str]:
    """The ids of the company's events after one, in their order."""
    question = "SELECT id FROM event WHERE id > ? AND company_id = 1 AND project_id IS NOT NULL ORDER BY id"
    with contextlib.closing(sqlite3.connect(db)) as connection:
        return [encode_event_id(row[0]) for row in connection.execute(question, (after,))]


def told(found: Found) -> str:
    """The tables."""
    calls = [call for call in found.record.calls if call.phase == ALONE]
    rows: list[list[object]] = []
    for step in STEPS:
        for surface in ("REST", "MCP"):
            times = [call.seconds * 1000 for call in calls if (call.step, call.surface) == (step, surface)]
            if times:
                rows.append([step, surface, len(times), *_figures(times)])
    heard = [delay * 1000 for phase, delay in found.record.delays if phase == ALONE]
    if heard:
        rows.append(["an event, until a board has it", "stream", len(heard), *_figures(heard)])
    lines = [table(("step", "surface", "calls", "p50 ms", "p99 ms", "longest ms"), rows), ""]
    lines.append(
        f"faults: {len(found.record.faults)}; boards that didn't hear every event once and in order: {found.missed}; "
        f"of a core the server took {found.server_share:.0%}, the client {found.client_share:.0%}"
    )
    if found.memory:
        start, peak, end = found.memory[0], max(found.memory), found.memory[-1]
        lines.append(f"the server's memory: {start:.0f} MB at the start, {peak:.0f} at most, {end:.0f} at the end")
    if found.saw:
        lines += ["", table(("beside", "what", "calm p99 ms", "disturbed p99 ms", "ratio", "ratio by turns", "calls"),
                            [row for kind in found.saw for row in _compared(found, kind)])]  # fmt: skip
        rows = [[kind, max(found.more_memory[kind]), _counts(saw)] for kind, saw in found.saw.items()]
        lines += ["", table(("beside", "memory, MB more", "what it saw"), rows)]
    return "\n".join(lines)


def _counts(saw: dict[str, int]) -> str:
    return ", ".join(f"{name}: {count:,}" for name, count in saw.items())


def _figures(times: list[float]) -> list[float]:
    return [percentile(times, 0.5), percentile(times, 0.99), max(times)]


def _compared(found: Found, kind: str) -> list[list[object]]:
    """A row for reads and one for writes: the p99 of all calm and all disturbed calls, and the turns' median ratio."""
    rows: list[list[object]] = []
    for what, reads in (("reads", True), ("writes", False)):
        turns: dict[str, dict[str, list[float]]] = {}
        for call in found.record.calls:
            state, _, rest = call.phase.partition(", ")
            if rest.startswith(kind) and (call.step in READS) == reads:
                turns.setdefault(rest, {}).setdefault(state, []).append(call.seconds * 1000)
        whole = [turn for turn in turns.values() if len(turn) == 2]
        if not whole:
            continue
        calm, beside = ([time for turn in whole for time in turn[state]] for state in ("calm", "beside"))
        ratios = [percentile(turn["beside"], 0.99) / percentile(turn["calm"], 0.99) for turn in whole]
        base, p99 = percentile(calm, 0.99), percentile(beside, 0.99)
        rows.append([kind, what, base, p99, p99 / base, statistics.median(ratios), len(calm) + len(beside)])
    return rows


def measure(original: Seeded, db: Path, plan: Plan) -> Found:
    """Prepare a file, serve it, and run the plan."""
    cast = prepare(original, db, plan)
    with ticketbox(db) as server, pinned(CLIENT_CORE):
        import uvloop

        return uvloop.run(run(server, cast, plan))


def main() -> None:
    """Measure and print."""
    standard = Plan()
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, default=Path("/tmp/ticketbox-bench"))
    parser.add_argument("--tickets", type=int, default=100_000)
    parser.add_argument("--agents", type=int, default=standard.agents)
    parser.add_argument("--boards", type=int, default=standard.boards)
    parser.add_argument("--think", type=float, default=standard.think, help="mean seconds between an agent's calls")
    parser.add_argument("--seconds", type=float, default=standard.seconds, help="of the part without disturbers")
    parser.add_argument("--beside", type=float, default=standard.beside, help="seconds of each phase, calm or not")
    parser.add_argument("--rounds", type=int, default=standard.rounds)
    parser.add_argument("--only", nargs="*", choices=list(KINDS), default=list(KINDS), dest="kinds")
    given: dict[str, Any] = vars(parser.parse_args())
    folder, tickets = given.pop("folder"), given.pop("tickets")
    plan = Plan(**given)
    original = seed(folder / f"{tickets}.db", tickets)
    print(describe(), f"{tickets:,} tickets; {plan}\n", sep="\n")
    found = measure(original, folder / "load.db", plan)
    print(told(found), f"\nload average at the end {os.getloadavg()[0]:.1f}")
    for fault in found.record.faults[:20]:
        print(fault, file=sys.stderr)
    for left in folder.glob("load.db*"):
        left.unlink()
    sys.exit(found.faults > 0)


if __name__ == "__main__":
    main()
