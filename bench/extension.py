"""What the extension's recorder costs a page: `uv run python -m bench.extension`.

The page asks for rows, renders them and logs, as fast as it can. Two browsers with the extension do the same work
turn by turn; it records in one of them. No debugger is attached to either, as with people. `cpu` is the processor
time of the page's own process (/proc/…/schedstat), which other work on the machine changes little; `time` is what
passed.
"""

import argparse
import json
import os
import queue
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

from bench.machine import describe, table
from tests.e2e.browser import ARGUMENTS, find_chromium
from tests.e2e.extension import Extended
from ticketbox.surfaces.spa import EXTENSION

ROWS = 120
SECONDS = 120
PAGE = """<!doctype html><meta charset="utf-8"><title>hard work</title><table></table><script>
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
  for (;;) {
    const { rounds, lines } = await (await fetch(`/next${location.search}`)).json();
    const began = performance.now();
    await work(rounds, lines);
    await fetch(`/done${location.search}`, { method: "POST", body: String(performance.now() - began) });
  }
})();
</script>"""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # one packet for each answer, or the client waits 40 ms for the second
    rows = json.dumps({"rows": [{"id": n, "name": f"product {n}", "price": n / 7} for n in range(ROWS)]}).encode()
    orders: dict[str, "queue.Queue[dict[str, int]]"]
    done: dict[str, "queue.Queue[float]"]

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        match address.path:
            case "/":
                self._send("text/html", PAGE.encode())
            case "/next":
                self._send("application/json", json.dumps(self.orders[self._name()].get()).encode())
            case _:
                self._send("application/json", self.rows)

    def do_POST(self) -> None:
        passed = float(self.rfile.read(int(self.headers["Content-Length"])))
        self._send("text/plain", b"")
        self.done[self._name()].put(passed)

    def _name(self) -> str:
        return parse_qs(urlsplit(self.path).query)["as"][0]

    def _send(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class Worker:
    """A browser that shows the page, and works when it is told to."""

    def __init__(self, name: str, handler: type[_Handler], profile: Path) -> None:
        self._orders, self._done = handler.orders[name], handler.done[name]
        self._profile = profile

    def work(self, rounds: int, lines: int) -> tuple[float, float]:
        """Milliseconds that passed, and that the page's process took."""
        before = self._cpu()
        self._orders.put({"rounds": rounds, "lines": lines})
        passed = self._done.get(timeout=SECONDS)
        return passed, self._cpu() - before

    def _cpu(self) -> float:
        return sum(_cpu(each) for each in _renderers(self._profile))


@contextmanager
def browser(executable: str, profile: Path, extension: Path, address: str) -> Iterator[None]:
    """A browser without a debugger."""
    loaded = [f"--load-extension={extension}", f"--disable-extensions-except={extension}"]
    root = ["--no-sandbox"] if os.geteuid() == 0 else []
    command = [executable, *ARGUMENTS, *root, f"--user-data-dir={profile}", *loaded, address]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        running.terminate()
        running.wait(15)


def _renderers(profile: Path) -> list[int]:
    """The processes of a browser's pages, without those of extensions."""
    found: list[int] = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            command = (path / "cmdline").read_text()
        except OSError:
            continue
        if "--type=renderer" in command and "--extension-process" not in command and str(profile) in command:
            found.append(int(path.name))
    return found


def _cpu(process: int) -> float:
    """Milliseconds that all threads of a process took."""
    tasks = Path(f"/proc/{process}/task").glob("*/schedstat")
    return sum(int(each.read_text().split()[0]) for each in tasks) / 1e6


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100, help="requests in a run")
    parser.add_argument("--runs", type=int, default=20)
    options = parser.parse_args()
    print(describe())
    executable = find_chromium()
    assert executable is not None, "there is no Chromium on the PATH"
    names = ("with", "without")
    mailboxes = {"orders": {n: queue.Queue() for n in names}, "done": {n: queue.Queue() for n in names}}
    handler = type("Handler", (_Handler,), mailboxes)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/?as="
    rows = []
    with ExitStack() as running:
        folder = Path(running.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        for name in names:  # two profiles of one past, or the browser's own work would be counted
            (folder / name).mkdir()
            archive = (EXTENSION / "chromium.zip").read_bytes()
            extended = running.enter_context(Extended(executable, archive, folder / name))
            if name == "with":
                extended.run(extended.record_everywhere())
            extended.stop()
        workers: dict[str, Worker] = {}
        for name in names:
            profile, extension = folder / name / "profile", folder / name / "extension"
            running.enter_context(browser(executable, profile, extension, address + name))
            workers[name] = Worker(name, handler, profile)
        for lines in (1, 5):
            found: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
            for run in range(options.runs + 2):
                for name in names if run % 2 else reversed(names):
                    figures = workers[name].work(options.rounds, lines)
                    if run > 1:  # the first warm up
                        found[name].append(figures)
            for at, what in enumerate(("time", "cpu")):
                a, b = ([each[at] for each in found[name]] for name in names)
                ratios = [x / y for x, y in zip(a, b, strict=True)]
                ratio = statistics.median(ratios)
                low, _, high = statistics.quantiles(ratios)
                each = 1000 * (statistics.median(a) - statistics.median(b)) / options.rounds
                spread = f"{(low - 1) * 100:+.1f} to {(high - 1) * 100:+.1f} %"
                more = f"{(ratio - 1) * 100:+.1f} %"
                medians = (f"{statistics.median(each):.0f}" for each in (b, a))
                rows.append([lines, what, *medians, more, spread, f"{each:+.0f}"])
        server.shutdown()
    head = ["lines a request", "of", "without ms", "with ms", "more", "half of the runs", "µs a request"]
    print(table(head, rows))


if __name__ == "__main__":
    main()
