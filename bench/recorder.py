"""The cost of a recorded call in the extension's recorder: `uv run --group dev python -m bench.recorder`.

In a page where the browser's functions do nothing, each is called alternately plain and wrapped by the recorder; the
difference is the recorder's cost. *Hot* is the fastest of many hundreds of calls; *cold* is a call after 4 MB of other
memory was used, without the fastest and the slowest. No debugger is attached: with one, a stack trace costs several
times as much.
"""

import argparse
import json
import os
import queue
import statistics
import subprocess
import tempfile
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from bench.machine import describe_machine, format_table
from tests.e2e.support.browser import ARGUMENTS, find_chromium
from ticketbox.http.extension_zip import EXTENSION

SECONDS = 120
PAGE = """<!doctype html><title>recorder</title><link rel="icon" href="data:,"><script>
const report = fetch;
const answer = new Response('{"a":1}', { headers: { "content-type": "application/json" } });
const settled = Promise.resolve(answer);
console.log = function () {};
console.error = function () {};
window.fetch = function () { return settled; };
XMLHttpRequest.prototype.send = function () {};
const calls = () => {
  const { log, error } = console, { open, send } = XMLHttpRequest.prototype, ask = window.fetch;
  return { log, error, open, send, fetch: (...given) => ask.apply(window, given) };
};
const plain = calls();
</script><script src="/recorder.js"></script><script>
const recorded = calls();
const memory = new Float64Array(1 << 19);
const disturb = () => { for (let at = 0; at < memory.length; at += 8) memory[at] += 1; };
const nested = (depth, work) => (depth ? nested(depth - 1, work) : work());
const jobs = {
  "console.log, text": (it, n) => it.log("rendered", n, "rows"),
  "console.log, an object": (it, n) => it.log("rendered", n, { rows: n, ok: true }),
  "console.log, objects in objects": (it, n) =>
    it.log("state", { user: { id: n, name: "Ann", roles: ["a", "b"] }, items: [{ id: 1 }, { id: 2 }], at: null }),
  "console.error": (it, n) => it.error("failed", n),
  "fetch": (it, n) => it.fetch(`/rows?${n}`),
  "fetch with headers and a body": (it, n) =>
    it.fetch(`/rows?${n}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: '{"a":1}' }),
  "XMLHttpRequest, sent": (it, n) => {
    const request = new XMLHttpRequest();
    it.open.call(request, "GET", `/rows?${n}`);
    it.send.call(request);
  },
};
const turn = () => new Promise((done) => setTimeout(done));
let count = 0; // every line differs from the one before
async function timed(job, it, times) {
  const began = performance.now();
  nested(10, () => { for (let n = 0; n < times; n += 1) job(it, (count += 1)); });
  await settled; await 0; await 0;
  return (performance.now() - began) * 1000 / times;
}
(async () => {
  const found = {};
  for (const [name, job] of Object.entries(jobs)) {
    found[name] = { hot: [[], []], cold: [[], []] };
    for (let round = 0; round < 60; round += 1)
      for (const [at, it] of [plain, recorded].entries()) {
        found[name].hot[at].push(await timed(job, it, 100));
        await turn();
      }
    for (let round = 0; round < 400; round += 1)
      for (const [at, it] of [plain, recorded].entries()) {
        disturb();
        found[name].cold[at].push(await timed(job, it, 1));
        if (round % 20 === 0) await turn();
      }
  }
  await report.call(window, "/", { method: "POST", body: JSON.stringify(found) });
})();
</script>"""


class _Handler(BaseHTTPRequestHandler):
    recorder: bytes
    results: "queue.Queue[dict[str, Any]]"

    def do_GET(self) -> None:
        if self.path == "/recorder.js":
            return self._send("text/javascript", self.recorder)
        return self._send("text/html", PAGE.encode())

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._send("text/plain", b"")
        self.results.put(message)

    def _send(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        # these headers give the page a clock with a resolution of microseconds
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any, **__: Any) -> None:
        """Log nothing."""


def visit(executable: str, recorder: bytes) -> dict[str, Any]:
    """Run all jobs in a new browser; return the microseconds of each call, plain and recorded."""
    results: queue.Queue[dict[str, Any]] = queue.Queue()
    server = ThreadingHTTPServer(
        ("127.0.0.1", 0), type("Handler", (_Handler,), {"recorder": recorder, "results": results})
    )
    Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        root = ["--no-sandbox"] if os.geteuid() == 0 else []
        address = f"http://127.0.0.1:{server.server_port}/"
        command = [executable, *ARGUMENTS, *root, f"--user-data-dir={profile}", address]
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            return results.get(timeout=SECONDS)
        finally:
            running.terminate()
            running.wait(15)
            server.shutdown()
            server.server_close()


def mean_without_extremes(values: list[float]) -> float:
    """Return the mean without the fastest tenth and the slowest four tenths."""
    ordered = sorted(values)
    return statistics.fmean(ordered[len(ordered) // 10 : len(ordered) * 6 // 10])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--browsers", type=int, default=5)
    options = parser.parse_args()
    print(describe_machine(), flush=True)
    executable = find_chromium()
    assert executable is not None, "Chromium isn't on the PATH"
    with zipfile.ZipFile(str(EXTENSION / "chromium.zip")) as zipped:
        recorder = zipped.read("recorder.js")
    visits = [visit(executable, recorder) for _ in range(options.browsers)]
    rows: list[list[object]] = []
    for job in visits[0]:
        row: list[object] = [job]
        for kind, pick in (("hot", min), ("cold", mean_without_extremes)):
            costs = [pick(each[job][kind][1]) - pick(each[job][kind][0]) for each in visits]
            row += [f"{statistics.median(costs):.1f}", f"{min(costs):.1f} to {max(costs):.1f}"]
        rows.append(row)
    print(format_table(["call", "hot µs", "range", "cold µs", "range"], rows))


if __name__ == "__main__":
    main()
