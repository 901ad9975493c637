"""`/metrics`: what an operator needs, as Prometheus reads it, for this machine or with a token."""

import contextlib
import json
import re
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_open
from prometheus_client.parser import text_string_to_metric_families as parse

from tests.docs.pages import ROOT, table
from tests.support.seed import capture_parts
from tests.support.server import PASSWORD, Box, World, eventually, expect_error, ok, run_server
from ticketbox import __version__
from ticketbox.http.metrics import BUCKETS

Figures = dict[tuple[str, tuple[tuple[str, str], ...]], float]


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """A server that nobody else asks anything, and that believes no proxy."""
    with run_server(tmp_path_factory.mktemp("metrics")) as running:
        yield running


def figures(box: Box) -> Figures:
    """Every sample, by its name and labels."""
    answer = httpx.get(f"{box.url}/metrics", timeout=30)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/plain; version=")
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in parse(answer.text)
        for sample in family.samples
    }


def compute_growth(before: Figures, after: Figures, name: str, **labels: str) -> float:
    """By how much a figure grew."""
    key = name, tuple(sorted(labels.items()))
    return after.get(key, 0) - before.get(key, 0)


def test_requests_latencies_and_errors_are_counted(box: Box, world: World) -> None:
    before = figures(box)
    client = box.client(world.owner.token("read"))
    for _ in range(3):
        ok(client.get("/tickets"))
    expect_error(client.post("/tickets", json={"title": "x", "project_id": world.project}), 403, "insufficient_scope")
    expect_error(client.get("/tickets/t-aaaaaaaa"), 404, "not_found")
    expect_error(box.client("tok_" + "x" * 36).get("/me"), 401, "unauthorized")
    httpx.request("PROPFIND", f"{box.url}/")
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add_comment", "arguments": {}}}
    assert httpx.post(f"{box.url}/mcp", json=call, headers=dict(client.headers)).status_code == 403
    after = figures(box)
    requests = "ticketbox_http_requests_total"
    assert compute_growth(before, after, requests, surface="rest", method="GET", status="200") == 3
    assert compute_growth(before, after, requests, surface="rest", method="POST", status="403") == 1
    assert compute_growth(before, after, requests, surface="mcp", method="POST", status="403") == 1
    assert compute_growth(before, after, requests, surface="pages", method="other", status="405") == 1
    assert compute_growth(before, after, "ticketbox_http_request_seconds_count", surface="rest") == 6
    assert compute_growth(before, after, "ticketbox_http_request_seconds_bucket", surface="rest", le="+Inf") == 6
    assert 0 < compute_growth(before, after, "ticketbox_http_request_seconds_sum", surface="rest") < 60
    assert compute_growth(before, after, "ticketbox_refusals_total", code="insufficient_scope") == 2
    assert compute_growth(before, after, "ticketbox_refusals_total", code="not_found") == 1
    assert compute_growth(before, after, "ticketbox_refusals_total", code="unauthorized") == 1


def test_names_types_labels_and_buckets(box: Box) -> None:
    httpx.get(f"{box.api}/me")
    families = list(parse(httpx.get(f"{box.url}/metrics").text))
    ours = {each.name: each for each in families if each.name.startswith("ticketbox")}
    types = {kind: {name for name, each in ours.items() if each.type == kind} for kind in {e.type for e in families}}
    assert types == {
        "counter": {
            "ticketbox_http_requests", "ticketbox_refusals", "ticketbox_bucket_refusals", "ticketbox_writes",
            "ticketbox_commits", "ticketbox_mails", "ticketbox_queue_refusals",
            "ticketbox_ceiling_refusals", "ticketbox_worker_calls", "ticketbox_worker_call_seconds",
            "ticketbox_worker_ends", "ticketbox_write_failures",
        },
        "histogram": {"ticketbox_http_request_seconds", "ticketbox_queue_wait_seconds"},
        "gauge": {
            "ticketbox_info", "ticketbox_buckets", "ticketbox_writer_queue", "ticketbox_database_bytes",
            "ticketbox_wal_bytes", "ticketbox_disk_free_bytes", "ticketbox_deliveries_waiting",
            "ticketbox_deliveries_oldest_seconds", "ticketbox_webhooks_disabled", "ticketbox_mails_waiting",
            "ticketbox_mails_oldest_seconds", "ticketbox_waiting_calls", "ticketbox_queue_waiting",
            "ticketbox_event_streams", "ticketbox_stored_bytes", "ticketbox_largest_company_bytes",
            "ticketbox_git_deliveries_waiting", "ticketbox_git_deliveries_oldest_seconds", "ticketbox_workers",
            "ticketbox_deletion_by_age",
        },
    }  # fmt: skip
    labels = {
        (sample.name, *sorted(sample.labels)) for each in ours.values() for sample in each.samples if sample.labels
    }
    assert labels - {("ticketbox_bucket_refusals_total", "bucket")} == {
        ("ticketbox_info", "version"),
        ("ticketbox_http_requests_total", "method", "status", "surface"),
        ("ticketbox_http_request_seconds_bucket", "le", "surface"),
        ("ticketbox_http_request_seconds_count", "surface"),
        ("ticketbox_http_request_seconds_sum", "surface"),
        ("ticketbox_refusals_total", "code"),
        ("ticketbox_queue_waiting", "queue"),
        ("ticketbox_queue_wait_seconds_bucket", "le", "queue"),
        ("ticketbox_queue_wait_seconds_count", "queue"),
        ("ticketbox_queue_wait_seconds_sum", "queue"),
    }
    assert {sample.labels["queue"] for sample in ours["ticketbox_queue_waiting"].samples} == {
        "uploads", "captures", "small_captures", "rendering", "passwords", "readers",
    }  # fmt: skip
    seconds = ours["ticketbox_http_request_seconds"].samples
    bounds = [*map(str, BUCKETS), "+Inf"]
    assert BUCKETS == (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
    for surface in ("rest", "mcp", "pages"):
        assert [s.labels["le"] for s in seconds if s.labels["surface"] == surface and "le" in s.labels] == bounds


def test_short_buckets_are_counted_by_name(box: Box, world: World) -> None:
    limits = {"reads_per_minute": None, "writes_per_minute": 5}
    ok(world.owner.web.patch(f"/companies/{world.company}", json={"limits": limits}))
    ticket = world.ticket()["id"]
    before = figures(box)
    client = world.owner.client("comments")
    statuses = [client.post(f"/tickets/{ticket}/comments", json={"body": "x"}).status_code for _ in range(20)]
    after = figures(box)
    short = statuses.count(429)
    assert short > 0
    assert compute_growth(before, after, "ticketbox_bucket_refusals_total", bucket="writes") == short
    assert compute_growth(before, after, "ticketbox_refusals_total", code="rate_limited") == short


def test_database_and_writer_are_measured(box: Box, world: World) -> None:
    before = figures(box)
    for number in range(5):
        world.ticket(f"Ticket {number}")
    after = figures(box)
    assert compute_growth(before, after, "ticketbox_writes_total") >= 5
    assert compute_growth(before, after, "ticketbox_commits_total") >= 5
    assert after["ticketbox_database_bytes", ()] == box.db.stat().st_size
    assert after["ticketbox_wal_bytes", ()] > 0
    assert after["ticketbox_disk_free_bytes", ()] > 0
    assert after["ticketbox_info", (("version", __version__),)] == 1
    assert after["process_resident_memory_bytes", ()] > 10_000_000
    assert ("ticketbox_last_backup_timestamp_seconds", ()) not in after


def test_writes_that_wait_for_the_writer_are_counted(box: Box, world: World) -> None:
    given = {"title": "x", "project_id": world.project}
    eventually(lambda: figures(box)["ticketbox_writer_queue", ()] == 0)
    before = figures(box)

    def count_taken() -> float:
        return compute_growth(before, figures(box), "ticketbox_queue_wait_seconds_count", queue="writer")

    with contextlib.closing(sqlite3.connect(box.db, isolation_level=None)) as other, ThreadPoolExecutor(4) as pool:
        other.execute("BEGIN IMMEDIATE")
        waiting = [pool.submit(world.api.post, "/tickets", json=given)]
        eventually(lambda: count_taken() == 1)  # by the writer, which waits for the lock
        waiting += [pool.submit(world.api.post, "/tickets", json=given) for _ in range(3)]
        eventually(lambda: figures(box)["ticketbox_writer_queue", ()] == 3)
        other.execute("ROLLBACK")
        for each in waiting:
            ok(each.result())
    eventually(lambda: figures(box)["ticketbox_writer_queue", ()] == 0)


def test_waiting_webhooks_and_emails_are_measured(box: Box, world: World) -> None:
    before = figures(box)
    made = {"name": "Hook", "url": "https://nowhere.invalid/", "types": ["ticket.created"]}
    webhook = ok(world.owner.web.post(f"/companies/{world.company}/webhooks", json=made))["webhook"]["id"]
    world.ticket()
    world.ticket()
    eventually(lambda: compute_growth(before, figures(box), "ticketbox_deliveries_waiting") == 2)
    assert 0 < eventually(lambda: figures(box)["ticketbox_deliveries_oldest_seconds", ()]) < 60
    ok(world.owner.web.patch(f"/webhooks/{webhook}", json={"enabled": False}))
    after = figures(box)
    assert compute_growth(before, after, "ticketbox_deliveries_waiting") == 0
    assert compute_growth(before, after, "ticketbox_webhooks_disabled") == 1
    with contextlib.closing(sqlite3.connect(box.db)) as connection, connection:
        connection.execute(
            "INSERT INTO mail (user_id, first, state, attempts, due_at, created_at) "
            "SELECT 1, 0, 'pending', 0, at, at - 60000 FROM event WHERE id = (SELECT max(id) FROM event)"
        )
    waiting = figures(box)
    assert compute_growth(before, waiting, "ticketbox_mails_waiting") == 1
    assert waiting["ticketbox_mails_oldest_seconds", ()] >= 60


def test_openmetrics_is_served_when_accepted(box: Box) -> None:
    answer = httpx.get(f"{box.url}/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    assert "ticketbox_http_requests" in {family.name for family in parse_open(answer.text)}


@pytest.mark.parametrize(
    "header", ["X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Forwarded", "X-Real-IP", "Via"]
)
def test_remote_requests_need_a_token(box: Box, world: World, header: str) -> None:
    forwarded = {header: "203.0.113.9"}
    expect_error(httpx.get(f"{box.url}/metrics", headers=forwarded), 401, "unauthorized")
    token = world.owner.token("read")
    assert httpx.get(f"{box.url}/metrics", headers={**forwarded, "Authorization": f"Bearer {token}"}).is_success
    wrong = {"Authorization": "Bearer tok_" + "y" * 36}
    expect_error(httpx.get(f"{box.url}/metrics", headers=wrong), 401, "unauthorized")


def test_session_of_a_browser_cannot_read_metrics(box: Box, world: World) -> None:
    viewer = world.join("Vic", "viewer", [world.project])
    for person in (viewer, world.owner):
        expect_error(person.web.get(f"{box.url}/metrics"), 401, "unauthorized")
        cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in person.web.cookies.jar)
        assert httpx.get(f"{box.url}/metrics", headers={"Cookie": cookies}).is_success  # this machine


def test_refusals_of_pages_oauth_and_mcp_are_counted(box: Box, world: World) -> None:
    headers = {
        "Authorization": f"Bearer {world.owner.token('read')}", "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25",
    }  # fmt: skip
    read = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "ticket://t-00000000"}}
    sign_in = {"email": world.owner.email, "password": "wrong"}
    before = figures(box)
    with httpx.Client(base_url=box.url, timeout=30) as client:
        resource = client.post("/mcp", headers=headers, json=read)
        assert resource.json()["error"]["data"]["code"] == "not_found"
        assert client.post("/mcp", headers=headers, content=b"{").status_code == 400
        assert client.post("/signin", data=sign_in, headers={"Origin": box.url}).status_code == 401
        assert client.post("/oauth/register", json={}).status_code == 400
        assert client.get("/r/unknown").status_code == 404
        assert client.get("/signin").status_code == 200
    wanted = {"not_found": 2, "unauthorized": 1, "invalid_request": 1, "other": 1}

    def count() -> dict[str, float]:
        after = figures(box)
        return {code: compute_growth(before, after, "ticketbox_refusals_total", code=code) for code in wanted}

    eventually(lambda: count() == wanted, describe=count)  # the SDK's answers are counted when its tasks have ended


def test_restricted_or_revoked_token_cannot_read_metrics(box: Box, world: World) -> None:
    pinned = world.owner.token("read", company_id=world.company)
    expect_error(httpx.get(f"{box.url}/metrics", headers={"Authorization": f"Bearer {pinned}"}), 403, "forbidden")
    token = ok(world.owner.web.post("/tokens", json={"label": "scraper", "scopes": ["read"]}))
    sent = {"Authorization": f"Bearer {token['secret']}"}
    assert httpx.get(f"{box.url}/metrics", headers=sent).is_success
    ok(world.owner.web.delete(f"/tokens/{token['token']['id'] if 'token' in token else token['id']}"))
    expect_error(httpx.get(f"{box.url}/metrics", headers=sent), 401, "unauthorized")


def test_worker_process_is_counted(box: Box, world: World) -> None:
    before = figures(box)
    line = {"seq": 1, "ts": 1, "level": "log", "args": ["x" * 1000]}
    parts = [*capture_parts(world.project, 1)[:2], ("console", (None, json.dumps([line] * 100)))]
    assert ok(box.client(world.owner.token("tickets:write")).post("/captures", files=parts))
    after = figures(box)
    assert after["ticketbox_workers", ()] == 1
    assert compute_growth(before, after, "ticketbox_worker_calls_total") == 1
    assert 0 < compute_growth(before, after, "ticketbox_worker_call_seconds_total") < 60


def test_metrics_name_nobody_and_contain_no_secret(box: Box, world: World) -> None:
    httpx.get(f"{box.api}/nowhere/{world.owner.email}")
    text = httpx.get(f"{box.url}/metrics").text
    for private in (world.owner.email, world.company, world.project, PASSWORD, "nowhere", "tok_"):
        assert private not in text


def test_page_and_dashboard_use_metrics_that_exist(box: Box) -> None:
    known = {name.removesuffix("_bucket").removesuffix("_count").removesuffix("_sum") for name, _ in figures(box)}
    known |= {
        "ticketbox_bucket_refusals_total", "ticketbox_refusals_total", "ticketbox_last_backup_timestamp_seconds",
        "ticketbox_mails_total", "ticketbox_queue_refusals_total", "ticketbox_queue_wait_seconds",
        "ticketbox_ceiling_refusals_total", "ticketbox_worker_ends_total", "ticketbox_backup_failures_total",
        "ticketbox_write_failures_total",
    }  # fmt: skip
    listed = {
        name
        for row in table(ROOT / "docs" / "operate" / "monitoring.md", "Metrics")
        for name in re.findall(r"`(\w+)`", row[0])
    }
    assert {name for name in known if name.startswith("ticketbox_")} == listed
    dashboard = json.loads((Path(ROOT) / "packaging" / "grafana.json").read_text("utf-8"))
    asked = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", ())]
    assert asked
    for expression in asked:
        for name in re.findall(r"\b(?:ticketbox|process)_\w+", expression):
            assert re.sub(r"_(bucket|count|sum)$", "", name) in known, expression
