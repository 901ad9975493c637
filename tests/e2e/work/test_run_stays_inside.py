"""The run of a reproduction reaches nothing but the application, whatever its capture says and its page does.

One browser tries everything; the tests read what it reported, and what reached the other servers.
"""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.domain.captures.test_reproduction import build_recording
from tests.e2e.sites.counting_site import CountingSite, serve_counting
from tests.support.playwright_test import run_test
from ticketbox.domain.captures.reproduction.pack import build_files

pytestmark = pytest.mark.long

FORMS = (
    "//{host}/own", "/\\{host}/own", "\\\\{host}/own", "/\t/{host}/own", "\t//{host}/own", "///{host}/own",
    "https:{host}/own", "http:{host}/own", "http://{host}/own", "//user:password@{host}/own", "http://user:password@{host}/own",
    "/..//{host}/own", "/%2e%2e//{host}/own", "/./\\{host}/own", "javascript:fetch('http://{host}/own')",
    "data:text/html,<script>fetch('http://{host}/own')</script>", "ftp://{host}/own", "file:///etc/hostname", ":1/own",
    "",
)  # fmt: skip
# these stay in the application as they are
PATHS = ("/%2f../{host}/own", "/%2f%2f{host}/own", "/@{host}/own", "/own?next=//{host}/own")
SPEC = """
import { test } from '@playwright/test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { replayCapture } from './reproduction.js';

test('stays inside', async ({ page }, testInfo) => {
  const given = JSON.parse(process.env.GIVEN);
  const context = page.context();
  const { open, arrive, finish } = await replayCapture(page, testInfo);
  const report = { opened: [], arrived: [], tried: [], answers: {} };
  const place = () => page.evaluate('location.href');
  const ask = (work, argument) => page.evaluate(work, argument);
  await context.addCookies([{ name: 'login', value: 'secret', url: 'http://cdn.example' }]);
  await open('/parts');
  if (process.env.REPRODUCTION_OFFLINE) return;
  for (const form of [...given.forms, ...given.paths]) {
    await open(form).then(async () => report.opened.push(await place()), () => {});
    if (given.forms.includes(form)) await arrive(form).then(() => report.arrived.push(form), () => {});
  }
  await open('/');
  for (const number of given.forms.keys())
    await ask((path) => fetch(path, { method: 'POST', body: 'secret' }).catch(() => {}), `/api/redirect/${number}`);
  report.answers = await ask(async () => {
    const read = async (path, options) => {
      const answer = await fetch(path, options).catch((error) => error);
      return answer.text ? [answer.status, await answer.text(), [...answer.headers.keys()].sort()] : String(answer);
    };
    return {
      moved: await read('/api/moved', { method: 'POST', body: '{}' }),
      prototype: await read('/api/other?__proto__=1'),
      form: await read('/api/form', { method: 'POST', body: '__proto__=1' }),
      copy: await read('/api/copy'),
    };
  });
  const followed = await context.newPage();
  for (const path of ['/leave/document', '/leave/popup']) await followed.goto(given.app + path).catch(() => {});
  await ask(async ({ other, local, app, forms }) => {
    const later = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
    const socket = (address) => address.replace('http', 'ws');
    const add = (tag, properties) => document.body.append(Object.assign(document.createElement(tag), properties));
    for (const site of [other, local]) {
      fetch(`${site}/fetch`).catch(() => {});
      fetch(`${site}/post`, { method: 'POST', mode: 'no-cors', keepalive: true, body: 'x' }).catch(() => {});
      const request = new XMLHttpRequest();
      request.open('POST', `${site}/xhr`);
      request.send('x');
      navigator.sendBeacon(`${site}/beacon`, 'x');
      new EventSource(`${site}/events`);
      new WebSocket(`${socket(site)}/socket`);
      const code = `new WebSocket('${socket(site)}/worker-socket'); fetch('${site}/worker').catch(() => {})`;
      new Worker(URL.createObjectURL(new Blob([code])));
      for (const tag of ['iframe', 'embed', 'img', 'script', 'audio']) add(tag, { src: `${site}/${tag}` });
      for (const rel of ['stylesheet', 'manifest', 'prefetch']) add('link', { rel, href: `${site}/${rel}` });
      add('iframe', { src: `/leave/frame?${site}` });
      const frame = `<script>new WebSocket('${socket(site)}/in-frame')</script>`;
      add('iframe', { srcdoc: `<img src="${site}/in-frame">${frame}` });
      add('iframe', { name: `form-${site}` });
      add('form', { method: 'post', action: `${site}/form`, target: `form-${site}` });
      document.querySelector('form:last-of-type').submit();
      add('a', { href: `${site}/link`, target: '_blank', ping: `${site}/ping` });
      document.querySelector('a:last-of-type').click();
      add('a', { href: `${site}/download`, download: 'x', target: '_blank' });
      document.querySelector('a:last-of-type').click();
      window.open(`${site}/popup`);
      window.open('about:blank').location = `${site}/late-popup`;
      for (const form of forms) {
        add('iframe', { src: form });
        window.open(form.startsWith('javascript:') ? 'about:blank' : form)?.close();
      }
    }
    window.open('/leave/popup');
    for (const way of ['fetch', 'image', 'script']) fetch(`/leave/${way}`).catch(() => {});
    add('img', { src: '/leave/image' });
    add('script', { src: '/leave/script' });
    const answer = (port) => new Promise((resolve) => { port.onmessage = resolve; });
    await Promise.all([answer(new Worker('/worker.js')), answer(new SharedWorker('/worker.js').port)]);
    await navigator.serviceWorker.register('/service.js');
    await navigator.serviceWorker.ready;
    await new Promise((resolve) => {
      const own = new WebSocket(`${socket(app)}/own-socket`);
      own.onopen = own.onerror = resolve;
    });
    await later(300); // what was refused leaves no trace to wait for
  }, given);
  await ask((other) => { location.href = `${other}/leave`; }, given.other);
  await page.waitForURL((url) => url.protocol === 'chrome-error:').catch(() => {});
  await finish().catch((error) => { report.finished = error.message; });
  writeFileSync(process.env.REPORT, JSON.stringify(report));
});
"""


PARTS = """<!doctype html><title>Parts</title><img src="http://cdn.example/image"><img src="http://cdn.example/moved">
<script src="http://cdn.example/script"></script><link rel="stylesheet" href="http://cdn.example/style">
<style>@font-face { font-family: own; src: url(http://cdn.example/font) } p { font-family: own }</style><p>text</p>
<script>fetch('http://cdn.example/fetch', { mode: 'no-cors' }).catch(() => {})</script>
<iframe src="http://cdn.example/frame"></iframe>"""


class Run(NamedTuple):
    """What a run reported, and what reached the application, other sites and another service of this machine.

    Its page has parts of `cdn`, whose name could be on the internet, and of `unseen` in a run that is offline.
    """

    report: dict[str, Any]
    result: dict[str, Any]
    app: CountingSite
    other: CountingSite
    local: CountingSite
    cdn: CountingSite
    unseen: CountingSite


def write_pack(folder: Path, calls: list[dict[str, Any]]) -> Path:
    """Write a pack whose capture has an error and calls; return its test, which does something else."""
    network = [
        {"id": f"r{number}", "ts": 1_000 + number, "type": "fetch", "duration_ms": 1, **each}
        for number, each in enumerate(calls)
    ]
    errors = [{"kind": "error", "name": "TypeError", "message": "no card"}]
    for file in build_files(build_recording(network=network, errors=errors), "1"):
        (folder / file.name).write_bytes(file.data)
    (folder / "reproduce.spec.ts").write_text(SPEC)
    return folder / "reproduce.spec.ts"


def record_call(
    path: str, status: int, *, method: str = "GET", sent: str | None = None, **response: Any
) -> dict[str, Any]:
    """A recorded call of another host."""
    request = {} if sent is None else {"body": sent}
    url = f"https://api.shop.example{path}"
    return {"method": method, "url": url, "status": status, "request": request, "response": response}


def resolve_cdn(site: CountingSite) -> str:
    """The arguments of a browser for which `cdn.example` is a site."""
    return json.dumps([f"--host-resolver-rules=MAP cdn.example {site.host}"])


@pytest.fixture(scope="module")
def ran(shell: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """The run."""
    folder = tmp_path_factory.mktemp("pack")
    with contextlib.ExitStack() as stack:
        other = stack.enter_context(serve_counting(host="localhost"))
        local = stack.enter_context(serve_counting())
        cdn, unseen = (
            stack.enter_context(serve_counting({"/moved": (302, {"Location": f"{local.address}/moved"}, "")}))
            for _ in range(2)
        )
        leave = (302, {"Location": f"{other.address}/redirected"}, "")
        asks = "const asked = [];" + "\n".join(
            f"asked.push(fetch('{site.address}/SOURCE', {{ mode: 'no-cors' }}).catch(() => {{}}));"
            f"asked.push(new Promise((resolve) => {{ try {{ const it = new WebSocket('ws://{site.host}/SOURCE');"
            "it.onopen = it.onerror = resolve; } catch { resolve(); } }));"
            for site in (other, local)
        )
        worker = asks + (
            "Promise.all(asked).then(() => globalThis.postMessage?.(1));"
            "globalThis.onconnect = ({ ports }) => Promise.all(asked).then(() => ports[0].postMessage(1));"
        )
        service = f"self.addEventListener('install', (event) => {{ {asks} event.waitUntil(Promise.all(asked)); }});"
        script = {"Content-Type": "text/javascript"}
        pages: dict[str, Any] = {
            "/": "<!doctype html><title>Shop</title><h1>Shop</h1>",
            "/parts": PARTS,
            "/worker.js": (200, script, worker.replace("SOURCE", "worker")),
            "/service.js": (200, script, service.replace("SOURCE", "service")),
            **{f"/leave/{way}": leave for way in ("document", "popup", "frame", "fetch", "image", "script")},
        }
        app = stack.enter_context(serve_counting(pages))
        calls = [
            *(
                record_call(f"/api/redirect/{number}", (302, 307, 308)[number % 3], method="POST", sent="secret",
                        headers={"location": form.format(host=local.host)})
                for number, form in enumerate(FORMS)
            ),
            record_call("/api/moved", 303, method="POST", sent="{}", headers={"location": "/api/target"}),
            record_call("/api/target", 200, body="followed", headers={
                "x-total": "3", "etag": '"1"', "link": "</a>; rel=preload", "refresh": "0;url=/",
                "x-frame-options": "DENY", "clear-site-data": "*", "location": "/elsewhere",
            }),
            record_call("/api/other?__proto__=1", 200, body="prototype"),
            record_call("/api/form", 200, method="POST", sent="__proto__=1", body="form"),
            record_call("/api/copy", 304, body="copy"),
        ]  # fmt: skip
        spec, report, result = write_pack(folder, calls), folder / "report.json", folder / "result.json"
        sites = {"app": app.address, "other": other.address, "local": local.address}
        given = {**sites, "forms": [each.format(host=local.host) for each in FORMS],
                 "paths": [each.format(host=local.host) for each in PATHS]}  # fmt: skip
        environment = {"BASE_URL": app.address, "GIVEN": json.dumps(given), "REPORT": str(report)}
        done = run_test(
            spec, shell, REPRODUCTION_RESULT=str(result), CHROMIUM_ARGUMENTS=resolve_cdn(cdn), **environment
        )
        assert report.exists(), done.stdout + done.stderr
        run_test(spec, shell, REPRODUCTION_OFFLINE="1", CHROMIUM_ARGUMENTS=resolve_cdn(unseen), **environment)
        yield Run(json.loads(report.read_text()), json.loads(result.read_text()), app, other, local, cdn, unseen)


def test_nothing_reaches_another_site_or_another_service_of_this_machine(ran: Run) -> None:
    assert ran.other.seen == []
    assert ran.local.seen == []


def test_application_is_reached_by_everything(ran: Run) -> None:
    wanted = {"GET /leave/document", "GET /leave/popup", "GET /leave/fetch", "GET /leave/image", "GET /leave/script",
              "GET /service.js", "GET /worker.js", "SOCKET /own-socket"}  # fmt: skip
    assert wanted <= set(ran.app.seen)


def test_other_sites_add_parts_to_a_page_without_credentials_unless_it_is_offline(ran: Run) -> None:
    assert sorted(ran.cdn.seen) == ["GET /font", "GET /image", "GET /moved", "GET /script", "GET /style"]
    assert not any(ran.cdn.cookies)
    assert ran.app.seen.count("GET /parts") == 2
    assert ran.unseen.seen == []


def test_text_that_is_no_path_of_the_application_is_never_opened(ran: Run) -> None:
    assert ran.report["opened"] == [ran.app.address + each.format(host=ran.local.host) for each in PATHS]
    assert ran.report["arrived"] == []


def test_redirects_are_followed_inside_the_recording(ran: Run) -> None:
    status, text, headers = ran.report["answers"]["moved"]
    assert (status, text) == (200, "followed")
    assert {each for each in headers if not each.startswith("access-control-")} == {"content-length", "etag", "x-total"}
    assert "POST /api/redirect/0 secret" not in ran.app.seen


def test_names_of_the_language_and_copies_are_answered_like_others(ran: Run) -> None:
    answers = ran.report["answers"]
    assert [answers[name][:2] for name in ("prototype", "form", "copy")] == [
        [200, "prototype"], [200, "form"], [200, "copy"],
    ]  # fmt: skip


def test_redirect_out_of_the_recording_makes_the_run_say_nothing(ran: Run) -> None:
    assert (ran.result["verdict"], ran.result["screenshot"]) == ("not_reached", None)
    assert ran.result["reason"].startswith("POST /api/redirect/0 was redirected to what isn't in the capture")
    assert "so this says nothing" in ran.report["finished"]
