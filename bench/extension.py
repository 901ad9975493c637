"""The cost of the extension's recorder to a page: `uv run --group dev python -m bench.extension`, about seven minutes.

Two frames that differ only in their host run in one process, so that differences between processes don't matter; one of
the hosts is recorded. The frames work alternately: they fetch rows, render them and log, as fast as they can. Two turns
are a pair. Half of the browsers record the first frame and half the second, because the position matters. No debugger
is attached. `cpu` is the processor time of the process (/proc/…/schedstat), which other work on the machine hardly
changes; `time` is the elapsed time.
"""

import argparse
import json
import os
import queue
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

from bench.machine import cpu_seconds, describe_machine, format_table
from tests.e2e.support.browser import ARGUMENTS, find_chromium
from tests.e2e.support.extension_browser import ExtensionBrowser
from ticketbox.http.extension_zip import EXTENSION

ROWS = 120
SECONDS = 300
HOSTS = ("127.0.0.1", "127.0.0.2")
# both hosts in one process, and no spare process for the next page
ALONE = ["--disable-site-isolation-trials", "--renderer-process-limit=1",
         "--disable-features=BackForwardCache,SpareRendererForSitePerProcess"]  # fmt: skip
FRAME = """<!doctype html><meta charset="utf-8"><title>hard work</title><link rel="icon" href="data:,"><table></table>
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
// the recorder reads a URL once more than the browser does
async function isRecorded() {
  let read = 0;
  await fetch({ toString: () => { read += 1; return "/rows"; } });
  return read > 1;
}
onmessage = async ({ data: [rounds, lines], ports: [port] }) => {
  if (!rounds) return port.postMessage(await isRecorded());
  const began = performance.now();
  await work(rounds, lines);
  port.postMessage(performance.now() - began);
};
</script>"""
PAGE = """<!doctype html><meta charset="utf-8"><title>two frames</title><link rel="icon" href="data:,">
<iframe src="http://127.0.0.1:PORT/frame" width="400" height="500"></iframe>
<iframe src="http://127.0.0.2:PORT/frame" width="400" height="500"></iframe>
<script>
function ask(frame, rounds, lines) {
  const { port1, port2 } = new MessageChannel();
  frame.postMessage([rounds, lines], "*", [port2]);
  return new Promise((done) => { port1.onmessage = ({ data }) => done(data); });
}
async function turn(frame, rounds, lines) {
  await fetch("/begin");
  const passed = await ask(frame, rounds, lines);
  return [passed, await (await fetch("/end")).json()];
}
onload = async () => {
  const recorded = await Promise.all([0, 1].map((at) => ask(frames[at], 0)));
  // the browser may not have loaded its extensions yet
  if (recorded[0] === recorded[1]) return setTimeout(() => location.reload(), 500);
  for (;;) {
    const { pairs, rounds, lines } = await (await fetch("/next")).json();
    const found = { recorded: [], plain: [] };
    for (let pair = 0; pair < pairs; pair += 1)
      for (const at of pair % 2 ? [0, 1] : [1, 0])
        found[recorded[at] ? "recorded" : "plain"].push(await turn(frames[at], rounds, lines));
    await fetch("/done", { method: "POST", body: JSON.stringify(found) });
  }
};
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


class TurnCost(NamedTuple):
    """The cost of a turn in milliseconds."""

    time: float
    cpu: float


Pairs = list[tuple[TurnCost, TurnCost]]  # each a recorded turn and a plain one


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # one packet for each response, or the client waits 40 ms for the second
    rows = json.dumps({"rows": [{"id": n, "name": f"product {n}", "price": n / 7} for n in range(ROWS)]}).encode()
    profile: Path
    orders: "queue.Queue[dict[str, int]]"
    done: "queue.Queue[Pairs]"
    before: dict[int, float]

    def do_GET(self) -> None:
        match self.path.partition("?")[0]:
            case "/":
                port = self.headers["Host"].rpartition(":")[2]
                self._send("text/html", PAGE.replace("PORT", port).encode())
            case "/frame":
                self._send("text/html", FRAME.encode())
            case "/next":
                self._send("application/json", json.dumps(self.orders.get()).encode())
            case "/begin":
                type(self).before = _renderer_cpu_seconds(self.profile)
                self._send("text/plain", b"")
            case "/end":
                after = _renderer_cpu_seconds(self.profile)
                cpu = max(seconds - self.before.get(process, 0) for process, seconds in after.items())
                self._send("application/json", json.dumps(cpu * 1000).encode())
            case _:
                self._send("application/json", self.rows)

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._send("text/plain", b"")
        turns = ([TurnCost(*turn) for turn in message[kind]] for kind in ("recorded", "plain"))
        self.done.put(list(zip(*turns, strict=True)))

    def _send(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any, **__: Any) -> None:
        """Log nothing."""


def _renderer_cpu_seconds(profile: Path) -> dict[int, float]:
    """Return the processor time of a browser's page processes, by process id. Extensions aren't included."""
    seconds: dict[int, float] = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            command = (path / "cmdline").read_text()
            if "--type=renderer" in command and "--extension-process" not in command and str(profile) in command:
                seconds[int(path.name)] = cpu_seconds(int(path.name))
        except OSError:
            continue
    return seconds


class RecordingBrowser:
    """A browser with two frames, one of them recorded, that work on request."""

    def __init__(self, handler: type[_Handler]) -> None:
        self._handler = handler

    def run(self, pairs: int, rounds: int, lines: int) -> Pairs:
        """Let the frames work alternately, `rounds` requests in each turn; return the cost of the turns."""
        self._handler.orders.put({"pairs": pairs, "rounds": rounds, "lines": lines})
        return self._handler.done.get(timeout=SECONDS)


@contextmanager
def start_browser(executable: str, recorded: str) -> Iterator[RecordingBrowser]:
    """Start the site, and a browser without a debugger that records one of its hosts."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        with ExtensionBrowser(executable, (EXTENSION / "chromium.zip").read_bytes(), folder) as browser:
            browser.run(_record(browser, f"http://{recorded}/*"))
            browser.stop()
            attributes = {"profile": folder / "profile", "orders": queue.Queue(), "done": queue.Queue(), "before": {}}
            handler = type("Handler", (_Handler,), attributes)
            server = ThreadingHTTPServer(("", 0), handler)
            Thread(target=server.serve_forever, daemon=True).start()
            loaded = [f"--load-extension={folder}/extension", f"--disable-extensions-except={folder}/extension"]
            root = ["--no-sandbox"] if os.geteuid() == 0 else []
            address = f"http://localhost:{server.server_port}/"
            command = [executable, *ARGUMENTS, *ALONE, *root, f"--user-data-dir={folder}/profile", *loaded, address]
            running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                yield RecordingBrowser(handler)
            finally:
                running.terminate()
                running.wait(15)
                server.shutdown()
                server.server_close()


async def _record(browser: ExtensionBrowser, site: str) -> None:
    options = await browser.open_options()
    await options.evaluate(RECORD, site)
    await options.close()


def median_overhead(pairs: Pairs, at: int) -> float:
    """Return the median overhead of the recorded turns, as a fraction of the plain ones."""
    return statistics.median(recorded[at] / plain[at] for recorded, plain in pairs) - 1


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--couples", type=int, default=6, help="pairs of browsers, one for each recorded frame")
    parser.add_argument("--pairs", type=int, default=120, help="pairs of turns, besides a tenth as many to warm up")
    parser.add_argument("--rounds", type=int, default=5, help="requests in a turn")
    options = parser.parse_args()
    print(describe_machine(), flush=True)
    executable = find_chromium()
    assert executable is not None, "Chromium isn't on the PATH"
    results: dict[int, list[list[Pairs]]] = {1: [], 5: []}
    for _ in range(options.couples):
        for couples in results.values():
            couples.append([])
        for recorded in HOSTS:
            with start_browser(executable, recorded) as running:
                for lines, couples in results.items():
                    running.run(options.pairs // 10, options.rounds, lines)
                    couples[-1].append(running.run(options.pairs, options.rounds, lines))
    rows: list[list[object]] = []
    for lines, couples in results.items():
        for at, measure in enumerate(TurnCost._fields):
            plain = statistics.median(pair[1][at] for couple in couples for pairs in couple for pair in pairs)
            each = sorted(statistics.fmean(median_overhead(pairs, at) for pairs in couple) for couple in couples)
            mean, span = statistics.fmean(each), f"{_percent(each[0])} to {_percent(each[-1])}"
            error = statistics.stdev(each) / len(each) ** 0.5
            cost = plain / options.rounds * 1000
            rows.append(
                [lines, measure, f"{cost:.0f}", _percent(mean), f"{error * 100:.1f}", span, f"{mean * cost:+.0f}"]
            )
    print(format_table(["lines per request", "measure", "µs per request", "overhead", "±", "range", "µs more"], rows))


def _percent(part: float) -> str:
    return f"{part * 100:+.1f} %"


if __name__ == "__main__":
    main()
