"""ticketbox compared with other trackers: `uv run --group dev python -m bench.peers --tickets 1000 10000`.

All have the same tickets, and in every round a client on the other core loads the peer and ticketbox one after the
other. A peer from PyPI is installed into the folder; for one from Debian, the report says what to install. Failed
requests don't count for a peer's rate and are reported; ticketbox must not fail any.
"""

import argparse
import contextlib
import html
import re
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.client import Sample, fetch, load
from bench.launch import Server
from bench.machine import CLIENT_CORE, describe_machine, format_table, pin_to_core
from bench.peers.peer import CREATE, LIST, OPERATIONS, READ, SEARCH, Peer, Requests, ticket_texts
from bench.peers.redmine import Redmine
from bench.peers.ticketbox import Ticketbox
from bench.peers.trac import Trac

PEERS: dict[str, Peer] = {
    "trac": Trac(),
    "redmine": Redmine(),
}
HEAD = ("operation", "peer", "tickets", "clients", "requests/s", "p50 ms", "p99 ms", "failed %",
        "ticketbox: requests/s", "p50 ms", "p99 ms", "ticketbox is × faster", "at least")  # fmt: skip


def check_responses(peer: Peer, server: Server, requests: Requests, tickets: int) -> None:
    """Check by their titles that the responses contain the tickets. Raises RuntimeError."""
    titles = [normalize(title) for title, _ in ticket_texts(tickets)]
    least = {READ: 1, LIST: min(50, tickets), SEARCH: min(peer.search_page_size, -(-tickets // 100))}
    for operation, count in least.items():
        sent = requests[operation]
        assert not callable(sent)
        response = normalize(fetch(server.url, sent[0]).decode("utf-8", "replace"))
        if (result := sum(title in response for title in titles)) < count:
            raise RuntimeError(f"{peer.name}, {operation}: {result} tickets where there should be {count}")


def normalize(text: str) -> str:
    """Remove spaces and capitals, which some trackers change."""
    return text.replace(" ", "").lower()


def run_round(peer: Peer, server: Server, requests: Requests, operation: str, clients: int, seconds: float) -> Sample:
    """Run one round; the rate is that of successful requests. Raises RuntimeError if none or ticketbox's fail."""
    with pin_to_core(CLIENT_CORE):
        sample = load(
            server.url, requests[operation], clients, seconds, peer.create_status if operation == CREATE else b"2"
        )
    if sample.failed == sample.requests or (sample.failed and isinstance(peer, Ticketbox)):
        raise RuntimeError(f"{operation}: {sample.failed} of {sample.requests} failed: {extract_text(sample.refusal)}")
    return sample._replace(rate=sample.rate * (1 - sample.failed / sample.requests))


def extract_text(response: bytes) -> str:
    """Return the end of the text of a response."""
    page = response.decode("utf-8", "replace").partition("\r\n\r\n")[2]
    text = re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL)
    return " ".join(html.unescape(text).split())[-500:]


def compare(
    name: str, folder: Path, tickets: int, clients: Sequence[int], rounds: int, seconds: float
) -> Iterator[list[object] | str]:
    """Load a peer and ticketbox alternately; yield a row for each operation and number of clients, or an error."""
    with contextlib.ExitStack() as stack:
        started = time.monotonic()
        peer = PEERS[name]
        own = Ticketbox(peer.search_page_size)
        ours = (own, *stack.enter_context(own.serve(folder / "ticketbox", tickets)))
        theirs = (peer, *stack.enter_context(peer.serve(folder / name, tickets)))
        for side in (ours, theirs):
            check_responses(*side, tickets)
        print(f"{name}: {tickets:,} tickets set up in {time.monotonic() - started:.0f} s", file=sys.stderr)
        for operation in OPERATIONS:
            for each in clients:
                try:
                    for side in (ours, theirs):
                        run_round(*side, operation, each, min(seconds, 0.5))
                    pairs = [
                        [run_round(*side, operation, each, seconds) for side in (ours, theirs)] for _ in range(rounds)
                    ]
                except (RuntimeError, OSError) as error:
                    yield f"{peer.name}, {operation}, {tickets:,} tickets, {each} clients: {error}"
                    continue
                mine, other = ([pair[index] for pair in pairs] for index in (0, 1))
                ratios = [first.rate / second.rate for first, second in pairs]
                ahead = [statistics.median(ratios), min(ratios)]
                failed = sum(sample.failed for sample in other)
                share = 100 * failed / sum(sample.requests for sample in other)
                yield [operation, peer.name, tickets, each, *_figures(other), share, *_figures(mine), *ahead]
                if failed:
                    problem = extract_text(next(sample.refusal for sample in other if sample.failed))
                    yield f"{peer.name}, {operation}, {tickets:,} tickets, {each} clients, failed: {problem}"


def _figures(samples: list[Sample]) -> list[float]:
    return [
        statistics.median(sample.rate for sample in samples),
        statistics.median(sample.p50 for sample in samples),
        statistics.median(sample.p99 for sample in samples),
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tickets", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--folder", type=Path, default=Path("/tmp/ticketbox-bench/peers"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--only", nargs="+", choices=list(PEERS), default=list(PEERS))
    options = parser.parse_args()
    print(describe_machine(), f"{options.rounds} rounds of {options.seconds} s\n", sep="\n")
    rows: list[list[object]] = []
    skipped: list[str] = []
    for name in options.only:
        try:
            if (install := PEERS[name].missing_requirement(options.folder / name)) is not None:
                skipped.append(f"{PEERS[name].name} isn't installed: {install}")
                continue
            version = PEERS[name].install(options.folder / name)
            print(f"{PEERS[name].name} {version}")
            for tickets in options.tickets:
                for row in compare(name, options.folder, tickets, options.clients, options.rounds, options.seconds):
                    (skipped if isinstance(row, str) else rows).append(row)  # type: ignore[arg-type]
        except (RuntimeError, OSError) as error:
            skipped.append(f"{PEERS[name].name} couldn't be measured: {error}")
    print("", format_table(HEAD, rows), *skipped, sep="\n")


if __name__ == "__main__":
    main()
