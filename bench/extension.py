"""What the extension's recorder costs a page: `uv run python -m bench.extension`.

The page asks for rows, renders them and logs, as fast as it can. The same work is done in a browser with the recorder
and in one without, turn by turn. `busy` is the time that the page's main thread worked (DevTools protocol,
Performance.getMetrics, TaskDuration); `time` is what passed. Then what a single call costs: a line of the console with
an object, and the call of fetch until it gives its promise. The debugger is attached in both browsers, and makes each
line of the console dearer than it is for people.
"""

import argparse
import json
import os
import statistics
import tempfile
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from bench.machine import describe, table
from tests.e2e.browser import find_chromium
from tests.e2e.extension import Extended
from ticketbox.surfaces.spa import EXTENSION

ROWS = 120
PAGE = """<!doctype html><meta charset="utf-8"><title>hard work</title><table></table><script>
async function work(rounds, lines) {
  const table = document.querySelector("table");
  const began = performance.now();
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
  return performance.now() - began;
}
function lines(count) {
  const began = performance.now();
  for (let line = 0; line < count; line += 1) console.log("line", line, { rows: 120, ok: true });
  return 1000 * (performance.now() - began) / count;
}
async function requests(count) {
  let spent = 0;
  for (let at = 0; at < count; at += 1) {
    const began = performance.now();
    const answer = fetch(`/rows?at=${at}`);
    spent += performance.now() - began;
    await (await answer).arrayBuffer();
  }
  return 1000 * spent / count;
}
</script>"""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # one packet for each answer, or the client waits 40 ms for the second
    rows = json.dumps({"rows": [{"id": n, "name": f"product {n}", "price": n / 7} for n in range(ROWS)]}).encode()

    def do_GET(self) -> None:
        plain = self.path.partition("?")[0] == "/"
        body = PAGE.encode() if plain else self.rows
        self.send_response(200)
        self.send_header("Content-Type", "text/html" if plain else "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


async def once(browser: Extended, address: str, rounds: int, lines: int) -> tuple[float, float]:
    """One run in a new page: milliseconds that passed, and that its main thread was busy."""
    page = await browser.context.new_page()
    await page.goto(address)
    session = await browser.context.new_cdp_session(page)
    await session.send("Performance.enable")

    async def busy() -> float:
        metrics = (await session.send("Performance.getMetrics"))["metrics"]
        return next(each["value"] for each in metrics if each["name"] == "TaskDuration") * 1000

    before = await busy()
    passed = await page.evaluate(f"work({rounds}, {lines})")
    worked = await busy() - before
    await page.close()
    return passed, worked


async def call(browser: Extended, address: str, expression: str) -> float:
    """What one call costs in a new page, in microseconds."""
    page = await browser.context.new_page()
    await page.goto(address)
    cost: float = await page.evaluate(expression)
    await page.close()
    return cost


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=300, help="requests in a run")
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args()
    print(describe())
    executable = find_chromium()
    assert executable is not None, "there is no Chromium on the PATH"
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/"
    archive = (EXTENSION / "chromium.zip").read_bytes()
    rows = []
    with ExitStack() as running:
        folder = Path(running.enter_context(tempfile.TemporaryDirectory()))
        with_it, without = (
            running.enter_context(Extended(executable, archive, folder / name)) for name in ("with", "without")
        )
        with_it.run(with_it.record_everywhere())
        for lines in (1, 5):
            found: dict[str, list[tuple[float, float]]] = {"with": [], "without": []}
            for run in range(options.runs + 1):
                pairs = [("with", with_it), ("without", without)]
                for name, browser in pairs if run % 2 else reversed(pairs):
                    figures = browser.run(once(browser, address, options.rounds, lines))
                    if run:  # the first warms up
                        found[name].append(figures)
            for at, what in enumerate(("time", "busy")):
                a, b = ([each[at] for each in found[name]] for name in ("with", "without"))
                ratio = statistics.median(x / y for x, y in zip(a, b, strict=True))
                each = 1000 * (statistics.median(a) - statistics.median(b)) / options.rounds
                more = f"{(ratio - 1) * 100:+.1f} %"
                rows.append(
                    [lines, what, f"{statistics.median(b):.0f}", f"{statistics.median(a):.0f}", more, f"{each:+.0f}"]
                )
        costs = []
        for expression in ("lines(3000)", "requests(300)"):
            alone, recorded = (
                statistics.median(browser.run(call(browser, address, expression)) for _ in range(options.runs))
                for browser in (without, with_it)
            )
            costs.append([expression, f"{alone:.1f}", f"{recorded:.1f}", f"{recorded - alone:+.1f}"])
    server.shutdown()
    print(table(["lines a request", "of", "without ms", "with ms", "more", "µs a request"], rows))
    print(table(["calls", "without µs", "with µs", "more µs"], costs))


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    main()
