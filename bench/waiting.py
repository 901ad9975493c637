"""Agents that wait for events: `uv run --group dev python -m bench.waiting --agents 1000`.

Each round measures the reads of one client on an idle server, then opens a waiting call for each agent, measures the
same reads again and the memory, creates a ticket, and measures when the calls return it.
"""

import argparse
import json
import select
import shutil
import socket
import statistics
import tempfile
import time
from pathlib import Path

from bench.client import fetch, get, post
from bench.launch import Server, launch_ticketbox
from bench.machine import CLIENT_CORE, describe_machine, format_table, memory_mb, percentile, pin_to_core
from bench.reads import run_round
from bench.seed import SeededFile, seed
from ticketbox.cli.core.operations import run_operation
from ticketbox.operations.core.live.listeners import MAX_WAITING_PER_CREDENTIAL

WAIT_SECONDS = 50
HEAD = ("round", "p50 ms calm", "p50 ms waiting", "p99 ms calm", "p99 ms waiting", "MB calm", "MB waiting",
        "first event ms", "median ms", "last ms")  # fmt: skip


class WaitingAgents:
    """Connections with one waiting call each."""

    def __init__(self, server: Server, tokens: list[str], agents: int) -> None:
        host, port = server.host.split(":")
        path = f"/api/v1/events/wait?wait_seconds={WAIT_SECONDS}&types=ticket.created"
        self._sockets: dict[int, socket.socket] = {}
        self._poll = select.epoll()
        for number in range(agents):
            connection = socket.create_connection((host, int(port)))
            connection.sendall(get(path, server.host, tokens[number % len(tokens)]))
            self._sockets[connection.fileno()] = connection
            self._poll.register(connection.fileno(), select.EPOLLIN)

    def collect(self, started: float) -> list[float]:
        """Receive every response; return the seconds until each. Raises RuntimeError if one comes without the event."""
        seconds: list[float] = []
        received = dict.fromkeys(self._sockets, b"")
        while self._sockets:
            ready = self._poll.poll(WAIT_SECONDS)
            for number, _ in ready:
                part = self._sockets[number].recv(65_536)
                received[number] += part
                if b"ticket.created" in received[number]:
                    seconds.append(time.perf_counter() - started)
                    self._poll.unregister(number)
                    self._sockets.pop(number).close()
                elif not part:
                    raise RuntimeError(received[number][:1000].decode("latin-1") or "a waiting call was cut off")
            if not ready:
                raise RuntimeError(f"{len(self._sockets)} calls got no event")
        return seconds


def count_waiting(server: Server) -> int:
    """Return how many calls wait, by the server's metrics."""
    text = fetch(server.url, get("/metrics", server.host, None)).decode()
    return next(
        int(float(line.split()[1])) for line in text.splitlines() if line.startswith("ticketbox_waiting_calls ")
    )


def run(server: Server, seeded: SeededFile, tokens: list[str], agents: int, seconds: float) -> list[float]:
    """Run one round; return a row of the table."""
    reads = [get(f"/api/v1/tickets/{ticket}", server.host, seeded.token) for ticket in seeded.tickets]
    run_round(server, reads, 1, 0.5)
    calm = run_round(server, reads, 1, seconds).sample
    memory = memory_mb(server.pid, "VmRSS")
    with pin_to_core(CLIENT_CORE):
        waiting = WaitingAgents(server, tokens, agents)
        while count_waiting(server) < agents:
            time.sleep(0.05)
        after = memory_mb(server.pid, "VmRSS")
        busy = run_round(server, reads, 1, seconds).sample
        body = json.dumps({"project_id": seeded.project, "title": "Wake up"}).encode()
        started = time.perf_counter()
        fetch(server.url, post("/api/v1/tickets", server.host, seeded.token, body))
        times = [1000 * each for each in waiting.collect(started)]
    return [calm.p50, busy.p50, calm.p99, busy.p99, memory, after, min(times), percentile(times, 0.5), max(times)]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--agents", type=int, default=1_000)
    parser.add_argument("--tickets", type=int, default=1_000)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/ticketbox-bench"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5.0)
    options = parser.parse_args()
    original = seed(options.folder / f"{options.tickets}.db", options.tickets)
    print(describe_machine(), f"{options.agents:,} waiting agents, {options.rounds} rounds\n", sep="\n")
    with tempfile.TemporaryDirectory() as folder:
        seeded = original._replace(db=Path(shutil.copy(original.db, folder)))
        arguments = {"user": "bench@example.org", "label": "waiting", "scopes": ["read"]}
        count = -(-options.agents // MAX_WAITING_PER_CREDENTIAL)
        tokens = [run_operation(seeded.db, "issue_token", arguments).secret for _ in range(count)]
        with launch_ticketbox(seeded.db) as server:
            rows = [run(server, seeded, tokens, options.agents, options.seconds) for _ in range(options.rounds)]
    print(format_table(HEAD, [[number, *row] for number, row in enumerate(rows, 1)]))
    ratio = statistics.median(row[3] / row[2] for row in rows)
    grown = max(row[5] - row[4] for row in rows)
    print(f"\np99 of reads with waiting agents / without: {ratio:.2f}; memory, at most: {grown:.1f} MB")


if __name__ == "__main__":
    main()
