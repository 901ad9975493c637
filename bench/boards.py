"""Boards that listen to events: `uv run --group dev python -m bench.boards --boards 0 50 200 1000`.

For each number of boards, comments are written at an even rate while the boards listen to every event. It measures the
server's processor time for each second, and when an event reaches the boards. With `--beside FOLDER`, the same is
measured in another checkout, in alternation.
"""

import argparse
import asyncio
import contextlib
import json
import shutil
import sqlite3
import statistics
import tempfile
from pathlib import Path

from bench.agents import Board, CallLog, Connection
from bench.client import post
from bench.launch import ROOT, Server, launch
from bench.load import issue_tokens
from bench.machine import CLIENT_CORE, cpu_seconds, describe_machine, format_table, percentile, pin_to_core
from bench.seed import SeededFile, seed
from ticketbox.operations.core.live.listeners import MAX_LISTENERS_PER_CREDENTIAL

HEAD = ("checkout", "boards", "round", "events", "processor ms a second", "p50 ms", "p99 ms", "missed")
MOST_STREAMS = "100000"


async def measure(server: Server, seeded: SeededFile, tokens: list[str], rate: float, seconds: float) -> list[float]:
    """Write comments while boards listen; return the events, the processor time, the delays and what was missed."""
    log = CallLog()
    boards = [Board(server, token, log) for token in tokens]
    listening = [asyncio.create_task(board.run()) for board in boards]
    body = json.dumps({"body": "Found it: the coupon's total is read before it is written."}).encode()
    request = post(f"/api/v1/tickets/{seeded.tickets[0]}/comments", server.host, seeded.token, body)
    connection = Connection(server)
    response = await connection.request(request)  # the first event of the streams
    if response.status != 201:
        raise RuntimeError(response.body.decode())
    await asyncio.gather(*(board.listening.wait() for board in boards))
    await asyncio.sleep(4)  # the server loads the MCP SDK in the background
    log.delays.clear()
    loop = asyncio.get_running_loop()
    started, before, events = loop.time(), cpu_seconds(server.pid), 0
    while (now := loop.time()) < started + seconds:
        await connection.request(request)
        events += 1
        await asyncio.sleep(max(0, started + events / rate - now))
    used = (cpu_seconds(server.pid) - before) / (loop.time() - started)
    await asyncio.sleep(3)
    connection.close()
    for task in listening:
        task.cancel()
    await asyncio.gather(*listening, return_exceptions=True)
    if log.faults:
        raise RuntimeError(log.faults[0])
    delays = [1000 * delay for _, delay in log.delays] or [0.0]
    missed = events * len(boards) - len(log.delays)
    return [events, 1000 * used, statistics.median(delays), percentile(delays, 0.99), missed]


def issue_board_tokens(db: Path, count: int) -> list[str]:
    """Issue the tokens of the boards, of all the file's people in turns, and return one for each board."""
    with contextlib.closing(sqlite3.connect(db)) as connection:
        people = [row[0] for row in connection.execute("SELECT public_id FROM user ORDER BY id")]
        (company,) = connection.execute("SELECT public_id FROM company WHERE id = 1").fetchone()
    wanted = [
        {"user": people[number % len(people)], "label": f"board {number}", "scopes": ["read"], "company_id": company}
        for number in range(-(-count // MAX_LISTENERS_PER_CREDENTIAL))
    ]
    tokens = asyncio.run(issue_tokens(db, wanted))
    return [tokens[number % len(tokens)] for number in range(count)]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--boards", type=int, nargs="+", default=[0, 50, 200, 1_000])
    parser.add_argument("--rate", type=float, default=20, help="comments a second")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/ticketbox-bench"))
    parser.add_argument("--beside", type=Path, help="another checkout")
    options = parser.parse_args()
    original = seed(options.folder / "1000.db", 1_000)
    print(describe_machine(), f"{options.rate:g} comments a second for {options.seconds:g} s\n", sep="\n")
    rows: list[list[object]] = []
    with tempfile.TemporaryDirectory() as folder:
        for boards in options.boards:
            seeded = original._replace(db=Path(shutil.copy(original.db, folder)))
            tokens = issue_board_tokens(seeded.db, boards) if boards else []
            for number in range(1, options.rounds + 1):
                for tree in (ROOT, options.beside) if options.beside else (ROOT,):
                    arguments = ["-m", "ticketbox", "serve", "--db", str(seeded.db), "--port", "0", "--no-open"]
                    arguments += ["--max-event-streams", MOST_STREAMS]
                    with launch(arguments, tree) as server, pin_to_core(CLIENT_CORE):
                        figures = asyncio.run(measure(server, seeded, tokens, options.rate, options.seconds))
                    rows.append([tree.name, boards, number, *figures])
                    print(rows[-1], flush=True)
    print(format_table(HEAD, rows))


if __name__ == "__main__":
    main()
