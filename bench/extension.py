"""What the extension's recorder costs a page: `uv run python -m bench.extension`, about five minutes.

The page asks for rows, renders them and logs, as fast as it can. One browser shows it again and again, in turns under
two names that are alike but for one thing: one of them is recorded. Each visit has a process of its own; two visits
are a pair. A second browser records the other name. No debugger is attached, as with people. `cpu` is the processor
time of the page's own process (/proc/…/schedstat), which other work on the machine changes little; `time` is what
passed.
"""

import argparse
import json
import os
import queue
import random
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

from bench.machine import cpu_seconds, describe, table
from tests.e2e.browser import ARGUMENTS, find_chromium
from tests.e2e.extension import Extended
from ticketbox.surfaces.spa import EXTENSION

ROWS = 120
SECONDS = 120
HOSTS = ("127.0.0.1", "127.0.0.2")
# a page that was left, or one that is held ready for the next, would be counted
ALONE = "--disable-features=BackForwardCache,SpareRendererForSitePerProcess"
PAGE = """<!doctype html><meta charset="utf-8"><title>hard work</title><link rel="icon" href="data:,"><table></table>
<script>
async function work(rounds, lines) {
  const table = document.querySelector("table");
  for (let round = 0; round < rounds; round += 1) {
    const { rows } = await (await fetch(`/rows?round=${round}`)).json();
    table.replaceChildren(...rows.map(({ id, name, price }) => {
      const row = document.createElement("tr");
      for (const text of [id, name, price.toFixed(2)]) row.insertCell().textContent = text;
      return row;
    }));
    table.getBoundingClientRect();
    for (let line = 0; line < lines; line += 1) console.log("rendered", round, line, { rows: rows.length, ok: true });
  }
}
(async () => {
  const [rounds, lines] = location.search.slice(1).split(",").map(Number);
  if (rounds) {
    await work(rounds, lines);
    await fetch("/begin");
    const began = performance.now();
    await work(rounds, lines);
    await fetch("/end", { method: "POST", body: String(performance.now() - began) });
  }
  location.replace(await (await fetch("/next")).text());
})();
</script>"""
RECORD = """(site) => new Promise((done, fail) => {
  const opening = indexedDB.open("ticketbox");
  opening.onerror = fail;
  opening.onsuccess = () => {
    const changing = opening.result.transaction("state", "readwrite");
    changing.objectStore("state").put([site], "sites");
    changing.oncomplete = () => { opening.result.close(); chrome.runtime.sendMessage({ kind: "sites" }).then(done); };
  };
})"""


class Spent(NamedTuple):
    """What a visit's work took, in milliseconds."""

    time: float
    cpu: float


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # one packet for each answer, or the client waits 40 ms for the second
    rows = json.dumps({"rows": [{"id": n, "name": f"product {n}", "price": n / 7} for n in range(ROWS)]}).encode()
    profile: Path
    orders: "queue.Queue[str]"
    done: "queue.Queue[Spent]"
    before: dict[int, float]

    def do_GET(self) -> None:
        match self.path.partition("?")[0]:
            case "/":
                self._send("text/html", PAGE.encode())
            case "/next":
                self._send("text/plain", self.orders.get().encode())
            case "/begin":
                type(self).before = _taken(self.profile)
                self._send("text/plain", b"")
            case _:
                self._send("application/json", self.rows)

    def do_POST(self) -> None:
        passed = float(self.rfile.read(int(self.headers["Content-Length"])))
        after = _taken(self.profile)
        took = max(seconds - self.before.get(process, 0) for process, seconds in after.items())
        self._send("text/plain", b"")
        self.done.put(Spent(passed, took * 1000))

    def _send(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any, **__: Any) -> None:
        """Say nothing."""


def _taken(profile: Path) -> dict[int, float]:
    """The processor time of a browser's pages, by process; those of extensions aren't counted."""
    found: dict[int, float] = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            command = (path / "cmdline").read_text()
            if "--type=renderer" in command and "--extension-process" not in command and str(profile) in command:
                found[int(path.name)] = cpu_seconds(int(path.name))
        except OSError:
            continue
    return found


class Course:
    """A browser that visits the page when it is told to, with one of its names recorded."""

    def __init__(self, handler: type[_Handler], port: int) -> None:
        self._handler, self._port = handler, port

    def visit(self, host: str, rounds: int, lines: int) -> Spent:
        """Visit the page and have it work; gives what the second half of its work took."""
        self._handler.orders.put(f"http://{host}:{self._port}/?{rounds},{lines}")
        return self._handler.done.get(timeout=SECONDS)


@contextmanager
def course(executable: str, recorded: str) -> Iterator[Course]:
    """Start the site and a browser, without a debugger, that records one of its names."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        with Extended(executable, (EXTENSION / "chromium.zip").read_bytes(), folder) as extended:
            extended.run(_record(extended, f"http://{recorded}/*"))
            extended.stop()
            given = {"profile": folder / "profile", "orders": queue.Queue(), "done": queue.Queue(), "before": {}}
            handler = type("Handler", (_Handler,), given)
            server = ThreadingHTTPServer(("", 0), handler)
            Thread(target=server.serve_forever, daemon=True).start()
            loaded = [f"--load-extension={folder}/extension", f"--disable-extensions-except={folder}/extension"]
            root = ["--no-sandbox"] if os.geteuid() == 0 else []
            address = f"http://localhost:{server.server_port}/"
            command = [executable, *ARGUMENTS, ALONE, *root, f"--user-data-dir={folder}/profile", *loaded, address]
            running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                yield Course(handler, server.server_port)
            finally:
                running.terminate()
                running.wait(15)
                server.shutdown()
                server.server_close()


async def _record(extended: Extended, site: str) -> None:
    options = await extended.options()
    await options.evaluate(RECORD, site)
    await options.close()


def certain(ratios: list[float]) -> tuple[float, float]:
    """Between what the median lies in 95 of 100 draws of as many pairs (bootstrap)."""
    chance = random.Random(5)
    medians = sorted(statistics.median(chance.choices(ratios, k=len(ratios))) for _ in range(2_000))
    return medians[50], medians[-51]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100, help="requests in a visit that are counted, as many before")
    parser.add_argument("--pairs", type=int, default=30, help="pairs of visits for each line of the table")
    options = parser.parse_args()
    print(describe(), flush=True)
    executable = find_chromium()
    assert executable is not None, "there is no Chromium on the PATH"
    found: dict[int, list[tuple[Spent, Spent]]] = {1: [], 5: []}
    for at, recorded in enumerate(HOSTS):
        with course(executable, recorded) as running:
            for pair in range(options.pairs // len(HOSTS) + 1):
                for lines, pairs in found.items():
                    order = HOSTS if (pair + at) % 2 else HOSTS[::-1]
                    spent = {host: running.visit(host, options.rounds, lines) for host in order}
                    if pair:  # the first warms up
                        plain = next(host for host in HOSTS if host != recorded)
                        pairs.append((spent[recorded], spent[plain]))
    rows: list[list[object]] = []
    for lines, pairs in found.items():
        for at, what in enumerate(Spent._fields):
            recorded, plain = ([spent[at] for spent in each] for each in zip(*pairs, strict=True))
            ratios = [a / b for a, b in zip(recorded, plain, strict=True)]
            low, middle, high = statistics.quantiles(ratios)
            each = 1000 * statistics.median(a - b for a, b in zip(recorded, plain, strict=True)) / options.rounds
            medians = (f"{statistics.median(figures):.0f}" for figures in (plain, recorded))
            span = (f"{_more(a)} to {_more(b)}" for a, b in (certain(ratios), (low, high)))
            rows.append([lines, what, *medians, _more(middle), *span, f"{each:+.0f}"])
    head = [
        "lines a request",
        "of",
        "plain ms",
        "recorded ms",
        "more",
        "95 % sure",
        "half of the pairs",
        "µs a request",
    ]
    print(table(head, rows))


def _more(ratio: float) -> str:
    return f"{(ratio - 1) * 100:+.1f} %"


if __name__ == "__main__":
    main()
