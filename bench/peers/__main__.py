"""ticketbox beside other trackers: `uv run --group dev python -m bench.peers --tickets 1000 10000`.

All hold the same tickets, and answer the same client on the other core, in turn with ticketbox in every round. A peer
is installed into the folder from PyPI; what Debian has must be there, else the table says what to install. What a
peer refuses doesn't count for its answers a second, and is told; ticketbox may refuse nothing.
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

from bench.client import Sample, load, once
from bench.machine import CLIENT_CORE, describe, pinned, table
from bench.peers.bugsink import Bugsink
from bench.peers.fossil import Fossil
from bench.peers.own import OverMcp, Own
from bench.peers.peer import CREATE, LIST, QUESTIONS, READ, SEARCH, Asked, Peer, texts
from bench.peers.redmine import Redmine
from bench.peers.roundup import Roundup
from bench.peers.rt import RequestTracker
from bench.peers.trac import Trac
from bench.serving import Server

PEERS: dict[str, Peer] = {
    "roundup": Roundup(),
    "trac": Trac(),
    "fossil": Fossil(),
    "bugsink": Bugsink(),
    "redmine": Redmine(),
    "rt": RequestTracker(),
    "mcp": OverMcp(),
}
HEAD = ("question", "peer", "tickets", "clients", "requests/s", "p50 ms", "p99 ms", "refused %",
        "ticketbox: requests/s", "p50 ms", "p99 ms", "times ahead", "at least")  # fmt: skip


def prove(peer: Peer, server: Server, asked: Asked, tickets: int) -> None:
    """Look whether the answers hold what was asked for, by the titles in them. Raises RuntimeError."""
    titles = [plain(title) for title, _ in texts(tickets)]
    least = {READ: 1, LIST: min(50, tickets), SEARCH: min(peer.hits, -(-tickets // 100))}
    for question, count in least.items():
        requests = asked[question]
        assert not callable(requests)
        answer = plain(once(server.url, requests[0]).decode("utf-8", "replace"))
        if (found := sum(title in answer for title in titles)) < count:
            raise RuntimeError(f"{peer.name}, {question}: {found} tickets where there should be {count}")


def plain(text: str) -> str:
    """A text without its spaces and capitals, which not everybody keeps."""
    return text.replace(" ", "").lower()


def ask(peer: Peer, server: Server, asked: Asked, question: str, clients: int, seconds: float) -> Sample:
    """One round of a question; its rate is that of the answers that aren't refusals. Raises RuntimeError."""
    with pinned(CLIENT_CORE):
        sample = load(server.url, asked[question], clients, seconds, peer.created if question == CREATE else b"2")
    if sample.failed == sample.requests or (sample.failed and isinstance(peer, Own)):
        raise RuntimeError(f"{question}: {sample.failed} of {sample.requests} failed: {words(sample.refusal)}")
    return sample._replace(rate=sample.rate * (1 - sample.failed / sample.requests))


def words(answer: bytes) -> str:
    """The end of what an answer says to its reader."""
    page = answer.decode("utf-8", "replace").partition("\r\n\r\n")[2]
    bare = re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL)
    return " ".join(html.unescape(bare).split())[-500:]


def compare(
    name: str, folder: Path, tickets: int, clients: Sequence[int], rounds: int, seconds: float
) -> Iterator[list[object] | str]:
    """A peer and ticketbox in turn; a row for each question and number of clients, or why there is none."""
    with contextlib.ExitStack() as stack:
        started = time.monotonic()
        peer = PEERS[name]
        own = Own(peer.hits)
        ours = (own, *stack.enter_context(own.serving(folder / "ticketbox", tickets)))
        theirs = (peer, *stack.enter_context(peer.serving(folder / name, tickets)))
        for side in (ours, theirs):
            prove(*side, tickets)
        print(f"{name}: {tickets:,} tickets set up in {time.monotonic() - started:.0f} s", file=sys.stderr)
        for question in QUESTIONS:
            for each in clients:
                try:
                    for side in (ours, theirs):
                        ask(*side, question, each, min(seconds, 0.5))
                    pairs = [[ask(*side, question, each, seconds) for side in (ours, theirs)] for _ in range(rounds)]
                except (RuntimeError, OSError) as error:
                    yield f"{peer.name}, {question}, {tickets:,} tickets, {each} clients: {error}"
                    continue
                mine, other = ([pair[place] for pair in pairs] for place in (0, 1))
                ratios = [first.rate / second.rate for first, second in pairs]
                ahead = [statistics.median(ratios), min(ratios)]
                refused = sum(sample.failed for sample in other)
                share = 100 * refused / sum(sample.requests for sample in other)
                yield [question, peer.name, tickets, each, *_figures(other), share, *_figures(mine), *ahead]
                if refused:
                    said = words(next(sample.refusal for sample in other if sample.failed))
                    yield f"{peer.name}, {question}, {tickets:,} tickets, {each} clients, refused: {said}"


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
    given = parser.parse_args()
    print(describe(), f"{given.rounds} rounds of {given.seconds} s\n", sep="\n")
    rows: list[list[object]] = []
    left_out: list[str] = []
    for name in given.only:
        try:
            if (what := PEERS[name].missing(given.folder / name)) is not None:
                left_out.append(f"{PEERS[name].name} isn't here: {what}")
                continue
            version = PEERS[name].install(given.folder / name)
            print(f"{PEERS[name].name} {version}")
            for tickets in given.tickets:
                for row in compare(name, given.folder, tickets, given.clients, given.rounds, given.seconds):
                    (left_out if isinstance(row, str) else rows).append(row)  # type: ignore[arg-type]
        except (RuntimeError, OSError) as error:
            left_out.append(f"{PEERS[name].name} couldn't be measured: {error}")
    print("", table(HEAD, rows), *left_out, sep="\n")


if __name__ == "__main__":
    main()
